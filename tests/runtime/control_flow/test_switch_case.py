"""case, switch_case and the options of while_loop, as in TensorFlow 2.21."""

import agc.runtime as tf
import pytest

STAGED = pytest.mark.parametrize("staged", [False, True])


def call(staged, function, *args):
    return (tf.function(function) if staged else function)(*args)


@STAGED
def test_case_without_default_requires_a_true_predicate(staged):
    def choose(x):
        return tf.case([(x < 3, lambda: 1), (x < 9, lambda: 2)])

    assert int(call(staged, choose, tf.constant(5))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
        call(staged, choose, tf.constant(10))


@STAGED
def test_exclusive_predicates(staged):
    def choose(x):
        return tf.case([(x < 3, lambda: 1), (x < 9, lambda: 2)], default=lambda: 3, exclusive=True)

    assert [int(call(staged, choose, tf.constant(n))) for n in (5, 10)] == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
        call(staged, choose, tf.constant(1))


@STAGED
@pytest.mark.parametrize(
    "mistake, error, message",
    [
        (lambda: tf.case([]), ValueError, "at least one"),
        (lambda: tf.case([(tf.constant(True), 3)]), TypeError, "must be callable"),
        (lambda: tf.case([tf.constant(True)]), TypeError, "2-tuple"),
        (lambda: tf.case([(tf.constant(True), lambda: 1)], default=3), TypeError, "default must be callable"),
        (
            lambda: tf.switch_case(tf.constant(1), {0: lambda: 1, 2: lambda: 2}),
            ValueError,
            "contiguous range",
        ),
        (lambda: tf.switch_case(tf.constant(1), {}), ValueError, "at least one item"),
        (lambda: tf.switch_case(tf.constant(1.0), [lambda: 1]), TypeError, "integer Tensor"),
        (lambda: tf.while_loop(1, lambda i: i, [0]), TypeError, "'cond' must be callable"),
        (lambda: tf.while_loop(lambda i: True, 1, [0]), TypeError, "'body' must be callable"),
        (lambda: tf.while_loop(lambda: True, lambda: 1, []), ValueError, "'loop_vars' must be provided"),
        (
            lambda: tf.while_loop(lambda i: i < 1, lambda i: i, [0], parallel_iterations=0),
            TypeError,
            "positive",
        ),
    ],
)
def test_refused(staged, mistake, error, message):
    with pytest.raises(error, match=message):
        call(staged, mistake)


@STAGED
def test_an_int64_chooses_a_branch(staged):
    def choose(i):
        return tf.switch_case(i, [lambda: 10, lambda: 20], default=lambda: 30)

    assert [int(call(staged, choose, tf.constant(i, tf.int64))) for i in (0, 1, 2, -1)] == [10, 20, 30, 30]
