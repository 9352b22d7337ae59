"""Functions that run in the thread pool: all run once, and the first failure in their order is raised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime import errors
from agc.runtime.kernels.thread_pool import run_all


@pytest.fixture(autouse=True, params=[1, 2, 5])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = tf.config.threading.get_inter_op_parallelism_threads()
    tf.config.threading.set_inter_op_parallelism_threads(request.param)
    yield
    tf.config.threading.set_inter_op_parallelism_threads(before)


def test_each_function_runs_once() -> None:
    done: list[int] = []
    run_all(*(lambda number=number: done.append(number) for number in range(20)))
    assert sorted(done) == list(range(20))


def test_the_first_failure_in_order_is_raised() -> None:
    def fails(message: str) -> Any:
        def work() -> None:
            raise errors.InvalidArgumentError(message)

        return work

    with pytest.raises(errors.InvalidArgumentError, match="first"):
        run_all(lambda: 1, fails("first"), fails("second"))
