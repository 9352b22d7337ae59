"""When two outcomes are the same: errors of one class, or results of the same dtypes, shapes and elements.

Integers, bools, strings and the narrow floats to the last bit; other floats but for the last bits: 32 units in the last
place of what they are, or of the largest of them. NaN and infinities are where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from agc.runtime import dtypes

UNITS = 32


class Refusal:
    """What a call has raised, by its class."""

    def __init__(self, error: Exception) -> None:
        self.kind = type(error).__name__
        self.text = f"{self.kind}: {error}"

    def __str__(self) -> str:
        return self.text


def outcome(run: Callable[[], Any]) -> Any:
    """The results as arrays, or the error."""
    try:
        found = run()
    except Exception as error:
        return Refusal(error)
    return [np.asarray(item) for item in found]


def difference(found: Any, wanted: Any) -> str | None:
    """How two outcomes differ; None where they do not."""
    if isinstance(found, Refusal) or isinstance(wanted, Refusal):
        same = isinstance(found, Refusal) and isinstance(wanted, Refusal) and found.kind == wanted.kind
        return None if same else f"{_told(found)} is not {_told(wanted)}"
    for one, other in zip(found, wanted, strict=True):
        if not same_array(one, other):
            return f"{_told([one])} is not {_told([other])}"
    return None


def same_array(found: Any, wanted: Any) -> bool:
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if found.dtype.hasobject:
        return bool(found.tolist() == wanted.tolist())
    if found.dtype.kind == "c":
        return all(same_array(*parts) for parts in ((found.real, wanted.real), (found.imag, wanted.imag)))
    if found.dtype.kind in "biu":
        return bool(np.array_equal(found, wanted))
    is_exact = found.dtype in dtypes.NARROW
    found, wanted = (np.asarray(x, np.float64 if is_exact else x.dtype) for x in (found, wanted))
    with np.errstate(all="ignore"):
        finite = np.isfinite(wanted)
        if is_exact or not finite.any():
            return bool(np.array_equal(found, wanted, equal_nan=True))
        if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
            return False
        largest = max(1.0, float(np.abs(wanted[finite]).max()))
        bound = UNITS * float(np.finfo(wanted.dtype).eps) * largest
        one, other = (np.asarray(x[finite], np.float64) for x in (found, wanted))
        return bool((np.abs(one - other) <= bound).all())


def _told(outcome: Any) -> str:
    if isinstance(outcome, Refusal):
        return f"{outcome}"[:300]
    return ", ".join(f"{x.dtype}{x.shape} {np.array2string(x, threshold=24)}" for x in outcome).replace(
        "\n", ""
    )
