"""`install_as_tensorflow`, and `agc run --as-tensorflow`: programs for TensorFlow run unchanged."""

import subprocess
import sys

PROGRAM = """
import tensorflow as tf
import tensorflow.nn as nn
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.python.eager import context
import tensorflow.compat.v2 as second
import copy, pickle
import keras as itself

assert itself.layers.Dense is layers.Dense is keras.layers.Dense
assert second is tf and second.__internal__.CompositeTensor is tf.__internal__.CompositeTensor
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


def run(text, path, *command):
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=path.parent
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_program_for_tensorflow_runs(tmp_path):
    path = tmp_path / "program.py"
    program = f"import agc.runtime as tf, runpy; tf.install_as_tensorflow(); runpy.run_path({str(path)!r})"
    assert run(PROGRAM, path, "-c", program) == PRINTED


def test_a_program_for_tensorflow_and_keras_is_converted_and_runs(tmp_path):
    """Keras itself trains a layer with control flow."""
    path = tmp_path / "program.py"
    found = run(KERAS + PROGRAM, path, "-m", "agc", "run", "--as-tensorflow", str(path))
    assert found == ["1.0 True 3. True", *PRINTED]


LAMBDA = """
import tensorflow as tf
from tensorflow import keras

def model():
    two = keras.layers.Lambda(lambda x: abs(x) + 1.0), keras.layers.Lambda(lambda x: abs(x) * 2.0)
    return keras.Sequential([keras.Input((2,)), *two])

model().save("model.keras")
print(keras.models.load_model("model.keras", safe_mode=False)(tf.constant([[3.0, -4.0]])).numpy())
"""


def test_lambda_layers_of_a_converted_program_are_saved(tmp_path):
    """The file has the code of the program, which TensorFlow can load."""
    found = run(LAMBDA, tmp_path / "program.py", "-m", "agc", "run", "--as-tensorflow", "program.py")
    assert found == ["[[ 8. 10.]]"]
