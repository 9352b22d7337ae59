"""`tf.compat.v1`: TensorFlow 1's parameters are those that TensorFlow has, and what is not the same is not there."""

import inspect
import sys

import agc.runtime as tf
import numpy as np
import pytest
from differential import signatures

v1 = tf.compat.v1
T, F = True, False
X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def at(path):
    found = v1
    for name in path.split("."):
        found = getattr(found, name)
    return found


def is_here(path):
    try:
        return bool(at(path))
    except AttributeError:
        return False


RECORDED = {
    path: text for path, text in signatures.read_v1().items() if text.startswith("(") and is_here(path)
}


def test_functions_with_other_parameters_take_those_of_tensorflow_1():
    wrong = {
        path: (text, own)
        for path, text in RECORDED.items()
        if (own := f"({', '.join(inspect.signature(at(path)).parameters)})") != text
    }
    assert len(RECORDED) > 100
    assert wrong == {}


def test_v1_names_with_another_meaning_are_absent():
    for path in ("image.resize", "summary.scalar", "losses", "metrics", "nn.dilation2d"):
        with pytest.raises(
            AttributeError, match=f"tf.compat.v1.{path} is not in agc .in TensorFlow 1 it has another meaning"
        ):
            at(path)


def test_the_second_version_of_the_softmax_loss_has_a_gradient_for_its_labels():
    labels, logits = tf.constant([[0.5, 0.5]]), tf.constant([[0.0, 0.0]])
    for arguments in ({}, {"axis": 1}, {"dim": 1}):
        with tf.GradientTape() as tape:
            tape.watch(labels)
            loss = v1.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, **arguments)
        np.testing.assert_allclose(tape.gradient(loss, labels), [[np.log(2.0)] * 2], rtol=1e-6)
    with tf.GradientTape() as tape:
        tape.watch(labels)
        loss = v1.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    assert tape.gradient(loss, labels) is None


def test_moved_names_are_those_of_their_new_namespaces():
    assert v1.matrix_determinant is v1.linalg.det and v1.assert_near is v1.debugging.assert_near
    assert v1.spectral.fft is tf.signal.fft and v1.gfile.GFile is tf.io.gfile.GFile
    assert v1.floor_div([-7, 7], [2, 2]).numpy().tolist() == [-4, 3]
    assert v1.count_nonzero([[0, 1], [1, 1]], reduction_indices=1).numpy().tolist() == [1, 2]
    assert v1.dimension_value(v1.Dimension(3)) == 3
    with pytest.raises(AttributeError, match="bend"):
        v1.manip.bend  # noqa: B018
    from agc.runtime.compat.moved_names import moved

    assert all(is_here(path) for path in moved())


class TestWhere:
    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            ([T, F], [[1.0, 2.0], [-3.0, -4.0]]),
            (T, [[1.0, 2.0], [3.0, 4.0]]),
            ([[T, F], [F, T]], [[1.0, -2.0], [-3.0, 4.0]]),
        ],
    )
    def test_v1_where_selects_rows_or_elements(self, condition, expected):
        assert v1.where(condition, X, -X).numpy().tolist() == expected
        for spec in (tf.TensorSpec(np.shape(condition), tf.bool), tf.TensorSpec(None, tf.bool)):
            for of_x in (tf.TensorSpec([2, 2]), tf.TensorSpec([None, None]), tf.TensorSpec(None)):
                staged = tf.function(lambda c, x: v1.where(c, x, -x), input_signature=[spec, of_x])
                assert staged(condition, X).numpy().tolist() == expected

    @pytest.mark.parametrize(
        ("condition", "x", "y"),
        [([T, F, T], X, X), ([[T], [F]], X, X), ([T, F], X, [1.0, 2.0]), (T, X, 0.0), ([[[T]]], X, X)],
    )
    def test_v1_where_does_not_broadcast(self, condition, x, y):
        with pytest.raises(tf.errors.InvalidArgumentError):
            v1.where(condition, x, y)
        specs = [tf.TensorSpec(None, tf.bool), tf.TensorSpec(None), tf.TensorSpec(None)]
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(v1.where, input_signature=specs)(condition, x, y)

    def test_where_returns_the_coordinates_of_true_elements(self):
        assert v1.where([F, T]).numpy().tolist() == [[1]]


class TestParameters:
    def test_old_names_and_the_order_of_tensorflow_1(self):
        assert v1.argmax(X, 1, "name").numpy().tolist() == [1, 1]
        assert v1.argmax(X, dimension=1).numpy().tolist() == [1, 1]
        assert v1.reduce_sum(X, reduction_indices=[1], keep_dims=True).numpy().tolist() == [[3.0], [7.0]]
        assert v1.math.in_top_k([[0.1, 0.9]], [1], 1).numpy().tolist() == [True]
        image, kernel = tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1])
        assert v1.nn.conv2d(image, filter=kernel, strides=1, padding="SAME").shape == [1, 2, 2, 1]

    def test_a_parameter_is_given_once(self):
        with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
            v1.reduce_sum(X, axis=1, reduction_indices=[1])

    def test_initializers_have_other_defaults(self):
        assert v1.random_normal_initializer(seed=1)([200]).numpy().std() > 0.8
        assert v1.initializers.truncated_normal(seed=1)([200]).numpy().std() > 0.7
        uniform = v1.random_uniform_initializer(seed=1)([200]).numpy()
        assert 0 <= uniform.min() < 0.1
        assert 0.9 < uniform.max() < 1

    def test_several_tables_are_refused(self):
        assert v1.nn.embedding_lookup(X, [1]).numpy().tolist() == [[3.0, 4.0]]
        with pytest.raises(ValueError, match="`params`: TensorFlow 1 partitions"):
            v1.nn.embedding_lookup([X, X], [1])


class TestFunctionsOfAnotherMeaning:
    def test_dropout_takes_keep_prob(self):
        assert v1.nn.dropout(X, 1.0).numpy().tolist() == X.numpy().tolist()
        with pytest.raises(ValueError, match="Cannot specify both"):
            v1.nn.dropout(X, keep_prob=0.5, rate=0.5)

    def test_labels_get_no_gradient(self):
        a = tf.Variable([[0.2, 0.8]])
        with tf.GradientTape() as tape:
            loss = v1.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(a), logits=a)
        assert tape.gradient(loss, a).numpy().tolist() == [[0.0, 0.0]]

    def test_a_single_result_has_no_list(self):
        assert v1.cond(True, lambda: [1], lambda: [2]) == 1
        assert v1.cond(True, lambda: [1], lambda: [2], strict=True) == [1]
        assert v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]).numpy() == 3
        assert [
            int(i) for i in v1.while_loop(lambda i: i < 3, lambda i: i + 1, [0], return_same_structure=True)
        ] == [3]


@pytest.mark.parametrize(("arguments", "scope"), [(("a", "b", [1.0]), "a/"), ((None, "b", [1.0]), "b/")])
def test_a_name_scope_has_a_default_name(arguments, scope):
    with tf.compat.v1.name_scope(*arguments) as found:
        assert found == scope


def test_logging_goes_through_the_logger_of_tensorflow_programs(caplog):
    logging = tf.compat.v1.logging
    logging.set_verbosity(logging.ERROR)
    logging.warn("not shown")
    logging.set_verbosity("INFO")
    for i in range(5):
        logging.log_first_n(logging.INFO, "first %d", 2, i)
        logging.log_every_n(logging.INFO, "every %d", 3, i)
        logging.log_if(logging.WARN, "if %d", i == 4, i)
    logging.set_verbosity(logging.WARN)
    logging.flush()
    assert {record.name for record in caplog.records} == {tf.get_logger().name}
    assert {record.funcName for record in caplog.records} == {sys._getframe().f_code.co_name}
    assert [record.getMessage() for record in caplog.records] == [
        "first 0", "every 0", "first 1", "every 3", "if 4",
    ]  # fmt: skip


def test_convert_to_tensor_or_sparse_tensor():
    convert = v1.convert_to_tensor_or_sparse_tensor
    sparse = tf.sparse.from_dense([0, 2])
    assert convert(sparse) is convert(sparse, tf.int32) is sparse
    assert convert([1, 2], tf.float32).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="is int32, not int64"):
        convert(sparse, tf.int64)
