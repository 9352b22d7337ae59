"""Random updates of variables in one step, which native code may compute in the memory of the old values.

    v0, v1, v2 = variables of [n, n]                  a seed chooses the statements
    step:  a = v0 @ v1                                values, read again or not
           v1.assign(tf.transpose(v0) * 0.5 + a)      shifted, turned, reversed, rolled, exchanged
           if tf.reduce_sum(a) > 0: v2.assign(v1)     conditionals and loops
           return a, old v0                           old values that are returned

All numbers are small whole ones, so every executor computes exactly the same.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np

COUNT = 3

UNARY: list[tuple[str, Callable[[Any], Any]]] = [
    ("transpose(%s)", tf.transpose),
    ("reverse(%s)", lambda x: tf.reverse(x, [0])),
    ("roll(%s)", lambda x: tf.roll(x, 1, 1)),
    ("%s", lambda x: x),
    ("-%s", lambda x: -x),
    ("relu(%s)", tf.nn.relu),
    ("centered(%s)", lambda x: x - tf.reduce_max(x, 0)),
    ("%s[::-1, ::-1]", lambda x: x[::-1, ::-1]),
    ("shifted(%s)", lambda x: tf.concat([x[1:], x[:1]], 0)),
    ("row(%s)", lambda x: x[0] + tf.zeros_like(x)),
    ("column(%s)", lambda x: x[:, 1:2] + tf.zeros_like(x)),
    ("cumsum(%s)", lambda x: tf.cumsum(x, 1)),
    ("twice(%s)", lambda x: tf.reshape(tf.tile(tf.reshape(x, [1, -1]), [2, 1])[1], x.shape)),
]
BINARY: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("(%s + %s)", lambda x, y: x + y),
    ("(%s - %s)", lambda x, y: x - y),
    ("(%s @ %s)", tf.matmul),
    ("where(%s, %s)", lambda x, y: tf.where(x > y, x, y[::-1])),
    ("maximum(%s, %s)", tf.maximum),
    ("assembled(%s, %s)", lambda x, y: tf.concat([y[:1], x[1:]], 0)),
    ("added(%s, %s)", lambda x, y: tf.tensor_scatter_nd_add(x, [[0], [2]], y[1:3])),
]


def small(x: Any) -> Any:
    """Return whole numbers between -8 and 8, so that products of many steps stay exact."""
    return x - 17.0 * tf.round(x / 17.0)


class Step:
    """A step that a seed describes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.size = self.random.choice([4, 5, 7, 16, 33])
        self.dtype = self.random.choice(["float32", "float32", "float64"])
        numbers = np.random.default_rng(seed)
        self.initial = numbers.integers(-3, 4, (COUNT, self.size, self.size)).astype(self.dtype)
        self.plan = [self.statement() for _ in range(self.random.randint(2, 6))]
        self.results = [self.random.randrange(len(self.plan) + COUNT) for _ in range(3)]

    def statement(self) -> tuple[Any, ...]:
        r = self.random
        kind = r.choice(
            ["value", "assign", "assign", "assign_add", "assign_sub", "cond", "loop", "slice", "exchange"]
        )
        return kind, r.randrange(COUNT), r.choice(UNARY), r.choice(BINARY), r.randrange(9), r.randrange(9)

    def __str__(self) -> str:
        return (
            f"{self.dtype}[{self.size}]: "
            + "; ".join(
                f"{kind} v{target} {unary[0]} {binary[0]} {i} {j}"
                for kind, target, unary, binary, i, j in self.plan
            )
            + f"; returns {self.results}"
        )

    def __call__(self, variables: list[Any]) -> Any:
        """Change the variables, and return some of the values that were met."""
        seen = [v.value() for v in variables]
        for kind, target, (_, unary), (_, binary), i, j in self.plan:
            v = variables[target]
            operands = [*seen, *variables]
            value = small(binary(unary(operands[i % len(operands)]), operands[j % len(operands)]))
            if kind in ("assign", "assign_add", "assign_sub"):
                getattr(v, kind)(value)
                v.assign(small(v))
            elif kind == "cond":
                if tf.reduce_sum(value) > 0:
                    v.assign(unary(v))
                else:
                    v.assign(value)
            elif kind == "loop":
                for _ in tf.range(3):
                    v.assign(small(binary(v, value)))
            elif kind == "slice":
                v[1:3].assign(value[:2])
            elif kind == "exchange":
                other = variables[(target + 1) % COUNT]
                first, second = v.value(), other.value()
                v.assign(second)
                other.assign(first)
            seen.append(value)
        return [seen[i] for i in self.results]

    def run(self, function: Callable[..., Any]) -> list[Any]:
        """Return what three steps return, and the values of the variables; old values are kept meanwhile."""
        variables = [tf.Variable(value) for value in self.initial]
        step, found = function(lambda: self(variables)), []
        for _ in range(3):
            kept = [v.value() for v in variables]
            copies = [np.array(value) for value in kept]
            found += [np.array(each) for each in (*step(), *variables)]
            for value, copy in zip(kept, copies, strict=True):
                assert np.array_equal(value, copy), "an old value was overwritten"
        return found


def disagreements(step: Step) -> Iterator[str]:
    """Yield the differences of plan and native code from eager calls."""
    wanted = step.run(lambda function: function)
    for name, is_native in (("plan", False), ("native", True)):
        runs = step.run(functools.partial(tf.function, jit_compile=is_native))
        for number, (found, value) in enumerate(zip(runs, wanted, strict=True)):
            if not np.array_equal(found, value):
                yield f"{name}, result {number}: {found.tolist()} instead of {value.tolist()}"[:300]
