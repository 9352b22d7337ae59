"""`map_fn`: apply a function to each row of tensors.

    map_fn(f, xs)       stack([f(xs[0]), f(xs[1]), …])

Eager code iterates over the rows with a Python `for`. In a graph the rows are the elements of TensorArrays, and one
`while` iterates over them.

>>> from agc.runtime import convert_to_tensor
>>> map_fn(lambda x: x * x, convert_to_tensor([1, 2, 3])).numpy().tolist()
[1, 4, 9]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import nest
from ..composite.batchable_type import BatchableExtensionType, BatchableExtensionTypeSpec
from ..control_flow.functional_api import while_loop
from ..core.export import export
from ..core.tensor import Tensor
from ..core.tensor_array import TensorArray
from ..ir.builder import current
from .row_structures import RowNest, check_function
from .stacked_results import result_like


@export("map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Apply `fn` to each row of `elems`; return the results as rows of one tensor.

    Args:
        fn: takes a row, or a nest of them in the structure of `elems`, and returns a tensor or a nest of them.
        elems: a tensor, or a nest of tensors, dense or ragged, with the same number of rows. A
            `BatchableExtensionType` has those of its fields.
        fn_output_signature: the dtypes, TensorSpecs or RaggedTensorSpecs of the results of `fn`, in their structure;
            without it they are like `elems`. `dtype` is an older name.
        infer_shape: whether all results have one shape.
        parallel_iterations, back_prop, swap_memory: accepted for compatibility.

    Raises ValueError for elements without rows, different numbers of rows, and results of another structure or shape;
    InvalidArgumentError (TypeError in a graph) for results of another dtype.

    >>> from agc.runtime import convert_to_tensor
    >>> pairs = convert_to_tensor([1, 2]), convert_to_tensor([3, 4])
    >>> map_fn(lambda pair: pair[0] * pair[1], pairs, fn_output_signature="int32").numpy().tolist()
    [3, 8]
    """
    check_function(fn)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if any(map(_spec, nest.flatten([elems, signature]))):
        return _of_fields(fn, elems, signature, infer_shape)
    rows = RowNest(elems)
    like = elems if signature is None else signature
    wanted = list(map(result_like, rows.specs() if signature is None else nest.flatten(signature)))

    def applied(*leaves: Any) -> list[list[Tensor]]:
        result = fn(rows.packed(leaves))
        _check_structure(like, result)
        return [each.parts(leaf) for each, leaf in zip(wanted, nest.flatten(result), strict=True)]

    if current() is None:
        results = [applied(*leaves) for leaves in rows]
        columns = [each.of_rows([result[i] for result in results]) for i, each in enumerate(wanted)]
    else:
        columns = _staged(rows, applied, wanted, infer_shape)
    return nest.pack_sequence_as(like, columns)


def _check_structure(like: Any, result: Any) -> None:
    try:
        nest.assert_same_structure(like, result)
    except (TypeError, ValueError) as error:
        said = "map_fn: the result of `fn` must have the structure of `fn_output_signature`, by default that of `elems`"
        raise type(error)(f"{said}. {error}") from None


def _of_fields(fn: Callable[..., Any], elems: Any, signature: Any, infer_shape: bool) -> Any:
    """Compute `map_fn` on the fields of extension types."""
    rows = [None if spec is None else spec._row() for spec in map(_spec, nest.flatten(elems))]
    like = elems if signature is None else signature
    results = rows if signature is None else list(map(_spec, nest.flatten(signature)))

    def applied(row: Any) -> Any:
        result = fn(_with_types(elems, rows, row))
        _check_structure(like, result)
        return _fields(result)

    columns = map_fn(applied, _fields(elems), infer_shape=infer_shape, fn_output_signature=_fields(like))
    wholes = [
        None if spec is None else spec._of_rows(_count(part))
        for spec, part in zip(results, columns, strict=True)
    ]
    return _with_types(like, wholes, columns)


def _count(part: Sequence[Any]) -> int | None:
    """Return the number of rows of the fields of an extension type, if it is known."""
    return part[0].shape[0] if part else None


def _spec(leaf: Any) -> BatchableExtensionTypeSpec | None:
    spec = leaf._type_spec if isinstance(leaf, BatchableExtensionType) else leaf
    return spec if isinstance(spec, BatchableExtensionTypeSpec) else None


def _fields(structure: Any) -> list[Any]:
    """Return for each leaf of a nest the list of its fields, values or specs; a leaf that has none is the only one."""
    parts = []
    for leaf in nest.flatten(structure):
        spec = _spec(leaf)
        found = (
            [leaf] if spec is None else spec._component_specs if spec is leaf else spec._to_components(leaf)
        )
        parts.append(list(found))
    return parts


def _with_types(structure: Any, specs: Sequence[Any], parts: list[Any]) -> Any:
    """Return a nest like `structure`: of the extension types that these specs and fields make."""
    leaves = [
        part[0] if spec is None else spec._from_components(part)
        for spec, part in zip(specs, parts, strict=True)
    ]
    return nest.pack_sequence_as(structure, leaves)


def _staged(
    rows: RowNest, applied: Callable[..., list[list[Tensor]]], wanted: Sequence[Any], infer_shape: bool
) -> list[Any]:
    arrays = rows.arrays()
    results = tuple(tuple(each.arrays(rows.count, infer_shape)) for each in wanted)

    def body(index: Any, *before: tuple[TensorArray, ...]) -> tuple[Any, ...]:
        values = applied(*(array.read(index) for array in arrays))
        written = (
            tuple(array.write(index, part) for array, part in zip(column, parts, strict=True))
            for column, parts in zip(before, values, strict=True)
        )
        return (index + 1, *written)

    _, *filled = while_loop(lambda index, *_: index < rows.count, body, (0, *results))
    return [each.of_arrays(column, rows.known) for each, column in zip(wanted, filled, strict=True)]
