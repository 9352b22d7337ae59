"""Compare first calls: `agc.jax.jit` on Python's control flow, and `jax.jit` on the same program in operations of lax.

    python -m benchmarks.jax_first_calls [--rounds 7] [--only NAME]

Each round writes both versions to new modules, so that nothing is cached: it converts, traces, compiles and runs them.
The table has the medians of CPU time and of elapsed time. The first round, which loads libraries, does not count.
"""

from __future__ import annotations

import argparse
import inspect
import runpy
import statistics
import tempfile
import time
from pathlib import Path

import agc.jax
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .autographs import PROGRAMS as TESTED

HEADER = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n\n\n"


def collatz(n):
    def body(state):
        n, steps = state
        n = lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        return n, steps + 1

    return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]


def rows(xs):
    def body(total, x):
        return lax.cond(x > 0, lambda: total + x * x, lambda: total), None

    return lax.scan(body, 0.0, xs)[0]


def rows_in_python(xs):
    total = 0.0
    for x in xs:
        if x > 0:
            total += x * x
    return total


def early_return(x):
    def rest():
        y = x * x
        return lax.cond(x < 1, lambda: y + 1, lambda: y - 1)

    return lax.cond(x < 0.5, lambda: x * 2, rest)


def find_and_return(xs, wanted):
    def body(state, row):
        k, x = row
        return lax.cond(state[0], lambda: state, lambda: (x == wanted, jnp.where(x == wanted, k, -1))), None

    return lax.scan(body, (False, -1), (jnp.arange(len(xs)), xs))[0][1]


def bubble_sort(v, n):
    def inner(b, v):
        return lax.cond(v[b] > v[b + 1], lambda: v.at[b].set(v[b + 1]).at[b + 1].set(v[b]), lambda: v)

    return lax.fori_loop(0, n, lambda a, v: lax.fori_loop(0, n - 1 - a, inner, v), v)


def training(w, x, y):
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


def training_in_python(w, x, y):
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


PROGRAMS = {
    collatz: (np.int32(27),),
    rows: (np.arange(8, dtype=np.float32),),
    early_return: (np.float32(0.7),),
    find_and_return: (np.arange(8, dtype=np.int32), np.int32(5)),
    bubble_sort: (np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32), np.int32(8)),
    training: (np.zeros(2, np.float32), np.float32([[1, 2], [3, 4]]), np.float32([5, 11])),
}
"""Functions by hand in operations of lax, and their arguments.

The one in Python has the name with `_in_python`, or is the program of the tests with the same name.
"""


def first_call(jit, function, path, arguments):
    """Return the milliseconds of CPU time and of elapsed time of the first call in a new module, and the result."""
    _, definition, rest = inspect.getsource(function).partition("def ")  # without decorators
    path.write_text(HEADER + definition + rest)
    found = runpy.run_path(str(path), run_name=path.stem)[function.__name__]
    compiled, arguments = jit(found), [*map(jnp.asarray, arguments)]
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
    columns = [f"{clock}, {side}" for clock in ("CPU", "elapsed") for side in ("by hand", "agc.jax", "ratio")]
    print(f"{'ms':15}", *(f"{column:>17}" for column in columns))
    in_python = {
        f"{name}_in_python": found for name, found in runpy.run_path(str(TESTED)).items()
    } | globals()
    with tempfile.TemporaryDirectory() as folder:
        for by_hand, arguments in PROGRAMS.items():
            name = by_hand.__name__
            if options.only not in (None, name):
                continue
            function = in_python[f"{name}_in_python"]
            rounds = []
            for number in range(options.rounds + 1):
                path = Path(folder, f"{name}_{number}.py")
                hand = first_call(jax.jit, by_hand, path, arguments)
                own = first_call(agc.jax.jit, function, path.with_stem(f"python_{path.stem}"), arguments)
                for one, other in zip(jax.tree.leaves(hand[2]), jax.tree.leaves(own[2]), strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-5)
                rounds.append((*hand[:2], *own[:2]))
            cpu, elapsed, own_cpu, own_elapsed = map(statistics.median, zip(*rounds[1:], strict=True))
            shown = (cpu, own_cpu, own_cpu / cpu, elapsed, own_elapsed, own_elapsed / elapsed)
            print(f"{name:15}", *(f"{figure:17.2f}" for figure in shown))


if __name__ == "__main__":
    main()
