"""The first call of a function imports what its program uses, as each module takes part of a millisecond."""

import subprocess
import sys

TRAINING = """
import numpy as np
import agc.runtime as tf
weight = tf.Variable(2.0)
scale = np.float32(0.5)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.constant(0.0)
        for i in tf.range(3):
            loss += scale * tf.nn.relu(weight * x[i]) + tf.linalg.trace(weight * tf.eye(2))
    (gradient,) = tape.gradient(loss, [weight])
    weight.assign_sub(gradient)
    return loss

step(tf.constant([1.0, 2.0, 3.0]))
"""
LATE = {
    "autograph.import_hook.hook": "hooked()",
    "autograph.conversion.multiversioning": "tf.autograph.to_graph(doubled)([1, 2])",
    "runtime.autodiff.jacobian": "jacobian(tf.constant([1.0, 2.0]))",
    "runtime.autodiff.loop_checkpointing": "tf.function(gradient_of_power)(tf.constant(2.0))",
    "runtime.control_flow.failures": "tf.function(checked)(tf.constant(1.0))",
    "runtime.executors.interpreter": "tf.function(largest, experimental_executor='interpret')(tf.constant([1.0]))",
    "runtime.interop.numpy_dispatch.functions": "tf.function(largest)(tf.constant([1.0]))",
    "runtime.kernels.special_functions.tables": "tf.nn.gelu(tf.constant([0.0]))",
    "runtime.ops.linalg.matrix_functions": "tf.linalg.expm(tf.eye(2))",
    "runtime.ops.linalg.tensordot": "tf.function(inner_product)(tf.constant([1.0]))",
    "runtime.ops.lists.list_gradients": "gradient_of_parts(tf.constant([1.0, 2.0]))",
    "runtime.ops.state.print_op": "tf.print('done')",
    "runtime.ops.reduce.leave_one_out_product": "gradient_of_product(tf.constant([1.0, 2.0]))",
    "runtime.ops.state.raise_op": "tf.function(checked)(tf.constant(1.0))",
    "runtime.tracing.call_recording": "tf.function(calling)(tf.constant(1.0))",
}
"""The modules that the program above does not use, and calls that do."""

USES = """
def doubled(xs):
    return [2 * x for x in xs]

def jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.jacobian(y, x)

def gradient_of_power(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for i in tf.range(3):
            tf.autograph.experimental.set_loop_options(checkpoint_every=2)
            y *= x
    return tape.gradient(y, x)

def largest(x):
    return np.max(x)

def checked(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x

def calling(x):
    return tf.function(checked)(x)

def hooked():
    from agc import autograph
    autograph.install_import_hook().uninstall()

def inner_product(x):
    return np.matmul(x, x)

def gradient_of_parts(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x) + x[0] + x[1]
    return tape.gradient(y, x)

def gradient_of_product(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_prod(x)
    return tape.gradient(y, x)

"""


def loaded(program, folder):
    """Return the modules in LATE that a program has loaded, in a process of its own."""
    file = folder / "program.py"
    file.write_text(f"{program}\nimport sys\nprint(*sys.modules)\n")
    done = subprocess.run([sys.executable, str(file)], check=True, capture_output=True, text=True)
    return {module for module in LATE if f"agc.{module}" in done.stdout.split()}


def test_a_step_of_training_imports_none_of_these(tmp_path):
    assert loaded(TRAINING, tmp_path) == set()


def test_other_modules_are_imported_at_their_first_use(tmp_path):
    calls = "\n".join(LATE.values())
    assert loaded(f"import numpy as np\nimport agc.runtime as tf\n{USES}{calls}", tmp_path) == LATE.keys()
