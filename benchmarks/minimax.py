"""Compute the coefficients of runtime/kernels/special_functions/polynomials.py: `python -m benchmarks.minimax`.

Each polynomial is the best in the sense of Chebyshev: of all of its degree its greatest weighted error on the interval
is the least. Remez's exchange finds it (E. Remez, 1934; J.-M. Muller, "Elementary Functions", chapter 3) in numbers
of a hundred digits. Then the coefficients are rounded to the format one after another, from the constant term on,
and after each rounding the rest is fitted anew, so that it makes up for what the rounding did.

The command prints the module anew: one line for each polynomial, with the greatest error that is left. Names given to
it print only those. It needs mpmath.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

mp.dps = 100
POINTS = 40  # of the grid, for each coefficient

Real = Callable[[Any], Any]


class Task(NamedTuple):
    """A function of `x` on an interval, what an error of it there weighs, and how many coefficients it gets."""

    function: Real
    weight: Real
    interval: tuple[Any, Any]
    counts: dict[str, int]
    """The number of coefficients, by the format; of formulas in float64 only, "float" has none."""


def grid(interval: tuple[Any, Any], count: int) -> list[Any]:
    """Points that lie closer together towards the ends, as the extremes of errors do."""
    low, high = map(mpf, interval)
    return [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mpf(1) / 2) / count) for k in range(count)
    ]


def value(coefficients: Sequence[Any], x: Any) -> Any:
    return mp.polyval(list(reversed(coefficients)), x)


def remez(xs: list[Any], targets: list[Any], weights: list[Any], count: int) -> list[Any]:
    """The best polynomial of `count` coefficients on the points of a grid."""
    chosen = [(len(xs) - 1) * k // count for k in range(count + 1)]
    for _ in range(30):
        rows = [[weights[i] * xs[i] ** k for k in range(count)] + [(-1) ** n] for n, i in enumerate(chosen)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([weights[i] * targets[i] for i in chosen]))
        coefficients, level = list(solution)[:-1], abs(solution[count])
        errors = [(value(coefficients, x) - t) * w for x, t, w in zip(xs, targets, weights, strict=True)]
        peak = max(map(abs, errors))
        if peak <= level * mpf("1.001"):
            break
        chosen = exchanged(errors, count + 1)
    return coefficients


def exchanged(errors: list[Any], count: int) -> list[int]:
    """The places of `count` alternating extremes: of each stretch of one sign the greatest, less the smallest ends."""
    places = [0]
    for place in range(1, len(errors)):
        if (errors[place] > 0) == (errors[places[-1]] > 0):
            if abs(errors[place]) > abs(errors[places[-1]]):
                places[-1] = place
        else:
            places.append(place)
    while len(places) > count:
        places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
    spare = [place for place in range(len(errors)) if place not in places]
    return sorted(places + spare[: count - len(places)])


def rounded(number: Any, kind: str) -> Any:
    """A number in a format."""
    return mpf(float(np.float32(float(number)))) if kind == "float" else mpf(float(number))


def fitted(task: Task, kind: str) -> tuple[list[float], float]:
    """The coefficients in a format, and the greatest weighted error that they leave."""
    count = task.counts[kind]
    xs = grid(task.interval, POINTS * count)
    targets, weights = [task.function(x) for x in xs], [abs(task.weight(x)) for x in xs]
    if task.interval[0] < 0:
        fixed = [rounded(c, kind) for c in remez(xs, targets, weights, count)]
    else:
        fixed = consecutive(xs, targets, weights, count, kind)
    errors = (abs((value(fixed, x) - t) * w) for x, t, w in zip(xs, targets, weights, strict=True))
    return [float(coefficient) for coefficient in fixed], float(max(errors))


def consecutive(xs: list[Any], targets: list[Any], weights: list[Any], count: int, kind: str) -> list[Any]:
    """Coefficients rounded one after another, each followed by a fit of the rest."""
    fixed: list[Any] = []
    for power in range(count):
        rest = [(t - value(fixed, x)) / x**power if fixed else t for x, t in zip(xs, targets, strict=True)]
        scaled = [w * abs(x) ** power for x, w in zip(xs, weights, strict=True)]
        fixed.append(rounded(remez(xs, rest, scaled, count - power)[0], kind))
    return fixed


def root(function: Callable[[Any, Any], Any]) -> Real:
    """A function of the square of what it is written in."""
    return lambda z: function(mp.sqrt(z), z)


def inverse_of_t(function: Real) -> Real:
    """A function of t = (x - 3) / (x + 3) of what it is written in."""
    return lambda t: function(3 * (1 + t) / (1 - t))


HALF_LOG_2 = mp.log(2) / 2 * mpf("1.0001")
DIGAMMA_ZERO = mp.findroot(mp.digamma, 1.46)
EIGHTH = (mp.pi / 4 * mpf("1.01")) ** 2

TASKS = {
    # e^r = 1 + r + r² q(r); the error is that of e^r - 1
    "EXP": Task(
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: r**2 / mp.expm1(r),
        (-HALF_LOG_2, HALF_LOG_2),
        {"float": 6, "double": 11},
    ),
    # the same; the error is that of e^r
    "EXP_WHOLE": Task(
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: r**2 / mp.exp(r),
        (-HALF_LOG_2, HALF_LOG_2),
        {"float": 5},
    ),
    # 2^r = 1 + r ln 2 + r² q(r)
    "EXP2": Task(
        lambda r: (mp.expm1(r * mp.log(2)) - r * mp.log(2)) / r**2,
        lambda r: r**2 / mp.expm1(r * mp.log(2)),
        (mpf("-0.5001"), mpf("0.5001")),
        {"float": 6, "double": 11},
    ),
    # log((1 + s) / (1 - s)) = 2 s + s z p(z) with z = s²
    "LOG": Task(
        root(lambda s, z: (2 * mp.atanh(s) / s - 2) / z),
        lambda z: z / 2,
        (0, (3 - 2 * mp.sqrt(2)) ** 2 * mpf("1.001")),
        {"float": 3, "double": 7},
    ),
    # sin x = x + x z p(z) and cos x = 1 - z/2 + z² p(z) with z = x²
    "SIN": Task(
        root(lambda x, z: (mp.sin(x) / x - 1) / z),
        root(lambda x, z: x * z / mp.sin(x)),
        (0, EIGHTH),
        {"float": 3, "double": 6},
    ),
    "COS": Task(
        root(lambda x, z: (mp.cos(x) - 1 + z / 2) / z**2),
        root(lambda x, z: z**2 / mp.cos(x)),
        (0, EIGHTH),
        {"float": 3, "double": 6},
    ),
    # log((1 + s) / (1 - s)) = 2 s + s z (2/3 + z p(z)) with z = s², for powers
    "LOG_PAIR": Task(
        root(lambda s, z: ((2 * mp.atanh(s) / s - 2) / z - mpf(2) / 3) / z),
        lambda z: z**2 / 2,
        (0, (3 - 2 * mp.sqrt(2)) ** 2 * mpf("1.001")),
        {"float": 3, "double": 8},
    ),
    # atan x = x + x z p(z), up to tan(pi / 8)
    "ATAN": Task(
        root(lambda x, z: (mp.atan(x) / x - 1) / z),
        root(lambda x, z: x * z / mp.atan(x)),
        (0, (mp.sqrt(2) - 1) ** 2 * mpf("1.001")),
        {"float": 6, "double": 11},
    ),
    # asin x = x + x z p(z), up to a half
    "ASIN": Task(
        root(lambda x, z: (mp.asin(x) / x - 1) / z),
        root(lambda x, z: x * z / mp.asin(x)),
        (0, mpf("0.2501")),
        {"float": 5, "double": 12},
    ),
    # tanh x = x + x z p(z) with z = x², up to one
    "TANH": Task(
        root(lambda x, z: (mp.tanh(x) / x - 1) / z),
        root(lambda x, z: z * x / mp.tanh(x)),
        (0, mpf("1.001")),
        {"float": 8},
    ),
    # erf x = x + x p(z) with z = x², up to one
    "ERF": Task(
        root(lambda x, z: mp.erf(x) / x - 1),
        root(lambda x, z: x / mp.erf(x)),
        (0, mpf("1.001")),
        {"float": 7, "double": 14},
    ),
    # erfc x = e^(-x²) p(t) / (1 + 2 x) with t = (x - 3) / (x + 3), from a half on
    "ERFC": Task(
        inverse_of_t(lambda x: (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)),
        inverse_of_t(lambda x: 1 / ((1 + 2 * x) * mp.exp(x * x) * mp.erfc(x))),
        (mpf("-2.5") / mpf("3.5"), mpf("0.82")),
        {"float": 12, "double": 23},
    ),
    # lgamma x = (x - 1) (x - 2) p(x - 1.25), from a half to two
    "LGAMMA": Task(
        lambda u: mp.loggamma(u + 1.25) / ((u + 0.25) * (u - 0.75)),
        lambda u: (u + 0.25) * (u - 0.75) / mp.loggamma(u + 1.25),
        (mpf("-0.751"), mpf("0.751")),
        {"double": 33},
    ),
    # digamma x = (x - x0) p(x - 1.5), from one to two, where x0 is its zero
    "DIGAMMA": Task(
        lambda u: mp.digamma(u + 1.5) / (u + 1.5 - DIGAMMA_ZERO),
        lambda u: (u + 1.5 - DIGAMMA_ZERO) / mp.digamma(u + 1.5),
        (mpf("-0.501"), mpf("0.501")),
        {"double": 21},
    ),
}

HEAD = '''"""Coefficients of polynomials, constant term first, as `python -m benchmarks.minimax` prints them.

Each line says what error the polynomial leaves, with its coefficients rounded to the format: as a power of two,
relative to the function that it is for. What they approximate stands in that script.
"""

# fmt: off
'''


def main(names: Sequence[str]) -> None:
    tables: dict[str, list[str]] = {"float": [], "double": []}
    for name in names or TASKS:
        for kind in TASKS[name].counts:
            lines = tables[kind]
            coefficients, error = fitted(TASKS[name], kind)
            numbers = textwrap.fill(", ".join(map(repr, coefficients)), 100)
            lines.append(f'"{name}": (  # 2^{np.log2(error):.1f}\n{textwrap.indent(numbers, "    ")},\n),')
            print(name, kind, f"2^{np.log2(error):.2f}", file=sys.stderr)
    print(HEAD)
    for kind, lines in tables.items():
        print(
            f"{kind.upper()}: dict[str, tuple[float, ...]] = {{",
            *(textwrap.indent(line, "    ") for line in lines),
            "}",
            sep="\n",
        )
    print("\nTABLES = {32: FLOAT, 64: DOUBLE}")


if __name__ == "__main__":
    main(sys.argv[1:])
