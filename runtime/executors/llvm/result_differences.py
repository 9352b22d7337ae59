"""Differences of the results of native code and of the plan, beyond those of rounding.

found    [1.0, 2.0, 3.1]
wanted   [1.0, 2.0, 3.0]      ==>      "number 0, float32[3], differs by 0.1 in 1 elements"
moved    [1.0, 2.0, 3.2]      ==>      None: the plan's own results change as much with the last bits of its inputs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...kernels.persistent_array import PersistentArray
from .moved_inputs import LAST_BIT
from .rounding_doubts import FEW, NEAR, Places

TOLERANCE = {2: 2e-2, 4: 1e-4, 8: 1e-9}
"""Tolerances by the size in bytes of a float, or of a part of a complex number."""

MARGIN = 64
"""Factor of the change of an element."""

FAR = 1024
"""Factor of the last bits of inputs that are moved in order to find chaos."""

_AS_OFTEN = 4
"""The factor of the number of elements that chaos changes in one run, for another run."""

_PROPORTION = 4
"""The factor of `FAR` up to which changes are in proportion, as those of sums that cancel each other are."""

SPREAD = 16
"""Factor of the largest change of any element.

A sign next to zero decides a ReLU. Rounding may change it in one run, and that of another element in the next.
"""

CANCELLATION = 30
"""Factor of the tolerance in the second comparison, which considers the plan's sensitivity.

Sums of many terms that cancel each other lose more digits by the order of addition than by changes of the terms.
"""

_BLOCK = 1 << 14
"""The elements that are compared at a time."""


def difference(
    found: Sequence[Any],
    wanted: Sequence[Any],
    moved: Sequence[Any] | None = None,
    bits: int = 0,
    places: dict[int, Places] | None = None,
    is_brief: bool = False,
) -> str | None:
    """Return a description of the first difference that is too large, else None.

    Args:
        moved: the plan's results with other last bits of its inputs; None for a comparison without them.
        bits: the last bits of 1 by which floats may differ.
        places: gets the elements about which rounding may have decided; if None, they are differences.
        is_brief: whether the description is only of the first elements that differ, which takes less time.
    """
    ones, others = list(_arrays(found)), list(_arrays(_filled(wanted, found)))
    thirds = others if moved is None else list(_arrays(_filled(moved, found)))
    if len(thirds) != len(others):
        return None  # rounding decides about the lengths of lists
    if len(ones) != len(others):
        return f"{len(ones)} arrays are in the results, not {len(others)}"
    for number, (one, other, third) in enumerate(zip(ones, others, thirds, strict=True)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"number {number} is {one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
        distance, few = _distance(one, other, None if moved is None else third, bits, is_brief)
        if few is not None and places is not None:
            places[number] = Places(one.shape, few)
        elif distance is not None:
            return f"number {number}, {one.dtype}{list(one.shape)}, differs {distance}"
    return None


def is_chaotic(
    found: Sequence[Any], wanted: Sequence[Any], moved: Mapping[int, Any], far: Mapping[int, Any]
) -> bool:
    """Return whether results differ by no more than the plan's own ones change with its inputs.

    Changes in proportion count for the last bits only, since all programs have those.

    Args:
        moved: the plan's results with other last bits of its inputs, by number.
        far: its results if the inputs change `FAR` times as much.
    """
    near = [moved.get(number, each) for number, each in enumerate(wanted)]
    distant = []
    for number, each in enumerate(wanted):
        last = far.get(number, each)
        is_float = not isinstance(each, PersistentArray) and np.asarray(each).dtype.kind == "f"
        if is_float and np.shape(near[number]) == np.shape(last) == np.shape(each):
            last = np.where(_is_out_of_proportion(each, near[number], last), last, each)
        distant.append(last)
    wanted = _filled(wanted, found)
    return any(
        difference(found, wanted, others) is None and _differ_as_often(found, wanted, others)
        for others in (_filled(near, found), _filled(distant, found))
    )


def _differ_as_often(found: Sequence[Any], wanted: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether as many elements of each result differ as in other results, up to a factor."""
    triples = zip(
        _arrays(found), _arrays(wanted), _arrays(others), strict=False
    )  # lengths of lists may differ
    return all(_differing(one, each) <= _AS_OFTEN * _differing(other, each) for one, each, other in triples)


def _differing(array: Any, wanted: Any) -> int:
    """Return the number of elements that differ by more than the tolerance; more than all if the shapes differ."""
    if array.shape != wanted.shape:
        return wanted.size + 1  # type: ignore[no-any-return]
    if wanted.dtype.kind not in "fc":
        return int((array != wanted).sum())
    with np.errstate(all="ignore"):
        tolerance = TOLERANCE[max(wanted.real.dtype.itemsize, 2)] * _largest(wanted)
        is_same = (array == wanted) | (np.isnan(array) & np.isnan(wanted))
        return int((~(is_same | (np.abs(array - wanted) <= tolerance))).sum())


def _is_out_of_proportion(wanted: Any, near: Any, far: Any) -> Any:
    with np.errstate(all="ignore"):
        least = np.maximum(np.abs(near - wanted), np.abs(wanted) * LAST_BIT[np.asarray(wanted).itemsize])
        return ~(np.abs(far - wanted) <= _PROPORTION * FAR * least)


def _distance(
    found: Any, wanted: Any, moved: Any | None, bits: int, is_brief: bool
) -> tuple[str | None, Any | None]:
    """Return a description of the difference if it is too large, and the indices of a few elements near enough."""
    if found.dtype.hasobject:
        return None if found.tolist() == wanted.tolist() else "in its texts", None
    if found.dtype.kind not in "fc":
        count = int((found != wanted).sum())
        is_unstable = moved is not None and (moved.shape != wanted.shape or bool((moved != wanted).any()))
        return None if not count or is_unstable else f"in {count} elements", None
    if found.dtype.kind == "c":
        found, wanted, moved = (
            None if x is None else np.ascontiguousarray(x).reshape(-1).view(x.real.dtype)
            for x in (found, wanted, moved)
        )
    return _distance_of_floats(found, wanted, moved, bits, is_brief)


def _distance_of_floats(
    found: Any, wanted: Any, moved: Any | None, bits: int, is_brief: bool
) -> tuple[str | None, Any | None]:
    size = max(found.dtype.itemsize, 2)
    share, least = TOLERANCE[size] * (1 if moved is None else CANCELLATION), bits * LAST_BIT[size]
    moved = wanted if moved is None else moved
    if moved.shape != wanted.shape or _is_near(found.ravel(), wanted.ravel(), share):
        return None, None
    flat = [array.ravel() for array in (found, wanted, moved)]
    most, wrong = 0.0, []
    with np.errstate(all="ignore"):
        largest = max((_largest(one) for (one,) in _blocks(flat[1:2])), default=0.0)
        change = 0.0
        if moved is not wanted:
            change = max((_largest(other - one) for _, one, other in _blocks(flat)), default=0.0)
        for number, (one, other, third) in enumerate(_blocks(flat)):
            distances = np.abs(one - other)
            bound = least + share * largest + MARGIN * np.abs(third - other) + SPREAD * change
            is_same = (one == other) | (np.isnan(one) & np.isnan(other))
            # Rounding decides if the plan's own results change between finite and not finite.
            is_close = (distances <= bound) | (np.isfinite(third) != np.isfinite(other))
            indices = np.flatnonzero(~(is_same | is_close))
            wrong.append(indices + number * _BLOCK)
            most = float(np.max(distances[indices], initial=most))
            if is_brief and indices.size:
                break
    places = np.concatenate(wrong) if wrong else np.empty(0, int)
    if not places.size:
        return None, None
    is_few = places.size <= max(1, FEW * found.size) and most <= NEAR * largest
    return f"by {most:.3g} in {places.size} elements", places if is_few else None


def _is_near(found: Any, wanted: Any, share: float) -> bool:
    """Return whether all elements of two vectors are finite, and differ by at most a share of the largest one."""
    most = largest = 0.0
    with np.errstate(all="ignore"):
        for start in range(0, wanted.size, _BLOCK):
            one, other = found[start : start + _BLOCK], wanted[start : start + _BLOCK]
            most = np.maximum(most, np.abs(one - other).max())  # NaN if one is
            largest = np.maximum(largest, np.abs(other).max())
        return bool(most <= share * largest < np.inf)


def _blocks(arrays: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield parts of vectors as float64, so that large results need little memory."""
    for start in range(0, arrays[0].size, _BLOCK):
        yield [array[start : start + _BLOCK].astype(np.float64) for array in arrays]


def _largest(array: Any) -> float:
    """Return the largest magnitude of a finite number."""
    return float(np.abs(array[np.isfinite(array)]).max(initial=0))


def _filled(results: Sequence[Any], native: Sequence[Any]) -> list[Any]:
    """Return results of the plan in which unwritten elements of lists are zeros, as in those of native code."""
    return [
        _filled_list(each, other) if isinstance(each, PersistentArray) else each
        for each, other in zip(results, native, strict=True)
    ]


def _filled_list(array: PersistentArray, native: PersistentArray) -> PersistentArray:
    items, others = array.items(), native.items()
    if len(items) != len(others) or not any(item is None for item in items):
        return array
    return PersistentArray(
        [
            np.zeros_like(other) if item is None and other is not None else item
            for item, other in zip(items, others, strict=True)
        ]
    )


def _arrays(results: Sequence[Any]) -> Iterator[Any]:
    """Yield the arrays of results, including those in lists."""
    for result in results:
        if isinstance(result, PersistentArray):
            yield from _arrays([item for item in result.items() if item is not None])
        else:
            yield np.asarray(result)
