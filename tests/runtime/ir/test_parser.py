"""What is no graph is refused with the place and the reason."""

from __future__ import annotations

import agc.runtime  # noqa: F401  (declares the operations)
import pytest
from agc.runtime.ir.parser import GraphSyntaxError, parse


def body(*lines: str, head: str = "graph g(x: float32[]) -> float32[]") -> str:
    return "\n".join([head, *lines, "  return x"])


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("", 1, 1, "there is no graph"),
        ("grph g()\n  return", 1, 1, "expected `graph`"),
        ("graph g(x)\n  return x", 1, 10, "expected `:`"),
        ("graph g(x: float31[])\n  return x", 1, 12, "expected a dtype"),
        ("graph g(x: float32[-1])\n  return x", 1, 20, "expected a size"),
        ("graph g(x: int32[], x: int32[])\n  return", 1, 21, "`x` is defined already"),
        (body("  y = add x, z : float32[]"), 2, 14, "`z` is not defined here"),
        (body("  y = ad x, x : float32[]"), 2, 7, "there is no operation `ad`"),
        (body("  x = add x, x : float32[]"), 2, 3, "`x` is defined already"),
        (body("  y = add x, x"), 2, 15, "1 results, but 0 types"),
        (body("  y = add x, x : float32[] !"), 2, 28, "'!' is unexpected here"),
        (body("  y = add x, [1, [2] : float32[]"), 2, 22, "expected `,` or `]`"),
        (body("  y = add x, int32(1.5) : float32[]"), 2, 14, "this is no int32"),
        (body("  y = add x, uint8(256) : float32[]"), 2, 14, "Python integer 256 out of bounds for uint8"),
        (body("  y = add x, $1 : float32[]"), 2, 14, "`$1` is not among the constants"),
        (body("    y = add x, x : float32[]"), 2, 1, "this line is indented too far"),
        (body("  y = cond true, x : float32[]", "    else x"), 3, 5, "expected `then` in `cond`"),
        (
            body("  y = cond true, x : float32[]", "    then x, z, w"),
            3,
            17,
            "the types of these 3 inputs are not known",
        ),
        (body("  y = call @f x : float32[]"), 2, 13, "there is no graph `f` in this text"),
        (body("  y = call @g x : float32[]"), 2, 13, "`g` calls itself"),
        (body("  y = reduce_sum x [axis='a'] : float32[]"), 2, 21, "axis: "),
        ("graph g(x: int32[]) -> float32[]\n  return x", 1, 21, "`return` returns int32[]"),
        ("graph g()\n  x = add 1, 2 : int32[]", 2, 1, "`return` is missing after this line"),
        ("graph g()\n  return\nconstants\n  $1: int32[2]", 4, 15, "the text does not contain the data of $1"),
        ("graph g()\n  return\nconstants\n  $1: int32[2]\n    AA", 4, 1, "the data of $1 cannot be read"),
        ("graph g()\n  return\nconstants\n  $1: int32[2]\n    AAAA", 4, 1, "the data of $1 cannot be read"),
        ("graph g()\n  return\nconstants\n  $1: int32[?]", 4, 1, "a constant is a tensor of known shape"),
    ],
)
def test_errors(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(GraphSyntaxError) as caught:
        parse(text)
    assert caught.value.reason.startswith(reason)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_the_shape_of_a_message() -> None:
    with pytest.raises(GraphSyntaxError) as caught:
        parse(body("  y = add x, z : float32[]"))
    assert str(caught.value) == (
        "`z` is not defined here\n"
        "  --> line 2, column 14\n"
        " 2 |   y = add x, z : float32[]\n"
        "   |              ^"
    )


def test_blank_lines_and_widths_are_free() -> None:
    graph = parse("\n\ngraph g(x: float32[]) -> float32[]\n\n  y = add x,1.0:float32[]\n\n  return y\n\n")
    assert parse(str(graph)) == graph


def test_attributes_are_parsed_by_their_operation() -> None:
    graph = parse("graph g(x: float32[3])\n  s = reduce_sum x [axis=0] : float32[]\n  return")
    assert graph.operations[0].attrs["axis"] == (0,)


@pytest.mark.parametrize("text", ["'a\0b'", r"'\x'", r"'\N{no such}'", r"'\q'", "b'é'", r"'\ud800'"])
def test_strings_that_python_does_not_have_are_refused(text):
    with pytest.raises(GraphSyntaxError, match="not a Python string literal"):
        parse(f"graph g() -> string[]\n  x = identity {text} : string[]\n  return x\n")
