"""`tf.keras` is Keras with this runtime as its TensorFlow; no other module sees a TensorFlow."""

import importlib
import os
import subprocess
import sys

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph.api import compile_source


def run(code, **environment):
    """Run a program in a process of its own; return its output and the last line of its errors."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    return done.stdout.strip(), done.stderr.strip().rpartition("\n")[2]


@pytest.fixture(scope="module")
def printed():
    """Print what a process finds before and after it uses Keras."""
    code = (
        "import sys, agc.runtime as tf; print('keras' in sys.modules)\n"
        "from agc.runtime.keras import layers; from agc.runtime.keras.models import Sequential\n"
        "print('keras' in sys.modules)\n"
        "tf.keras.layers.Dense(2)(tf.ones([1, 3])); print('tensorflow' in sys.modules)\n"
        "import keras; print(layers.Dense is keras.layers.Dense, Sequential is keras.Sequential)\n"
        "print({'jax', 'sklearn'} & set(sys.modules))"
    )
    return run(code)[0].splitlines()


def test_keras_is_loaded_at_the_first_use_only(printed):
    assert printed[:2] == ["False", "True"]


def test_no_module_named_tensorflow_appears(printed):
    assert printed[2] == "False"


def test_parts_of_keras_are_modules_of_the_runtime(printed):
    assert printed[3] == "True True"


def test_libraries_that_keras_does_not_need_are_not_loaded(printed):
    assert printed[4] == "set()"


def test_wrappers_for_scikit_learn_are_loaded_at_their_first_use():
    from agc.runtime.keras.wrappers import SKLearnRegressor

    assert {"SKLearnClassifier", "SKLearnRegressor"} <= set(dir(tf.keras.wrappers))
    assert tf.keras.wrappers.SKLearnRegressor is SKLearnRegressor
    assert SKLearnRegressor.__module__ == "keras.src.wrappers.sklearn_wrapper"
    with pytest.raises(AttributeError, match="nothing"):
        _ = tf.keras.wrappers.nothing


def test_another_backend_is_refused():
    assert "KERAS_BACKEND is 'jax'" in run("import agc.runtime as tf; tf.keras", KERAS_BACKEND="jax")[1]


def test_a_missing_keras_is_an_error_that_says_what_to_install():
    hidden = (
        "import importlib.machinery as m, agc.runtime as tf\n"
        "found = m.PathFinder.find_spec\n"
        "m.PathFinder.find_spec = staticmethod(lambda name, *rest: None if name == 'keras' else found(name, *rest))\n"
        "tf.keras"
    )
    assert "pip install 'agc-autograph[keras]'" in run(hidden)[1]


def test_tensorflow_itself_is_refused():
    code = "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')\nimport agc.runtime as tf\n"
    assert "TensorFlow itself is imported" in run(code + "tf.keras")[1]
    assert "TensorFlow itself is imported" in run(code + "tf.install_as_tensorflow()")[1]


class Steps(tf.keras.layers.Layer):
    """A layer with control flow on tensors."""

    def call(self, x):
        if tf.reduce_sum(x) > 0:
            x = x * 2.0
        for _ in tf.range(3):
            x += 1.0
        return x


@pytest.mark.parametrize(("start", "expected"), [(1.0, 5.0), (-1.0, 2.0)])
def test_control_flow_in_a_layer_is_traced(start, expected):
    layer = Steps()
    x = tf.fill([1, 2], start)
    for call in (layer, tf.function(layer)):
        np.testing.assert_array_equal(call(x), [[expected, expected]])
    model = tf.keras.Sequential([layer])
    np.testing.assert_array_equal(model.predict(x, verbose=0), [[expected, expected]])


def test_gradients_reach_variables_of_keras():
    dense = tf.keras.layers.Dense(1, kernel_initializer="ones")
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = dense(x)
    kernel, bias = tape.gradient(y, dense.trainable_variables)
    np.testing.assert_array_equal(kernel, [[1.0], [2.0]])
    np.testing.assert_array_equal(bias, [1.0])


def test_jacobians_reach_variables_of_keras():
    dense = tf.keras.layers.Dense(2, kernel_initializer="ones", use_bias=False)
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = dense(x)
    rows = tape.jacobian(y, dense.kernel)
    np.testing.assert_array_equal(rows, [[[[1.0, 0.0], [2.0, 0.0]], [[0.0, 1.0], [0.0, 2.0]]]])


class Scaled(tf.keras.layers.Layer):
    """A layer that makes its variables at the first call."""

    def build(self, shape):
        self.factor = self.add_weight(shape=(), initializer="ones")
        self.is_positive = self.add_weight(shape=(), initializer="ones", trainable=False)

    def call(self, x):
        if self.is_positive > 0:
            x = 2.0 * x
        return x * self.factor


def test_layers_are_built_in_a_loop():
    layer = Scaled()

    @tf.function
    def repeated(x, n):
        for _ in tf.range(n):
            x = layer(x)
        return x

    assert repeated(tf.constant(1.0), tf.constant(3)) == 8.0 and len(layer.variables) == 2
    with tf.GradientTape() as tape:
        y = repeated(tf.constant(1.0), tf.constant(2))
    assert tape.gradient(y, layer.factor) == 8.0


def test_layers_are_built_in_a_branch():
    layer = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])

    @tf.function
    def signed(x):
        if tf.reduce_sum(x) > 0:
            return layer(x)
        return -layer(x)

    assert signed(tf.constant([[1.0, 2.0]])) == 3.0 and signed(tf.constant([[-1.0, -2.0]])) == 3.0
    assert len(layer.variables) == 2


def test_models_are_saved_in_the_format_of_keras(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
    x = np.ones((2, 4), np.float32)
    expected = model.predict(x, verbose=0)
    model.save(tmp_path / "m.keras")
    loaded = tf.keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_allclose(loaded.predict(x, verbose=0), expected, rtol=1e-6)


def test_models_are_exported(tmp_path):
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(2)]
    )
    x = tf.constant([[1.0, 2.0, 3.0]])
    model.export(tmp_path / "m", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "m")
    np.testing.assert_allclose(loaded.serve(x), model(x), rtol=1e-6)
    np.testing.assert_allclose(loaded.signatures["serving_default"](x)["output_0"], model(x), rtol=1e-6)
    np.testing.assert_allclose(tf.keras.layers.TFSMLayer(tmp_path / "m")(x), model(x), rtol=1e-6)
    assert len(loaded.trainable_variables) == 4


def test_functions_are_endpoints_of_an_exported_model(tmp_path):
    """Functions and methods with an `input_signature` need no call before; others do."""

    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, x):
            return self.dense(x)

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def twice(self, x):
            return 2.0 * self(x)

        @tf.function
        def thrice(self, x):
            return 3.0 * self(x)

    model, x = Model(), tf.constant([[1.0, 2.0, 3.0]])
    expected = model(x)
    archive = tf.keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("twice", model.twice)
    half = tf.function(lambda x: x / 2.0, input_signature=[tf.TensorSpec([], tf.float32)])
    archive.add_endpoint("half", half)
    with pytest.raises(ValueError, match="never been called"):
        archive.add_endpoint("thrice", model.thrice)
    model.thrice(x)
    archive.add_endpoint("thrice", model.thrice)
    archive.write_out(tmp_path / "m", verbose=False)

    loaded = tf.saved_model.load(tmp_path / "m")
    np.testing.assert_allclose(loaded.twice(x), 2.0 * expected, rtol=1e-6)
    np.testing.assert_allclose(loaded.thrice(x), 3.0 * expected, rtol=1e-6)
    assert loaded.half(3.0).numpy() == 1.5


def test_saved_models_of_keras_have_a_signature(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    tf.saved_model.save(model, tmp_path)
    x = tf.constant([[1.0, 2.0, 3.0]])
    (y,) = tf.saved_model.load(tmp_path).signatures["serving_default"](x).values()
    np.testing.assert_allclose(y, model(x), rtol=1e-6)


def test_keras_calls_built_in_functions_that_a_test_replaces(monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt: "n")
    io_utils = importlib.import_module("keras.src.utils.io_utils")
    assert io_utils.ask_to_proceed_with_overwrite("model.keras") is False


def test_custom_gradients_take_variables_of_keras_in_a_stateless_scope():
    @tf.custom_gradient
    def doubled(x, w):
        return 2.0 * x * w, lambda dy: (2.0 * dy * w, 2.0 * dy * x)

    class Doubled(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(), initializer="ones")

        def call(self, x):
            return doubled(x, self.w)

    outputs = Doubled()(tf.keras.Input((3,)))
    assert outputs.shape == (None, 3)


def test_weights_are_in_checkpoints(tmp_path):
    one, other = (tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]) for _ in range(2))
    path = tf.train.Checkpoint(model=one).save(str(tmp_path / "c"))
    tf.train.Checkpoint(model=other).restore(path).assert_consumed()
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


CHOICE = """
import agc.runtime as tf

class Choice(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_mean(x) > 0:
            return x * 2.0
        return -x
"""


def test_layers_of_a_converted_module_have_control_flow_in_graphs_that_keras_builds():
    """Keras builds a graph of a layer to find the shape of its results, without a `tf.function`."""
    namespace = {"__name__": "choice"}
    exec(compile_source(CHOICE, "choice.py"), namespace)
    inputs = tf.keras.Input((2,))
    model = tf.keras.Model(inputs, namespace["Choice"]()(inputs))
    assert model.output_shape == (None, 2)
    assert model(tf.constant([[1.0, 2.0]])).numpy().tolist() == [[2.0, 4.0]]
    assert model(tf.constant([[-1.0, -2.0]])).numpy().tolist() == [[1.0, 2.0]]
