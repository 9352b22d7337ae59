"""Time per operation of each stage of the compiler, for graphs of up to 100,000 operations.

    python -m benchmarks.scale                     all programs, with 1,000 and 100,000 operations
    python -m benchmarks.scale --only layers --sizes 100 1000 10000 100000

Each program runs in a process of its own for each size. A stage scales if its time per operation is flat. The last
column is the ratio of the largest size to the smallest. LLVM begins while native code is lowered: its stage is the time
that is left after that.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

RANDOM = np.random.default_rng(0)


class Scaled(NamedTuple):
    """A function and its arguments, with about as many operations as were asked for."""

    run: Callable[..., Any]
    arguments: list[Any]


def _array(*shape: int, scale: float = 0.3) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32) * np.float32(scale)


def recurrence(tf: Any, count: int) -> Scaled:
    """A recurrence of numbers that Python has unrolled: two operations a step."""

    def run(x: Any) -> Any:
        for _ in range(count // 2):
            x = x * 0.999 + 0.1
        return x

    return Scaled(run, [tf.constant(1.0)])


def cells(tf: Any, count: int) -> Scaled:
    """An unrolled recurrent network: four operations a step."""

    def run(x: Any, w: Any, u: Any) -> Any:
        h = x
        for _ in range(count // 4):
            h = tf.tanh(tf.matmul(x, w) + tf.matmul(h, u))
        return h

    return Scaled(run, [tf.constant(_array(*shape)) for shape in ((4, 8), (8, 8), (8, 8))])


def _layers(tf: Any, number: int) -> tuple[list[Any], list[Any]]:
    weights = [tf.Variable(_array(8, 8)) for _ in range(number)]
    return weights, [tf.Variable(_array(8)) for _ in range(number)]


def _dense(tf: Any, x: Any, weights: Sequence[Any], biases: Sequence[Any]) -> Any:
    for w, b in zip(weights, biases, strict=True):
        x = tf.nn.relu(tf.matmul(x, w) + b)
    return tf.reduce_sum(x)


def layers(tf: Any, count: int) -> Scaled:
    """The value of a network of dense layers: five operations a layer."""
    weights, biases = _layers(tf, count // 5)
    return Scaled(lambda x: _dense(tf, x, weights, biases), [tf.constant(_array(4, 8))])


def training(tf: Any, count: int) -> Scaled:
    """A step of training of the same network: fifteen operations a layer."""
    weights, biases = _layers(tf, count // 15)

    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = _dense(tf, x, weights, biases)
        variables = weights + biases
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    return Scaled(run, [tf.constant(_array(4, 8))])


def elementwise(tf: Any, count: int) -> Scaled:
    """A random graph of elementwise operations."""
    choices = RANDOM.integers(0, 50, (count, 2)), RANDOM.integers(0, 4, count)

    def run(x: Any, y: Any) -> Any:
        kinds = tf.add, tf.maximum, tf.minimum, tf.subtract
        values = [x, y] * 25
        for (i, j), kind in zip(*choices, strict=True):
            values[i] = kinds[kind](values[i], values[j])
        return tf.add_n(values)

    return Scaled(run, [tf.constant(_array(16)), tf.constant(_array(16))])


def terms(tf: Any, count: int) -> Scaled:
    """A sum of values that do not depend on each other: two operations each."""

    def run(x: Any) -> Any:
        return tf.add_n([tf.tanh(x * float(i)) for i in range(count // 2)])

    return Scaled(run, [tf.constant(_array(16))])


def branches(tf: Any, count: int) -> Scaled:
    """Conditionals in a row: four operations each."""

    def run(x: Any) -> Any:
        for i in range(count // 4):
            x = tf.cond(x > i * 0.5, lambda x=x: x * 0.5, lambda x=x: x + 1.0)
        return x

    return Scaled(run, [tf.constant(1.0)])


def loops(tf: Any, count: int) -> Scaled:
    """Loops in a row: five operations each."""

    def run(x: Any, n: Any) -> Any:
        for _ in range(count // 5):
            _, x = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 0.5 + 1.0), (0, x))
        return x

    return Scaled(run, [tf.constant(1.0), tf.constant(3)])


def writes(tf: Any, count: int) -> Scaled:
    """One list, with a write for each operation."""

    def run(x: Any) -> Any:
        items = tf.TensorArray(tf.float32, size=count)
        for i in range(count):
            items = items.write(i, x)
        return tf.reduce_sum(items.stack())

    return Scaled(run, [tf.constant(1.0)])


def updates(tf: Any, count: int) -> Scaled:
    """One array, to one of whose elements each operation adds."""

    def run(x: Any) -> Any:
        total = tf.zeros([16])
        for i in range(count):
            total = tf.tensor_scatter_nd_add(total, [[i % 16]], x)
        return total

    return Scaled(run, [tf.constant([1.0])])


PROGRAMS = {
    each.__name__: each
    for each in (recurrence, cells, layers, training, elementwise, terms, branches, loops, writes, updates)
}


class Stages:
    """The seconds of each stage; a stage within another one is not counted there."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner: list[float] = []

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        self._inner.append(0.0)
        yield
        seconds = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds - self._inner.pop()
        if self._inner:
            self._inner[-1] += seconds

    def watch(self, owner: Any, attribute: str, name: str) -> None:
        """Count the calls of a function as a stage."""
        function = getattr(owner, attribute)

        @functools.wraps(function)
        def watched(*arguments: Any, **keywords: Any) -> Any:
            with self.stage(name):
                return function(*arguments, **keywords)

        setattr(owner, attribute, watched)


def measure(name: str, count: int) -> dict[str, float]:
    """Return the microseconds per operation of each stage, and the peak of memory in MB."""
    import agc.runtime as tf

    stages = Stages()
    _watch(stages)
    _calls(tf, name, 60, stages)  # imports what it needs
    stages.seconds.clear()
    _calls(tf, name, count, stages)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {stage: seconds / count * 1e6 for stage, seconds in stages.seconds.items()}
    return {**found, "peak of memory, MB": memory}


def _calls(tf: Any, name: str, count: int, stages: Stages) -> None:
    scaled = PROGRAMS[name](tf, count)
    for jit in (False, True):
        label = "native" if jit else "plan"
        function = tf.function(scaled.run, jit_compile=jit, autograph=False)
        with stages.stage(f"{label}: trace"):
            concrete = function.get_concrete_function(*scaled.arguments)
        with stages.stage(f"{label}: rest of the first call"):
            concrete(*scaled.arguments)
        with stages.stage(f"{label}: second call"):
            concrete(*scaled.arguments)


def _watch(stages: Stages) -> None:
    from agc.runtime.autodiff.tape import GradientTape
    from agc.runtime.executors.llvm import compilation_unit, jit_function, llvm_engine, unit_text
    from agc.runtime.executors.plan import plan
    from agc.runtime.optimize import pass_manager, pass_table

    watched = [
        (GradientTape, "gradient", "gradient"),
        (jit_function, "prepared", "native: functionalize"),
        (compilation_unit.CompilationUnit, "__init__", "native: lower"),
        (unit_text.UnitText, "parts", "native: print the IR"),
        (llvm_engine, "assembled", "native: LLVM"),
        (llvm_engine.LinkedCode, "__init__", "native: load"),
        (plan, "compiled", "plan: write"),
    ]
    for owner, attribute, name in watched:
        stages.watch(owner, attribute, name)
    plan.compile = compile  # type: ignore[attr-defined]
    stages.watch(plan, "compile", "plan: Python's compiler")
    modules = [importlib.import_module(f"agc.runtime.optimize.{each.name}") for each in pass_table.PASSES]
    for module, each in zip(modules, pass_table.PASSES, strict=True):
        stages.watch(module, "run", f"optimize: {each.name}")
    fresh = [each._replace(run=module.run) for module, each in zip(modules, pass_table.PASSES, strict=True)]
    pass_manager.PASSES = tuple(fresh)


def _asked(name: str, count: int) -> dict[str, float]:
    """Measure in a process of its own, with code that is not cached."""
    command = [sys.executable, "-m", "benchmarks.scale", "--measure", name, str(count)]
    environment = {**os.environ, "AGC_CACHE": "0"}
    answer = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


def _row(label: str, figures: Sequence[float]) -> str:
    ratio = f"x{figures[-1] / figures[0]:.2f}" if figures[0] else ""
    return f"  {label:34}" + "".join(f"{figure:12.2f}" for figure in figures) + f"{ratio:>10}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="the programs with this in their names")
    parser.add_argument("--sizes", nargs="+", type=int, default=[1000, 100_000], help="numbers of operations")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measure(options.measure[0], int(options.measure[1]))))
        return
    for name, program in PROGRAMS.items():
        if options.only not in name:
            continue
        found = [_asked(name, count) for count in options.sizes]
        print(f"{name}: {program.__doc__}")
        print(f"  {'microseconds per operation':34}" + "".join(f"{count:12,}" for count in options.sizes))
        for stage in found[0]:
            figures = [each.get(stage, 0.0) for each in found]
            if max(figures) >= 0.01:
                print(_row(stage, figures))


if __name__ == "__main__":
    main()
