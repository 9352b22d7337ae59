"""Matrix functions: exponential, square root, logarithm, and eigenvalues of general square matrices.

>>> expm([[0., 1.], [0., 0.]]).numpy().tolist()
[[1.0, 1.0], [0.0, 1.0]]
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels.loops import iterate
from ..arrays.concat_split import concat
from ..arrays.creation import eye, ones_like, zeros_like
from ..arrays.reshape import reshape
from ..arrays.shape_ops import shape as shape_of
from ..framework.op import Input, Name, op
from ..framework.op_families import COMPLEX, Array, require_dtype, wrong
from ..math.arithmetic import divide_no_nan
from ..math.cast import cast
from ..math.elementwise import conj, real
from ..reduce.reductions import reduce_prod, reduce_sum
from .diagonals import adjoint, diag, diag_part, matrix_transpose, set_diag
from .einsum import einsum
from .inverse_and_det import lapack, of_finite, solve, square_matrix
from .matmul import matmul

_WHOLE = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


@export("linalg.eig", "eig")
def eig(tensor: TensorLike, name: Name = None) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues of square matrices and, as columns, eigenvectors: complex numbers in no particular order.

    >>> values, vectors = eig([[2., 0.], [0., 1.]])
    >>> values.numpy().tolist()
    [(2+0j), (1+0j)]
    """
    values, vectors = _eig(tensor, name)
    return values, vectors


@export("linalg.eigvals", "eigvals")
def eigvals(tensor: TensorLike, name: Name = None) -> Tensor:
    """Return the eigenvalues of square matrices: complex numbers in no particular order.

    >>> eigvals([[2., 1.], [0., 1.]]).numpy().tolist()
    [(2+0j), (1+0j)]
    """
    return eig(tensor, name)[0]


@op(name="eig")
def _eig(tensor: Input, name: Name = None) -> tuple[TensorType, TensorType]:
    """Compute `eig`.

    >>> [part.shape.as_list() for part in _eig([[2., 0.], [0., 1.]])]
    [[2], [2, 2]]
    """
    shape = square_matrix(tensor, "eig")
    require_dtype(tensor, COMPLEX | frozenset(_WHOLE), "eig")
    kind = _WHOLE.get(tensor.dtype, tensor.dtype)
    return TensorType(kind, shape and shape[:-1]), TensorType(kind, shape)


@_eig.kernel
def _(tensor: Array) -> tuple[Array, Array]:
    kind = np.result_type(tensor.dtype, np.complex64)
    values, vectors = lapack(np.linalg.eig, tensor)
    return values.astype(kind), vectors.astype(kind)


@_eig.gradient
def _(dys: Any, ys: Any, tensor: Any) -> Any:
    """Return `v'^-1 (dw + (v' dv) / conj(differences)) v'`, for eigenvectors `v` of length 1; ' is the adjoint.

    (Boeddeker, Hanebrink and others, "On the computation of complex-valued gradients", 2017.) The phase of a
    complex eigenvector is arbitrary, so results that depend on it have no derivative.
    """
    (values, vectors), (d_values, d_vectors) = ys, dys
    inner = zeros_like(vectors)
    if d_vectors is not None:
        along = real(reduce_sum(conj(vectors) * d_vectors, -2, True))
        turned = matmul(vectors, d_vectors - vectors * cast(along, vectors.dtype), adjoint_a=True)
        differences = conj(values[..., None, :] - values[..., :, None])
        inner = turned * divide_no_nan(ones_like(differences), differences)
    if d_values is not None:
        inner = set_diag(inner, d_values)
    whole = solve(vectors, matmul(inner, vectors, adjoint_b=True), adjoint=True)
    return whole if tensor.dtype.is_complex else cast(real(whole), tensor.dtype)


@export("linalg.expm")
@op(traits=LENIENT)
def expm(input: Input, name: Name = None) -> TensorType:
    """Return the exponential of square matrices: the sum of `matrix ** k / k!`.

    It is computed by scaling, a Padé approximant of degree 13, and squaring (Higham, SIAM Journal on Matrix
    Analysis 26, 2005).

    >>> expm([[0., 0.], [0., 0.]]).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return TensorType(input.dtype, square_matrix(input, "expm"))


_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


@expm.kernel
def _(input: Array) -> Array:
    if not input.size:
        return input
    wide = input.astype(np.result_type(input.dtype, np.float64))
    return lapack(_exponential, wide)[0].astype(input.dtype)


@of_finite
def _exponential(wide: Array) -> list[Array]:
    size = np.max(np.sum(np.abs(wide), axis=-2), axis=-1)
    halvings = np.maximum(np.ceil(np.log2(np.maximum(size, 1e-300) / 5.37)), 0)
    halvings = np.where(np.isfinite(size), halvings, 0)
    x = wide / np.exp2(halvings)[..., None, None]
    unit = np.eye(wide.shape[-1])
    x2 = x @ x
    even, odd, power = _PADE[0] * unit, _PADE[1] * unit, unit
    for k in range(2, 14, 2):
        power = power @ x2
        even, odd = even + _PADE[k] * power, odd + _PADE[k + 1] * power
    odd = x @ odd
    result = np.linalg.solve(even - odd, even + odd)

    def squared(result: Array, step: int) -> tuple[Array, int]:
        return np.where((step < halvings)[..., None, None], result @ result, result), step + 1

    return [iterate(lambda result, step: step < halvings, squared, (result, 0))[0]]


@expm.gradient
def _(dy: Any, y: Any, input: Any) -> Any:
    """Return the upper right quarter of the exponential of `[[a', dy], [0, a']]` (Mathias, 1996); ' is the adjoint."""
    turned = adjoint(input)
    upper = concat([turned, dy], -1)
    lower = concat([zeros_like(turned), turned], -1)
    size = shape_of(input)[-1]
    return expm(concat([upper, lower], -2))[..., :size, size:]


@export("linalg.sqrtm", "matrix_square_root")
@op(traits=LENIENT)
def sqrtm(input: Input, name: Name = None) -> TensorType:
    """Return the principal square root of square matrices: `root @ root == input`.

    Raises InvalidArgumentError if there is none, or if the root of a real matrix is not real.

    >>> sqrtm([[4., 0.], [0., 9.]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return TensorType(input.dtype, square_matrix(input, "sqrtm"))


sqrtm.kernel(lambda input: _each_matrix(input, _root))


@sqrtm.gradient
def _(dy: Any, y: Any, input: Any) -> Any:
    """Return `g` with `y' g + g y' == dy`, where ' is the adjoint: linear equations in the elements of `g`."""
    turned = adjoint(y)
    size = shape_of(y)[-1]
    unit = eye(size, dtype=y.dtype)
    outer = shape_of(y)[:-2]
    square = reshape(size * size, [1])
    one = einsum("...ij,kl->...ikjl", turned, unit)
    other = einsum("ij,...kl->...ikjl", unit, matrix_transpose(turned))
    system = reshape(one + other, concat([outer, square, square], 0))
    column = reshape(dy, concat([outer, square, [1]], 0))
    return reshape(solve(system, column), shape_of(y))


matrix_square_root = sqrtm


@export("linalg.logm")
@op(traits=LENIENT)
def logm(input: Input, name: Name = None) -> TensorType:
    """Return the principal logarithm of square matrices of complex numbers: `expm(logm(a)) == a`.

    Raises InvalidArgumentError for a singular matrix.

    >>> logm([[1 + 0j, 0j], [0j, 1 + 0j]]).numpy().tolist()
    [[0j, 0j], [0j, 0j]]
    """
    require_dtype(input, COMPLEX, "logm")
    return TensorType(input.dtype, square_matrix(input, "logm"))


logm.kernel(lambda input: _each_matrix(input, _logarithm))
logm.no_gradient("TensorFlow has none")


def _each_matrix(input: Array, function: Callable[[Array], Array]) -> Array:
    wide = input.astype(np.result_type(input.dtype, np.complex128))
    rows = wide.reshape(int(np.prod(input.shape[:-2])), *input.shape[-2:])
    each = of_finite(lambda rows: [np.array([lapack(function, matrix) for matrix in rows])])
    result = each(rows)[0].reshape(input.shape)
    if input.dtype.kind != "c":
        if np.any(np.abs(result.imag) > 1e-6 * (1 + np.abs(result.real))):
            raise errors.InvalidArgumentError(
                "the matrix has no real square root: cast it to complex numbers"
            )
        result = result.real
    return result.astype(input.dtype)


def _root(a: Array) -> Array:
    """Return the square root by eigenvectors if these are well-conditioned, else by Denman-Beavers iteration (1976)."""
    if not a.size:
        return a
    values, vectors = np.linalg.eig(a)
    tries: list[Callable[[], Array]] = []
    if np.linalg.cond(vectors) < 1e6:
        tries.append(lambda: vectors * np.sqrt(values) @ np.linalg.inv(vectors))
    tries.append(lambda: _denman_beavers(a))
    for attempt in tries:
        try:
            root = attempt()
        except np.linalg.LinAlgError:
            continue
        if np.allclose(root @ root, a, rtol=1e-6, atol=1e-6 * np.abs(a).max(initial=1e-300)):
            return root
    raise errors.InvalidArgumentError("the matrix has no principal square root that could be found")


def _denman_beavers(a: Array) -> Array:
    y, z = a, np.eye(len(a), dtype=a.dtype)
    for _ in range(60):
        y, z = (y + np.linalg.inv(z)) / 2, (z + np.linalg.inv(y)) / 2
    return y


@functools.cache
def _nodes_and_weights() -> list[tuple[float, float]]:
    """Return those of Gauss and Legendre's quadrature of degree 12. Importing NumPy's polynomials takes long."""
    return list(zip(*np.polynomial.legendre.leggauss(12), strict=True))


def _logarithm(a: Array) -> Array:
    """Use eigenvectors if these are well-conditioned; else take square roots, then a Padé approximant near 1.

    See Higham, "Functions of Matrices" (2008), chapter 11.
    """
    if not len(a):
        return a
    unit, doublings = np.eye(len(a), dtype=a.dtype), 0
    if np.linalg.matrix_rank(a) < len(a):
        raise errors.InvalidArgumentError("logm: the matrix is singular and has no logarithm")
    values, vectors = np.linalg.eig(a)
    if np.linalg.cond(vectors) < 1e4:
        return vectors * np.log(values) @ np.linalg.inv(vectors)
    while np.linalg.norm(a - unit, 1) > 0.25 and doublings < 60:
        a, doublings = _root(a), doublings + 1
    x = a - unit
    terms = [w / 2 * np.linalg.solve(unit + (node + 1) / 2 * x, x) for node, w in _nodes_and_weights()]
    return sum(terms, np.zeros_like(a)) * 2.0**doublings


@export("linalg.tensor_diag")
def tensor_diag(diagonal: TensorLike, name: Name = None) -> Tensor:
    """Return a tensor of twice the rank, with these elements where both halves of the indices are equal, else zeros.

    >>> tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    diagonal = convert_to_tensor(diagonal)
    sizes = shape_of(diagonal)
    return reshape(diag(reshape(diagonal, [-1])), concat([sizes, sizes], 0), name)  # type: ignore[no-any-return]


@export("linalg.tensor_diag_part")
def tensor_diag_part(input: TensorLike, name: Name = None) -> Tensor:
    """Return the elements where both halves of the indices are equal.

    >>> tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    input = convert_to_tensor(input)
    rank = input.shape.rank
    if rank is None or rank % 2 or not rank:
        raise wrong(
            f"tensor_diag_part takes tensors of an even rank, which is known; got shape {input.shape}"
        )
    half = input.shape.sizes[: rank // 2]
    if not shapes.compatible(half, input.shape.sizes[rank // 2 :]):
        raise wrong(f"both halves of the shape must be equal, got {input.shape}")
    sizes = shape_of(input)[: rank // 2]
    count = -1 if None in half else int(np.prod(half))
    flat = reshape(input, [count, count] if count >= 0 else concat([_product(sizes), _product(sizes)], 0))
    return reshape(diag_part(flat), sizes, name)  # type: ignore[no-any-return]


def _product(sizes: Any) -> Any:
    return reduce_prod(sizes, keepdims=True)
