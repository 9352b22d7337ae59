"""The calls of the sweep: each example of an operation, with other dtypes, values and shapes.

    reverse([1, 2], [0])    ==>    reverse(float16[2], [0]), reverse(bfloat16[2] of NaN …, [0]), reverse(bool[0], [0]) …

The operands that change are the first data operand and those of its dtype; shapes, axes and indexes stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from agc.runtime import dtypes
from agc.runtime.ir.graph import Constant, Operation, Value
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY, Op

for _dtype in dtypes.NARROW_FLOATS:
    _ = _dtype.numpy_dtype  # arrays of it are known from now on

DTYPES = (*(dtype for dtype in dtypes.ALL if dtype is not dtypes.string), *dtypes.NARROW_FLOATS)

LEFT_OUT = {
    "blank", "numpy_function", "py_function", "stateless_numpy_function", "print", "raise", "placeholder", "const",
    "placeholder_with_default", "full_integers", "find_in_table",
}  # fmt: skip
"""Operations that call Python, have effects, read tables, or are what sessions feed."""

OTHER_DTYPES = {"cast", "saturate_cast", "bitcast"}
"""Operations that are called with each dtype as the attribute, too."""

FORMS = ("plain", "odd", "empty", "one")
"""The values of the example, odd ones, nothing along the first axis, one element."""

INTEGERS = (0, 1, -1, 2, 3, -7, 31, 64, 100, -128)
FLOATS = (np.nan, 0.5, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 1e-3, 300.0, 3e9, -1e19, 1e-40)


class Case(NamedTuple):
    """A call: `own` are the numbers of the operands that the case has made, which graphs take as inputs."""

    op: Op
    what: str
    arrays: Sequence[Any]
    attrs: Mapping[str, Any]
    own: Sequence[int]

    def __str__(self) -> str:
        return f"{self.op.name} {self.what}"


def cases(
    name: str,
    examples: Sequence[tuple[list[Any], dict[str, Any]]],
    most: int,
    wanted: Sequence[dtypes.DType] = DTYPES,
    forms: Sequence[str] = FORMS,
) -> Iterator[Case]:
    """The calls of an operation, made of at most so many of its examples, with these dtypes in these forms."""
    op = REGISTRY[name]
    if name in LEFT_OUT or (op.stateful and name not in ("assert", "check_numerics")):
        return
    for number, (arrays, attrs) in enumerate(_different(examples)[:most]):
        own = _data(op, arrays)
        for dtype in wanted if own and arrays[own[0]].dtype.kind in "biufc" else (None,):
            for form in forms:
                changed = list(arrays)
                for i in own:
                    values = arrays[i] if dtype is None else as_dtype(arrays[i], dtype, form == "odd")
                    changed[i] = _formed(values, form)
                what = f"{number} {dtype.name if dtype else 'string'} {form}"
                if name in OTHER_DTYPES:
                    key = next(key for key, value in attrs.items() if isinstance(value, dtypes.DType))
                    for other in wanted:
                        yield Case(op, f"{what} {other.name}", changed, attrs | {key: other}, own)
                else:
                    yield Case(op, what, changed, attrs, own)


def _different(examples: Sequence[Any]) -> list[Any]:
    """The examples, those first whose operands or attributes are of other kinds than in those before."""
    seen: set[str] = set()
    first, others = [], []
    for arrays, attrs in examples:
        key = repr(([(a.dtype.kind, a.ndim) for a in arrays], attrs))
        (others if key in seen else first).append((arrays, attrs))
        seen.add(key)
    return first + others


def _data(op: Op, arrays: Sequence[Any]) -> list[int]:
    """The numbers of the operands that are data of one dtype."""
    kinds = [kind for _, kind in op.operand_parameters]
    if any(kind in ("Inputs", "Tensors") for kind in kinds):
        place = next(i for i, kind in enumerate(kinds) if kind in ("Inputs", "Tensors"))
        count = len(arrays) - len(kinds) + 1
        kinds[place : place + 1] = [kinds[place]] * count
    found = [i for i, kind in enumerate(kinds) if kind != "Ints"]
    return [i for i in found if arrays[i].dtype == arrays[found[0]].dtype]


def as_dtype(array: Any, dtype: dtypes.DType, is_odd: bool) -> Any:
    """The array in another dtype: its values, or odd ones."""
    if is_odd:
        return np.resize(odd(dtype), array.shape)
    with np.errstate(all="ignore"):
        if dtype.kind in "iu" and array.dtype.kind == "f":
            array = np.clip(np.nan_to_num(array), -100, 100)
        if dtype.kind == "u" and array.dtype.kind in "if":
            array = np.abs(array)
        if dtype.kind == "c" and array.dtype.kind in "iuf":
            return (array - 0.5j * array).astype(dtype.numpy_dtype)
        return (array.real if dtype.kind != "c" else array).astype(dtype.numpy_dtype)


def odd(dtype: dtypes.DType) -> Any:
    """Odd values of a dtype: its ends, NaN, infinities, zeros of both signs."""
    with np.errstate(all="ignore"):
        if dtype.is_bool:
            return np.array([True, False, False])
        if dtype.is_integer:
            ends = np.array([dtype.max, dtype.min, dtype.max - 1], dtype.numpy_dtype)
            return np.concatenate([ends, np.array(INTEGERS).astype(dtype.numpy_dtype)])
        if dtype.is_complex:
            parts = np.array(FLOATS[:11])
            return (parts + 1j * np.roll(parts, 4)).astype(dtype.numpy_dtype)
        limits = np.array([dtype.max, dtype.min]).astype(dtype.numpy_dtype)
        return np.concatenate([np.array(FLOATS).astype(dtype.numpy_dtype), limits])


def _formed(array: Any, form: str) -> Any:
    if not array.ndim or form not in ("empty", "one"):
        return array
    return array[:0] if form == "empty" else array[tuple(slice(1) for _ in array.shape)]


def as_operation(case: Case, number: int) -> tuple[Operation, list[Value]]:
    """The call as an operation of a graph, and its inputs. Raises what the rule of the operation does."""
    operands: list[Any] = [
        Value(f"x{number}_{i}", TensorType(dtypes.of_array(array), array.shape))
        if i in case.own
        else Constant(array)
        for i, array in enumerate(case.arrays)
    ]
    specs = case.op.infer_all(operands, case.attrs)
    outputs = tuple(Value(f"r{number}_{i}", spec) for i, spec in enumerate(specs))
    inputs = [operand for operand in operands if isinstance(operand, Value)]
    return Operation(case.op, tuple(operands), dict(case.attrs), outputs), inputs
