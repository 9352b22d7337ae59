"""Random calls with exotic arguments: each gets the result of its own trace, however often and however it is called."""

from __future__ import annotations

import collections
import dataclasses
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.tracing.flat_arguments import FlatArguments
from support.entered_code import entered


class Float(float):
    """A subclass of float."""


class Int(int):
    """A subclass of int."""


class Array(np.ndarray):  # type: ignore[type-arg]
    """A subclass of arrays."""


@dataclasses.dataclass
class Record:
    x: Any
    n: Any


Pair = collections.namedtuple("Pair", "x n")
Other = collections.namedtuple("Other", "x n")


class Thing:
    """An object that is compared by identity."""


THINGS = [Thing(), Thing()]
MATRIX = np.arange(6.0).reshape(2, 3)
LEAVES: list[Callable[[], Any]] = [
    lambda: tf.constant(1.0),
    lambda: tf.constant([1.0, 2.0, 3.0]),
    lambda: tf.constant(3),
    lambda: tf.constant(True),
    lambda: MATRIX,
    lambda: np.asfortranarray(MATRIX),
    lambda: MATRIX[:, ::2],
    lambda: MATRIX.astype(">f8"),
    lambda: MATRIX.view(Array),
    lambda: MATRIX[:0],
    lambda: np.frombuffer(b"." + MATRIX.tobytes(), offset=1).reshape(2, 3),
    lambda: np.float32(2),
    *[lambda each=each: each for each in (Float(1.5), Int(3), True, 10**400, -0.0, 0, 0.0, 1, None, "s")],
    lambda: float("nan"),
    lambda: THINGS[0],
    lambda: THINGS[1],
]


class Calls:
    """A generator of arguments."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def call(self) -> tuple[list[Any], dict[str, Any]]:
        names = self.random.sample(["k", "a", "_b"], self.random.randrange(3))
        return self.parts(1 + self.random.randrange(3), 0), {name: self.value(0) for name in names}

    def parts(self, count: int, depth: int) -> list[Any]:
        return [self.value(depth) for _ in range(count)]

    def value(self, depth: int) -> Any:
        if depth > 2 or self.random.random() < 0.6:
            return self.random.choice(LEAVES)()
        count = self.random.randrange(3)
        nests: list[Callable[[], Any]] = [
            lambda: self.parts(count, depth + 1),
            lambda: tuple(self.parts(count, depth + 1)),
            lambda: {self.random.choice("abc"): part for part in self.parts(count, depth + 1)},
            lambda: Record(*self.parts(2, depth + 1)),
            lambda: self.random.choice([Pair, Other])(*self.parts(2, depth + 1)),
        ]
        return self.random.choice(nests)()


def text(value: Any) -> str:
    """What a trace can see of an argument."""
    if tf.is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        return f"{tf.as_dtype(value.dtype.name).name}{tuple(value.shape)}"
    if isinstance(value, Record):
        return f"Record({text(value.x)}, {text(value.n)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {text(part)}' for key, part in sorted(value.items()))}}}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(text, value))})"
    if isinstance(value, Thing):
        return f"thing {[value is each for each in THINGS]}"
    return f"{type(value).__name__} {str(value)[:30]}"


def shown(*args: Any, k: Any = 0, **more: Any) -> Any:
    return tf.constant(text((args, k, more)))


def weighted(*args: Any, k: Any = 0, **more: Any) -> Any:
    leaves = [leaf for leaf in tf.nest.flatten((args, k, more)) if tf.is_tensor(leaf)]
    total = tf.constant(0.0, tf.float64)
    for place, leaf in enumerate(leaves):
        total = total + (place + 1.0) * tf.reduce_sum(tf.cast(leaf, tf.float64))
    return {"total": total, "leaves": leaves}


def expected(args: Any, k: Any = 0, **more: Any) -> tuple[float, list[Any]]:
    flat = tf.nest.flatten((args, k, more))
    leaves = [np.asarray(x) for x in flat if tf.is_tensor(x) or isinstance(x, (np.ndarray, np.generic))]
    total = sum((place + 1) * float(leaf.astype(float).sum()) for place, leaf in enumerate(leaves))
    return total, [leaf.tolist() for leaf in leaves]


@pytest.mark.parametrize(("jit_compile", "steps"), [(False, 300), (True, 25)], ids=["plan", "native"])
@pytest.mark.parametrize("seed", range(2))
def test_random_calls(seed: int, jit_compile: bool, steps: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "agc")  # they retrace all the time
    calls = Calls(seed)
    show, weigh = tf.function(shown, jit_compile=False), tf.function(weighted, jit_compile=jit_compile)
    known: list[Any] = []
    for _ in range(steps):
        if not known or calls.random.random() < 0.4:
            known.append(calls.call())
        args, kwargs = calls.random.choice(known)
        for _ in range(3):
            assert show(*args, **kwargs).numpy().decode() == shown(*args, **kwargs).numpy().decode()
            found = weigh(*args, **kwargs)
            leaves = [np.asarray(leaf).tolist() for leaf in found["leaves"]]
            assert (float(found["total"]), leaves) == expected(tuple(args), **kwargs)


@pytest.mark.parametrize("jit_compile", [True, False])
def test_threads_that_call_with_other_arguments(jit_compile: bool) -> None:
    f = tf.function(lambda x, n, how: x * n, jit_compile=jit_compile)
    failures: list[Any] = []

    def work(number: int) -> None:
        x = tf.fill([number + 1], float(number))
        for _ in range(100):
            found = f(x, number, f"thread {number}").numpy().tolist()
            if found != [float(number**2)] * (number + 1):
                failures.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_structures() -> None:
    flat = FlatArguments((1, {"b": [2, 3], "a": ()}, [4], None))
    assert flat.leaves == [1, 2, 3, 4, None]
    assert flat.structure == (
        None,
        (dict, ("a", "b"), (tuple, 0), (list, 2, None, None)),
        (list, 1, None),
        None,
    )
    assert [leaves for _, leaves in flat.by_argument()] == [[1], [2, 3], [4], [None]]
    other = flat.with_leaves("vwxyz")
    assert list(other.values) == ["v", {"b": ["w", "x"], "a": ()}, ["y"], "z"]
    assert other.structure == flat.structure


def files_of(call: Callable[[], Any]) -> set[str]:
    """Return the files of the project that a call enters, without generated code."""
    root = str(Path(tf.__file__).parent)
    files = {code.co_filename for code in entered(call)[1]}
    return {name for name in files if name.startswith(root) and name.endswith(".py")}


def test_a_call_enters_few_files() -> None:
    f, x = tf.function(lambda x: x + x, jit_compile=False), tf.constant(1.0)
    f(x)
    assert len(files_of(lambda: f(x))) <= 15  # makes the entry of such calls
    assert len(files_of(lambda: f(x))) <= 8
