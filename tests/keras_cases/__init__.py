"""What programs with `tf.keras` compute, beside what TensorFlow's Keras computed of them.

Each module has `cases(tf)`: names and functions without arguments, whose results are numbers, or texts to be equal.
`python -m keras_cases` (in `tests`, with the real TensorFlow) records its answers in `fixtures/tensorflow/keras`.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MODULES = ("layers", "losses", "metrics", "optimizers", "training")
PATH = Path(__file__).parent.parent.parent / "fixtures" / "tensorflow" / "keras"

Cases = dict[str, Callable[[], Any]]


def cases(module: str, tf: Any) -> Cases:
    """The programs of a module."""
    found: Cases = importlib.import_module(f"{__name__}.{module}").cases(tf)
    return found


def answer(program: Callable[[], Any]) -> Any:
    """What a program computes, as JSON has it; the class of the exception that it raises."""
    try:
        return plain(program())
    except Exception as error:
        return f"! {type(error).__name__}"


def plain(value: Any) -> Any:
    """Texts as they are, numbers and arrays as lists of floats."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, str) else np.array(value).astype(float).tolist()


def read(module: str) -> dict[str, Any]:
    """The recorded answers."""
    found: dict[str, Any] = json.loads((PATH / f"{module}.json").read_text())
    return found


def record(module: str, tf: Any) -> None:
    """Write down the answers of the real TensorFlow."""
    answers = {name: answer(program) for name, program in cases(module, tf).items()}
    PATH.mkdir(exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(rounded(value))}" for name, value in answers.items()]
    (PATH / f"{module}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def rounded(value: Any) -> Any:
    """Numbers with the digits that float32 has."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def agree(one: Any, other: Any) -> bool:
    """Whether two answers are the same, but for the last digits of float32."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        # The numbers of a row are compared all at once, below.
        if any(isinstance(part, (list, str)) for part in one):
            return all(map(agree, one, other))
        if any(isinstance(part, (list, str)) for part in other):
            return False
    if isinstance(one, str) or isinstance(other, str) or np.shape(one) != np.shape(other):
        return bool(one == other)
    return bool(np.allclose(one, other, rtol=2e-5, atol=2e-6, equal_nan=True))
