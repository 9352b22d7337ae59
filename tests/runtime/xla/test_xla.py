"""`tf.xla.experimental` compiles functions to native code."""

import agc.runtime as tf
import pytest

xla = tf.xla.experimental


def test_compile_returns_the_results():
    assert xla.compile(lambda x: x * 2, [tf.constant(3.0)])[0].numpy() == 6.0
    first, second = xla.compile(lambda: (tf.constant(1.0), {"a": tf.constant(2)}))
    assert (float(first), int(second["a"])) == (1.0, 2)


def test_a_scope_is_for_traced_functions():
    with pytest.raises(RuntimeError, match=r"not supported when eager execution is enabled"), xla.jit_scope():
        pass

    @tf.function
    def doubled(x):
        with xla.jit_scope():
            return x * 2

    assert doubled(tf.constant(2)).numpy() == 4
