"""The arguments of a function, as they are written on a command line.

    [NAME[:TYPE]=] VALUE [:TYPE]

    VALUE   27  1.5  True  '"text"'  '[1.0, 2.0]'  inf     a Python literal, which becomes a tensor
            @weights.npy                                   the array in a NumPy file
            py:10                                          a Python literal, which stays one; None always does
    TYPE    int64  float32[2,3]                            a dtype, and a shape as tf.constant takes it

`parse` reads the text and needs no runtime; `value_of` makes the tensor.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from agc.autograph.errors import Where

from .errors import BAD_VALUE, CommandError, problem, suggestion

_TYPE = r"(?P<dtype>[a-z]+\d*)(?:\[(?P<shape>[^\[\]]*)\])?"
_NAMED = re.compile(rf"\s*(?P<name>[^\W\d]\w*)\s*(?::\s*{_TYPE}\s*)?=(?!=)(?P<value>.*)", re.DOTALL)
_TYPED = re.compile(rf"(?P<value>.*[^\s])\s*:\s*{_TYPE}\s*", re.DOTALL)

LITERALS = "write a Python literal, such as 27, 1.5, True, [1.0, 2.0] or '\"text\"' (agc run --help)"


class Argument(NamedTuple):
    """One argument as written: what it is called, what it says, and what is to become of it."""

    where: Where
    name: str | None
    value: Any  # a literal's value, or the path of a NumPy file
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    is_python: bool = False
    is_file: bool = False


def parse(text: str, number: int = 1) -> Argument:
    """Read one argument; `number` is its place on the command line, for errors.

    >>> parse("n=27")[1:3]
    ('n', 27)
    >>> parse("[1, 2]:float32[2]")[2:5]
    ([1, 2], 'float32', (2,))
    >>> parse("py:10").is_python
    True
    """
    name, dtype, shape, body = None, None, None, text
    named = _NAMED.fullmatch(body)
    if named is not None:
        name, dtype, shape, body = named["name"], named["dtype"], named["shape"], named["value"]
    where = _part(text, number, len(text) - len(body), len(text))
    is_python = body.lstrip().startswith("py:")
    if is_python:
        body = body.lstrip().removeprefix("py:")
        if dtype is not None:
            raise problem(BAD_VALUE, f"a Python value has no dtype `{dtype}`", where, fix="leave out py:")
    elif dtype is None and (typed := _TYPED.fullmatch(body)) is not None:
        body, dtype, shape = typed["value"], typed["dtype"], typed["shape"]
    dims = _dims(shape, where) if shape is not None else None
    if body.lstrip().startswith("@") and not is_python:
        return Argument(where, name, body.strip()[1:], dtype, dims, is_file=True)
    value = _literal(body, where)
    return Argument(where, name, value, dtype, dims, is_python=is_python or value is None)


def _part(text: str, number: int, start: int, end: int) -> Where:
    line = text.replace("\n", " ")
    return Where("arguments", number, start + 1, end + 1, source=line)


def _dims(text: str, where: Where) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise problem(BAD_VALUE, f"`[{text}]` is not a shape", where, fix="write its sizes: float32[2,3]")
    return tuple(int(part) for part in parts)


class _Numbers(ast.NodeTransformer):
    """inf and nan, which Python has no literals for."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Constant(float(node.id)), node) if node.id in ("inf", "nan") else node


def _literal(text: str, where: Where) -> Any:
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return ast.literal_eval(_Numbers().visit(tree))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise _unreadable(text.strip(), where) from None


def _unreadable(text: str, where: Where) -> CommandError:
    if text.title() in ("True", "False", "None"):
        fix = f"in Python it is {text.title()}"
    elif re.fullmatch(r"\w[\w ./-]*", text) and not text[0].isdigit():
        fix = f"a string needs its own quotes: '\"{text}\"'"
    else:
        fix = LITERALS
    return problem(BAD_VALUE, f"`{text}` is not a value" if text else "there is no value", where, fix=fix)


def value_of(argument: Argument, tf: Any) -> Any:
    """Return the argument: a tensor of the runtime `tf`, a dict of tensors, or a Python value."""
    if argument.is_python:
        return argument.value
    dtype = _dtype(argument, tf) if argument.dtype is not None else None
    value = _array(argument) if argument.is_file else argument.value

    def tensor(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: tensor(inner) for key, inner in part.items()}
        return tf.constant(part, dtype=dtype, shape=argument.shape)

    try:
        return tensor(value)
    except (TypeError, ValueError, OverflowError, tf.errors.OpError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        kind = f"a tensor of dtype {argument.dtype}" if argument.dtype else "a tensor"
        title = f"this value does not make {kind}"
        raise problem(BAD_VALUE, title, argument.where, why=said, fix=_fix(argument)) from None


def _fix(argument: Argument) -> str:
    if isinstance(argument.value, (set, frozenset, type(...))):
        return "write py: before the value to pass it unchanged"
    return ""


def _dtype(argument: Argument, tf: Any) -> Any:
    try:
        return tf.dtypes.as_dtype(argument.dtype)
    except TypeError:
        kind = type(tf.dtypes.as_dtype("int32"))
        known = sorted({value.name for value in vars(tf.dtypes).values() if isinstance(value, kind)})
        fix = suggestion(str(argument.dtype), known, f"a dtype is one of {', '.join(known)}")
        raise problem(BAD_VALUE, f"there is no dtype `{argument.dtype}`", argument.where, fix=fix) from None


def _array(argument: Argument) -> Any:
    import numpy as np

    path = argument.value
    try:
        with open(path, "rb") as file:
            array = np.load(file, allow_pickle=False)
    except Exception as error:  # NumPy raises errors of many classes for damaged files, also MemoryError
        reason = (
            getattr(error, "strerror", None) or "it is not an array that numpy.save has written"
        ).lower()
        raise problem(BAD_VALUE, f"cannot read `{path}`: {reason}", argument.where) from None
    if not isinstance(array, np.ndarray):  # an .npz archive
        array.close()
        raise problem(
            BAD_VALUE, f"`{path}` holds several arrays", argument.where, fix="save one array with numpy.save"
        )
    return array
