"""The bounds of the figures: `pass` or `MISS` for each, nothing if a contestant is missing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import NamedTuple

from .contestants import CONTESTANTS, LIMIT, REFERENCE
from .figures import Figures, Table, ratio, slowdowns
from .workloads import LENGTHS, MODELS, TABLE


class Verdict(NamedTuple):
    what: str
    value: float
    spread: float
    most: float
    unit: str = "times"

    @property
    def word(self) -> str:
        return "pass" if self.value <= self.most else "MISS"


LIMITS = {
    "Collatz": 2.0, "jumps": 2.0, "recurrence": 2.0, "Mandelbrot": 1.3, "chain": 1.3, "power": 4.0,
    "RNN": 1.3, "RNN gradient": 2.0, "MLP": 1.5, "dead": 1.3, "common": 1.3, "constant": 1.3,
}  # fmt: skip
"""Native code: so many times the limit."""

CALLS = {"scalar call": 3.0, "ten arguments": 6.0}
"""Microseconds of a call that finds its graph."""
CALLS_OF_PEERS = {"JAX": 1 / 4, "TF graph": 1 / 50}
FIRST_CALLS = {"TF graph": 1 / 5, "JAX": 1 / 5}
COMPILATION = 100.0  # milliseconds
FLAT = 1.5  # times; what an operation of many costs over one of few
MEMORY = 2.0  # megabytes; what a long loop takes over a short one
IMPORT = 60.0  # milliseconds
AUTOMATIC = 1.1  # times native code on demand, after half a second of calls
BUSY = 1.5  # times the slowdown of TensorFlow next to spinning processes
PEERS = [c.name for c in CONTESTANTS if not c.is_ours and c.name not in (LIMIT, REFERENCE)]


def verdicts(figures: Figures) -> Iterator[Verdict]:
    yield from _limits(figures)
    yield from _calls(figures)
    yield from _against_peers(figures)
    yield from _first_calls(figures)
    yield from _growth(figures)
    yield from _models(figures)
    if "agc" in figures.imports:
        yield Verdict("import, over NumPy's", statistics.median(figures.imports["agc"]), 0.0, IMPORT, "ms")


def _compared(
    table: Table, workload: str, ours: str, other: str, most: float, note: str = ""
) -> Iterator[Verdict]:
    row = table.get(workload, {})
    if ours in row and other in row:
        yield Verdict(f"{workload}: {ours}{note} over {other}", *ratio(row[ours], row[other]), most)


def _limits(figures: Figures) -> Iterator[Verdict]:
    for workload, most in LIMITS.items():
        yield from _compared(figures.calls, workload, "agc native", LIMIT, most)


def _calls(figures: Figures) -> Iterator[Verdict]:
    for workload, most in CALLS.items():
        if "agc plan" in figures.calls.get(workload, {}):
            times = figures.calls[workload]["agc plan"]
            yield Verdict(f"{workload}: agc plan", statistics.median(times), 0.0, most, "µs")
        for peer, share in CALLS_OF_PEERS.items():
            yield from _compared(figures.calls, workload, "agc plan", peer, share)


def _against_peers(figures: Figures) -> Iterator[Verdict]:
    """Native code is ahead of all peers, the plan of TensorFlow's graphs."""
    for workload in TABLE:
        row = figures.calls.get(workload, {})
        peers = [peer for peer in PEERS if peer in row]
        if peers:
            fastest = min(peers, key=lambda peer: statistics.median(row[peer]))
            yield from _compared(figures.calls, workload, "agc native", fastest, 1.0)
        yield from _compared(figures.calls, workload, "agc plan", "TF graph", 1.0)


def _first_calls(figures: Figures) -> Iterator[Verdict]:
    """What it takes to get ready: what the program itself computes in its first call is no part of it."""
    for workload in TABLE:
        for peer, share in FIRST_CALLS.items():
            yield from _compared(figures.overheads, workload, "agc plan", peer, share, ", first call,")
        row = figures.overheads.get(workload, {})
        if "agc native" in row and "agc plan" in row:
            seconds = statistics.median(row["agc native"]) - statistics.median(row["agc plan"])
            yield Verdict(f"{workload}: native compilation", seconds, 0.0, COMPILATION, "ms")


def _models(figures: Figures) -> Iterator[Verdict]:
    """The default mode is ahead of all peers: in calls, first calls and memory of TensorFlow, and on a busy machine."""
    for model in MODELS:
        row = figures.calls.get(model, {})
        ours, tensorflow = (
            ("agc automatic", "TF graph") if "TF eager" not in row else ("agc eager", "TF eager")
        )
        peers = [peer for peer in PEERS if peer in row]
        if peers:
            fastest = min(peers, key=lambda peer: statistics.median(row[peer]))
            yield from _compared(figures.calls, model, ours, fastest, 1.0)
        yield from _compared(figures.calls, model, ours, "agc native", AUTOMATIC)
        yield from _compared(figures.colds, model, ours, tensorflow, 1.0, ", first call,")
        yield from _compared(figures.peaks, model, ours, tensorflow, 1.0, ", memory,")
        note = ", slowdown next to spinning processes,"
        yield from _compared(slowdowns(figures), model, ours, tensorflow, BUSY, note)


def _growth(figures: Figures) -> Iterator[Verdict]:
    few, *_, many = (f"straight {count}" for count in LENGTHS)
    for contestant in filter(lambda each: each.is_ours, CONTESTANTS):
        ours = contestant.name
        for table, what in ((figures.firsts, "tracing"), (figures.calls, "running")):
            if ours in table.get(few, {}) and ours in table.get(many, {}):
                value, spread = ratio(table[many][ours], table[few][ours])
                share = LENGTHS[0] / LENGTHS[-1]
                text = f"{what} an operation of {LENGTHS[-1]} over one of {LENGTHS[0]}: {ours}"
                yield Verdict(text, value * share, spread * share, FLAT)
        short, long = (figures.memory.get(f"loop {count}", {}).get(ours) for count in (10_000, 1_000_000))
        if short and long and not contestant.is_automatic:  # which loads the compiler for the long loop only
            yield Verdict(
                f"memory of 1M iterations over 10,000: {ours}", long[0] - short[0], 0.0, MEMORY, "MB"
            )
