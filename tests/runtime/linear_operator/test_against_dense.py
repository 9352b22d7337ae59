"""Every member of every operator agrees with NumPy on the dense matrix: batches, adjoints and all dtypes."""

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case
from support.linear_operators import OPERATORS, Numbers, adjoint, is_invertible
from support.selection import in_turn

DTYPES = ("float32", "float64", "complex64", "complex128")


@pytest.fixture(params=DTYPES)
def of(request):
    return Numbers(request.param)


def each_operator(test):
    return each_case("name", OPERATORS)(each_case("dtype", DTYPES)(test))


BATCHES = [((), False), ((2,), True), ((3, 1), False), ((), True)]
"""The batch of an argument, and whether the operator is adjoint, as for one real and one complex dtype of each."""


def each_operator_and_batch(test):
    """Check each operator with each dtype and each batch, not with each pair of these: `make fuzz` does."""
    cases = [
        (name, dtype, *batch)
        for row, name in enumerate(OPERATORS)
        for column, dtype in enumerate(DTYPES)
        for batch in in_turn(BATCHES, row + column)
    ]
    return each_case("name, dtype, batch, flag", cases)(test)


def agree(result, expected, of):
    """Check the values, the shape and the dtype of a tensor."""
    single = of.dtype in (np.float32, np.complex64)
    largest = np.abs(expected).max(initial=1)
    assert result.shape == expected.shape
    assert result.dtype.as_numpy_dtype is expected.dtype.type
    np.testing.assert_allclose(
        result, expected, *(2e-3, 3e-4 * largest) if single else (1e-8, 1e-9 * largest)
    )


def solution(matrix, rhs):
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    wide = (np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in (matrix, rhs))
    return np.linalg.solve(*wide)


class TestOneOperator:
    @each_operator
    def test_shapes(self, name, dtype):
        of = Numbers(dtype)
        operator = OPERATORS[name](of)
        shape = operator.to_dense().shape
        *batch, rows, columns = shape
        assert operator.shape == shape
        assert operator.batch_shape == batch
        assert operator.tensor_rank == len(shape)
        assert (operator.range_dimension, operator.domain_dimension) == (rows, columns)
        assert operator.shape_tensor().numpy().tolist() == [*batch, rows, columns]
        assert operator._shape_tensor().numpy().tolist() == [*batch, rows, columns]
        assert operator.batch_shape_tensor().numpy().tolist() == batch
        assert (int(operator.range_dimension_tensor()), int(operator.domain_dimension_tensor())) == (
            rows,
            columns,
        )
        assert int(operator.tensor_rank_tensor()) == len(shape)
        assert operator.is_square is (rows == columns)

    @each_operator_and_batch
    def test_products(self, name, dtype, batch, flag):
        of = Numbers(dtype)
        operator = OPERATORS[name](of)
        matrix = operator.to_dense().numpy()
        matrix = adjoint(matrix) if flag else matrix
        x, v = of(*batch, matrix.shape[-1], 3), of(*batch, matrix.shape[-1])
        product = matrix @ x
        agree(operator.matmul(x, adjoint=flag), product, of)
        agree(operator.matmul(adjoint(x), adjoint=flag, adjoint_arg=True), product, of)
        agree(operator.matvec(v, adjoint=flag), (matrix @ v[..., None])[..., 0], of)
        agree(tf.matmul(operator, x, adjoint_a=flag), product, of)
        agree(tf.matmul(adjoint(x), operator, adjoint_b=not flag), adjoint(product), of)
        agree(tf.linalg.matvec(operator, v, adjoint_a=flag), (matrix @ v[..., None])[..., 0], of)

    @each_operator_and_batch
    def test_solutions(self, name, dtype, batch, flag):
        of = Numbers(dtype)
        operator = OPERATORS[name](of)
        if not is_invertible(name, operator):
            with pytest.raises(NotImplementedError, match="Exact solve not implemented"):
                operator.solve(of(operator.shape[-2], 1))
            return
        matrix = operator.to_dense().numpy()
        matrix = adjoint(matrix) if flag else matrix
        x, v = of(*batch, 4, 3), of(*batch, 4)
        agree(operator.solve(x, adjoint=flag), solution(matrix, x), of)
        agree(operator.solve(adjoint(x), adjoint=flag, adjoint_arg=True), solution(matrix, x), of)
        agree(operator.solvevec(v, adjoint=flag), solution(matrix, v[..., None])[..., 0], of)
        agree(tf.linalg.solve(operator, x, adjoint=flag), solution(matrix, x), of)

    @each_operator
    def test_properties(self, name, dtype):
        of = Numbers(dtype)
        operator = OPERATORS[name](of)
        matrix = operator.to_dense().numpy()
        agree(operator.diag_part(), np.diagonal(matrix, 0, -2, -1), of)
        agree(tf.linalg.diag_part(operator), np.diagonal(matrix, 0, -2, -1), of)
        agree(operator.trace(), np.trace(matrix, 0, -2, -1), of)
        agree(tf.linalg.trace(operator), np.trace(matrix, 0, -2, -1), of)
        more = of(2, *matrix.shape[-2:])
        agree(operator.add_to_tensor(more), matrix + more, of)
        values = np.linalg.svd(matrix, compute_uv=False)
        if values.min() > 1e-3:
            np.testing.assert_allclose(operator.cond(), values.max(-1) / values.min(-1), 5e-3)
        if operator.is_self_adjoint and operator.is_square:
            np.testing.assert_allclose(
                np.sort(np.real(operator.eigvals())), np.linalg.eigvalsh(matrix), 1e-4, 1e-5
            )

    @each_operator
    def test_determinants(self, name, dtype):
        of = Numbers(dtype)
        operator = OPERATORS[name](of)
        matrix = operator.to_dense().numpy()
        if matrix.shape[-1] != matrix.shape[-2]:
            for call in (operator.determinant, operator.log_abs_determinant):
                with pytest.raises(NotImplementedError, match="expected to not be square"):
                    call()
            return
        expected = np.linalg.det(matrix)
        agree(operator.determinant(), expected, of)
        agree(tf.linalg.det(operator), expected, of)
        with np.errstate(divide="ignore"):
            agree(operator.log_abs_determinant(), np.log(np.abs(expected)).astype(of.dtype), of)

    @each_operator
    def test_operators_made_of_it(self, name, dtype):
        of = Numbers(dtype)
        operator = OPERATORS[name](of)
        matrix = operator.to_dense().numpy()
        agree(operator.adjoint().to_dense(), adjoint(matrix), of)
        agree(tf.linalg.adjoint(operator.H).to_dense(), matrix, of)
        agree(operator.matmul(operator, adjoint_arg=True).to_dense(), matrix @ adjoint(matrix), of)
        if matrix.shape[-1] == matrix.shape[-2]:
            agree((operator @ operator).to_dense(), matrix @ matrix, of)
        if is_invertible(name, operator):
            inverse = np.linalg.inv(matrix)
            agree(operator.inverse().to_dense(), inverse, of)
            agree(tf.linalg.inv(operator).H.to_dense(), adjoint(inverse), of)
            other = Numbers(of.dtype).full(4, 4)
            agree(operator.solve(other).to_dense(), solution(matrix, other.matrix.numpy()), of)
            agree(
                operator.solve(operator).to_dense(),
                np.broadcast_to(np.eye(4, dtype=of.dtype), matrix.shape),
                of,
            )


def test_positive_definite_matrices_use_cholesky_factors(of):
    dense = of(2, 4, 4)
    positive = dense @ adjoint(dense) + np.eye(4, dtype=of.dtype)
    full = tf.linalg.LinearOperatorFullMatrix(positive, is_self_adjoint=True, is_positive_definite=True)
    agree(full.cholesky().to_dense(), np.linalg.cholesky(positive), of)
    agree(tf.linalg.cholesky(full).to_dense(), np.linalg.cholesky(positive), of)
    agree(full.solve(dense), np.linalg.solve(positive, dense), of)
    logarithms = np.linalg.slogdet(positive)[1]
    agree(full.log_abs_determinant(), logarithms.astype(of.dtype), of)
    agree(full.determinant(), np.linalg.det(positive), of)
    np.testing.assert_allclose(tf.linalg.logdet(full), logarithms, 1e-4)


def test_structured_cholesky_factors():
    hints = {"is_self_adjoint": True, "is_positive_definite": True}
    diag = tf.linalg.LinearOperatorDiag([4.0, 9.0], **hints)
    full = tf.linalg.LinearOperatorFullMatrix([[4.0, 2.0], [2.0, 2.0]], **hints)
    scaled = tf.linalg.LinearOperatorScaledIdentity(2, 4.0, **hints)
    parts = [diag, full, scaled]
    for whole in (tf.linalg.LinearOperatorBlockDiag(parts), tf.linalg.LinearOperatorKronecker(parts)):
        factor = whole.cholesky()
        assert type(factor) is type(whole)
        np.testing.assert_allclose(factor.to_dense(), np.linalg.cholesky(whole.to_dense()), 1e-6)


def shapes(parts):
    return [part.shape.as_list() for part in parts]


class TestBlocks:
    def blocks(self):
        of = Numbers("float64")
        diagonal = tf.linalg.LinearOperatorBlockDiag([of.full(2, 3), of.full(1, 2)])
        square = tf.linalg.LinearOperatorBlockLowerTriangular(
            [[of.full(2, 2)], [of.full(1, 2), of.full(1, 1)]]
        )
        return of, diagonal, square

    def test_lists_are_split_like_the_blocks(self):
        of, block, square = self.blocks()
        x = [of(3, 5), of(2, 5)]
        top, bottom = block.matmul(x)
        np.testing.assert_allclose(np.concatenate([top, bottom]), block.matmul(np.concatenate(x)))
        assert [part.shape.as_list() for part in block.matvec([of(3), of(2)])] == [[2], [1]]
        assert [part.shape.as_list() for part in block.matmul([of(2, 5), of(1, 5)], adjoint=True)] == [
            [3, 5],
            [2, 5],
        ]
        assert [part.shape.as_list() for part in block.matmul([of(5, 3), of(5, 2)], adjoint_arg=True)] == [
            [2, 5],
            [1, 5],
        ]
        rhs = [of(2, 5), of(7, 1, 5)]
        solved = square.solve(rhs)
        assert shapes(solved) == [[7, 2, 5], [7, 1, 5]]
        np.testing.assert_allclose(square.matmul(solved)[1], rhs[1])
        assert shapes(square.solvevec([of(2), of(1)])) == [[2], [1]]

    def test_a_list_of_rows_is_one_tensor(self):
        block = tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorDiag([x]) for x in (2.0, 3.0)])
        assert block.matvec([1.0, 1.0]).numpy().tolist() == [2.0, 3.0]
        assert block.matmul([[1.0], [1.0]]).numpy().tolist() == [[2.0], [3.0]]
        assert [part.numpy().tolist() for part in block.matmul([[[1.0]], [[1.0]]])] == [[[2.0]], [[3.0]]]

    def test_a_part_that_fits_no_block(self):
        of, block, _ = self.blocks()
        with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
            block.matmul([of(3, 1), of(1, 1)])


class TestOtherMembers:
    def test_circulant_operators(self):
        operator = tf.linalg.LinearOperatorCirculant2D([[1.0, 2.0, 2.0]])
        assert (operator.block_depth, operator.block_shape.as_list()) == (2, [1, 3])
        assert operator.block_shape_tensor().numpy().tolist() == [1, 3]
        kernel = operator.convolution_kernel()
        assert kernel.dtype is tf.complex64
        np.testing.assert_allclose(operator.to_dense()[:, 0], np.ravel(kernel))
        assert operator.assert_hermitian_spectrum() is None
        with pytest.raises(tf.errors.InvalidArgumentError, match="Spectrum was not Hermitian"):
            tf.linalg.LinearOperatorCirculant([1j, 2]).assert_hermitian_spectrum()

    def test_low_rank_updates(self):
        base = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        plain = tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [2.0]])
        assert plain.base_operator is base
        assert plain.v is plain.u
        assert plain.diag_update is None
        assert isinstance(plain.diag_operator, tf.linalg.LinearOperatorIdentity)
        scaled = tf.linalg.LinearOperatorLowRankUpdate(
            base, [[1.0], [2.0]], [3.0], is_diag_update_positive=True
        )
        assert scaled.diag_operator.is_positive_definite
        assert (plain.is_diag_update_positive, scaled.is_positive_definite) == (True, None)

    def test_parameters_are_those_of_the_constructor(self):
        operator = tf.linalg.LinearOperatorDiag([1.0], is_square=True, name="mine")
        assert operator.parameters["diag"] == [1.0]
        assert (operator.name, operator.graph_parents) == ("mine", [])

    @pytest.mark.parametrize("name", sorted(set(OPERATORS) - {"blocks, wide"}))
    def test_slices_of_the_batch(self, name):
        operator = OPERATORS[name](Numbers("float64"))
        dense = operator.to_dense().numpy()
        assert type(operator[...]) is type(operator)
        np.testing.assert_allclose(operator[None].to_dense(), dense[None])
        if dense.ndim == 3:
            np.testing.assert_allclose(operator[0].to_dense(), dense[0], 1e-12)
            np.testing.assert_allclose(operator[1:].to_dense(), dense[1:], 1e-12)
            np.testing.assert_allclose(operator[..., :1].to_dense(), dense[:1], 1e-12)
        with pytest.raises(IndexError):
            _ = operator[0, 0, 0]
