"""One library, in a process of its own: a request is a line of JSON, and so is the answer.

    ["measure", "power"]     →  {"seconds": 0.00011, "result": [[...]]}     for one part of the case
    ["size"]                 →  {"ratio": 1.4}                              lines of generated code for a line
    ["overhead", "branch", "converted"]  →  {"ratio": 7.5}                  the time of plain Python, so many times

A figure comes from enough runs to last about `LASTING` seconds; the first run of a case is not among them.
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from typing import Any

import numpy as np

from ..timing import repetitions, seconds
from . import overhead
from .cases import CASES, Run, load, module, size_ratio

LASTING = 0.03
_CASES = {case.name: case for case in CASES}


@functools.cache
def _prepared(library: str, name: str) -> tuple[Run, int, Any]:
    """The run of a case, warm, how many of them make one figure, and the result."""
    tf = importlib.import_module(library)
    run = _CASES[name].prepare(tf, load(tf))
    result = _plain(run())
    return run, repetitions(run, LASTING), result


def measure(library: str, name: str) -> dict[str, Any]:
    """One figure of a case, and the result of a run."""
    run, count, result = _prepared(library, name)
    return {"seconds": seconds(run, count) / count / _CASES[name].parts, "result": result}


def _plain(result: Any) -> Any:
    """Tensors as lists, for the comparison with another library's."""
    return result if isinstance(result, list) else np.asarray(result).tolist()


def answer(library: str, request: list[str]) -> dict[str, Any]:
    if request[0] == "size":
        return {"ratio": size_ratio(importlib.import_module(library))}
    if request[0] == "overhead":
        return {"ratio": overhead.ratio(importlib.import_module(library), module, *request[1:])}
    return measure(library, request[1])


def main(library: str) -> None:
    for line in sys.stdin:
        print(json.dumps(answer(library, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
