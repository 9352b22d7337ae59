"""One contestant, in a process of its own: a request is a line of JSON, and so is the answer.

    ["first", "power", "full"]    →  {"seconds": 0.021, "result": [[...]],    the call that traces and compiles,
                                      "overhead": 0.0208}                     and what it takes over later ones
    ["measure", "power", "full"]  →  {"seconds": 0.00011}                     a later call
    ["ready", "CNN", "full"]      →  {}                                       the library is imported
    ["cold", "CNN", "full"]       →  {"seconds": 0.021, "result": [[...]]}    the very first call, which is kept
    ["peak", "CNN", "full"]       →  {"megabytes": 163.5}                     the most that the process took
    ["blas"]                      →  {"name": "OpenBLAS SkylakeX"}            the code that NumPy's BLAS has chosen
    ["memory", "power", "full"]   →  {"before": 61.2, "after": 63.5}          the most that it took, in MB
    whatever fails                →  {"error": "…"}

A figure comes from enough runs to last about `LASTING` seconds. `python -m benchmarks.worker` alone prints
the contestants that its interpreter can run.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import io
import json
import pathlib
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .contestants import BY_NAME, CONTESTANTS, Contestant, Run
from .timing import repetitions, seconds
from .workloads import WORKLOADS

LASTING = 0.05
SETTLING = 0.5
"""Seconds of calls after which the automatic mode should have decided."""
WARMING = ("power", "Collatz", "MLP")
AGAIN = 4
"""The number of calls whose least time is that of a later one, unless they take long: the second may prepare more."""
MOST = 4_000
"""So many numbers of a result are sent for the comparison."""


def _run(contestant: Contestant, name: str, size: str) -> tuple[Run, int]:
    """The run of a workload that no one has seen yet, and which of its results is compared."""
    workload = WORKLOADS[name]
    module = workload.load()
    return contestant.run_of(module, workload.size(module, size)), getattr(module, "STEPS", 1)


def first(contestant: Contestant, name: str, size: str) -> dict[str, Any]:
    """The times of the first calls, and the result. The library is warm: it has made other programs before.

    The overhead of a first call is lost in the noise of a long run: a short one measures it.
    """
    _warm(contestant)
    overhead = None
    if size == "full" and hasattr(WORKLOADS[name].load(), "SHORT"):
        overhead = _overhead(_calls(*_run(contestant, name, "short")))
    run, steps = _run(contestant, name, size)
    calls = _calls(run, steps)
    overhead = _overhead(calls) if overhead is None else overhead
    return {"seconds": calls[0][0], "overhead": overhead, "result": _numbers(calls[steps - 1][1])}


def _calls(run: Run, steps: int) -> list[tuple[float, Any]]:
    """The times and results of the first calls."""
    calls = [_timed(run)]
    while len(calls) < max(2, steps) or (len(calls) < AGAIN and calls[-1][0] < LASTING):
        calls.append(_timed(run))
    return calls


def _overhead(calls: list[tuple[float, Any]]) -> float:
    return calls[0][0] - min(seconds for seconds, _ in calls[1:])


def _timed(run: Run) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def ready(contestant: Contestant, name: str, size: str) -> dict[str, Any]:
    """Import the library, as a first call does not."""
    importlib.import_module(contestant.library)
    return {}


def cold(contestant: Contestant, name: str, size: str) -> dict[str, Any]:
    """Return the time of the first call in this process and the result. Later figures are of the same run."""
    run, steps = _KEPT[name] = _run(contestant, name, size)
    calls = [_timed(run) for _ in range(steps)]
    return {"seconds": calls[0][0], "result": _numbers(calls[-1][1])}


_KEPT: dict[str, tuple[Run, int]] = {}


@functools.cache
def _warm(contestant: Contestant) -> None:
    for name in WARMING:
        if contestant.takes(WORKLOADS[name].load()):
            run, _ = _run(contestant, name, "tiny")
            run()


def measure(contestant: Contestant, name: str, size: str) -> dict[str, Any]:
    """One figure."""
    run, count = _prepared(contestant.name, name, size)
    return {"seconds": seconds(run, count) / count}


@functools.cache
def _prepared(contestant: str, name: str, size: str) -> tuple[Run, int]:
    """The run of a workload, warm, and how many of them make one figure."""
    run, _ = _KEPT.get(name) or _run(BY_NAME[contestant], name, size)
    run()
    if BY_NAME[contestant].is_automatic:
        _settle(run)
    run = getattr(run, "call", run)  # of C
    return run, repetitions(run, LASTING)


def _settle(run: Run) -> None:
    """Call for so long that native code should have replaced the plan where it is faster."""
    end = time.perf_counter() + SETTLING
    while time.perf_counter() < end:
        run()


def memory(contestant: Contestant, name: str, size: str) -> dict[str, Any]:
    """The memory of the process before three runs, and the most that it took until their end."""
    _warm(contestant)
    run, _ = _run(contestant, name, size)
    before = _present()
    for _ in range(3):
        run()
    return {"before": before, "after": _peak()}


def peak(contestant: Contestant, name: str, size: str) -> dict[str, Any]:
    return {"megabytes": _peak()}


def _present() -> float:
    """The memory that is in use, after which the peak begins anew; the peak until now, where Linux does not do that."""
    gc.collect()
    reset = pathlib.Path("/proc/self/clear_refs")
    if not reset.exists():
        return _peak()
    ctypes.CDLL(None).malloc_trim(0)  # free memory that a library still holds would hide what it takes
    reset.write_text("5")
    return _peak()


def blas(contestant: Contestant) -> dict[str, Any]:
    """Return the code that NumPy's BLAS has chosen for the processor, such as SkylakeX."""
    folder = pathlib.Path(np.__file__).parents[1] / "numpy.libs"
    for path in sorted(folder.glob("*openblas*")):
        with contextlib.suppress(AttributeError):
            name = ctypes.CDLL(str(path)).scipy_openblas_get_corename64_
            name.restype = ctypes.c_char_p
            return {"name": f"OpenBLAS {name().decode()}"}
    return {"name": "unknown"}


def _peak() -> float:
    status = pathlib.Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _numbers(result: Any) -> list[Any]:
    """A result, or several: at most so many numbers of each, evenly chosen."""
    if result is None:
        return []
    parts = result if isinstance(result, (tuple, list)) else [result]
    flat = [np.ravel(np.asarray(part.detach() if hasattr(part, "detach") else part)) for part in parts]
    return [array[:: max(1, array.size // MOST)].tolist() for array in flat]


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {
    function.__name__: function for function in (blas, ready, cold, first, measure, peak, memory)
}


def answer(contestant: Contestant, request: list[str]) -> dict[str, Any]:
    """What a request gives; libraries may print what they like, which goes nowhere."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return ANSWERS[request[0]](contestant, *request[1:])
    except Exception as error:
        lines = str(error).strip().splitlines()
        return {"error": f"{type(error).__name__}: {lines[0] if lines else ''}"}


def main(name: str) -> None:
    for line in sys.stdin:
        print(json.dumps(answer(BY_NAME[name], json.loads(line))), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        print(json.dumps([contestant.name for contestant in CONTESTANTS if contestant.is_here()]))
