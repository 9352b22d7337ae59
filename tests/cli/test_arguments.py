"""The text of a function's argument: what is read out of it, and what is said when it makes no sense."""

import math

import agc.runtime as tf
import numpy as np
import pytest
from agc.cli.arguments import parse, value_of
from agc.cli.errors import CommandError


def fields(text):
    """What differs from an argument with only a value."""
    argument = parse(text)
    return {
        key: value
        for key, value in argument._asdict().items()
        if value is not None and value is not False and key != "where"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("27", {"value": 27}),
        (" -1.5e3 ", {"value": -1500.0}),
        ("1_000", {"value": 1000}),
        ("True", {"value": True}),
        ("2+3j", {"value": 2 + 3j}),
        ("[[1, 2], [3, 4]]", {"value": [[1, 2], [3, 4]]}),
        ("(1.0, 2.0)", {"value": (1.0, 2.0)}),
        ("'a=b:int32'", {"value": "a=b:int32"}),
        ('b"bytes"', {"value": b"bytes"}),
        ("{'w': [1.0], 'b': 2}", {"value": {"w": [1.0], "b": 2}}),
        ("inf", {"value": math.inf}),
        ("[1.0, -inf]", {"value": [1.0, -math.inf]}),
        ("None", {"is_python": True}),
    ],
)
def test_a_value_is_a_python_literal(text, expected):
    assert fields(text) == expected


def test_nan_is_a_number():
    assert math.isnan(parse("nan").value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("27:int64", {"value": 27, "dtype": "int64"}),
        ("[1, 2] : float32", {"value": [1, 2], "dtype": "float32"}),
        ("0:float32[2,3]", {"value": 0, "dtype": "float32", "shape": (2, 3)}),
        ("{'a': 1}:int8", {"value": {"a": 1}, "dtype": "int8"}),
        ("'text':string", {"value": "text", "dtype": "string"}),
        ("@data/x.npy", {"value": "data/x.npy", "is_file": True}),
        ("@x.npy:float16", {"value": "x.npy", "dtype": "float16", "is_file": True}),
        ("py:10", {"value": 10, "is_python": True}),
        ("py:{'a': 1}", {"value": {"a": 1}, "is_python": True}),
        ("py:'int:int64'", {"value": "int:int64", "is_python": True}),
    ],
)
def test_a_value_may_have_a_dtype_or_kind(text, expected):
    assert fields(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n=27", {"name": "n", "value": 27}),
        ("n = 27:int64", {"name": "n", "value": 27, "dtype": "int64"}),
        ("n:int64=27", {"name": "n", "value": 27, "dtype": "int64"}),
        ("x:float32[2]=[1, 2]", {"name": "x", "value": [1, 2], "dtype": "float32", "shape": (2,)}),
        ("x:float32[]=1", {"name": "x", "value": 1, "dtype": "float32", "shape": ()}),
        ("x=@x.npy", {"name": "x", "value": "x.npy", "is_file": True}),
        ("x:int8=@x.npy", {"name": "x", "value": "x.npy", "dtype": "int8", "is_file": True}),
        ("n=py:10", {"name": "n", "value": 10, "is_python": True}),
        ("größe=1", {"name": "größe", "value": 1}),
        ("s='a=b'", {"name": "s", "value": "a=b"}),
    ],
)
def test_a_value_may_have_a_parameter_name(text, expected):
    assert fields(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x=[1, 2",
            """\
error[AGC305]: `[1, 2` is not a value
  --> arguments:2:3
 2 | x=[1, 2
   |   ^^^^^
fix: write a Python literal, such as 27, 1.5, True, [1.0, 2.0] or '"text"' (agc run --help)""",
        ),
        (
            "hello",
            """\
error[AGC305]: `hello` is not a value
  --> arguments:2:1
 2 | hello
   | ^^^^^
fix: a string needs its own quotes: '"hello"'""",
        ),
        (
            "flag=true",
            """\
error[AGC305]: `true` is not a value
  --> arguments:2:6
 2 | flag=true
   |      ^^^^
fix: in Python it is True""",
        ),
        (
            "n=",
            """\
error[AGC305]: there is no value
  --> arguments:2:3
 2 | n=
   |   ^
fix: write a Python literal, such as 27, 1.5, True, [1.0, 2.0] or '"text"' (agc run --help)""",
        ),
        (
            "n:int64=py:3",
            """\
error[AGC305]: a Python value has no dtype `int64`
  --> arguments:2:9
 2 | n:int64=py:3
   |         ^^^^
fix: leave out py:""",
        ),
        (
            "1:float32[two]",
            """\
error[AGC305]: `[two]` is not a shape
  --> arguments:2:1
 2 | 1:float32[two]
   | ^^^^^^^^^^^^^^
fix: write its sizes: float32[2,3]""",
        ),
    ],
)
def test_unreadable_arguments_are_explained(text, expected):
    with pytest.raises(CommandError) as caught:
        parse(text, number=2)
    assert caught.value.diagnostic.format() == expected
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text", ["__import__('os')", "2 ** 10", "lambda: 1", "f'{1}'", "1; 2", "[" * 500, "a.b"]
)
def test_nothing_is_evaluated(text):
    with pytest.raises(CommandError, match="is not a value"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("27", tf.int32, 27),
        ("1.5", tf.float32, 1.5),
        ("True", tf.bool, True),
        ("'text'", tf.string, b"text"),
        ("[[1, 2], [3, 4]]", tf.int32, [[1, 2], [3, 4]]),
        ("27:int64", tf.int64, 27),
        ("[1, 2]:float64", tf.float64, [1.0, 2.0]),
        ("0:float32[2,3]", tf.float32, [[0.0] * 3] * 2),
        ("[1, 2, 3, 4]:int8[2,2]", tf.int8, [[1, 2], [3, 4]]),
        ("@array.npy", tf.float64, [0.0, 1.0]),
        ("x:float32=@array.npy", tf.float32, [0.0, 1.0]),
    ],
)
def test_tensors(tmp_path, monkeypatch, text, dtype, value):
    monkeypatch.chdir(tmp_path)
    np.save("array.npy", np.arange(2.0))
    tensor = value_of(parse(text), tf)
    assert tensor.dtype == dtype
    assert tensor.numpy().tolist() == value if hasattr(tensor.numpy(), "tolist") else tensor.numpy() == value


def npy(shape, descr="<f4"):
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "content", [b"", b"text", b"PK\3\4" + bytes(50), npy((1 << 40,)), npy("-" * 9000 + "1"), npy((1,), "|O")],
    ids=["empty", "text", "no archive", "a shape that is larger than memory", "a header that nests", "objects"],
)  # fmt: skip
def test_files_that_are_no_arrays(tmp_path, content):
    (tmp_path / "array.npy").write_bytes(content)
    with pytest.raises(CommandError) as caught:
        value_of(parse(f"@{tmp_path}/array.npy"), tf)
    assert "array.npy`: it is not an array that numpy.save has written" in caught.value.diagnostic.title


def test_dicts_of_tensors():
    value = value_of(parse("{'w': [1.0], 'inner': {'b': 2}}"), tf)
    assert (value["w"].dtype, value["inner"]["b"].dtype) == (tf.float32, tf.int32)


@pytest.mark.parametrize(("text", "value"), [("py:10", 10), ("None", None), ("py:[1, 'a']", [1, "a"])])
def test_python_values(text, value):
    assert value_of(parse(text), tf) == value


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("1.5:int32", "this value does not make a tensor of dtype int32"),
        ("'a':float32", "this value does not make a tensor of dtype float32"),
        ("[[1, 2], [3]]", "this value does not make a tensor"),
        ("300:int8", "this value does not make a tensor of dtype int8"),
        ("[1, 2, 3]:int32[2]", "this value does not make a tensor of dtype int32"),
        ("{1, 2}", "this value does not make a tensor"),
        ("...", "this value does not make a tensor"),
        ("1:int46", "there is no dtype `int46`"),
    ],
)
def test_values_that_make_no_tensor(text, title):
    with pytest.raises(CommandError) as caught:
        value_of(parse(text), tf)
    message = caught.value.diagnostic.format()
    assert message.startswith(f"error[AGC305]: {title}\n  --> arguments:1:1\n 1 | {text}\n")
    assert "\nwhy: " in message or "\nfix: " in message
