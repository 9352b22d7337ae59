"""TensorFlow's own answers, recorded: agc gives the same values, dtypes, shapes and classes of errors."""

from __future__ import annotations

import agc.runtime as tf
import answers
import pytest

DIFFERENT = {
    # A number that does not fit the dtype of the tensor beside it is a TypeError for every operator.
    "c(1)+1.5", "c(1)+'a'", "tf.matmul(c([[1,2]]),[[1.5],[2]])", "tf.add_n([1,2.5])",
    "tf.reduce_sum([[1.,2.]],axis=1.5)", "[1,2,3][c(1.)]",
    # What the shape rule refuses is an InvalidArgumentError, even if the arguments could never be right.
    "tf.add_n([])", "tf.einsum('ij->k',c([[1.]]))", "tf.linalg.matrix_transpose([1,2])",
    "tf.nn.bias_add([[1.,2.]],[1.,2.],data_format='X')", "tf.logical_and(1,True)",
    "tf.linalg.matmul([[1,2]],[[1],[2]],transpose_a=True,adjoint_a=True)",
    # There is one class for a dtype that an operation does not take.
    "tf.math.reciprocal(c(0))", "tf.math.reciprocal(c([2,1]))",
    # Numbers and NumPy arrays adapt to a tensor on either side, but never lose a fraction.
    "tf.add(1,c(2.5))", "tf.add(1,np.array([1.],np.float64))", "tf.add(np.array([1.],np.float64),c(1.))",
    "c(2)+np.array([1.5,2.])", "np.float64(1.5)+c(2)",
    # The processor decides what infinity is as uint64.
    "tf.cast([nan,inf,-1.,5e9],tf.uint64)",
}  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), [x for x in answers.read() if x[0] not in DIFFERENT])
def test_the_answer_is_tensorflows(expression: str, expected: str) -> None:
    got = answers.answer(expression, tf)
    assert answers.agree(got, expected), f"{expression}\n  TensorFlow  {expected}\n  agc         {got}"


def test_the_known_differences_are_differences() -> None:
    recorded = dict(answers.read())
    assert set(recorded) >= DIFFERENT
    assert not [
        x for x in DIFFERENT if answers.agree(answers.answer(x, tf), recorded[x]) and "uint64" not in x
    ]
