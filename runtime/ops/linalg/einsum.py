"""Sums of products in Einstein notation: inference rule, gradient and batching rule.

einsum x, w [equation='bi,ij->bj'], cotangent dy     dx = einsum dy, w [equation='bj,ij->bi']
"""

from __future__ import annotations

import functools
import string
from typing import Any

from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.batching import Batch
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ..arrays.creation import identity_matrix, ones
from ..arrays.reshape import fitted
from ..arrays.shape_ops import shape as shape_of
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Inputs, Name, op
from ..framework.op_families import NUMERIC, require_dtype
from ..math.elementwise import conj
from .einsum_kernel import contracted, contraction, parsed

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@export("linalg.einsum", "einsum")
@cached_dispatch
def einsum(equation: str, *inputs: TensorLike, name: Name = None, optimize: Any = "greedy") -> Tensor:
    """Return a sum of products in Einstein notation: labels that are not after `->` are summed over.

    `optimize` is ignored: the order of the products follows from the sizes.

    >>> einsum("ij,jk->ik", [[1, 2]], [[3], [4]]).numpy().tolist()
    [[11]]
    """
    return einsum_op(list(inputs), equation, name)  # type: ignore[no-any-return]


@op(name="einsum", traits=LENIENT)
def einsum_op(inputs: Inputs, equation: str, name: Name = None) -> TensorType:
    """Compute `einsum`.

    >>> einsum_op([[1, 2], [3, 4]], "i,i->").numpy().tolist()
    11
    """
    for operand in inputs:
        require_dtype(operand, NUMERIC, "einsum")
    return TensorType(inputs[0].dtype, einsum_shape(equation, [operand.shape for operand in inputs]))


einsum_op.kernel(lambda inputs, equation: contracted(equation, inputs))


@einsum_op.specialize
def _(inputs: list[Any], equation: str) -> Any:
    """Return the kernel for factors of one shape each."""
    if not all(shapes.is_static(x.shape) for x in inputs):
        return None
    return contraction(equation, [x.dtype.numpy_dtype.char for x in inputs], tuple(x.shape for x in inputs))


@einsum_op.gradient
def _(dy: Any, y: Any, inputs: list[Any], equation: str) -> Any:
    terms, output = parsed(equation)
    return [
        functools.partial(_einsum_back, dy, output, inputs, terms, position)
        for position in range(len(inputs))
    ]


@einsum_op.batching
def _(batch: Batch) -> Any:
    equation: str = batch.attrs["equation"].replace(" ", "")
    if "->" not in equation or "." in equation:
        return None
    terms, result = equation.split("->")
    row = next(letter for letter in string.ascii_letters if letter not in equation)
    given = zip(batch.arguments, terms.split(","), strict=True)
    marked = ",".join(row * argument.has_rows + term for argument, term in given)
    return batch.call(*(argument.tensor for argument in batch.arguments), equation=f"{marked}->{row}{result}")


def _einsum_back(dy: Any, output: str, inputs: list[Any], terms: list[str], position: int) -> Any:
    """Return the cotangent of one input: an einsum of `dy` with the other inputs.

    A label that only this term has was summed over alone, so a factor of ones gets that label. A label that
    occurs twice in the term took the diagonal, so the identity matrix fills that diagonal.
    """
    x, term = inputs[position], terms[position]
    factors = [dy, *(conj(other) for i, other in enumerate(inputs) if i != position)]
    given = [output, *(other for i, other in enumerate(terms) if i != position)]
    known = set("".join(given)) - {"."}
    wanted, spare = "", iter(label for label in _LETTERS if label not in "".join(terms) + output)
    for axis, label in _labels(term):
        if label == "...":
            wanted += label
            continue
        if label in wanted:
            twin = next(spare)
            size = shape_of(x)[axis]
            factors.append(identity_matrix(size, size, (), x.dtype))
            given.append(label + twin)
            wanted += twin
            continue
        if label not in known:
            factors.append(ones([shape_of(x)[axis]], x.dtype))
            given.append(label)
        wanted += label
    if "..." in ",".join(given) and "..." not in wanted:
        wanted = "..." + wanted
    return fitted(einsum_op(factors, f"{','.join(given)}->{wanted}"), x)


def _labels(term: str) -> list[tuple[int, str]]:
    """Return the labels of a term with their axes; after dots, axes count from the end."""
    head, dots, tail = term.partition("...")
    found = list(enumerate(head))
    if dots:
        found.append((len(head), dots))
    return [*found, *((i - len(tail), label) for i, label in enumerate(tail))]


def einsum_shape(equation: str, operands: list[shapes.Dims]) -> shapes.Dims:
    """Return the shape of the result; ValueError for an invalid equation or mismatched shapes.

    >>> einsum_shape("...ij,jk->...ik", [(7, 2, 3), (3, None)])
    (7, 2, None)
    """
    terms, output = parsed(equation)
    if len(terms) != len(operands):
        raise ValueError(f"einsum equation {equation!r} takes {len(terms)} inputs, not {len(operands)}")
    sizes: dict[str, int | None] = {}
    batch: shapes.Dims = ()
    for term, shape in zip(terms, operands, strict=True):
        head, dots, tail = term.partition("...")
        if shape is None:
            batch = None if dots else batch
            sizes |= {label: sizes.get(label) for label in head + tail}
            continue
        extra = len(shape) - len(head) - len(tail)
        if extra < 0 or (extra and not dots):
            raise ValueError(
                f"einsum: the term {term!r} of {equation!r} does not fit the shape {shapes.show(shape)}"
            )
        if dots:
            batch = shapes.broadcast(batch, shape[len(head) : len(head) + extra])
        for label, size in zip(head + tail, (*shape[: len(head)], *shape[len(head) + extra :]), strict=True):
            known = sizes.get(label)
            if None not in (known, size) and known != size:
                raise ValueError(f"einsum: {label!r} of {equation!r} has sizes {known} and {size}")
            sizes[label] = size if known is None else known
    head, dots, tail = output.partition("...")
    if set(head + tail) - set(sizes):
        raise ValueError(f"einsum: the output of {equation!r} has a label that no input has")
    if dots and batch is None:
        return None
    return (*(sizes[c] for c in head), *(batch if dots and batch else ()), *(sizes[c] for c in tail))
