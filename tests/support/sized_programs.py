"""Random programs on tensors whose sizes show only while they run: in native code, in plans, and at once.

A program is a list of steps, each a function of tensors that are there: it is made by running it on an input, so that
each step fits there. On other inputs the sizes are others, also 0 and 1, and a step may be refused.

    python -m support.sized_programs 1000        that many programs, in child processes: a crash counts as a failure
"""

from __future__ import annotations

import faulthandler
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import agc.runtime as tf
import numpy as np
from operation_sweep.judging import Refusal, difference, outcome

Step = tuple[str, tuple[int, ...]]


def _flat(x: Any) -> Any:
    return tf.reshape(x, [-1])


def _index(x: Any, size: Any) -> Any:
    """Integers that are indexes of so many elements."""
    return tf.cast(
        tf.math.floormod(tf.cast(_flat(x), tf.int64), tf.cast(tf.maximum(size, 1), tf.int64)), tf.int32
    )


def _rows(x: Any) -> Any:
    return tf.shape(x)[0]


def _looped(x: Any) -> Any:
    total = tf.zeros_like(x)
    for i in tf.range(tf.minimum(tf.size(x), 3)):
        total = total * 0.5 + x * tf.cast(i, tf.float32)
    return total


def _listed(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=x.shape[1:])
    for i in tf.range(_rows(x)):
        array = array.write(i, x[i] + 1.0)
    return array.stack()


def _chosen(x: Any) -> Any:
    y = x[:1]
    if tf.reduce_sum(x) > 0.0:
        y = tf.concat([x, x], 0)
    return y


def _shrunk(x: Any) -> Any:
    while _rows(x) > 2:
        x = x[::2]
    return x


STEPS: dict[str, tuple[int, Callable[..., Any]]] = {
    "masked": (1, lambda x: tf.boolean_mask(x, tf.reduce_sum(tf.reshape(x, [_rows(x), -1]), 1) > 0.0)),
    "masked_flat": (1, lambda x: tf.boolean_mask(x, x > 0.25)),
    "true_places": (1, lambda x: tf.cast(tf.where(x > 0.0), tf.float32)),
    "unique": (1, lambda x: tf.unique(_flat(x))[0]),
    "range": (1, lambda x: tf.cast(tf.range(tf.size(x)), tf.float32)),
    "sum0": (1, lambda x: tf.reduce_sum(x, 0)),
    "max_last": (1, lambda x: tf.reduce_max(tf.concat([x, tf.ones_like(x)], -1), -1)),
    "mean": (1, lambda x: tf.reduce_mean(x, -1, keepdims=True)),
    "any": (1, lambda x: tf.cast(tf.reduce_any(x > 0.0, 0), tf.float32)),
    "cumsum": (1, lambda x: tf.cumsum(x, 0)),
    "cumprod_last": (1, lambda x: tf.math.cumprod(x, -1, exclusive=True, reverse=True)),
    "sort": (1, lambda x: tf.sort(x, -1)),
    "argsort": (1, lambda x: tf.cast(tf.argsort(_flat(x), stable=True), tf.float32)),
    "argmax": (1, lambda x: tf.cast(tf.argmax(tf.concat([x, x], 0), 0), tf.float32)),
    "top_k": (1, lambda x: tf.math.top_k(_flat(x), tf.minimum(tf.size(x), 2))[0]),
    "reverse": (1, lambda x: tf.reverse(x, [0])),
    "transpose": (1, tf.transpose),
    "flat": (1, _flat),
    "column": (1, lambda x: tf.reshape(x, [-1, 1])),
    "pairs": (1, lambda x: tf.reshape(tf.concat([_flat(x), _flat(x)], 0), [-1, 2])),
    "expand": (1, lambda x: tf.expand_dims(x, 1)),
    "squeeze": (1, lambda x: tf.squeeze(tf.expand_dims(x, 0), 0)),
    "tail": (1, lambda x: x[1:]),
    "head": (1, lambda x: x[:-1]),
    "steps": (1, lambda x: x[::2]),
    "back": (1, lambda x: x[::-1]),
    "last": (1, lambda x: x[..., :1]),
    "half": (1, lambda x: x[: _rows(x) // 2]),
    "slice": (1, lambda x: tf.slice(_flat(x), [tf.size(x) // 3], [tf.size(x) // 2])),
    "pad": (1, lambda x: tf.pad(_flat(x), [[1, 2]])),
    "tile": (1, lambda x: tf.tile(_flat(x), [2])),
    "repeat": (1, lambda x: tf.repeat(x, 2, 0)),
    "repeat_each": (1, lambda x: tf.repeat(_flat(x), _index(x, 3))),
    "softmax": (1, tf.nn.softmax),
    "logsumexp": (1, lambda x: tf.reduce_logsumexp(x, 0)),
    "std": (1, lambda x: tf.math.reduce_std(x, 0)),
    "norm": (1, lambda x: tf.norm(x, axis=-1)),
    "nonzero": (1, lambda x: tf.cast(tf.math.count_nonzero(x, 0), tf.float32)),
    "fill": (1, lambda x: tf.fill([tf.size(x)], 0.5)),
    "zeros": (1, lambda x: tf.zeros([_rows(x), 2])),
    "one_hot": (1, lambda x: tf.one_hot(_index(x, 3), 3)),
    "hot_rows": (1, lambda x: tf.one_hot(_index(x, 3), _rows(x))),
    "sin": (1, tf.sin),
    "relu": (1, tf.nn.relu),
    "clip": (1, lambda x: tf.clip_by_value(x, -1.0, 1.0)),
    "rounded": (1, lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32)),
    "narrow": (1, lambda x: tf.cast(tf.cast(x, tf.bfloat16) + tf.cast(x, tf.bfloat16), tf.float32)),
    "halves": (1, lambda x: tf.cast(tf.cast(x, tf.float16), tf.float32)),
    "split": (1, lambda x: tf.split(tf.concat([x, x], 0), 2, 0)[1]),
    "stack": (1, lambda x: tf.stack([x, x * 2.0], 1)),
    "band": (
        1,
        lambda x: tf.linalg.band_part(tf.matmul(tf.reshape(x, [-1, 1]), tf.reshape(x, [1, -1])), 0, -1),
    ),
    "looped": (1, _looped),
    "listed": (1, _listed),
    "chosen": (1, _chosen),
    "shrunk": (1, _shrunk),
    "segments": (1, lambda x: tf.math.unsorted_segment_sum(_flat(x), _index(x, 4), 4)),
    "segment_rows": (
        1,
        lambda x: tf.math.unsorted_segment_max(x, _index(x[..., 0] if x.shape.rank == 2 else x, 3), 3),
    ),
    "sorted_segments": (1, lambda x: tf.math.segment_sum(_flat(x), tf.sort(_index(x, 3)))),
    "empty_segments": (1, lambda x: tf.math.unsorted_segment_sum(x, tf.constant([], tf.int32), 4)),
    "scatter": (1, lambda x: tf.scatter_nd(_index(x, 4)[:, None], _flat(x), [4])),
    "mask_of_lengths": (1, lambda x: tf.cast(tf.sequence_mask(_index(x, 3)), tf.float32)),
    "found": (1, lambda x: tf.cast(tf.searchsorted(tf.sort(_flat(x)), _flat(x)), tf.float32)),
    "counts": (1, lambda x: tf.cast(tf.math.bincount(_index(x, 3), minlength=3), tf.float32)),
    "add": (2, lambda x, y: x + y),
    "multiply": (2, lambda x, y: x * y),
    "subtract": (2, lambda x, y: x - y),
    "maximum": (2, tf.maximum),
    "where": (2, lambda x, y: tf.where(x > y, x, y)),
    "concat": (2, lambda x, y: tf.concat([x, y], 0)),
    "concat_last": (2, lambda x, y: tf.concat([x, y], -1)),
    "outer": (2, lambda x, y: _flat(x)[:, None] * _flat(y)[None, :]),
    "matmul": (2, tf.matmul),
    "matmul_turned": (2, lambda x, y: tf.matmul(x, y, transpose_b=True)),
    "dot": (2, lambda x, y: tf.tensordot(x, y, 1)),
    "gather": (2, lambda x, y: tf.gather(x, _index(y, _rows(x)))),
    "gather_last": (2, lambda x, y: tf.gather(x, _index(y, tf.shape(x)[-1]), axis=-1)),
    "gather_nd": (2, lambda x, y: tf.gather_nd(x, _index(y, _rows(x))[:, None])),
    "mask_by": (2, lambda x, y: tf.boolean_mask(x, y > 0.0)),
    "less": (2, lambda x, y: tf.cast(x < y, tf.float32)),
    "reshape_like": (2, lambda x, y: tf.reshape(x, tf.shape(y))),
    "broadcast": (2, lambda x, y: tf.broadcast_to(x, tf.shape(y))),
    "cut_to": (2, lambda x, y: x[: _rows(y)]),
}
"""The steps by name: how many tensors each takes, and what it does."""

LARGEST = 2000
"""Elements of a tensor of which no others are made."""

SLOW = 100
"""Seconds after which a program is taken for one that does not end."""


NO_ELEMENTS = "Tried to join no elements of a TensorArray"
"""Refused by graphs that do not know the shape of an element, as in TensorFlow. Eager code knows the shape."""


def inputs(random_: random.Random) -> list[Any]:
    """Two tensors: a matrix with three columns, and a vector, whose sizes may be 0 or 1."""
    values = [-2.0, -1.0, 0.0, 0.5, 0.5, 1.0, 3.0]
    rows, size = random_.choice([0, 1, 2, 4, 5]), random_.choice([0, 1, 3, 4, 6])
    return [
        np.array([random_.choice(values) for _ in range(n)], np.float32).reshape(shape)
        for n, shape in ((3 * rows, (rows, 3)), (size, (size,)))
    ]


def program(random_: random.Random) -> tuple[list[Step], list[list[Any]]]:
    """A program, and inputs for it: the first is one that all its steps take."""
    many = [inputs(random_) for _ in range(5)]
    pool = [tf.constant(x) for x in many[0]]
    steps: list[Step] = []
    for _ in range(random_.randint(5, 20)):
        name = random_.choice([*STEPS])
        count, run = STEPS[name]
        places = tuple(random_.choice(range(max(len(pool) - 5, 0), len(pool))) for _ in range(count))
        found = outcome(lambda run=run, places=places: [run(*(pool[i] for i in places))])
        if isinstance(found, Refusal) or found[0].size > LARGEST:
            continue
        pool.append(tf.constant(found[0]))
        steps.append((name, places))
    return steps, many


def run(steps: Sequence[Step], x: Any, y: Any) -> list[Any]:
    """What all steps give."""
    pool = [x, y]
    for name, places in steps:
        pool.append(STEPS[name][1](*(pool[i] for i in places)))
    return pool[2:]


def differences(seed: int) -> Iterator[str]:
    """How the executors differ on the program of this number."""
    steps, many = program(random.Random(seed))
    specs = [tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([None], tf.float32)]
    functions = {
        "plan": tf.function(lambda x, y: run(steps, x, y), input_signature=specs, jit_compile=False),
        "native": tf.function(lambda x, y: run(steps, x, y), input_signature=specs, jit_compile=True),
    }
    for given in many:
        tensors = [*map(tf.constant, given)]
        wanted = outcome(lambda tensors=tensors: run(steps, *tensors))
        for name, function in functions.items():
            found = outcome(lambda function=function, tensors=tensors: function(*tensors))
            if isinstance(found, Refusal) and (found.kind == "CompilationError" or NO_ELEMENTS in found.text):
                continue
            if isinstance(found, Refusal) and isinstance(wanted, Refusal) and "AGC221" not in found.text:
                continue
            text = difference(found, wanted)
            if text:
                yield f"{seed} {name} {[x.shape for x in given]}: {text[:400]}"
                break


def main(arguments: Sequence[str]) -> int:
    start, stop = (int(arguments[1]), int(arguments[2])) if len(arguments) > 2 else (0, int(arguments[0]))
    if len(arguments) > 2:
        for seed in range(start, stop):
            print("AT", seed, flush=True)
            faulthandler.dump_traceback_later(SLOW, exit=True)
            for text in differences(seed):
                print("WRONG", text.replace("\n", " "), flush=True)
        return 0
    wrong = 0
    while start < stop:
        command = [sys.executable, "-m", "support.sized_programs", "child", str(start), str(stop)]
        found = subprocess.run(command, capture_output=True, text=True)
        lines = found.stdout.splitlines()
        at = max((int(line.split()[1]) for line in lines if line.startswith("AT")), default=start)
        for line in lines:
            if line.startswith("WRONG"):
                wrong += 1
                print(line, flush=True)
        if found.returncode:
            wrong += 1
            print(f"CRASH {at}: {found.returncode} {found.stderr[-300:]}", flush=True)
        start = at + 1
    print(f"{stop} programs, {wrong} wrong", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
