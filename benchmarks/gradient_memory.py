"""How much memory the gradient of a loop takes: every round kept, or every k-th (`checkpoint_every`).

    $ python -m benchmarks.gradient_memory 100 10000
      rounds   every round   checkpoints          auto   in states of 256 numbers
         100           127            30            38
       10000         12881           266           357

What is shown is the most memory that is taken at a time, in states of the loop (arrays of `SIZE` numbers): tracemalloc
sees what NumPy takes.
"""

from __future__ import annotations

import math
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import agc.runtime as tf

SIZE = 256
ROUNDS = (100, 1_000, 10_000)


class Row(NamedTuple):
    """The most memory for so many rounds, in states of the loop."""

    rounds: int
    every_round: float
    fixed: float
    auto: float


def gradient(every: Any) -> Callable[[Any, Any], Any]:
    """The gradient of a loop, as a function of its initial state and the number of its rounds."""

    @tf.function
    def slope(x: Any, rounds: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(rounds):
                tf.autograph.experimental.set_loop_options(checkpoint_every=every)
                y = tf.sin(y) * 1.01
        return tape.gradient(y, x)

    return slope


def peak(function: Callable[[], Any]) -> int:
    """The most memory, in bytes, that a function takes when it runs for the second time."""
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def states(every: Any, rounds: int) -> float:
    """The most memory for a gradient, in states."""
    slope, x, count = gradient(every), tf.ones([SIZE]), tf.constant(rounds)
    return peak(lambda: slope(x, count)) / (4 * SIZE)


def rows(counts: Sequence[int] = ROUNDS) -> Iterator[Row]:
    """What is measured for each number of rounds n; checkpoints stand √n rounds apart, or where "auto" puts them."""
    for rounds in counts:
        yield Row(rounds, states(None, rounds), states(math.isqrt(rounds), rounds), states("auto", rounds))


def main(counts: Sequence[int]) -> None:
    print(f"{'rounds':>8} {'every round':>13} {'checkpoints':>13} {'auto':>13}   in states of {SIZE} numbers")
    for row in rows(counts or ROUNDS):
        print(f"{row.rounds:>8} {row.every_round:>13.0f} {row.fixed:>13.0f} {row.auto:>13.0f}")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]])
