"""The classes of errors, as TensorFlow 2.21 has them."""

from __future__ import annotations

import pickle
import traceback

import agc.runtime as tf
import pytest


def test_made_in_tensorflows_way():
    error = tf.errors.InvalidArgumentError(None, None, "too big")
    assert str(error) == error.message == "too big"
    assert (error.node_def, error.op, error.error_code, error.experimental_payloads) == (None, None, 3, {})
    assert tf.errors.OpError(None, None, "lost", tf.errors.DATA_LOSS).error_code == 15
    assert tf.errors.UnknownError(None, None, "m", 7).error_code == tf.errors.UNKNOWN == 2
    assert tf.errors.NotFoundError(node_def=None, op=None, message="m").message == "m"


def test_pickled():
    error = pickle.loads(pickle.dumps(tf.errors.OutOfRangeError(None, None, "at the end")))
    assert type(error) is tf.errors.OutOfRangeError
    assert error.message == "at the end"


def test_of_eager_code_no_operation_is_known():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.gather([1, 2], 5)
    assert (caught.value.op, caught.value.node_def, caught.value.op_type) == (None, None, "gather")


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_of_a_graph_the_operation_and_its_definition_are(executor):
    f = tf.function(lambda i: tf.gather([1, 2], i) + 1, experimental_executor=executor)
    concrete = f.get_concrete_function(tf.constant(0))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        concrete(tf.constant(5))
    (gather, _) = concrete.graph.get_operations()
    assert caught.value.op is gather
    assert caught.value.node_def.name == gather.name == "gather"


def test_an_attribute_that_is_refused_is_the_whole_story():
    with pytest.raises(TypeError, match="axis") as caught:
        tf.function(lambda x, axis: tf.nn.softmax(x, axis=axis))(tf.ones([2, 3]), tf.constant(0))
    assert "another exception" not in "".join(traceback.format_exception(caught.value))
