"""Products of matrices and vectors: matmul, matvec.

>>> matmul([[1, 2]], [[3], [4]]).numpy().tolist()
[[11]]
"""

from __future__ import annotations

import operator
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
from ...kernels.matrix_products import may_be_shared, multiply
from ..arrays.reshape import expand_dims, fitted, reshape
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Name, Same, op
from ..framework.op_families import NUMERIC, Array, require_dtype
from ..math.cast import cast
from ..math.elementwise import conj


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
@cached_dispatch
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
    a: Same, b: Same, transpose_a: bool = False, adjoint_a: bool = False, name: Name = None
) -> TensorType:
    """Return the product of matrices and vectors; the batch axes before them broadcast.

    `transpose_a` and `adjoint_a` apply to the matrices.

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


@matvec.specialize
def _(specs: list[TensorType], transpose_a: bool, adjoint_a: bool) -> Any:
    """Return NumPy's product of one matrix and one vector."""
    left, right = _turned(specs[0].shape, transpose_a or adjoint_a), specs[1].shape
    is_one = left is not None and right is not None and len(left) == 2 and len(right) == 1
    if not is_one or specs[0].dtype.is_complex or may_be_shared(left, (1,)):
        return None
    return (lambda a, b: a.T @ b) if transpose_a or adjoint_a else operator.matmul


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
