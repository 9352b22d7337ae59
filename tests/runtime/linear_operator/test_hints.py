"""Hints of operators, the classes of results, and errors: as TensorFlow's, which are recorded."""

from pathlib import Path

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

RECORDED = Path(__file__).parents[3] / "fixtures" / "tensorflow"
LETTERS = {True: "T", False: "F", None: "-"}
VALUES = {letter: value for value, letter in LETTERS.items()}
NAMES = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")

linalg = tf.linalg
POSITIVE = np.eye(4) * 3 + np.ones((4, 4))
KNOWN = {"is_self_adjoint": True, "is_positive_definite": True}


def hints_of(operator):
    return "".join(LETTERS[getattr(operator, name)] for name in NAMES)


def recorded(file):
    text = (RECORDED / file).read_text(encoding="utf-8").partition("\n\n")[2]
    return [line.split(" | ") for line in text.splitlines()]


def full(**hints):
    return linalg.LinearOperatorFullMatrix(POSITIVE, **hints)


def real(values):
    return tf.constant(values, tf.float64)


def composed(first, second, hints):
    return linalg.LinearOperatorComposition([first, second], **hints)


def updated(hints, **kwargs):
    return linalg.LinearOperatorLowRankUpdate(full(**KNOWN), POSITIVE[:, :2], **kwargs, **hints)


def lower_blocks(below, hints):
    diagonal = full(**KNOWN)
    return linalg.LinearOperatorBlockLowerTriangular([[diagonal], [below, full(**KNOWN)]], **hints)


MIXED = [{"is_self_adjoint": True, "is_non_singular": False}, {"is_self_adjoint": False}]
MADE = {
    "Identity": lambda **h: linalg.LinearOperatorIdentity(4, **h),
    "Scaled": lambda **h: linalg.LinearOperatorScaledIdentity(4, real(2.0), **h),
    "ScaledC": lambda **h: linalg.LinearOperatorScaledIdentity(4, 2j, **h),
    "Zeros": lambda **h: linalg.LinearOperatorZeros(4, **h),
    "Zeros43": lambda **h: linalg.LinearOperatorZeros(4, 3, **h),
    "Diag": lambda **h: linalg.LinearOperatorDiag(real([1.0, 2.0, 3.0, 4.0]), **h),
    "DiagC": lambda **h: linalg.LinearOperatorDiag([1j, 2], **h),
    "Tril": lambda **h: linalg.LinearOperatorLowerTriangular(POSITIVE, **h),
    "Full": full,
    "Full23": lambda **h: linalg.LinearOperatorFullMatrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], **h),
    "House": lambda **h: linalg.LinearOperatorHouseholder(real([1.0, 0.0, 0.0, 0.0]), **h),
    "Perm": lambda **h: linalg.LinearOperatorPermutation([1, 0], **h),
    "Toep": lambda **h: linalg.LinearOperatorToeplitz([4.0, 1.0], [4.0, 2.0], **h),
    "Tridiag": lambda **h: linalg.LinearOperatorTridiag([[1.0, 1], [4, 4], [1, 1]], **h),
    "CircR": lambda **h: linalg.LinearOperatorCirculant([1.0, 2.0, 3.0, 2.0], **h),
    "CircC": lambda **h: linalg.LinearOperatorCirculant([1j, 2, 3, 2], **h),
    "Adj": lambda **h: linalg.LinearOperatorAdjoint(full(), **h),
    "AdjT": lambda **h: linalg.LinearOperatorAdjoint(full(**KNOWN), **h),
    "Inv": lambda **h: linalg.LinearOperatorInversion(full(), **h),
    "InvF": lambda **h: linalg.LinearOperatorInversion(full(is_non_singular=False), **h),
    "InvT": lambda **h: linalg.LinearOperatorInversion(full(**KNOWN), **h),
    "Comp1": lambda **h: linalg.LinearOperatorComposition([full(is_self_adjoint=True)], **h),
    "CompT": lambda **h: composed(full(is_non_singular=True), full(is_non_singular=True), h),
    "CompAAT": lambda **h: composed(a := full(is_non_singular=True), a.adjoint(), h),
    "CompATA": lambda **h: composed((a := full()).adjoint(), a, h),
    "LR": lambda **h: updated(h),
    "LRv": lambda **h: updated(h, v=POSITIVE[:, :2]),
    "LRd": lambda **h: updated(h, diag_update=real([1.0, 2.0])),
    "LRdp": lambda **h: updated(h, diag_update=real([1.0, 2.0]), is_diag_update_positive=True),
    "BD": lambda **h: linalg.LinearOperatorBlockDiag([full(**KNOWN)] * 2, **h),
    "BDn": lambda **h: linalg.LinearOperatorBlockDiag([full(**each) for each in MIXED], **h),
    "BL": lambda **h: lower_blocks(full(), h),
    "BLz": lambda **h: lower_blocks(linalg.LinearOperatorZeros(4, dtype=tf.float64), h),
    "Kr": lambda **h: linalg.LinearOperatorKronecker([full(**KNOWN)] * 2, **h),
    "Krn": lambda **h: linalg.LinearOperatorKronecker([full(**each) for each in MIXED], **h),
}


@each_case("name", MADE)
def test_hints_and_their_errors(name):
    rows = [row[1:] for row in recorded("operator_hints.txt") if row[0] == name]
    assert rows
    for expected, given in rows:
        for letters in given.split():
            hints = {key: VALUES[letter] for key, letter in zip(NAMES, letters, strict=True)}
            try:
                found = hints_of(MADE[name](**hints))
            except ValueError as error:
                found = f"ValueError: {error}"
            assert found == expected, letters


def small(**hints):
    return linalg.LinearOperatorFullMatrix(POSITIVE[:2, :2], **hints)


def circulant(owner, shape):
    return owner(np.reshape([1.0, 2, 3, 2], shape), input_output_dtype=tf.float64)


FOUR = {
    "Identity": linalg.LinearOperatorIdentity(4, dtype=tf.float64),
    "Scaled": linalg.LinearOperatorScaledIdentity(4, real(2.0)),
    "Zeros": linalg.LinearOperatorZeros(4, dtype=tf.float64),
    "Diag": MADE["Diag"](),
    "Tril": MADE["Tril"](),
    "Full": full(),
    "LowRank": linalg.LinearOperatorLowRankUpdate(
        linalg.LinearOperatorIdentity(4, dtype=tf.float64), np.ones((4, 2))
    ),
    "Comp": linalg.LinearOperatorComposition([full(), full()]),
    "BlockDiag": linalg.LinearOperatorBlockDiag([small(), small()]),
    "BlockLower": linalg.LinearOperatorBlockLowerTriangular([[small()], [small(), small()]]),
    "Kron": linalg.LinearOperatorKronecker([small(), small()]),
    "Adjoint": linalg.LinearOperatorAdjoint(full()),
    "Inversion": linalg.LinearOperatorInversion(full(is_non_singular=True)),
    "House": MADE["House"](),
    "Perm": linalg.LinearOperatorPermutation([1, 0, 3, 2], dtype=tf.float64),
    "Toep": linalg.LinearOperatorToeplitz(real([4.0, 1, 1, 0]), real([4.0, 1, 2, 0])),
    "Tridiag": linalg.LinearOperatorTridiag(real([[1.0, 1, 1, 1], [4, 4, 4, 4], [1, 1, 1, 1]])),
    "Circ": circulant(linalg.LinearOperatorCirculant, [4]),
    "Circ2": circulant(linalg.LinearOperatorCirculant2D, [2, 2]),
    "Circ3": circulant(linalg.LinearOperatorCirculant3D, [2, 2, 1]),
}


@each_case("operation, left, expected, rights", [
    (*first.split(), expected, rights) for first, expected, rights in recorded("operator_classes.txt")
])  # fmt: skip
def test_classes_of_products_and_quotients(operation, left, expected, rights):
    for right in rights.split():
        try:
            result = getattr(FOUR[left], operation)(FOUR[right])
            found = f"{type(result).__name__.removeprefix('LinearOperator')} {hints_of(result)}"
        except NotImplementedError as error:
            found = f"NotImplementedError: {error}"
        assert found == expected, right


@pytest.mark.parametrize("name, adjoint, inverse, factor", [
    ("Identity", "Identity", "Identity", "Identity"),
    ("Scaled", "ScaledIdentity", "ScaledIdentity", "ScaledIdentity"),
    ("Diag", "Diag", "Diag", "Diag"),
    ("Tril", "Adjoint", "Inversion", "LowerTriangular"),
    ("Full", "Adjoint", "Inversion", "LowerTriangular"),
    ("LowRank", "LowRankUpdate", "Inversion", "LowerTriangular"),
    ("Comp", "Adjoint", "Inversion", None),
    ("BlockDiag", "BlockDiag", "BlockDiag", None),
    ("BlockLower", "Adjoint", "BlockLowerTriangular", None),
    ("Kron", "Kronecker", "Kronecker", None),
    ("Adjoint", "FullMatrix", "Inversion", None),
    ("Inversion", "Adjoint", "FullMatrix", None),
    ("House", "Householder", "Householder", None),
    ("Perm", "Adjoint", "Inversion", None),
    ("Toep", "Adjoint", "Inversion", None),
    ("Tridiag", "Adjoint", "Inversion", None),
    ("Circ", "Circulant", "Circulant", None),
    ("Circ2", "Circulant2D", "Circulant2D", None),
    ("Circ3", "Circulant3D", "Circulant3D", None),
])  # fmt: skip
def test_classes_of_adjoints_inverses_and_factors(name, adjoint, inverse, factor):
    def kind(operator):
        return type(operator).__name__.removeprefix("LinearOperator")

    operator = FOUR[name]
    assert (kind(operator.adjoint()), kind(operator.inverse())) == (adjoint, inverse)
    if factor is not None:
        positive = {**operator.parameters, **KNOWN} if name != "Identity" else operator.parameters
        assert kind(type(operator)(**positive).cholesky()) == factor


class TestNames:
    def test_names_of_compound_operators(self):
        diag, other = FOUR["Diag"], linalg.LinearOperatorDiag(real([1.0]), name="d")
        assert (diag @ FOUR["Full"]).name == "LinearOperatorDiag_o_LinearOperatorFullMatrix"
        assert linalg.LinearOperatorBlockDiag([other, other]).name == "d_ds_d"
        assert linalg.LinearOperatorKronecker([other, other]).name == "d_x_d"
        assert linalg.LinearOperatorAdjoint(other).name == "d_adjoint"
        assert linalg.LinearOperatorInversion(other).name == "d_inv"
        assert linalg.LinearOperatorComposition([other], name="mine").name == "mine"


def diag(*values, **hints):
    return linalg.LinearOperatorDiag(list(values), **hints)


ROW = linalg.LinearOperatorFullMatrix([[1.0, 2.0]])
ERRORS = [
    (lambda: diag(1.0).matmul(tf.ones((2, 1))), ValueError, "Dimensions 1 and 2 are not compatible"),
    (lambda: diag(1.0).matvec(np.ones(1)), TypeError, "Expected argument to have dtype .*float32.*  Found: .*float64"),
    (lambda: diag(1.0).solvevec([1.0, 2.0]), ValueError, "Dimensions 1 and 2 are not compatible"),
    (lambda: diag(1.0) @ diag(1.0, 2.0), ValueError, "Expected `x` to have dimension 1 but got 2"),
    (lambda: diag(1.0).solve(diag(1.0, 2.0)), ValueError, "Expected `rhs` to have dimension 1 but got 2"),
    (lambda: full() @ linalg.LinearOperatorFullMatrix(np.eye(4, dtype="f")), TypeError, "the same dtype"),
    (lambda: ROW.inverse(), ValueError, "This operator represents a non square matrix"),
    (lambda: diag(1.0, is_non_singular=False).inverse(), ValueError, "represents a singular matrix"),
    (lambda: full().cholesky(), ValueError, "Not a positive definite self adjoint matrix"),
    (lambda: full().eigvals(), NotImplementedError, "Only self-adjoint matrices are supported"),
    (lambda: full().assert_positive_definite(), NotImplementedError, "is not implemented"),
    (lambda: linalg.LinearOperatorDiag(1.0), ValueError, "Argument diag must have at least 1 dimension"),
    (lambda: linalg.LinearOperatorFullMatrix([1.0]), ValueError, "must have at least 2 dimensions"),
    (lambda: linalg.LinearOperatorFullMatrix([[1]]), TypeError, "must have dtype in .*int32"),
    (lambda: linalg.LinearOperatorIdentity(-1), ValueError, "num_rows must be non-negative.  Found: -1"),
    (lambda: linalg.LinearOperatorIdentity([2]), ValueError, "num_rows must be a 0-D Tensor"),
    (lambda: linalg.LinearOperatorIdentity(2.0), TypeError, "num_rows must be integer type"),
    (lambda: linalg.LinearOperatorIdentity(2, batch_shape=3), ValueError, "batch_shape must be a 1-D Tensor"),
    (lambda: linalg.LinearOperatorIdentity(2, batch_shape=[-3]), ValueError, "batch_shape must be non-negative"),
    (lambda: linalg.LinearOperatorIdentity(2, batch_shape=[0.5]), TypeError, "batch_shape must be integer type"),
    (lambda: linalg.LinearOperatorZeros(2, 3), ValueError, r"num_rows\(2\) != num_columns\(3\)"),
    (lambda: linalg.LinearOperatorPermutation([1.0]), TypeError, "`perm` must be integer dtype"),
    (lambda: linalg.LinearOperatorPermutation([1, 1]), ValueError, "unique integers from 0 to 1"),
    (lambda: linalg.LinearOperatorToeplitz([1.0], [2.0, 3.0]), ValueError, "mismatched dimensions"),
    (lambda: linalg.LinearOperatorTridiag([[1.0]], "rows"), ValueError, "or sequence. Received : rows"),
    (lambda: linalg.LinearOperatorCirculant2D([1.0]), ValueError, "`spectrum` must have at least 2 dimensions"),
    (lambda: linalg.LinearOperatorComposition([]), ValueError, "non-empty list of operators"),
    (lambda: linalg.LinearOperatorBlockDiag([ROW, full()]), TypeError, "the same dtype.*float32.*float64"),
    (lambda: linalg.LinearOperatorLowRankUpdate(diag(1.0), [[1.0], [2.0]]), ValueError, "Dimensions 1 and 2"),
    (lambda: linalg.LinearOperatorLowRankUpdate(diag(1.0), [[1.0]], [1.0, 2.0]), ValueError, "Dimensions 1 and 2"),
    (lambda: linalg.LinearOperatorBlockLowerTriangular([]), ValueError, "a list of >=1 operators"),
    (lambda: linalg.LinearOperatorBlockLowerTriangular([[ROW, ROW]]), ValueError, "contain `1` blocks. Received: 2"),
    (lambda: linalg.LinearOperatorBlockLowerTriangular([[ROW]]), ValueError, r"operators\[0\]\[-1\].is_square"),
    (
        lambda: linalg.LinearOperatorBlockLowerTriangular([[diag(1.0)], [ROW, diag(1.0)]]),
        ValueError,
        r"`operators\[1\]\[0\].domain_dimension` \(2\) must be the same as `operators\[0\]\[0\]",
    ),
    (lambda: diag(1.0)[0], IndexError, "1 slices for a batch of rank 0"),
]  # fmt: skip


@each_case("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("operator, check, message", [
    (diag(0.0, 1.0), "non_singular", "Singular operator:  Diagonal contained zero values"),
    (diag(0.0, 1.0), "positive_definite", "non-positive diagonal entries"),
    (diag(1j, 1.0), "positive_definite", "non-positive real part"),
    (diag(1j, 1.0), "self_adjoint", "contained non-zero imaginary values"),
    (linalg.LinearOperatorFullMatrix([[0.0, 1], [0, 0]]), "non_singular", "Singular matrix up to precision epsilon"),
    (linalg.LinearOperatorFullMatrix([[0.0, 1], [0, 0]]), "self_adjoint", "not equal to its adjoint"),
    (full(is_self_adjoint=True) @ linalg.LinearOperatorZeros(4, dtype=tf.float64), "positive_definite", "non-positive"),
    (linalg.LinearOperatorFullMatrix(-POSITIVE, is_self_adjoint=True), "positive_definite", "not positive definite"),
    (linalg.LinearOperatorScaledIdentity(2, 0.0), "non_singular", "was singular"),
    (linalg.LinearOperatorScaledIdentity(2, -1.0), "positive_definite", "was not positive definite"),
    (linalg.LinearOperatorScaledIdentity(2, 1j), "self_adjoint", "was not self-adjoint"),
    (linalg.LinearOperatorLowerTriangular([[0.0]]), "non_singular", "Diagonal contained zero values"),
    (linalg.LinearOperatorCirculant([0.0, 1.0]), "non_singular", "Spectrum contained zero values"),
    (linalg.LinearOperatorCirculant([0.0, 1.0]), "positive_definite", "Real part of spectrum was not all positive"),
    (linalg.LinearOperatorCirculant([1j, 1.0]), "self_adjoint", "spectrum contained non-zero imaginary part"),
    (FOUR["Zeros"], "non_singular", "Zero operators are always non-invertible"),
    (FOUR["Zeros"], "positive_definite", "always non-positive definite"),
    (FOUR["House"], "positive_definite", "always non-positive definite"),
    (FOUR["BlockLower"], "self_adjoint", "not equal to its adjoint"),
    (linalg.LinearOperatorBlockDiag([diag(1.0), diag(0.0)]), "non_singular", "Diagonal contained zero values"),
    (linalg.LinearOperatorBlockDiag([diag(1.0), diag(0.0)]), "positive_definite", "non-positive diagonal"),
])  # fmt: skip
def test_assertions(operator, check, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        getattr(operator, f"assert_{check}")()


def test_assertions_that_hold():
    for operator in (
        diag(1.0),
        FOUR["Identity"],
        FOUR["Circ"],
        linalg.LinearOperatorBlockDiag([diag(1.0)] * 2),
    ):
        assert operator.assert_non_singular() is None
        assert operator.assert_positive_definite() is None
        assert operator.assert_self_adjoint() is None
    for name in (
        "House",
        "Perm",
        "Comp",
        "LowRank",
        "Kron",
        "Adjoint",
        "Inversion",
        "BlockLower",
        "Toep",
        "Tridiag",
    ):
        assert FOUR[name].assert_non_singular() is None, name
