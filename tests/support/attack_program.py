"""The program of workers that do something wrong: each worker prints its errors, and ends.

python attack_program.py PART     the parts are the functions below
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import agc.runtime as tf

distribute = tf.distribute


def total(strategy: Any, x: Any, executor: str | None = None) -> Any:
    """Return the sum over the workers; with an executor, by a function."""

    def added() -> Any:
        return distribute.get_replica_context().all_reduce("sum", 1.0 * x)

    return strategy.run(added if executor is None else tf.function(added, experimental_executor=executor))


def late(strategy: Any) -> None:
    """Use a strategy that one worker has made two seconds later."""
    print("total", float(total(strategy, tf.constant(1.0))))


def other_program(strategy: Any) -> None:
    """Reduce in one worker, and gather in the other."""
    if strategy.rank == 0:
        total(strategy, tf.zeros([2]))
    else:
        strategy.gather(tf.zeros([2]), 0)


def other_variables(strategy: Any) -> None:
    """Make one variable more in the second worker."""
    with strategy.scope():
        for size in range(2 + strategy.rank):
            tf.Variable(tf.zeros([size + 1]))
    total(strategy, tf.constant(1.0))


def other_shapes(strategy: Any, executor: str | None = None) -> None:
    """Reduce tensors of different shapes, each of which the workers have reduced before."""
    for size in (2, 3):
        total(strategy, tf.zeros([size]), executor)
    total(strategy, tf.zeros([2 + strategy.rank]), executor)


def other_shapes_in_native_code(strategy: Any) -> None:
    other_shapes(strategy, "native")


def other_shapes_in_xla(strategy: Any) -> None:
    other_shapes(strategy, "xla")


def exception(strategy: Any) -> None:
    """Raise an exception in one worker, in the middle of training."""
    for step in range(5):
        total(strategy, tf.zeros([2]), "xla" if step % 2 else "plan")
        if strategy.rank == 1 and step == 2:
            raise KeyError("worker 1 has a bug")


def main() -> None:
    part = sys.argv[1]
    if part == "late" and '"index": 1' in os.environ["TF_CONFIG"]:
        time.sleep(2.0)
    globals()[part](distribute.MultiWorkerMirroredStrategy())


if __name__ == "__main__":
    main()
