"""TensorFlow's answers to expressions, recorded in `fixtures/tensorflow/answers.txt`.

    >>> c([1, 2]) + 1
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    >>> c(1) + c(1.0)
    ! InvalidArgumentError

`c` is `tf.constant`. An answer is the `repr` of the result, or the class of the exception.
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

PATH = Path(__file__).parent.parent / "fixtures" / "tensorflow" / "answers.txt"

_NUMBER = re.compile(r"-?(?:nan|inf|\d+\.?\d*(?:e[+-]?\d+)?)")


def read() -> Iterator[tuple[str, str]]:
    """The recorded expressions and answers."""
    for block in PATH.read_text(encoding="utf-8").split(">>> ")[1:]:
        expression, _, answer = block.partition("\n")
        yield expression, answer.rstrip("\n")


def write(expressions: list[str], tf: Any) -> None:
    """Record what a TensorFlow answers."""
    head = (
        f"What TensorFlow {tf.__version__} answers; written by `python tests/differential.py --record`.\n\n"
    )
    blocks = [f">>> {expression}\n{answer(expression, tf)}\n" for expression in expressions]
    PATH.write_text(head + "".join(blocks), encoding="utf-8")


def answer(expression: str, tf: Any) -> str:
    """What a TensorFlow, the real one or ours, makes of an expression."""
    names = {"tf": tf, "c": tf.constant, "np": np, "nan": math.nan, "inf": math.inf}
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
