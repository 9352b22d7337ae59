"""Graphs with control flow, lists, variables and calls, as hostile authors of files find them; and runs of theirs.

`python -m support.hostile_programs EXECUTOR FIRST COUNT` loads and runs that many mutations of them in this process,
which no file may bring down. It prints how many of them were loaded, and fails on the first error that is not clean.
"""

from __future__ import annotations

import contextlib
import functools
import json
import random
import signal
import sys
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.json_format import serialize
from support.hostile_graphs import CLEAN, loaded, mutated, nothing_ran, run


def loop(x: Any, n: Any) -> Any:
    while tf.reduce_sum(x) < 100.0 and n < 10:
        x = tf.concat([x[1:], x[:1]], 0) * 2.0 + tf.cast(n, tf.float32)
        n += 1
    return x, n


def branches(x: Any, n: Any) -> Any:
    y = tf.reverse(x, [0])
    if n > 1:
        y = tf.exp(x) + tf.gather(x, [0, 1, n, 2])
    return tf.switch_case(n % 2, [lambda: y, lambda: tf.cumsum(y)])


def array(x: Any, n: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=4)
    for i in tf.range(4):
        rows = rows.write(i, x * tf.cast(i, tf.float32))
    return tf.matmul(rows.stack(), rows.stack(), transpose_b=True), rows.read(n)


def growing(x: Any, n: Any) -> Any:
    xs = []
    for i in tf.range(n):
        xs.append(x[i] + x)
    return tf.stack(xs)


def numbers(x: Any, n: Any) -> Any:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return tf.reshape(x, [2, -1])[:, steps % 2], tf.argmax(x), tf.nn.softmax(x)


def gradient(x: Any, n: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(n):
            y = tf.sin(y) * x
    return tape.gradient(y, x)


def texts(x: Any, n: Any) -> Any:
    tf.debugging.assert_less(n, 100, message="too many")
    return tf.strings.join([tf.as_string(n), " of ", tf.as_string(x)])


def calls(x: Any, n: Any) -> Any:
    inner = tf.function(lambda y, k: tf.pad(y, [[1, 1]])[k : k + 2])
    return inner(x, n) + inner(x + 1.0, n)


PROGRAMS: tuple[Callable[..., Any], ...] = (
    loop, branches, array, growing, numbers, gradient, texts, calls,
)  # fmt: skip

ARGUMENTS = [np.array([1.0, 2.0, 3.0, 4.0], np.float32), np.array(3, np.int32)]


_LONGEST = 3.0
"""Seconds that a mutation may run."""


@functools.cache
def data_of(program: Callable[..., Any]) -> str:
    """The JSON text of a program's graph."""
    specs = [tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)]
    return json.dumps(serialize(tf.function(program).get_concrete_function(*specs).graph, portable=True))


def run_natively(graph: Graph) -> None:
    """Compile a loaded graph and run it, if it takes such arguments."""
    if [str(value.spec) for value in graph.inputs] != ["float32[?]", "int32[]"]:
        return
    with contextlib.suppress(*CLEAN):
        JitFunction(graph).run(ARGUMENTS)


class EndlessError(BaseException):
    """A loop has become endless, which is no fault."""


def _end(*_: Any) -> None:
    raise EndlessError


def main(executor: str, first: int, count: int) -> None:
    survivors = 0
    signal.signal(signal.SIGALRM, _end)
    for seed in range(first, first + count):
        rng = random.Random(seed)
        graph = loaded(mutated(json.loads(data_of(rng.choice(PROGRAMS))), rng))
        if graph is not None:
            survivors += 1
            print("seed", seed, flush=True)
            signal.setitimer(signal.ITIMER_REAL, _LONGEST)
            with contextlib.suppress(EndlessError):
                run_natively(graph) if executor == "native" else run(graph, ARGUMENTS, (executor,))
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert nothing_ran()
    print("loaded", survivors)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
