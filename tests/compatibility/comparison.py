"""Compare the outcomes of a suite on TensorFlow and on agc, test by test.

A test counts if it passes on TensorFlow. A script counts if it ends on TensorFlow without an error. Those that record
numbers pass on agc if their numbers there are the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

Outcomes = dict[str, tuple[str, str]]  # a test's last outcome and its error

ADDRESS = re.compile(r"0x[0-9a-f]+")  # of an object in the name of a test
ERROR = re.compile(r"[\w.]+:( |$)|assert ")
TOLERANCE = 1e-2  # of a loss, relative


class Failure(NamedTuple):
    """A test that passes on TensorFlow and not on agc."""

    test: str
    reason: str


class Comparison(NamedTuple):
    """Count the tests of a suite that pass with TensorFlow, and list those that agc does not pass."""

    suite: str
    counted: int
    failures: list[Failure]


def read(file: Path) -> Outcomes:
    """Return the outcomes that a run has recorded."""
    found: Outcomes = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        name, outcome, error = json.loads(line)
        found[ADDRESS.sub("", name)] = (outcome, error)
    return found


def compare(suite: str, theirs: Outcomes, ours: Outcomes) -> Comparison:
    """Return what passes on TensorFlow and not on agc.

    >>> theirs = {"a": ("passed", ""), "b": ("passed", ""), "c": ("failed", "jax is missing")}
    >>> compare("s", theirs, {"a": ("passed", ""), "b": ("failed", "ValueError: no"), "c": ("failed", "")})
    Comparison(suite='s', counted=2, failures=[Failure(test='b', reason='ValueError: no')])
    """
    counted = {name: detail for name, (outcome, detail) in theirs.items() if outcome == "passed"}
    failures = []
    for name, detail in counted.items():
        outcome, error = ours.get(name, ("missing", ""))
        if outcome == "passed" and not same_losses(detail, error):
            failures.append(Failure(name, "other numbers"))
        elif outcome != "passed":
            failures.append(Failure(name, reason_of(outcome, error)))
    return Comparison(suite, len(counted), failures)


def reason_of(outcome: str, error: str) -> str:
    """Return the line of an error that says what is wrong, or why there is none.

    >>> reason_of("failed", "AssertionError: \\nNot equal to tolerance rtol=1e-06\\n more")
    'AssertionError: Not equal to tolerance rtol=1e-06'
    >>> reason_of("started", "")
    'the process ended in it'
    """
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if not lines or outcome != "failed":
        return {"started": "the process ended in it", "missing": "not run"}.get(outcome, outcome)
    if not ERROR.match(lines[0]):
        return lines[-1]  # of a traceback
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]


def same_losses(theirs: str, ours: str) -> bool:
    """Return whether the losses of two runs of a script are the same up to rounding.

    >>> same_losses("1.0 nan", "1.001 nan"), same_losses("1.0", "1.0 2.0"), same_losses("1.0 …", "2.0 …")
    (True, False, False)
    """
    if theirs == ours:
        return True
    try:
        return _close(*([float(word) for word in text.split()] for text in (theirs, ours)))
    except ValueError:
        return False


def _close(theirs: Sequence[float], ours: Sequence[float]) -> bool:
    return len(theirs) == len(ours) and all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-6) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(theirs, ours, strict=True)
    )
