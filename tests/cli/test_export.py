"""`agc export`: write a function in a format."""

import shutil

import pytest

PROGRAM = """\
import agc.runtime as tf


def scaled(x, factor=2.0):
    return {"scaled": x * factor}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(PROGRAM)
    return path


def test_values_and_types_are_arguments(agc, file, tmp_path):
    out = tmp_path / "f.json"
    done = agc("export", f"{file}::scaled", "[1.0, 2.0]", "-o", str(out))
    assert done.stdout == f"{out}: scaled(x: float32[2]) -> scaled: float32[2]\n"
    done = agc("export", f"{file}::scaled", "--input", "x=float32[batch,?]", "-o", str(out))
    assert done.stdout == f"{out}: scaled(x: float32[batch, x_1]) -> scaled: float32[?, ?]\n"


def test_a_graph_file_is_exported_and_verified(agc, file, tmp_path):
    one, other = tmp_path / "f.txt", tmp_path / "f.json"
    agc("export", f"{file}::scaled", "3.0", "-o", str(one))
    done = agc("export", str(one), "-o", str(other), "--verify")
    assert done.returncode == 0
    assert "output_0: agrees, largest difference 0\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["::scaled", "3.0", "-o", "f.nothing"], "no format has the suffix of 'f.nothing'; name one of text"),
        (["::scaled", "3.0", "-o", "f.txt", "--to", "jso"], "did you mean"),
        (["::scaled", "--input", "x=float32", "-o", "f.txt"], "`x=float32` is not a type"),
        (["::scaled", "--input", "x=float7[]", "-o", "f.txt"], "there is no dtype `float7`"),
        (["::scaled", "--input", "x=int32[a b]", "-o", "f.txt"], "`a b` is not a size"),
        (["::scaled", "1", "2", "3", "-o", "f.txt"], "the arguments do not fit `scaled`"),
        (["", "-o", "f.txt"], "needs one function, and"),
        (["s", "-o", "f.txt"], ".pys`: No such file"),
    ],
)
def test_wrong_usage_is_explained(agc, file, arguments, message):
    done = agc("export", f"{file}{arguments[0]}", *arguments[1:])
    assert done.returncode == 2
    assert message in done.stderr


def test_a_missing_library_is_an_error_without_frames(python, file):
    hidden = (
        "import sys; sys.modules['onnx'] = None; from agc.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    done = python("-c", hidden, "export", f"{file}::scaled", "3.0", "-o", "f.onnx")
    assert done.returncode == 2
    assert done.stderr.startswith("error[AGC300]: the format ONNX needs the package onnx.")
    assert "pip install 'agc-autograph[onnx]'" in done.stderr


def test_operations_that_a_format_leaves_out_are_a_warning(agc, tmp_path):
    path = tmp_path / "checked.py"
    path.write_text("def checked(x):\n    assert x > 0\n    return x * 2\n")
    done = agc("export", f"{path}::checked", "3", "-o", str(tmp_path / "f.onnx"))
    assert done.returncode == 0
    assert done.stderr == (
        "warning: `checked` as ONNX differs from the program:\n"
        f"  {path}:2, in checked: assert: it is left out: ONNX has no assertions\n"
    )


def test_a_damaged_file_is_one_message(agc, tmp_path):
    (tmp_path / "f.txt").write_text("nothing")
    done = agc("export", str(tmp_path / "f.txt"), "-o", str(tmp_path / "f.json"))
    assert "f.txt is damaged: GraphSyntaxError: expected `graph`" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_python_that_gives_no_results_is_named(agc, file, tmp_path):
    out = ("-o", str(tmp_path / "model"), "--to", "saved_model")
    done = agc("export", f"{file}::scaled", "3.0", *out, "--verify-with", shutil.which("true"))
    assert "the other Python ended without results" in done.stderr
    assert "Traceback" not in done.stderr
