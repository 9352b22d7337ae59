"""The whole sweep, in child processes.

    python -m operation_sweep [--only PATTERN] [--examples 4] [--executors plan,native]

A child that crashes, or says nothing for two minutes, is a failure of the call that it was at; another one goes on
behind it. The exit code is 1 where anything was wrong.
"""

from __future__ import annotations

import argparse
import fnmatch
import pickle
import queue
import resource
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SILENCE = 120
MEMORY = 6 << 30


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m operation_sweep")
    parser.add_argument("--only", default="*", help="a pattern of names of operations")
    parser.add_argument("--examples", type=int, default=4, help="the most examples of an operation")
    parser.add_argument("--executors", default="", help="names between commas; all if there are none")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    parser.add_argument("--many", type=int, default=48, help="calls in one graph")
    options = parser.parse_args()
    if options.child:
        return child(options)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "examples"
        names = write_examples(file)
        names = fnmatch.filter(names, options.only)
        wrong, counts = 0, Counter[str]()
        for line in swept(names, file, sys.argv[1:], options.many, counts):
            wrong += 1
            print(line, flush=True)
    print(f"{len(names)} operations, {wrong} wrong; calls: {dict(counts)}", flush=True)
    return int(bool(wrong))


def write_examples(file: Path) -> list[str]:
    """Write down the operands and attributes of all examples; the names of the operations."""
    from support.operation_examples import NAMES, calls

    from operation_sweep.cases import LEFT_OUT

    found = {
        name: [([*map(_array, c.arrays)], c.attrs) for c in calls(name)]
        for name in NAMES
        if calls(name) and name not in LEFT_OUT
    }
    file.write_bytes(pickle.dumps(found))
    return sorted(found)


def _array(array: Any) -> Any:
    import numpy as np

    return np.asarray(array)


def swept(
    names: Sequence[str], file: Path, arguments: Sequence[str], many: int, counts: Counter[str]
) -> Iterator[str]:
    """What is wrong, a line each. Where a child ends before its time, the operation is tried again call by call."""
    left = list(names)
    while left:
        done, at = 0, ""
        for kind, text in child_lines(left, file, arguments, many):
            if kind == "DONE":
                done += 1
                for part in text.split(",")[:-1]:
                    count, executor = part.split(maxsplit=1)
                    counts[executor] += int(count)
            elif kind == "AT":
                at = text
            else:
                yield f"{kind} {text}"
        left = left[done:]
        if left and many > 1:
            yield from swept(left[:1], file, arguments, 1, counts)
        elif left:
            yield f"CRASH {at}"
        left = left[1:]


def child_lines(
    names: Sequence[str], file: Path, arguments: Sequence[str], many: int
) -> Iterator[tuple[str, str]]:
    """What a child says of these operations."""
    command = [sys.executable, "-m", "operation_sweep", *arguments, "--child", str(file), "--many", str(many)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n".join(names))
    process.stdin.close()
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=SILENCE)
        except queue.Empty:
            process.kill()
            break
        if line is None:
            break
        kind, _, text = line.rstrip("\n").partition(" ")
        if kind in ("AT", "DONE", "WRONG"):
            yield kind, text
    process.wait()


def child(options: Any) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    from operation_sweep.cases import cases
    from operation_sweep.running import EXECUTORS_SWEPT, compared

    def begin(text: str) -> None:
        print("AT", text, flush=True)

    examples = pickle.loads(Path(options.child).read_bytes())
    executors = [*filter(None, options.executors.split(","))] or [*EXECUTORS_SWEPT]
    for name in sys.stdin.read().split():
        made, counts = cases(name, examples[name], options.examples), Counter[str]()
        for wrong in compared(made, executors, begin, options.many, counts):
            print("WRONG", *" | ".join(wrong).split("\n"), flush=True)
        print("DONE", *(f"{count} {executor}," for executor, count in counts.items()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
