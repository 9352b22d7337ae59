"""What is imported on demand can be imported first: there are no circles. What is not needed is not imported."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]


def _runs(program):
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_all_operations_can_be_found_before_anything_else_is_used():
    _runs("from agc.runtime.ops.framework.op import find; assert find('no such operation') is None")


@pytest.mark.parametrize(
    "expression, answer",
    [
        ("tf.constant([5, 7])[1].numpy()", "7"),
        ("[int(x) for x in tf.constant([5, 7])]", "[5, 7]"),
        ("tf.Variable([5, 7])[1].numpy()", "7"),
        ("[int(x) for x in tf.Variable([5, 7])]", "[5, 7]"),
        ("(-tf.constant(5) + 2 ** tf.Variable(3)).numpy()", "3"),
        ("tf.TensorArray(tf.int32, 1).write(0, 7).read(0).numpy()", "7"),
    ],
)
def test_a_fresh_import_has_what_python_calls_of_a_tensor(expression, answer):
    assert _runs(f"import agc.runtime as tf; print({expression})").strip() == answer


@pytest.mark.parametrize(
    "makes_old, uses, refusal",
    [
        (
            "import numpy; numpy.__version__ = '1.26.4'",
            "import agc.runtime",
            "agc.runtime needs NumPy 2.0 or newer, but 1.26.4 is installed: pip install --upgrade numpy",
        ),
        (
            "import gast; del gast.Module._field_types",
            "from agc.autograph import to_code; to_code(len)",
            "agc.autograph needs gast 0.7 or newer, but an older one is installed: pip install --upgrade gast",
        ),
    ],
    ids=["numpy", "gast"],
)
def test_a_library_that_is_too_old_is_refused(makes_old, uses, refusal):
    program = [sys.executable, "-c", f"{makes_old}; {uses}"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == f"ImportError: {refusal}"


LOADED = "print(*[name for name in sys.modules if name.startswith('agc.')])"


def test_an_eager_program_loads_no_graph_modules():
    program = "y = tf.Variable([1.0, 2.0]) * 3\nassert tf.reduce_sum(y).numpy() == 9"
    loaded = _runs(f"import sys\nimport agc.runtime as tf\n{program}\n{LOADED}").split()
    packages = [f"autograph.{name}" for name in ("analysis", "operators", "passes", "side_effects", "syntax")]
    packages += [
        f"runtime.{name}"
        for name in ("autodiff", "control_flow", "executors", "optimize", "python_semantics", "tracing")
    ]
    assert all((ROOT / name.replace(".", "/")).is_dir() for name in packages)
    assert not [name for name in loaded if name.startswith(tuple(f"agc.{name}" for name in packages))]


def test_a_raw_operation_loads_no_family_but_its_own():
    program = "tf.raw_ops.BiasAddGrad(out_backprop=tf.ones([2, 3]))"
    loaded = _runs(f"import sys\nimport agc.runtime as tf\n{program}\n{LOADED}").split()
    assert [name for name in loaded if name.startswith("agc.runtime.raw_ops.adapters.")] == [
        "agc.runtime.raw_ops.adapters.nn"
    ]
    assert "agc.runtime.lookup" not in loaded


HALVED = """
import sys
import agc.runtime as tf

@tf.function
def halvings(n):
    count = 0
    while n > 1:
        n = n // 2
        count += 1
    return count

assert halvings(tf.constant(1000)) == 9
"""


@pytest.fixture(scope="module")
def loaded_by_a_function(tmp_path_factory):
    """The modules of agc that a process has loaded when its function has run."""
    path = tmp_path_factory.mktemp("loaded") / "halvings.py"
    path.write_text(f"{HALVED}{LOADED}\n")
    return subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    "modules",
    [
        *("executors.plan.fusion", "optimize.tile_rows", "optimize.delay_loop_matmul", "ir.printer"),
        *("ops.nn", "ops.reduce.reductions", "composite.indexed_slices", "python_semantics.builtins"),
        *("kernels.random", "tracing.recursive_call"),
    ],
)
def test_a_function_loads_only_what_its_graph_needs(modules, loaded_by_a_function):
    """A loop of scalars has no products of matrices and no tensors that are worth a fused kernel."""
    assert "agc.runtime.executors.plan.plan" in loaded_by_a_function
    assert not [name for name in loaded_by_a_function if name.startswith(f"agc.runtime.{modules}")]


TURNED = """
import sys
import agc.runtime as tf

class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    def __abs__(self):  # is converted in place, since Python calls it
        return -self.degrees if self.degrees < 0 else self.degrees

@tf.function
def size(degrees):
    return abs(Angle(degrees))

assert size(tf.constant(-3)) == 3
"""


def test_a_function_that_another_process_converted_needs_no_compiler(tmp_path):
    path = tmp_path / "turned.py"
    path.write_text(f"{TURNED}{LOADED}\n")
    environment = os.environ | {"AGC_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert "agc.autograph.passes" in first.stdout.split()
    assert "agc.autograph.conversion.in_place_code" in second.stdout.split()
    assert "agc.autograph.passes" not in second.stdout.split()


WAYS = {
    "while_loop": "result = tf.while_loop(lambda n: n < 3, lambda n: [n + 1], [tf.constant(0)])[0].numpy()",
    "function": "result = tf.function(up)(tf.constant(-3)).numpy()",
    "vectorized_map": "result = tf.vectorized_map(up, tf.constant([-3]))[0].numpy()",
    "Graph": """
with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as session:
    result = session.run(tf.autograph.to_graph(up)(tf.constant(-3)))
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_graph_features_work_as_the_first_call(way, tmp_path):
    """A branch that a tensor decides is staged, whoever makes the graph."""
    path = tmp_path / "first.py"
    up = "def up(x):\n    if x < 0:\n        x = -x\n    return x\n"
    path.write_text(f"import agc.runtime as tf\n{up}\n{WAYS[way]}\nassert result == 3\n")
    subprocess.run([sys.executable, path], check=True)
