"""`install_as_tensorflow`, and `agc run --as-tensorflow`: programs for TensorFlow run unchanged."""

import subprocess
import sys

import pytest

PROGRAM = """
import tensorflow as tf
import tensorflow.nn as nn
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.python.eager import context
import copy, pickle
import keras as itself

assert itself.layers.Dense is layers.Dense is keras.layers.Dense
assert context.context().executing_eagerly()

@tf.function
def f(x):
    if tf.reduce_sum(x) > 0:
        return nn.relu(x)
    return -x

print(f(tf.constant([-3.0, 1.0])).numpy())
for value in (tf.constant(1.0), tf.Variable(1.0), tf.sparse.from_dense([1]), tf.ragged.constant([[1]])):
    print(type(value).__module__)
    assert type(pickle.loads(pickle.dumps(value))) is type(copy.copy(value)) is type(value)
try:
    import tensorflow.nothing
except ModuleNotFoundError as error:
    print(error.name)
try:
    from tensorflow.python.ops import map_fn
except ImportError as error:
    print(error)
"""
PRINTED = [
    "[ 3. -1.]",
    "tensorflow.python.framework.ops",
    "tensorflow.python.ops.variables",
    "tensorflow.python.framework.sparse_tensor",
    "tensorflow.python.ops.ragged.ragged_tensor",
    "tensorflow.nothing",
    "tensorflow.python.ops.map_fn is private code of TensorFlow, which agc.runtime does not have; "
    "use the public names of tf",
]


@pytest.mark.parametrize("way", ["function", "option"])
def test_a_program_for_tensorflow_runs(way, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    if way == "option":
        command = ["-m", "agc", "run", "--as-tensorflow", str(path)]
    else:
        command = [
            "-c",
            f"import agc.runtime as tf, runpy; tf.install_as_tensorflow(); runpy.run_path({str(path)!r})",
        ]
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.stdout.splitlines(), done.stderr) == (PRINTED, "")


KERAS = """
import keras, numpy as np, sys
import tensorflow as tf

class Steps(keras.layers.Layer):
    def call(self, x):
        if tf.reduce_sum(x) > 0:
            x = x * 2.0
        for _ in tf.range(3):
            x += 1.0
        return x

model = keras.Sequential([Steps(), keras.layers.Dense(1, kernel_initializer="zeros")])
model.compile("sgd", "mse")
x = np.ones((4, 2), np.float32)
history = model.fit(x, np.ones((4, 1), np.float32), batch_size=4, epochs=2, verbose=0).history
print(history["loss"][0], history["loss"][1] < 1e4, keras.__version__[:2], tf.keras.layers.Dense is keras.layers.Dense)
"""


def test_keras_itself_trains_a_layer_with_control_flow(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(KERAS)
    command = [sys.executable, "-m", "agc", "run", "--as-tensorflow", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout.split(), done.stderr) == (["1.0", "True", "3.", "True"], "")
