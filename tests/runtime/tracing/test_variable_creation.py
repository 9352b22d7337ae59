"""Variables that a function makes at its first call, by each way to get there: what matters is what their values need.

initial value   a constant, random, of static shapes        known whatever the arguments are
                of the argument's value or dynamic shape    known in a call, not in `get_concrete_function` of specs
"""

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

SPEC = tf.TensorSpec([None, 3])

KNOWN = {
    "a constant": lambda x: tf.ones([3, 2]),
    "an array": lambda x: np.ones([3, 2], np.float32),
    "random numbers": lambda x: tf.random.normal([3, 2]) * 0.1 + 1,
    "a static shape": lambda x: tf.zeros([x.shape[-1], 2]),
    "operations": lambda x: tf.cast(tf.range(3), tf.float32)[:, None] * tf.ones([1, 2]),
    "an initializer": lambda x: tf.keras.initializers.GlorotUniform()([3, 2]),
    "zeros of a static shape": lambda x: tf.zeros_like(
        tf.transpose(tf.reshape(x[0], [1, 3]) * tf.ones([2, 1]))
    ),
    "a function": lambda x: lambda: tf.fill([3, 2], 2.0),
}
OF_ARGUMENTS = {
    "the argument": lambda x: tf.ones([3, 2]) * tf.reduce_sum(x),
    "its dynamic shape": lambda x: tf.zeros([3, tf.shape(x)[0]])[:, :2],
    "its zeros": lambda x: tf.zeros_like(tf.transpose(x[:2])),
}


class Linear(tf.Module):
    def __init__(self, initial):
        super().__init__()
        self.initial = initial
        self.w = None

    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(self.initial(x))
        return x @ self.w

    @tf.function
    def method(self, x):
        return self(x)

    @tf.function(input_signature=[SPEC])
    def of_signature(self, x):
        return self(x)


def through_another(linear):
    @tf.function
    def outer(x):
        return linear.method(x * 2)

    return outer


CONCRETE = {
    "a function": lambda linear: tf.function(linear).get_concrete_function(SPEC),
    "a method": lambda linear: linear.method.get_concrete_function(SPEC),
    "a signature": lambda linear: linear.of_signature.get_concrete_function(),
    "another function": lambda linear: through_another(linear).get_concrete_function(SPEC),
}
CALLED = {
    "a function": tf.function,
    "a method": lambda linear: linear.method,
    "a signature": lambda linear: linear.of_signature,
    "another function": through_another,
}


@each_case("way", CONCRETE)
@each_case("initial", KNOWN)
def test_get_concrete_function_creates_variables_of_known_value(way, initial):
    linear = Linear(KNOWN[initial])
    call = CONCRETE[way](linear)
    assert linear.w.shape == [3, 2]
    assert call(tf.ones([4, 3])).shape == [4, 2]
    assert call(x=tf.ones([1, 3])).shape == [1, 2]


@pytest.mark.parametrize("way", CONCRETE)
@pytest.mark.parametrize("initial", OF_ARGUMENTS)
def test_get_concrete_function_names_the_unknown_argument(way, initial):
    with pytest.raises(ValueError, match=r"initial value of a variable depends on the argument `x`"):
        CONCRETE[way](Linear(OF_ARGUMENTS[initial]))


@each_case("way", CALLED)
@each_case("initial", {**KNOWN, **OF_ARGUMENTS})
def test_a_call_creates_variables_from_its_arguments(way, initial):
    linear = Linear({**KNOWN, **OF_ARGUMENTS}[initial])
    assert CALLED[way](linear)(tf.ones([4, 3])).shape == [4, 2]


class TestConcreteFunctionsOfMethods:
    def test_static_and_class_methods_take_no_instance(self):
        linear = Linear(KNOWN["a constant"])
        concrete = linear.method.get_concrete_function(tf.TensorSpec([None, 3], name="rows"))
        args, kwargs = concrete.structured_input_signature
        assert (args, kwargs) == ((tf.TensorSpec([None, 3], name="rows"),), {})
        assert concrete(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
        assert concrete(linear, tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
        with pytest.raises(TypeError, match="missing a required argument: 'x'"):
            concrete()


CALLS = {
    "plainly": lambda inner: lambda x: inner(x),
    "in a branch": lambda inner: lambda x: tf.cond(tf.reduce_sum(x) > -100.0, lambda: inner(x), lambda: x),
    "in a loop": lambda inner: (
        lambda x: tf.while_loop(lambda i, y: i < 1, lambda i, y: (i + 1, inner(y)), (0, x))[1]
    ),
    "in a third function": lambda inner: tf.function(lambda x: inner(x)),
}


def in_init_scope():
    with tf.init_scope():
        return tf.Variable(lambda: tf.random.normal([2]) * 0.0)


VALUES = {
    "a value": lambda: tf.Variable(tf.zeros([2])),
    "a function": lambda: tf.Variable(lambda: tf.zeros([2])),
    "random numbers": lambda: tf.Variable(lambda: tf.random.normal([2]) * 0.0),
    "stateless random numbers": lambda: tf.Variable(lambda: tf.random.stateless_uniform([2], [1, 2]) * 0.0),
    "init_scope": in_init_scope,
}


@each_case("jit_compile", [None, True])
@each_case("call", CALLS.values(), ids=CALLS)
@each_case("value", VALUES.values(), ids=VALUES)
def test_a_function_called_by_another_creates_its_variables_once(value, call, jit_compile):
    made = []

    @tf.function(jit_compile=jit_compile)
    def inner(x):
        if not made:
            made.append(value())
        made[0].assign_add(tf.ones([2]))
        return made[0] + x

    outer = tf.function(call(inner))
    results = [outer(tf.ones([2])).numpy().tolist() for _ in range(2)]
    assert results == [[2.0, 2.0], [3.0, 3.0]]
    assert len(made) == 1 and made[0].numpy().tolist() == [2.0, 2.0]
