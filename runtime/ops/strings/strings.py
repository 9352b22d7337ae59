"""Elementwise operations on tensors of byte strings: join, as_string, length, case, strip, substr.

>>> join(["loss: ", as_string(0.25, precision=2)])
<tf.Tensor: shape=(), dtype=string, numpy=b'loss: 0.25'>
"""

from __future__ import annotations

from operator import methodcaller
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import is_tensor_like
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels.strings.packed import cut, lengths, packed
from ..arrays.concat_split import unstack
from ..framework.op import Input, Inputs, Name, Op, Same, op
from ..framework.op_families import STRINGS, require_dtype
from ..framework.static_values import listed
from .map_bytes import each

Array = Any

UNITS = ("BYTE", "UTF8_CHAR")


def check_unit(unit: str) -> None:
    """Raise ValueError unless `unit` is a valid unit of string lengths."""
    if unit not in UNITS:
        raise ValueError(
            f"Value for attr 'unit' of {unit!r} is not in the list of allowed values: {', '.join(UNITS)}"
        )


@export("strings.join")
def join(inputs: Any, separator: str = "", name: Name = None) -> Tensor:
    """Join the strings of all inputs elementwise; scalars broadcast.

    Args:
        inputs: a list of tensors; or a tensor whose rows are the inputs.

    >>> join([["a", "b"], "c"], separator="-")
    <tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a-c', b'b-c'], dtype=object)>
    """
    return string_join(unstack(inputs) if is_tensor_like(inputs) else inputs, separator, name)  # type: ignore[no-any-return]


@op(traits=LENIENT)
def string_join(inputs: Inputs, separator: str = "", name: Name = None) -> TensorType:
    """Compute `join`.

    >>> string_join([["a", "b"], "c"], separator="-")
    <tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a-c', b'b-c'], dtype=object)>
    """
    for operand in inputs:
        require_dtype(operand, STRINGS, "string_join")
    known = [given.shape for given in inputs if given.shape != ()]
    shape: shapes.Dims = known[0] if known else ()
    for other in known[1:]:
        if not shapes.compatible(shape, other):
            raise ValueError(f"Input shapes do not match: {listed(shape or ())} vs. {listed(other)}")
        shape = shapes.merge(shape, other)
    return TensorType(dtypes.string, shape)


@string_join.kernel
def _(inputs: list[Array], separator: str) -> Array:
    between = separator.encode()
    return each(lambda *parts: between.join(parts), *inputs) if inputs else np.array(b"", object)


@export("strings.as_string", "as_string")
@op(element_operands=1)
def as_string(
    input: Input,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: Name = None,
) -> TensorType:
    """Convert numbers to text with the formats of C's printf: `%f`, `%e` if scientific, `%g` if shortest.

    Args:
        input: numbers, booleans, or strings, which are unchanged except for `width`.
        precision: the number of digits of floats after the decimal point.
        width: the minimal number of characters.
        fill: "0", " ", "+" or "-", as in printf; at most one character.

    Raises ValueError (InvalidArgumentError in eager mode) for other flags, and for `precision`, `scientific`
    and `shortest` with a dtype that is not floating.

    >>> as_string([1.5, 2.0], precision=1)
    <tf.Tensor: shape=(2,), dtype=string, numpy=array([b'1.5', b'2.0'], dtype=object)>
    """
    if len(fill) > 1:
        raise ValueError(f"Fill string must be one or fewer characters, got {fill!r}")
    if fill not in ("", "0", " ", "+", "-"):
        raise ValueError(f'Fill argument not supported: "{fill}"')
    for attr, value in (("width", width), ("precision", precision)):
        if not -(2**31) <= value < 2**31:
            raise ValueError(f"Attr {attr} has value {value} out of range for an int32")
    if scientific and shortest:
        raise ValueError("Cannot select both scientific and shortest notation")
    if not (input.dtype.is_floating or input.dtype.is_complex):
        if scientific or shortest:
            raise ValueError(f"scientific and shortest format not supported for datatype {input.dtype.name}")
        if precision >= 0:
            raise ValueError(f"precision not supported for datatype {input.dtype.name}")
    return TensorType(dtypes.string, input.shape)


@as_string.kernel
def _(input: Array, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> Array:
    kind = "f" if dtypes.of_array(input).is_floating else input.dtype.kind
    if kind == "O":
        flag = "<" if fill == "-" else ">"
        return each(lambda item: f"{item.decode('latin-1'):{flag}{max(width, 0)}}".encode("latin-1"), input)
    field = fill + (str(width) if width > 0 else "")
    if kind == "b":
        return each((b"false", b"true").__getitem__, input)
    if kind in "iu":
        return each(f"%{field}d".encode().__mod__, input)
    form = (f".{precision}" if precision >= 0 else "") + ("e" if scientific else "g" if shortest else "f")
    if kind == "c":
        both = f"(%{form},%{form})".encode()
        return each(lambda item: both % (item.real, item.imag), input)
    values = input.astype(np.float64) if input.dtype.kind != "f" else input
    return each(f"%{field}{form}".encode().__mod__, values)


@export("strings.length")
@op(name="string_length", element_operands=1)
def length(input: Input, unit: str = "BYTE", name: Name = None) -> TensorType:
    """Return the number of bytes of each string, or of characters with unit "UTF8_CHAR".

    >>> length(["abc", "é"])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 2], dtype=int32)>
    """
    require_dtype(input, STRINGS, "string_length")
    check_unit(unit)
    return TensorType(dtypes.int32, input.shape)


@length.kernel
def _(input: Array, unit: str) -> Array:
    texts = np.asarray(input, object)
    flat = texts.ravel()
    counts = lengths(flat)
    if unit != "BYTE":
        counts, _ = _characters(packed(flat), np.cumsum(counts))
    return counts.astype(np.int32).reshape(texts.shape)


def _check_encoding(encoding: str) -> None:
    if encoding not in ("", "utf-8"):
        raise ValueError("only utf-8 or '' (no encoding) is supported, received encoding: " + repr(encoding))


def _cased(name: str, manual: str) -> Op:
    """Declare a conversion of letters by the method of strings and bytes with this name."""
    of_bytes, of_text = getattr(bytes, name), methodcaller(name)

    def rule(input: Input, encoding: str = "", name: Name = None) -> TensorType:
        require_dtype(input, STRINGS, operation.name)
        _check_encoding(encoding)
        return TensorType(dtypes.string, input.shape)

    def kernel(input: Array, encoding: str) -> Array:
        if not encoding:
            return each(of_bytes, input)
        return each(lambda item: of_text(item.decode("utf-8", "replace")).encode(), input)

    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = manual
    operation = Op(rule, f"string_{name}", element_operands=1, export=(f"strings.{name}",))
    operation.kernel(kernel)
    return operation


lower = _cased("lower", """Convert letters to lower case: those of ASCII, or all with encoding "utf-8".

    >>> lower("ABc")
    <tf.Tensor: shape=(), dtype=string, numpy=b'abc'>
    """)  # fmt: skip
upper = _cased("upper", """Convert letters to upper case: those of ASCII, or all with encoding "utf-8".

    >>> upper("aBc")
    <tf.Tensor: shape=(), dtype=string, numpy=b'ABC'>
    """)  # fmt: skip


@export("strings.strip")
@op(name="string_strip", element_operands=1)
def strip(input: Input, name: Name = None) -> TensorType:
    """Strip whitespace from both ends of strings.

    >>> strip(" a b ")
    <tf.Tensor: shape=(), dtype=string, numpy=b'a b'>
    """
    require_dtype(input, STRINGS, "string_strip")
    return TensorType(dtypes.string, input.shape)


strip.kernel(lambda input: each(bytes.strip, input))


@export("strings.substr")
@op(element_operands=1)
def substr(input: Input, pos: Same, len: Same, unit: str = "BYTE", name: Name = None) -> TensorType:
    """Return the part of each string from `pos` on, `len` bytes long (characters, with unit "UTF8_CHAR").

    Args:
        input: strings; `pos` and `len` have the same shape, which broadcasts with that of the strings.
        pos: int32 or int64, negative from the end; `len`: of the same dtype. Parts past the end are truncated.

    Raises InvalidArgumentError if `pos` is past the end, or before the start.

    >>> substr(["hello", "abc"], 1, 2)
    <tf.Tensor: shape=(2,), dtype=string, numpy=array([b'el', b'bc'], dtype=object)>
    """
    require_dtype(input, STRINGS, "substr")
    require_dtype(pos, frozenset({dtypes.int32, dtypes.int64}), "substr")
    check_unit(unit)
    if not shapes.compatible(pos.shape, len.shape):
        raise ValueError(f"pos and len must have the same shape, got: {pos.shape} and {len.shape}")
    return TensorType(dtypes.string, shapes.broadcast(input.shape, shapes.merge(pos.shape, len.shape)))


@substr.kernel
def _(input: Array, pos: Array, len: Array, unit: str) -> Array:
    if unit == "BYTE" and np.size(input) <= _FEW:
        return each(_bytes_between, input, pos, len)
    operands = np.broadcast_arrays(np.asarray(input, object), pos, len)
    texts, at, most = (operand.ravel() for operand in operands)
    whole, sizes = packed(texts), lengths(texts)
    ends = np.cumsum(sizes)
    counts, places = (sizes, None) if unit == "BYTE" else _characters(whole, ends)
    is_outside = (at < -counts) | (at > counts)
    if is_outside.any():
        wrong = np.argmax(is_outside)
        raise _out_of_range(at[wrong], texts[wrong])
    start = np.where(at < 0, at + counts, at)
    rest = counts - start
    bounds = start, start + np.where(most < 0, rest, np.minimum(most, rest))
    if places is None:
        begin, end = (ends - sizes + bound for bound in bounds)
    else:
        first, places = np.cumsum(counts) - counts, np.append(places, whole.size)
        begin, end = (np.where(bound == counts, ends, places[first + bound]) for bound in bounds)
    return cut(whole, begin, end).reshape(operands[0].shape)


_FEW = 16
"""Up to so many strings, one after another takes less time than all at once."""


def _bytes_between(item: bytes, at: int, count: int) -> bytes:
    if not -len(item) <= at <= len(item):
        raise _out_of_range(at, item)
    start = at if at >= 0 else at + len(item)
    return item[start:] if count < 0 else item[start : start + count]


def _out_of_range(at: int, item: bytes) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(f"pos {at} out of range for string {item!r}")


def _characters(whole: Array, ends: Array) -> tuple[Array, Array]:
    """Return the number of UTF-8 characters of each string, and the places of the first bytes of all."""
    places = np.flatnonzero(whole & 0xC0 != 0x80)
    return np.diff(np.searchsorted(places, ends), prepend=0), places
