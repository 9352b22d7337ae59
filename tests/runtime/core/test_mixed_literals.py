"""A choice between Python numbers adapts its dtype to what it meets, as one Python number does."""

import agc.runtime as tf
import pytest
from agc.autograph import StagingError
from support.each_case import each_case

# ruff: noqa: SIM108  (programs as people write them)

EXECUTORS = ("plan", "interpret")


def wider_number_first(x):
    if x > 3:
        y = 0.5
    elif x > 0:
        y = 1
    else:
        y = 2
    return y


def wider_number_within(x):
    if x > 3:
        y = 1 if x > 5 else 2
    else:
        y = 0.25 if x < 0 else 4
    return y


def sign_times(x):
    sign = 1 if x > 0 else -1
    return sign * (x * 0.5)


def number_before_the_choice(x):
    step = 1 if x > 0 else 3
    return 0.5 + step


def starts_a_loop(x):
    t = 1 if x > 0 else 2
    for _ in range(3):
        t = t * 0.5
    return t


def comes_out_of_a_loop(x):
    t = 0.5
    while x > 0:
        t = 1 if x > 2 else 2
        x -= 3
    return t


def a_number_in_front_widens_the_loop(x):
    t = 0
    while x > 0:
        t = 0.5 + t
        x -= 2
    return t


def two_choices_meet(x):
    return (1 if x > 0 else 2) + (0.5 if x > 2 else 3)


@each_case("executor", EXECUTORS)
@each_case("x", [7.0, 4.0, 1.0, -2.0])
@each_case(
    "program",
    [
        wider_number_first,
        wider_number_within,
        sign_times,
        number_before_the_choice,
        starts_a_loop,
        comes_out_of_a_loop,
        a_number_in_front_widens_the_loop,
        two_choices_meet,
    ],
)
def test_choices_between_numbers_equal_pythons(program, x, executor):
    staged = tf.function(program, experimental_executor=executor)
    result = staged(tf.constant(x))
    assert result.dtype is tf.float32
    assert float(result) == program(x)
    assert float(program(tf.constant(x))) == program(x)


def test_a_choice_that_is_exact_takes_another_dtype():
    @tf.function
    def scaled(x, flag):
        return x * (0.5 if flag else 2.0)

    result = scaled(tf.constant(3.0, tf.float64), tf.constant(True))
    assert (result.dtype, float(result)) == (tf.float64, 1.5)


def test_a_choice_that_would_lose_digits_is_refused():
    @tf.function
    def scaled(x, flag):
        return x * (0.1 if flag else 2.0)

    with pytest.raises(TypeError, match="float64 tensor but is a float32 tensor"):
        scaled(tf.constant(3.0, tf.float64), tf.constant(True))


def test_a_choice_between_tensors_keeps_its_dtype():
    @tf.function
    def mixed(x):
        if x > 3:
            y = 0.5
        elif x > 0:
            y = tf.constant(1)
        else:
            y = 2
        return y

    with pytest.raises(StagingError, match="AGC201"):
        mixed(tf.constant(1))


def test_booleans_are_no_numbers_in_choices():
    @tf.function
    def mixed(x):
        if x > 3:
            return True
        if x > 0:
            return 1
        return 2

    with pytest.raises(StagingError, match="AGC201"):
        mixed(tf.constant(1))
