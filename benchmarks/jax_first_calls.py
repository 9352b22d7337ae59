"""Compare first calls: `agc.jax.jit` on Python's control flow, and `jax.jit` on the same program in operations of lax.

    python -m benchmarks.jax_first_calls [--rounds 7] [--only NAME]

Each round writes both versions to new modules, so that nothing is cached: it converts, traces, compiles and runs them.
The table has the medians of CPU time and of elapsed time. The first round, which loads libraries, does not count.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .autographs import PROGRAMS as TESTED

HEADER = "import jax\nimport jax.numpy as jnp\nimport agc.jax\nfrom jax import lax\n\n\n"


class Program(NamedTuple):
    """A function by hand in operations of lax, the arguments as text, and the function in Python.

    Without its Python text, it is the program of the tests with this name.
    """

    name: str
    by_hand: str
    arguments: str
    python: str = ""


PROGRAMS = [
    Program(
        "collatz",
        """
def f(n):
    def body(state):
        n, steps = state
        n = lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        return n, steps + 1

    return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]
""",
        "jnp.int32(27),",
    ),
    Program(
        "rows",
        """
def f(xs):
    def body(total, x):
        return lax.cond(x > 0, lambda: total + x * x, lambda: total), None

    return lax.scan(body, 0.0, xs)[0]
""",
        "jnp.arange(8.0),",
        """
def f(xs):
    total = 0.0
    for x in xs:
        if x > 0:
            total += x * x
    return total
""",
    ),
    Program(
        "early_return",
        """
def f(x):
    def rest():
        y = x * x
        return lax.cond(x < 1, lambda: y + 1, lambda: y - 1)

    return lax.cond(x < 0.5, lambda: x * 2, rest)
""",
        "jnp.float32(0.7),",
    ),
    Program(
        "find_and_return",
        """
def f(xs, wanted):
    def body(state, row):
        k, x = row
        return lax.cond(state[0], lambda: state, lambda: (x == wanted, jnp.where(x == wanted, k, -1))), None

    return lax.scan(body, (False, -1), (jnp.arange(len(xs)), xs))[0][1]
""",
        "jnp.arange(8), jnp.int32(5)",
    ),
    Program(
        "bubble_sort",
        """
def f(v, n):
    def inner(b, v):
        return lax.cond(v[b] > v[b + 1], lambda: v.at[b].set(v[b + 1]).at[b + 1].set(v[b]), lambda: v)

    return lax.fori_loop(0, n, lambda a, v: lax.fori_loop(0, n - 1 - a, inner, v), v)
""",
        "jnp.array([3, 1, 4, 1, 5, 9, 2, 6]), jnp.int32(8)",
    ),
    Program(
        "training",
        """
def f(w, x, y):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2)

    def body(state):
        w, value, steps = state
        value, gradient = jax.value_and_grad(loss)(w)
        norm = jnp.linalg.norm(gradient)
        gradient = lax.cond(norm > 1, lambda: gradient / norm, lambda: gradient)
        return w - 0.1 * gradient, value, steps + 1

    def goes(state):
        return jnp.logical_and(state[1] > 1e-3, state[2] < 100)

    w, _, steps = lax.while_loop(goes, body, (w, loss(w), 0))
    return w, steps
""",
        "jnp.zeros(2), jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([5.0, 11.0])",
        """
def f(w, x, y):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2)

    value, steps = loss(w), 0
    while value > 1e-3 and steps < 100:
        value, gradient = jax.value_and_grad(loss)(w)
        norm = jnp.linalg.norm(gradient)
        if norm > 1:
            gradient = gradient / norm
        w = w - 0.1 * gradient
        steps += 1
    return w, steps
""",
    ),
]


def text_of(program: Program) -> str:
    """Return the text of a program in Python, with the function's name `f`."""
    if program.python:
        return program.python
    text = TESTED.read_text()
    (found,) = (each for each in ast.parse(text).body if getattr(each, "name", "") == program.name)
    return (ast.get_source_segment(text, found) or "").replace(f"def {program.name}(", "def f(")


def module(folder: Path, number: int, text: str) -> Any:
    path = folder / f"first_call_{number}.py"
    path.write_text(HEADER + text.lstrip())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    found = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def timed(compiled: Callable[..., Any], arguments: Any) -> tuple[float, float, Any]:
    """Return the milliseconds of CPU time and of elapsed time of a call, and its result."""
    import jax

    cpu, start = time.process_time(), time.perf_counter()
    result = jax.block_until_ready(compiled(*arguments))
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - start), result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", metavar="NAME")
    options = parser.parse_args()
    import agc.jax
    import jax
    import numpy as np

    print(
        f"{'program':15} {'CPU, by hand':>12} {'agc.jax':>8} {'ratio':>6} {'elapsed':>10} {'agc.jax':>8} {'ratio':>6}"
    )
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            if options.only not in (None, program.name):
                continue
            times: dict[str, list[tuple[float, float]]] = {"by_hand": [], "python": []}
            for _ in range(options.rounds + 1):
                results = []
                for version, jit in (("by_hand", jax.jit), ("python", agc.jax.jit)):
                    number += 1
                    found = module(
                        Path(folder), number, program.by_hand if version == "by_hand" else text_of(program)
                    )
                    cpu, elapsed, result = timed(jit(found.f), eval(f"({program.arguments})", vars(found)))
                    times[version].append((cpu, elapsed))
                    results.append(jax.tree.leaves(result))
                for one, other in zip(*results, strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-5)
            (hand_cpu, hand), (own_cpu, own) = (
                [statistics.median(column) for column in zip(*found[1:], strict=True)]
                for found in times.values()
            )
            print(
                f"{program.name:15} {hand_cpu:12.1f} {own_cpu:8.1f} {own_cpu / hand_cpu:6.2f} "
                f"{hand:10.1f} {own:8.1f} {own / hand:6.2f}"
            )


if __name__ == "__main__":
    main()
