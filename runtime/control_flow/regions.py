"""Helpers for the tracing of conditionals and loops: common types, closed regions, conditions.

A function is traced in a builder of its own, on tensors of the outer graph. A tensor that it uses is captured, and
becomes an input of the region. `close_regions` gives all regions of an operation the same captured inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from agc.autograph.staging import Maybe, Undefined

from ..core import shapes
from ..core.conversion import is_tensor_like
from ..core.tensor_array import TensorArray
from ..ir.builder import Builder, current
from ..ir.graph import Graph, Operand
from ..ir.value_types import AnySpec, ListType, TensorType, VariableType
from ..ops.arrays.reshape import reshape
from ..ops.math.comparison import not_equal
from . import state_leaves
from .diagnostics import staging_error
from .tensor_list import TensorList


def active() -> Builder:
    builder = current()
    assert builder is not None, "regions exist in graphs only"
    return builder


def as_maybe(name: str, value: Any, like: Any) -> Maybe:
    if isinstance(value, Maybe):
        return value
    if not isinstance(value, Undefined):
        return Maybe(name, value, True)
    return Maybe(name, blank_like(like.value if isinstance(like, Maybe) else like), False)


def blank_like(value: Any) -> Any:
    """Return a placeholder of the same structure and types, which is never read."""
    return state_leaves.packed(value, [_blank(leaf) for leaf in state_leaves.flatten(value)])


def _blank(leaf: Any) -> Any:
    if not state_leaves.is_carried(leaf) or state_leaves.is_weak(leaf):
        return leaf
    blank = state_leaves.zeros(state_leaves.spec_of(state_leaves.carried(leaf)))
    return leaf.with_flow(blank) if isinstance(leaf, TensorArray) else blank


def common_spec(one: AnySpec, other: AnySpec) -> AnySpec | None:
    """Return the most precise type that covers both; None if their kinds or dtypes differ."""
    if isinstance(one, TensorType) and isinstance(other, TensorType) and one.dtype is other.dtype:
        return one.with_shape(shapes.generalize(one.shape, other.shape))
    if isinstance(one, ListType) and isinstance(other, ListType):
        element = common_spec(one.element, other.element)
        return None if element is None else ListType(element)
    return one if isinstance(one, VariableType) and one == other else None


def close_regions(
    builders: Sequence[Builder], outputs: Sequence[Sequence[Operand]]
) -> tuple[tuple[Graph, ...], list[Operand]]:
    """Return the finished regions, all with the same captured inputs, and the operands for these inputs."""
    captured = list(dict.fromkeys(chain.from_iterable([builder.captured_outer() for builder in builders])))
    regions = []
    for builder, results in zip(builders, outputs, strict=True):
        own = [value for value in builder.inputs if value not in builder.outers]
        given = [builder.input_for(outer) for outer in captured]
        regions.append(builder.finish(results, (*own, *given)))
    return tuple(regions), captured  # type: ignore[return-value]


def repacked(like: Sequence[Any], flat: list[Any]) -> tuple[Any, ...]:
    if state_leaves.are_plain(like):
        return tuple(flat)
    packed = []
    for value in like:
        count = len(state_leaves.flatten(value))
        packed.append(state_leaves.packed(value, flat[:count]))
        flat = flat[count:]
    return tuple(packed)


def hint(path: str) -> str:
    """Convert a path to a name in the graph: `cell[0]` → `cell_0`."""
    if path.isalnum():
        return path
    return "".join(c if c.isalnum() else "_" for c in path).strip("_").replace("__", "_") or "value"


def require_single(shape: shapes.TensorShape, where: str) -> None:
    """Refuse the shape of a condition with several elements."""
    if shape.num_elements() not in (1, None):
        raise staging_error(
            "AGC207",
            f"the condition of this `{where}` has shape {shape}, but one truth value is needed",
            why="the truth of a tensor with several elements is ambiguous",
            fix="reduce it with tf.reduce_all(...) or tf.reduce_any(...)",
        )


def truth(value: Any, where: str) -> Any:
    """Return a condition as a scalar bool tensor; a number is true if it is not zero, as in Python."""
    if isinstance(value, TensorList):
        value = value.size()
    decides = state_leaves.is_carried(value) or is_tensor_like(value)
    tensor = state_leaves.carried(value if decides else bool(value))
    if tensor.shape.rank not in (0, None):
        require_single(tensor.shape, where)
        tensor = reshape(tensor, ())
    if tensor.dtype.is_bool:
        return tensor
    return not_equal(tensor, state_leaves.zeros(TensorType(tensor.dtype, ())))
