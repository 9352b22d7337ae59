"""Products of matrices, vectors and tensors: matmul, matvec, tensordot, einsum.

>>> matmul([[1, 2]], [[3], [4]]).numpy().tolist()
[[11]]
"""

from __future__ import annotations

import functools
import operator
import string
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir import batching
from ...ir.batching import Batch
from ...ir.traits import FRESH_RESULT, TOTAL
from ...ir.value_types import TensorType
from ...kernels.matrix_products import contract, may_be_shared, multiply
from ..arrays.creation import identity_matrix, ones
from ..arrays.reshape import expand_dims, fitted, reshape
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axes
from ..framework.op import Inputs, Ints, Name, Same, op
from ..framework.op_families import NUMERIC, Array, require_dtype
from ..framework.static_values import checked_dims, dims
from ..math.cast import cast
from ..math.elementwise import conj
from .einsum import contracted, parsed

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _turned(shape: shapes.Dims, turn: bool) -> shapes.Dims:
    return (*shape[:-2], shape[-1], shape[-2]) if turn and shape is not None else shape


def matrix_product(a: shapes.Dims, b: shapes.Dims) -> shapes.Dims:
    """Return the shape of the product of (batches of) matrices; ValueError for sizes that do not match.

    >>> matrix_product((7, 2, 3), (3, None))
    (7, 2, None)
    """
    if a is None or b is None:
        return None
    if len(a) < 2 or len(b) < 2:
        raise ValueError(f"matmul takes matrices, not shapes {shapes.show(a)} and {shapes.show(b)}")
    if a[-1] != b[-2] and None not in (a[-1], b[-2]):
        raise ValueError(f"Matrix size-incompatible: In[0]: {shapes.show(a)}, In[1]: {shapes.show(b)}")
    batch = shapes.broadcast(a[:-2], b[:-2])
    assert batch is not None
    return (*batch, a[-2], b[-1])


@export("linalg.matmul", "matmul")
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: Name = None,
) -> Tensor:
    """Return the product of matrices, which are the last two axes; the batch axes before them broadcast.

    With `output_type=tf.int32`, the factors are int8 or uint8. `a_is_sparse`, `b_is_sparse`, `grad_a` and `grad_b`
    are hints without effect. Raises InvalidArgumentError for sizes or dtypes that do not fit.

    >>> matmul([[1, 2]], [[3, 4]], transpose_b=True).numpy().tolist()
    [[11]]
    """
    if output_type is not None:
        a, b = (_widened(factor, dtypes.as_dtype(output_type)) for factor in (a, b))
    if not (transpose_a or transpose_b or adjoint_a or adjoint_b or name):
        return matmul_op(a, b)  # type: ignore[no-any-return]
    return matmul_op(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, name)  # type: ignore[no-any-return]


def _widened(factor: TensorLike, wanted: dtypes.DType) -> Tensor:
    """Return a factor in the dtype of the product."""
    factor = convert_to_tensor(factor)
    if factor.dtype is wanted:
        return factor  # type: ignore[no-any-return]
    if wanted is not dtypes.int32 or factor.dtype not in (dtypes.int8, dtypes.uint8):
        raise errors.InvalidArgumentError(
            f"matmul, argument `output_type`: a factor of {factor.dtype.name} gives no product of {wanted.name}"
        )
    return cast(factor, wanted)


@op(name="matmul", traits=TOTAL | FRESH_RESULT)
def matmul_op(
    a: Same,
    b: Same,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: Name = None,
) -> TensorType:
    """Compute `matmul`.

    >>> matmul_op([[1, 2]], [[3], [4]]).numpy().tolist()
    [[11]]
    """
    require_dtype(a, NUMERIC, "matmul")
    for turned, conjugated, which in ((transpose_a, adjoint_a, "a"), (transpose_b, adjoint_b, "b")):
        if turned and conjugated:
            raise ValueError(f"Only one of `transpose_{which}` and `adjoint_{which}` can be True.")
    if any(shape is not None and len(shape) < 2 for shape in (a.shape, b.shape)):
        matrix_product(a.shape, b.shape)  # raises ValueError
    left, right = _turned(a.shape, transpose_a or adjoint_a), _turned(b.shape, transpose_b or adjoint_b)
    return TensorType(a.dtype, matrix_product(left, right))


@matmul_op.kernel
def _(a: Array, b: Array, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool) -> Array:
    if a.ndim < 2 or b.ndim < 2:
        raise errors.InvalidArgumentError(f"matmul takes matrices, not shapes {a.shape} and {b.shape}")
    if transpose_a or adjoint_a:
        a = np.swapaxes(a, -1, -2)
    if transpose_b or adjoint_b:
        b = np.swapaxes(b, -1, -2)
    return multiply(np.conj(a) if adjoint_a else a, np.conj(b) if adjoint_b else b)


@matmul_op.specialize
def _(specs: list[TensorType], transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool) -> Any:
    if specs[0].dtype.is_complex:
        return None
    right = _turned(specs[1].shape, transpose_b or adjoint_b)
    product = multiply if may_be_shared(specs[0].shape, right) else operator.matmul
    if transpose_a or adjoint_a:
        if transpose_b or adjoint_b:
            return lambda a, b: product(a.mT, b.mT)
        return lambda a, b: product(a.mT, b)
    return (lambda a, b: product(a, b.mT)) if transpose_b or adjoint_b else product


@matmul_op.gradient
def _(
    dy: Any, y: Any, a: Any, b: Any, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool
) -> Any:
    """Return `dy @ adjoint(b)` as dA, and `da` as that, transposed like A.

    Here `y = A @ b`, where A is `a` or its transpose.
    """
    turned_a, turned_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    own_a = conj(a) if transpose_a else a  # the adjoint of A, except for the transposition
    own_b = conj(b) if transpose_b else b

    def to_a() -> Any:
        if not turned_a:
            return fitted(_product(dy, own_b, adjoint_b=not turned_b), a)
        grad = _product(own_b, dy, adjoint_a=turned_b, adjoint_b=True)
        return fitted(conj(grad) if transpose_a else grad, a)

    def to_b() -> Any:
        if _are_rows(dy, a, b) and not turned_a:
            rows, changes = (reshape(each, [-1, each.shape[-1]]) for each in (own_a, dy))
            pair = (changes, rows) if turned_b else (rows, changes)
            grad = _product(*pair, adjoint_a=True)
            return conj(grad) if transpose_b else grad
        if not turned_b:
            return fitted(_product(own_a, dy, adjoint_a=not turned_a), b)
        grad = _product(dy, own_a, adjoint_a=True, adjoint_b=turned_a)
        return fitted(conj(grad) if transpose_b else grad, b)

    return to_a, to_b


def _are_rows(dy: Any, a: Any, b: Any) -> bool:
    """Return whether all matrices of `a` are multiplied by one `b`, as if their rows were those of one matrix."""
    is_one = b.shape.rank == 2 and a.shape.rank is not None and a.shape.rank > 2
    return is_one and all(each.shape[-1] not in (None, 0) for each in (a, dy))


@matmul_op.batching
def _(batch: Batch) -> Any:
    ranks = [argument.rank for argument in batch.arguments]
    return None if any(rank is None or rank < 2 for rank in ranks) else batching.elementwise(batch)


def _product(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Any:
    if a.dtype.is_complex:
        return matmul_op(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    return matmul_op(a, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


@export("linalg.matvec")
@op
def matvec(
    a: Same,
    b: Same,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    name: Name = None,
) -> TensorType:
    """Return the product of matrices and vectors; the batch axes before them broadcast.

    >>> matvec([[1, 2], [3, 4]], [10, 1]).numpy().tolist()
    [12, 34]
    """
    require_dtype(a, NUMERIC, "matvec")
    left = _turned(a.shape, transpose_a or adjoint_a)
    product = matrix_product(left, None if b.shape is None else (*b.shape, 1))
    return TensorType(a.dtype, product and product[:-1])


@matvec.kernel
def _(a: Array, b: Array, transpose_a: bool, adjoint_a: bool) -> Array:
    if a.ndim < 2 or b.ndim < 1:
        raise errors.InvalidArgumentError(
            f"matvec takes a matrix and a vector, not shapes {a.shape} and {b.shape}"
        )
    if transpose_a or adjoint_a:
        a = np.swapaxes(a, -1, -2)
    return multiply(np.conj(a) if adjoint_a else a, b[..., np.newaxis])[..., 0]


@matvec.gradient
def _(dy: Any, y: Any, a: Any, b: Any, transpose_a: bool, adjoint_a: bool) -> Any:
    def to_a() -> Any:
        columns, row = expand_dims(dy, -1), expand_dims(conj(b), -2)
        if not (transpose_a or adjoint_a):
            return fitted(columns * row, a)
        turned = expand_dims(conj(b), -1) * expand_dims(dy, -2)
        return fitted(conj(turned) if adjoint_a else turned, a)

    def to_b() -> Any:
        if adjoint_a:
            return fitted(matvec(a, dy), b)
        return fitted(matvec(conj(a), dy) if transpose_a else matvec(a, dy, adjoint_a=True), b)

    return to_a, to_b


@export("linalg.tensordot", "tensordot")
def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: Name = None) -> Tensor:
    """Contract pairs of axes: the last of `a` with the first of `b`, or two lists of axes.

    >>> tensordot([1, 2], [3, 4], axes=1).numpy().tolist(), tensordot([1, 2], [3, 4], axes=0).numpy().tolist()
    (11, [[3, 4], [6, 8]])
    >>> tensordot([[1, 2], [3, 4]], [10, 1], axes=[[0], [0]]).numpy().tolist()
    [13, 24]
    """
    if hasattr(axes, "numpy"):
        axes = axes.numpy().tolist()
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0, not {axes}")
        rank = convert_to_tensor(a).shape.rank
        if rank is not None and axes > rank:
            raise ValueError(f"`axes` must not be larger than the number of dimensions of {a}, not {axes}")
        axes = (range(-axes, 0), range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2, not {axes}")
    return tensordot_op(a, b, axes[0], axes[1], name)  # type: ignore[no-any-return]


@op(name="tensordot")
def tensordot_op(a: Same, b: Same, axes_a: Axes, axes_b: Axes, name: Name = None) -> TensorType:
    """Compute `tensordot` over pairs of axes.

    >>> tensordot_op([1, 2], [3, 4], 0, 0).numpy().tolist()
    11
    """
    require_dtype(a, NUMERIC, "tensordot")
    if axes_a is None or axes_b is None:
        raise ValueError("`axes` must name the axes of `a` and `b` to contract, not None")
    if len(axes_a) != len(axes_b):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(axes_a)} != {len(axes_b)}.")
    if a.shape is None or b.shape is None:
        return TensorType(a.dtype, None)
    gone_a = [shapes.normal_axis(axis, len(a.shape)) for axis in axes_a]
    gone_b = [shapes.normal_axis(axis, len(b.shape)) for axis in axes_b]
    for i, j in zip(gone_a, gone_b, strict=True):
        if a.shape[i] != b.shape[j] and None not in (a.shape[i], b.shape[j]):
            raise ValueError(
                f"Matrix size-incompatible: {shapes.show(a.shape)}[{i}] and {shapes.show(b.shape)}[{j}]"
            )
    left = [size for i, size in enumerate(a.shape) if i not in gone_a]
    return TensorType(a.dtype, (*left, *(size for j, size in enumerate(b.shape) if j not in gone_b)))


tensordot_op.kernel(lambda a, b, axes_a, axes_b: contract(a, b, axes_a, axes_b))


@tensordot_op.gradient
def _(dy: Any, y: Any, a: Any, b: Any, axes_a: tuple[int, ...], axes_b: tuple[int, ...]) -> Any:
    return (
        lambda: tensordot_back(dy, conj(b), shape_of(a), axes_a, axes_b, True),
        lambda: tensordot_back(dy, conj(a), shape_of(b), axes_b, axes_a, False),
    )


@tensordot_op.batching
def _(batch: Batch) -> Any:
    a, b = batch.arguments
    if a.rank is None or b.rank is None:
        return None
    letters = iter(string.ascii_letters)
    row = next(letters)
    left = [next(letters) for _ in range(a.rank)]
    right = [next(letters) for _ in range(b.rank)]
    axes_a, axes_b = batch.attrs["axes_a"], batch.attrs["axes_b"]
    for i, j in zip(axes_a, axes_b, strict=True):
        right[j] = left[i]
    summed = {left[i] for i in axes_a}
    result = "".join(letter for letter in [*left, *right] if letter not in summed)
    one, other = row * a.has_rows + "".join(left), row * b.has_rows + "".join(right)
    return einsum(f"{one},{other}->{row}{result}", a.tensor, b.tensor)


@op
def tensordot_back(
    dy: Same, other: Same, shape: Ints, axes: Axes, axes_other: Axes, is_left: bool, name: Name = None
) -> TensorType:
    """Return the cotangent of a factor of `tensordot`, from the cotangent `dy` and the other factor.

    >>> tensordot_back([[1, 2]], [10, 1], [1, 2, 2], [1], [0], True).numpy().tolist()
    [[[10, 20], [1, 2]]]
    """
    require_dtype(dy, NUMERIC, "tensordot_back")
    if axes is None or axes_other is None or len(axes) != len(axes_other):
        raise ValueError(f"tensordot_back: the axes {axes} and {axes_other} do not pair up")
    return TensorType(dy.dtype, dims(shape))


@tensordot_back.kernel
def _(
    dy: Array, other: Array, shape: Array, axes: tuple[int, ...], axes_other: tuple[int, ...], is_left: bool
) -> Array:
    rank = len(shape)
    summed = [axis % rank for axis in axes]
    gone = [axis % other.ndim for axis in axes_other]
    free = [i for i in range(rank) if i not in summed]
    rest = [i for i in range(other.ndim) if i not in gone]
    count = len(free)
    if is_left:
        # The free axes come first, then the remaining axes of `other`.
        product = contract(dy, other, range(count, dy.ndim), rest)
    else:
        product = contract(dy, other, range(len(rest)), rest)
    order = {axis: i for i, axis in enumerate(free)}
    for position, axis in enumerate(sorted(range(len(gone)), key=gone.__getitem__)):
        order[summed[axis]] = count + position
    found = product.transpose([order[i] for i in range(rank)])
    if found.shape != checked_dims(shape):
        raise ValueError(f"tensordot_back: the factor is of shape {found.shape}, not {checked_dims(shape)}")
    return found


@tensordot_back.gradient
def _(
    dz: Any,
    z: Any,
    dy: Any,
    other: Any,
    shape: Any,
    axes: tuple[int, ...],
    axes_other: tuple[int, ...],
    is_left: bool,
) -> Any:
    def to_other() -> Any:
        grad = tensordot_back(conj(dy), dz, shape_of(other), axes_other, axes, not is_left)
        return conj(conj(grad)) if dz.dtype.is_complex else grad

    if is_left:
        return lambda: tensordot_op(dz, conj(other), axes, axes_other), to_other, None
    return lambda: tensordot_op(conj(other), dz, axes_other, axes), to_other, None


@export("linalg.einsum", "einsum")
def einsum(equation: str, *inputs: TensorLike, name: Name = None, optimize: Any = "greedy") -> Tensor:
    """Return a sum of products in Einstein notation: labels that are not after `->` are summed over.

    `optimize` is ignored: the order of the products follows from the sizes.

    >>> einsum("ij,jk->ik", [[1, 2]], [[3], [4]]).numpy().tolist()
    [[11]]
    """
    return einsum_op(list(inputs), equation, name)  # type: ignore[no-any-return]


@op(name="einsum")
def einsum_op(inputs: Inputs, equation: str, name: Name = None) -> TensorType:
    """Compute `einsum`.

    >>> einsum_op([[1, 2], [3, 4]], "i,i->").numpy().tolist()
    11
    """
    for operand in inputs:
        require_dtype(operand, NUMERIC, "einsum")
    return TensorType(inputs[0].dtype, einsum_shape(equation, [operand.shape for operand in inputs]))


einsum_op.kernel(lambda inputs, equation: contracted(equation, inputs))


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
