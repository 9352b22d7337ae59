"""name_scope: the scopes and names are those of TensorFlow 2.21, but for the user's names of variables in graphs."""

import agc.runtime as tf
import pytest


def test_eager_scopes():
    with tf.name_scope("outer") as outer:
        assert (outer, tf.get_current_name_scope()) == ("outer/", "outer")
        for _ in range(2):
            with tf.name_scope("inner") as inner:
                assert inner == "outer/inner/"
        with tf.name_scope("other/") as absolute:
            assert absolute == "other/"
        assert tf.Variable(1, name="v").name == "outer/v:0"
        with tf.name_scope("") as root:
            assert (root, tf.Variable(1, name="v").name) == ("", "v:0")
    assert tf.get_current_name_scope() == ""
    assert tf.name_scope("a").name == "a"


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_scopes_of_a_graph(executor):
    found = []

    @tf.function(experimental_executor=executor)
    def f(x):
        with tf.name_scope("outer") as outer:
            plus = tf.add(x, 2, name="plus")
            with tf.name_scope("inner") as inner, tf.name_scope("outer/") as again:
                pass
            with tf.name_scope("inner") as second:
                product = plus * 2
        with tf.name_scope("outer") as other:
            if product > 3:
                product += tf.multiply(product, 2, name="twice")
        found.extend(
            [outer, inner, again, second, other, plus.name, product.name, tf.add(x, 1, name="free").name]
        )
        return product

    with tf.name_scope("around"):
        concrete = f.get_concrete_function(tf.constant(1))
    assert found[:5] == ["outer/", "outer/inner/", "outer/", "outer/inner_1/", "outer_1/"]
    assert found[5:] == ["outer/plus:0", "outer_1/product:0", "free:0"]
    assert concrete(tf.constant(1)).numpy() == 18
    names = [operation.name for operation in concrete.graph.walk()]
    assert {"outer/plus", "outer/inner_1/product", "outer_1/twice"} <= set(names)


def test_a_scope_is_left_when_something_fails():
    @tf.function
    def f(x):
        try:
            with tf.name_scope("outer"):
                raise KeyError
        except KeyError:
            return tf.add(x, 1, name="sum").name

    assert f(tf.constant(1)).numpy() == b"sum:0"


def test_refused():
    for wrong in (None, 3):
        with pytest.raises(ValueError, match="must be a string"):
            tf.name_scope(wrong)

    def enter(name):
        with tf.name_scope(name):
            return 1

    with pytest.raises(ValueError, match="is not a valid root scope name"):
        tf.function(enter)("a b")
