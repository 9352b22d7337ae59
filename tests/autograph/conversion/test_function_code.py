"""Functions that have nothing to convert are their own conversion."""

import agc.runtime as tf
import pytest
from agc.autograph import convert
from agc.autograph.conversion.function_code import is_straight


def arithmetic(x, y):
    """A docstring."""
    z = x * 2 - y.size
    return z[0], {"sum": z + 1}


def branches(x):
    return x if x else 1


def chains(x):
    return 0 < x < 2


def negates(x):
    return not x


def contains(x):
    return x in (1, 2)


def calls(x):
    return abs(x)


def assigns_items(x):
    x[0] = 1
    return x


def updates_items(x):
    x[0] += 1
    return x


def makes_functions(x):
    return lambda: x


def comprehends(xs):
    return [x * 2 for x in xs]


def matches(x):
    match x:
        case 1:
            return 2


def catches(x):
    try:
        return x[0]
    except:  # noqa: E722
        return 0


def suspends(x):
    yield x


def enters(x):
    with x:
        return 1


def follows_frames(frame):
    return frame.f_back


CHANGED = [value for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__][
    1:
]


@pytest.mark.parametrize("f", CHANGED, ids=lambda f: f.__name__)
def test_anything_but_arithmetic_may_be_converted(f):
    assert not is_straight(f.__code__)


def test_straight_code_is_its_own_conversion():
    assert is_straight(arithmetic.__code__)
    assert convert(arithmetic).__code__ is arithmetic.__code__


def test_a_comparison_is_converted_if_the_feature_is_on():
    def equal(x, y):
        return x == y

    assert convert(equal).__code__ is equal.__code__
    assert (
        convert(equal, optional_features=tf.autograph.experimental.Feature.EQUALITY_OPERATORS).__code__
        is not equal.__code__
    )


def test_an_error_does_not_say_that_straight_code_was_not_converted():
    values = [1, 2]
    with pytest.raises(Exception) as caught:
        tf.function(lambda i: values[i])(tf.constant(1))
    assert "AGC281" not in str(caught.value)
