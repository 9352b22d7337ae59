"""`agc run FILE::FUNCTION`: one function, called with tensors."""

import numpy as np
import pytest

PROGRAM = '''\
import agc.runtime as tf

print("module", __name__)


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def describe(*values):
    """Looks at its arguments while it is traced."""
    for value in values:
        if isinstance(value, dict):
            print("dict of", ", ".join(part.dtype.name for part in value.values()))
        elif tf.is_tensor(value):
            print(value.dtype.name, value.shape)
        else:
            print(type(value).__name__)


def scaled(x, factor=2.0, *, shift):
    return x * factor + shift


@tf.function
def ready(x):
    return x + 1


@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def strict(x):
    return x


class Model:
    @staticmethod
    def call(x):
        return -x


def fails(x):
    y = x + 1
    return helper(y)


def helper(y):
    raise ValueError("no luck")


LIMIT = 3

if __name__ == "__main__":
    print("not wanted")
'''


@pytest.fixture
def call(agc, folder):
    """Call a function of prog.py; what the module itself prints is taken off."""
    (folder / "prog.py").write_text(PROGRAM)

    def start(function, *arguments, **settings):
        result = agc("run", f"prog.py::{function}", *arguments, **settings)
        assert "not wanted" not in result.stdout
        result.stdout = result.stdout.removeprefix("module prog\n")
        return result

    return start


def printed(result):
    assert (result.stderr, result.returncode) == ("", 0)
    return result.stdout


@pytest.mark.parametrize("arguments", [["27"], ["--arg", "27"], ["-a", "n=27"], ["--arg", "n:int64=27"]])
def test_a_function_is_called_with_tensors(call, arguments):
    assert printed(call("collatz", *arguments)) == "tf.Tensor(111, shape=(), dtype=int32)\n"


def test_the_graph_is_printed_before_the_result(call):
    said = printed(call("collatz", "27", "--graph"))
    graph, _, result = said.rpartition("\n\n")
    assert graph.startswith("graph collatz(n: int32[]) -> int32[]\n")
    assert " = while " in graph and " = cond " in graph
    assert result == "tf.Tensor(111, shape=(), dtype=int32)\n"


FULL = """\
import errno, io, os, sys
from agc.cli.main import main

class Full(io.RawIOBase):
    def writable(self):
        return True

    def write(self, data):
        if self is not sys.stdout.buffer.raw:  # Python gives it up in the end, with what nobody has written
            return len(data)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

sys.stdout = io.TextIOWrapper(io.BufferedWriter(Full()))
sys.exit(main(["run", "prog.py::collatz", "27", "--graph"]))
"""


def test_a_result_on_a_full_disk(python, folder):
    (folder / "prog.py").write_text(PROGRAM)
    result = python("-c", FULL)
    expected = "error[AGC307]: cannot write `stdout`: no space left on device\n"
    assert (result.stderr, result.returncode) == (expected, 2)


def test_eager(call):
    """Then `steps` is the Python number that it is in Python."""
    assert printed(call("collatz", "27", "--eager")) == "111\n"


def test_one_call_mixes_tensors_arrays_and_python_values(call, folder):
    np.save(folder / "array.npy", np.arange(3.0))
    arguments = ["{'a': 1, 'b': [2.0]}", "@array.npy", "py:'text'", "None", "[1, 2]:float64"]
    assert printed(call("describe", *arguments)).splitlines() == [
        "dict of int32, float32",
        "float64 (3,)",
        "str",
        "NoneType",
        "float64 (2,)",
        "None",
    ]


def test_defaults_and_names(call):
    assert (
        printed(call("scaled", "[1.0, 2.0]", "shift=1.0"))
        == "tf.Tensor([3. 5.], shape=(2,), dtype=float32)\n"
    )


def test_negative_numbers(call):
    expected = "tf.Tensor(3, shape=(), dtype=int32)\n"
    assert printed(call("Model.call", "-3")) == expected
    assert printed(call("Model.call", "--arg", "-3")) == expected
    assert printed(call("Model.call", "--", "-3")) == expected


def test_a_function_that_is_decorated_already(call):
    said = printed(call("ready", "1", "--graph"))
    assert said.startswith("graph ready(x: int32[]) -> int32[]\n")
    assert said.endswith("tf.Tensor(2, shape=(), dtype=int32)\n")


def test_a_function_of_a_module_by_name(agc, folder):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "part.py").write_text("from . import other\n\ndef f(x):\n    return x + other.ONE\n")
    (folder / "pkg" / "other.py").write_text("ONE = 1\n")
    assert printed(agc("run", "-m", "pkg.part::f", "41")) == "tf.Tensor(42, shape=(), dtype=int32)\n"


def test_a_function_on_stdin(agc):
    program = "def f(x):\n    if x > 0:\n        return x\n    return -x\n"
    assert printed(agc("run", "-::f", "--arg=-2", stdin=program)) == "tf.Tensor(2, shape=(), dtype=int32)\n"


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (
            "collatz",
            [],
            """\
error[AGC306]: the arguments do not fit `collatz`: missing a required argument: 'n'
  --> prog.py:6
 6 | def collatz(n):
why: the signature is collatz(n)
""",
        ),
        (
            "collatz",
            ["1", "2"],
            """\
error[AGC306]: the arguments do not fit `collatz`: too many positional arguments
  --> prog.py:6
 6 | def collatz(n):
why: the signature is collatz(n)
""",
        ),
        (
            "collatz",
            ["m=27"],
            """\
error[AGC306]: the arguments do not fit `collatz`: got an unexpected keyword argument 'm'
  --> prog.py:6
 6 | def collatz(n):
why: the signature is collatz(n)
""",
        ),
        (
            "scaled",
            ["1.0", "factr=2.0", "shift=1.0"],
            """\
error[AGC306]: the arguments do not fit `scaled`: got an unexpected keyword argument 'factr'
  --> prog.py:28
 28 | def scaled(x, factor=2.0, *, shift):
why: the signature is scaled(x, factor=2.0, *, shift)
fix: did you mean `factor`?
""",
        ),
        (
            "ready",
            [],
            """\
error[AGC306]: the arguments do not fit `ready`: missing a required argument: 'x'
  --> prog.py:33
 33 | def ready(x):
why: the signature is ready(x)
""",
        ),
        (
            "collatz",
            ["n=1", "n=2"],
            """\
error[AGC305]: `n` is given twice
  --> arguments:2:3
 2 | n=2
   |   ^
""",
        ),
        (
            "collatz",
            ["n:int46=1"],
            """\
error[AGC305]: there is no dtype `int46`
  --> arguments:1:9
 1 | n:int46=1
   |         ^
fix: did you mean `int64` or `int16` or `uint64`?
""",
        ),
        (
            "collatz",
            ["n=@missing.npy"],
            """\
error[AGC305]: cannot read `missing.npy`: no such file or directory
  --> arguments:1:3
 1 | n=@missing.npy
   |   ^^^^^^^^^^^^
""",
        ),
        (
            "collatz",
            ["n=@prog.py"],
            """\
error[AGC305]: cannot read `prog.py`: it is not an array that numpy.save has written
  --> arguments:1:3
 1 | n=@prog.py
   |   ^^^^^^^^
""",
        ),
        (
            "LIMIT",
            [],
            """\
error[AGC304]: `LIMIT` is not a function but a value of type `int`
  --> prog.py
""",
        ),
        (
            "Model.cal",
            ["1"],
            """\
error[AGC304]: there is no function `Model.cal`
  --> prog.py
why: the functions are: Model.call
fix: did you mean `Model.call`?
""",
        ),
    ],
)
def test_arguments_that_do_not_fit(call, function, arguments, expected):
    result = call(function, *arguments)
    assert (result.stderr, result.stdout, result.returncode) == (expected, "", 2)


def test_a_value_of_the_wrong_dtype(call):
    result = call("collatz", "--arg", "n=1.5:int32")
    assert result.stderr.startswith(
        "error[AGC305]: this value does not make a tensor of dtype int32\n"
        "  --> arguments:1:3\n 1 | n=1.5:int32\n   |   ^^^^^^^^^\nwhy: "
    )
    assert (result.stdout, result.returncode) == ("", 2)


def test_a_value_that_cannot_be_read_stops_before_the_module_runs(call):
    result = call("collatz", "[1,")
    assert result.stdout == ""
    assert result.stderr.startswith("error[AGC305]: `[1,` is not a value\n  --> arguments:1:1\n")


def test_a_function_that_fails(call):
    result = call("fails", "1")
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback (most recent call last):\n")
    assert "in fails\n    return helper(y)\n" in result.stderr
    assert "in helper\n" in result.stderr
    assert result.stderr.count('  File "') == 2
    assert result.stderr.endswith("ValueError: no luck\n")


def test_a_module_that_fails_on_import(agc, folder):
    (folder / "broken.py").write_text("def f(x):\n    return x\n\nf.missing\n")
    result = agc("run", "broken.py::f", "1")
    assert result.returncode == 1
    assert result.stderr.count('  File "') == 1
    assert result.stderr.endswith("AttributeError: 'function' object has no attribute 'missing'\n")


def test_a_module_that_exits_on_import(agc, folder):
    (folder / "exits.py").write_text("raise SystemExit(5)\n")
    assert agc("run", "exits.py::f").returncode == 5


@pytest.mark.parametrize("name", ["random.py", "my-program.py", "no_suffix"])
def test_the_files_name_does_not_matter(agc, folder, name):
    (folder / "sub").mkdir()
    (folder / "sub" / name).write_text("import random\ndef f(x):\n    return x * 2\n")
    assert printed(agc("run", f"sub/{name}::f", "2")) == "tf.Tensor(4, shape=(), dtype=int32)\n"


def test_the_graph_after_a_pass_of_the_optimizer(agc, folder):
    (folder / "known.py").write_text(
        "import agc.runtime as tf\n\ndef f(x):\n    return x + tf.constant(2) * 3\n"
    )
    said = printed(agc("run", "known.py::f", "1", "--graph", "--after", "constant_fold"))
    assert "add x, 6 " in said and "multiply" not in said
    assert "multiply 2, 3" in printed(agc("run", "known.py::f", "1", "--graph", "--after", "inline"))


def test_an_unknown_optimizer_pass_is_refused(agc, folder):
    wrong = agc("run", "collatz.py::collatz", "1", "--graph", "--after", "strength_reductio")
    assert wrong.returncode == 2
    assert (
        "there is no pass `strength_reductio`" in wrong.stderr
        and "did you mean `strength_reduction`" in wrong.stderr
    )
    assert "add --graph" in agc("run", "collatz.py::collatz", "1", "--after", "fold").stderr


def test_graph_and_eager_for_a_whole_program(agc, folder):
    (folder / "whole.py").write_text(
        "import agc.runtime as tf\n\n@tf.function\ndef f(x):\n    print('python', x)\n    return x\n\n"
        "f(tf.constant(1))\nf(tf.constant(1))\n"
    )
    traced = printed(agc("run", "whole.py"))
    eager = printed(agc("run", "--eager", "whole.py"))
    assert traced.count("python") == 1
    assert eager == "python tf.Tensor(1, shape=(), dtype=int32)\n" * 2


def test_native_code_is_printed_before_the_result(call):
    said = printed(call("collatz", "27", "--native-ir"))
    code, _, result = said.rpartition("\n\n")
    assert "define" in code and "@run(" in code
    assert result == "tf.Tensor(111, shape=(), dtype=int32)\n"


def test_a_method_without_its_object_is_explained(agc, folder):
    wrong = agc("run", "collatz.py::Counter.down", "1")
    assert wrong.returncode == 2
    assert "fix: name a function that makes a Counter and calls the method" in wrong.stderr
