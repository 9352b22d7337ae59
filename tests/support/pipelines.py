"""TensorFlow's answers to pipelines, recorded in `fixtures/tensorflow/pipelines.txt`.

    >>> D.range(3).map(lambda x: x * x)
    <_MapDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>
    [0, 1, 4]

An answer is the `repr` of the dataset and its elements (the first 40), or the class of the exception. `D` is
`tf.data.Dataset`. `python tests/support/pipelines.py --record` asks TensorFlow anew.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parents[2] / "fixtures" / "tensorflow" / "pipelines.txt"
LIMIT = 40


def shown(value: Any) -> Any:
    """An element, or another result, as plain Python."""
    if hasattr(value, "element_spec") and hasattr(value, "cardinality"):
        return [shown(element) for element in value.take(LIMIT)]
    if hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "numpy"):
        return shown(value.numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, tuple):
        return tuple(map(shown, value))
    if isinstance(value, list):
        return list(map(shown, value))
    return {key: shown(part) for key, part in value.items()} if isinstance(value, dict) else value


def read() -> Iterator[tuple[str, str]]:
    """The recorded expressions and answers."""
    for block in PATH.read_text(encoding="utf-8").split(">>> ")[1:]:
        expression, _, answer = block.partition("\n")
        yield expression, answer.rstrip("\n")


def answer(expression: str, tf: Any) -> str:
    """What a TensorFlow, the real one or ours, makes of an expression."""
    tf.random.set_seed(None)
    names = {"tf": tf, "c": tf.constant, "np": np, "D": tf.data.Dataset, "X": tf.data.experimental}
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            value = eval(expression, names)
            head = f"{value!r}\n" if isinstance(value, tf.data.Dataset) else ""
            return head + repr(shown(value))
        except Exception as error:
            return f"! {type(error).__name__}"


def agree(one: str, other: str) -> bool:
    """Whether two answers are one text, but for the last digits of floats."""
    rounded = [re.sub(r"(\d+\.\d{4})\d+", r"\1", text) for text in (one, other)]
    return rounded[0] == rounded[1]


def record() -> None:
    import tensorflow as tf

    expressions = [expression for expression, _ in read()]
    head = f"What TensorFlow {tf.__version__} answers; written by `python tests/support/pipelines.py --record`.\n\n"
    blocks = [f">>> {expression}\n{answer(expression, tf)}\n" for expression in expressions]
    PATH.write_text(head + "".join(blocks), encoding="utf-8")


if __name__ == "__main__" and "--record" in sys.argv:
    record()
