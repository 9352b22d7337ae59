"""A path without a `return`: the error speaks of what is returned, at the user's lines, in every kind of block."""

# ruff: noqa: RET503, RET505

import re

import agc.runtime as tf
import pytest
from agc.autograph import StagingError


def if_without_else(x):
    if x > 0:  # ends
        return x * 2  # gives


def nested(x):
    if x > 0:  # ends
        if x > 1:
            return x * 2  # gives
    else:
        return x


def elif_without_else(x):
    if x > 0:  # ends
        return x
    elif x < -5:
        return -x  # gives


def on_one_line(x):
    if x > 0: return x  # gives  # fmt: skip  # noqa: E701


def in_match(x):
    match x:
        case 1.0:  # ends
            return x
        case 2.0:
            return -x  # gives


def in_while(x):
    while x > 0:  # ends
        if x > 3:
            return x  # gives
        x = x - 1


def in_for(x):
    for _ in tf.range(3):  # ends
        if x > 3:
            return x  # gives
        x = x + 1


def in_nested_loops(x):
    while x > 0:  # ends
        for _ in tf.range(3):
            if x > 3:
                return x  # gives
        x = x - 1


def in_try(x):
    try:  # ends
        if x > 0:
            return x  # gives
    finally:
        pass


def in_with(x):
    with tf.name_scope("scope"):  # ends
        if x > 0:
            return x  # gives


def beside_a_variable_of_that_name(x):
    result = x
    while x > 0:  # ends
        if x > 3:
            return result  # gives
        x = x - 1


def of_a_dictionary(x):
    if x > 0:  # ends
        return {"step": x}  # gives


MISSING = [value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__]


@pytest.mark.parametrize("f", MISSING, ids=lambda f: f.__name__)
def test_the_message_names_the_returned_value(f):
    with pytest.raises(StagingError) as caught:
        tf.function(f)(tf.constant(-1.0))
    title, *shown = str(caught.value).splitlines()
    assert re.match(r"error\[AGC20[23]\]: the branches return ", title)
    assert not re.search(r"`(result|returned)", str(caught.value))
    assert [line for line in shown if re.search(r"# gives .*float32\[\]", line)]
    if f is not on_one_line:
        assert [line for line in shown if re.search("# ends +None, if no `return` follows$", line)]


def test_a_variable_named_result_keeps_its_name():
    def f(x):
        result = None
        if x > 0:
            result = x
        return result

    with pytest.raises(StagingError, match=r"the branches give `result` values that .*"):
        tf.function(f)(tf.constant(-1.0))


def test_the_message_names_parts_of_the_returned_value():
    def f(x):
        if x > 0:
            return x, None
        return x, x

    with pytest.raises(StagingError, match=r"the branches give `\[1\]` of the returned value values"):
        tf.function(f)(tf.constant(-1.0))
