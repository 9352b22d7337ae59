"""TensorFlow's answers to expressions, recorded in `fixtures/tensorflow/answers.txt`.

    >>> c([1, 2]) + 1
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    >>> c(1) + c(1.0)
    ! InvalidArgumentError

`c` is `tf.constant`, `tnp` is `tf.experimental.numpy`, and `x` a matrix. An answer is the `repr` of the
result, or the class of the exception.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parents[2] / "fixtures" / "tensorflow" / "answers.txt"

_NUMBER = re.compile(r"-?(?:nan|inf|\d+\.?\d*(?:e[+-]?\d+)?)")


DIFFERENT = {
    # A number that does not fit the dtype of the other operand is a TypeError for every operator.
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
    # Python's built-in functions take tensors, also outside of graphs, where converted code may call them.
    "divmod(c(7),2)",
    # What an operation finds wrong with its arguments is an InvalidArgumentError, in Python code a ValueError.
    "tf.image.rgb_to_hsv(c([1.,2.]))", "tf.image.hsv_to_rgb(c([1.,2.]))", "tf.strings.bytes_split(c([1]))",
    "tf.strings.format('{}',[1,2])", "tf.random.stateless_uniform([3,2],seed=[1],dtype=tf.int32)",
    "tf.random.stateless_normal([3,2],seed=[1,2],alg='threefry')",
    "tf.random.stateless_normal([3,2],seed=[1],alg='threefry')",
    "tf.map_fn(tf.reduce_sum,tf.ragged.constant([[1,2],[],[3]]))",
    # The processor decides what infinity is as uint64.
    "tf.cast([nan,inf,-1.,5e9],tf.uint64)",
}  # fmt: skip
"""Expressions with another answer, on purpose."""


def read() -> Iterator[tuple[str, str]]:
    """The recorded expressions and answers."""
    for block in PATH.read_text(encoding="utf-8").split(">>> ")[1:]:
        expression, _, answer = block.partition("\n")
        yield expression, answer.rstrip("\n")


def write(expressions: list[str], tf: Any) -> None:
    """Record what a TensorFlow answers."""
    head = f"What TensorFlow {tf.__version__} answers; written by `make differential WITH=--record`.\n\n"
    blocks = [f">>> {expression}\n{answer(expression, tf)}\n" for expression in expressions]
    PATH.write_text(head + "".join(blocks), encoding="utf-8")


def answer(expression: str, tf: Any) -> str:
    """What a TensorFlow, the real one or ours, makes of an expression."""
    names = {"tf": tf, "c": tf.constant, "np": np, "nan": math.nan, "inf": math.inf}
    names |= {"tnp": tf.experimental.numpy, "x": tf.constant([[1.0, 2.0, -3.0], [5.0, 0.0, 7.0]])}
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return repr(eval(expression, names))
        except Exception as error:
            return f"! {type(error).__name__}"


def agree(one: str, other: str) -> bool:
    """Whether two answers are one text, but for spaces and the last digits of numbers."""
    if "".join(_NUMBER.sub("#", one).split()) != "".join(_NUMBER.sub("#", other).split()):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(a == b or math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-6) for a, b in pairs)
