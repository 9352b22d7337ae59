"""An `except` in a traced function that catches an error of the tracing is reported; others are not."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import pytest
from agc.autograph import StagingError

X = tf.constant(2)


def mixed(x: Any) -> Any:
    return 1 if x > 0 else "none"


def by_except(x: Any) -> Any:
    try:
        return mixed(x)
    except ValueError:
        return 0


def by_suppress(x: Any) -> Any:
    found = 0
    with contextlib.suppress(TypeError):
        found = mixed(x)
    return found


def in_a_branch(x: Any) -> Any:
    found = 1
    if x > 1:
        try:
            found = mixed(x)
        except Exception:
            found = 0
    return found


def in_an_inner_graph(x: Any) -> Any:
    try:
        return tf.function(mixed)(x)
    except TypeError:
        return 0


@pytest.mark.parametrize("f", [by_except, by_suppress, in_a_branch, in_an_inner_graph])
def test_the_warning_names_the_line_of_the_try_and_the_error(f: Callable[..., Any]) -> None:
    with pytest.warns(
        UserWarning, match=r"warning\[AGC262\].*AGC20\d: the branches give (.|\n)*test_caught_errors\.py:\d+"
    ) as found:
        assert int(tf.function(f)(X)) == 0
    assert [one.filename for one in found] == [__file__]


def raised_again(x: Any) -> Any:
    try:
        return mixed(x)
    except ValueError as error:
        raise RuntimeError("mixed") from error


def caught_outside(x: Any) -> Any:
    with contextlib.suppress(StagingError):
        tf.function(mixed)(x)
    return 0


def of_the_program(x: Any) -> Any:
    try:
        return {}["missing"]
    except KeyError:
        return x


def test_no_warning_if_the_trace_fails_or_has_succeeded_or_the_error_is_the_programs() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="mixed"):
            tf.function(raised_again)(X)
        assert caught_outside(X) == 0
        assert int(tf.function(of_the_program)(X)) == 2
