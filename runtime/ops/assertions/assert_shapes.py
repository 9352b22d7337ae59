"""`tf.debugging.assert_shapes`: check the shapes of several tensors with sizes that must agree.

    assert_shapes([(x, ("N", "D")), (w, ("D", 10)), (y, ("N",)), (loss, ())])

>>> x, w = convert_to_tensor([[1, 2, 3]]), convert_to_tensor([4, 5, 6])
>>> assert_shapes([(x, "ND"), (w, "D")])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import EagerTensor, Tensor
from ..arrays import shape_ops
from ..framework.effects_as_operations import returns_operation
from ..math import comparison
from ..reduce import reductions
from .assert_op import called, require
from .static_assertions import check_rank


class _Size(NamedTuple):
    """The size that a symbol denotes, and its origin."""

    size: Any
    source: str


@export("debugging.assert_shapes")
@returns_operation
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise ValueError unless the tensors have these shapes.

    For unknown shapes, InvalidArgumentError is raised when the graph runs.

    Args:
        shapes: (tensor, shape) pairs, or a dict of them. The shape is a list, tuple or string of sizes: an int,
            a symbol that denotes the same size everywhere, or None (or ".") for any. `...` (or "*") at its start
            matches any number of sizes. A shape of one size also matches a scalar, and `()` means the same as `(1,)`.
        data: the values that a failure shows in place of the shape when the graph runs.
        summarize: the number of elements shown, 3 by default.
        message: the beginning of the error message.

    >>> import agc.runtime as tf
    >>> tf.debugging.assert_shapes([(tf.zeros([4, 3]), ("batch", 3)), (tf.zeros([4]), ("batch",))])
    """
    said = f"{message}.  " if message else ""
    limit = 3 if summarize is None else summarize
    pairs = list(shapes.items()) if isinstance(shapes, Mapping) else list(shapes)
    known: dict[Any, _Size] = {}
    for given, shape in pairs:
        if shape is None:
            continue
        tensor = convert_to_tensor(given)
        sizes = _sizes(tensor, shape) or [1]
        is_open = sizes[0] is Ellipsis
        _rank_fits(tensor, sizes, is_open, message)
        for index, wanted in _wanted(sizes, is_open):
            actual = _size_of(tensor, index, scalar_is_one=len(sizes) == 1)
            if not isinstance(wanted, int) and wanted not in known:
                source = f"Specified by tensor {called(tensor)} dimension {index}"
                known[wanted] = _Size(actual, source)
                continue
            expected = _Size(wanted, "Specified explicitly") if isinstance(wanted, int) else known[wanted]
            _check_size(tensor, index, actual, expected, said, data, limit)


def _sizes(tensor: Tensor, shape: Any) -> list[Any]:
    """Return the parts of a shape: ints, symbols, None, and Ellipsis at the start."""
    if not hasattr(shape, "__iter__") and not hasattr(shape, "__getitem__"):
        raise ValueError(
            f"Tensor {called(tensor)}.  Specified shape must be an iterable.  An iterable has the attribute "
            f"`__iter__` or `__getitem__`.  Received specified shape: {shape}"
        )
    parts = [_part(part) for part in shape]
    for index, part in enumerate(parts):
        if part is Ellipsis and index:
            raise ValueError(
                f"Tensor {called(tensor)} specified shape index {index}.  Symbol `...` or `*` for a variable number "
                "of unspecified dimensions is only allowed as the first entry"
            )
    return parts


def _part(part: Any) -> Any:
    if part in (None, ".") or part is Ellipsis or part == "*":
        return Ellipsis if part is Ellipsis or part == "*" else None
    if isinstance(part, str) and part.isdigit():
        return int(part)
    return part if isinstance(part, str) else int(part) if hasattr(part, "__index__") else part


def _rank_fits(tensor: Tensor, sizes: Sequence[Any], is_open: bool, message: str | None) -> None:
    if is_open:
        if len(sizes) > 1:
            check_rank(tensor, [len(sizes) - 1], "rank at least", message)
    elif len(sizes) == 1:
        check_rank(tensor, [0, 1], "rank in", message)
    else:
        check_rank(tensor, [len(sizes)], "rank", message)


def _wanted(sizes: Sequence[Any], is_open: bool) -> Iterator[tuple[int, Any]]:
    """Yield (dimension, size or symbol); dimensions count from the end if the shape starts with an ellipsis."""
    for index, wanted in enumerate(sizes):
        if wanted is not None and wanted is not Ellipsis:
            yield index - len(sizes) if is_open else index, wanted


def _size_of(tensor: Tensor, index: int, scalar_is_one: bool) -> Any:
    """Return a dimension, as an int if it is static; a scalar has one element."""
    if tensor.shape.rank == 0 and scalar_is_one:
        return 1
    if tensor.shape.rank is not None and tensor.shape[index] is not None:
        return tensor.shape[index]
    sizes = shape_ops.shape(tensor)
    return (
        reductions.reduce_prod(sizes[:1]) if scalar_is_one else sizes[index]
    )  # the product of no sizes is 1


def _check_size(
    tensor: Tensor, index: int, actual: Any, expected: _Size, said: str, data: Any, limit: int
) -> None:
    if isinstance(actual, int) and isinstance(expected.size, int):
        if actual != expected.size:
            raise ValueError(
                f"{said}{expected.source}.  Tensor {called(tensor)} dimension {index} must have size "
                f"{expected.size}.  Received size {actual}, shape {tensor.shape}"
            )
        return
    shown = data if data is not None else [
        said, expected.source, f"Tensor {called(tensor)} dimension", index, "must have size", expected.size,
        "Received shape: ", shape_ops.shape(tensor),
    ]  # fmt: skip
    require(
        comparison.equal(_int32(actual), _int32(expected.size)), "assertion failed:", shown, summarize=limit
    )


def _int32(size: Any) -> Tensor:
    if isinstance(size, Tensor) and not isinstance(size, EagerTensor):
        return size
    return convert_to_tensor(size, "int32")
