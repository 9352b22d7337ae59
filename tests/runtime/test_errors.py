"""The classes of errors, as TensorFlow 2.21 has them."""

from __future__ import annotations

import pickle
import traceback

import agc.runtime as tf
import pytest


def test_errors_have_tensorflows_constructor():
    error = tf.errors.InvalidArgumentError(None, None, "too big")
    assert str(error) == error.message == "too big"
    assert (error.node_def, error.op, error.error_code, error.experimental_payloads) == (None, None, 3, {})
    assert tf.errors.OpError(None, None, "lost", tf.errors.DATA_LOSS).error_code == 15
    assert tf.errors.UnknownError(None, None, "m", 7).error_code == tf.errors.UNKNOWN == 2
    assert tf.errors.NotFoundError(node_def=None, op=None, message="m").message == "m"


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(tf.errors.OutOfRangeError(None, None, "at the end")))
    assert type(error) is tf.errors.OutOfRangeError
    assert error.message == "at the end"


def test_errors_of_eager_code_have_no_node():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.gather([1, 2], 5)
    assert (caught.value.op, caught.value.node_def, caught.value.op_type) == (None, None, "gather")


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_errors_of_a_graph_have_their_operation(executor):
    f = tf.function(lambda i: tf.gather([1, 2], i) + 1, experimental_executor=executor)
    concrete = f.get_concrete_function(tf.constant(0))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        concrete(tf.constant(5))
    (gather, _) = concrete.graph.get_operations()
    assert caught.value.op is gather
    assert caught.value.node_def.name == gather.name == "gather"


def test_a_refused_attribute_is_the_whole_message():
    with pytest.raises(TypeError, match="axis") as caught:
        tf.function(lambda x, axis: tf.nn.softmax(x, axis=axis))(tf.ones([2, 3]), tf.constant(0))
    assert "another exception" not in "".join(traceback.format_exception(caught.value))
