"""Modules that libraries import and that the runtime does not have: Keras 2, and TensorFlow's own AutoGraph."""

import subprocess
import sys

import agc.runtime as tf
import pytest
from agc.runtime.interop.tensorflow.stand_ins import stand_in

PROGRAM = """
import agc.runtime
agc.runtime.install_as_tensorflow()
import tensorflow as tf
from tensorflow.python.autograph.pyct import transformer
from tensorflow.python.autograph.pyct.static_analysis import activity
import tf_keras.api._v1.keras as first
from tf_keras import *
import sys

class Rewriter(transformer.Base):
    pass

print(layers.Dense.__name__, "keras" in sys.modules)
try:
    Rewriter(None)
except NotImplementedError as error:
    print(error)
"""


def test_stand_ins_are_imported_and_inherited_from_without_keras():
    printed = subprocess.check_output([sys.executable, "-c", PROGRAM], text=True).splitlines()
    assert printed == [
        "tf_keras.layers.Dense False",
        "tensorflow.python.autograph.pyct.transformer.Base is private code of TensorFlow, "
        "which agc.runtime does not have",
    ]


def test_a_missing_initializer_is_made_and_refuses_to_be_called():
    initializer = stand_in("tf_keras.initializers.Unheard")(stddev=0.1)
    with pytest.raises(NotImplementedError, match=r"tf_keras\.initializers\.Unheard\(\) is not"):
        initializer([2, 3])


def test_a_name_is_one_object():
    assert stand_in("tf_keras.layers") is stand_in("tf_keras").layers
    with pytest.raises(AttributeError, match="no attribute '__wrapped__'"):
        _ = stand_in("tf_keras").__wrapped__


@pytest.mark.parametrize("name", ["tensorflow.python.autograph.core.naming.Namer", "tf_keras.layers.GRUv1"])
def test_a_missing_name_is_refused_when_it_is_used(name):
    missing = stand_in(name)
    with pytest.raises(NotImplementedError, match=name):
        missing()
    assert not isinstance(1, missing)

    class Own(missing):
        pass

    assert Own.__mro__[1].__name__ == name.rpartition(".")[2]
    with pytest.raises(NotImplementedError, match=name):
        Own()


def test_keras_3_takes_the_place_of_keras_2():
    keras = pytest.importorskip("agc.runtime.keras")
    keras_2 = stand_in("tf_keras")
    adam = keras_2.optimizers.Adam(0.5)
    assert isinstance(adam, keras.optimizers.Adam)
    assert isinstance(adam, keras_2.optimizers.Optimizer)
    assert isinstance(keras.optimizers.Adam(), keras_2.optimizers.Adam)
    assert not isinstance(keras.optimizers.SGD(), keras_2.optimizers.Adam)

    class Doubled(keras_2.layers.Layer):
        def call(self, x):
            return 2 * x

    assert issubclass(Doubled, keras.layers.Layer)
    assert Doubled()(keras.ops.ones([2])).numpy().tolist() == [2.0, 2.0]


def test_layers_register_themselves_without_keras():
    stand_in("tf_keras.utils.get_custom_objects")().update(layer=1)
    assert stand_in("tf_keras.utils.get_custom_objects")() == {}
    assert stand_in("tf_keras.__internal__.utils.register_symbolic_tensor_type")(int) is None


class TestOptimizers:
    @pytest.fixture
    def optimizers(self):
        pytest.importorskip("agc.runtime.keras")
        return stand_in("tf_keras.optimizers")

    @pytest.mark.parametrize("listed", [lambda v: [v], lambda v: lambda: (v,)])
    def test_minimize_takes_a_step_against_the_gradient(self, optimizers, listed):
        v = tf.Variable(3.0)
        optimizers.SGD(0.25).minimize(lambda: v * v, listed(v))
        assert v.numpy() == 1.5

    def test_minimize_takes_a_loss_that_a_tape_has_recorded(self, optimizers):
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = v * v
        optimizers.SGD(0.25).minimize(loss, [v], tape=tape)
        assert v.numpy() == 1.5

    def test_minimize_runs_in_functions(self, optimizers):
        v, adam = tf.Variable(3.0), optimizers.Adam(0.1)

        @tf.function
        def step():
            adam.minimize(lambda: (v - 1.0) ** 2, [v])
            return v + 0.0

        assert [round(float(step()), 2) for _ in range(3)] == [2.9, 2.8, 2.7]

    def test_the_base_class_takes_its_name_first(self, optimizers):
        class Own(optimizers.Optimizer):
            def __init__(self):
                super().__init__("own")

            def minimize(self, loss, var_list):
                var_list[0].assign(loss())

        v, own = tf.Variable(3.0), Own()
        own.minimize(lambda: 5.0, [v])
        assert (own.name, v.numpy()) == ("own", 5.0)
