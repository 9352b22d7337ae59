"""The programs under fixtures/programs: how they are found, fed and judged.

A program is a module of ordinary Python, with four names at its end that say how to run it:

    ENTRY = collatz                     the function to call
    DTYPES = ("int64",)                 a dtype for each argument; None: the argument stays a Python value
    INPUTS = [(27,), (1,)]              argument lists, as nested Python values
    MODES = ("tensors", "python")       tensors, always; python, where Python numbers and lists mean the same

What each input gives, by real TensorFlow in eager mode, stands in the JSON file beside the program. A value
is kept as its dtype, shape and nested numbers; a tuple is a list of values.
"""

import importlib.util
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "fixtures" / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))

Measured = Any  # {"dtype": ..., "shape": ..., "value": ...}, or a list or dict of such


@dataclass(frozen=True)
class Program:
    """A loaded program."""

    name: str
    module: ModuleType
    entry: Callable[..., Any]
    dtypes: tuple[str | None, ...]
    inputs: list[tuple[Any, ...]]
    modes: tuple[str, ...]

    def python_arguments(self, index: int) -> tuple[Any, ...]:
        return self.inputs[index]

    def tensor_arguments(self, index: int, constant: Callable[..., Any]) -> list[Any]:
        """The arguments of an input; `constant(value, dtype=...)` makes the tensors."""
        given = zip(self.inputs[index], self.dtypes, strict=True)
        return [value if dtype is None else constant(value, dtype=dtype) for value, dtype in given]


def load(name: str) -> Program:
    """The program `name`, freshly imported."""
    spec = importlib.util.spec_from_file_location(f"programs_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Program(name, module, module.ENTRY, module.DTYPES, module.INPUTS, module.MODES)


def record(name: str) -> dict[str, Any]:
    """What is known of the program: its modes, and the result and the printed lines of each input."""
    known: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return known


def cases(mode: str = "tensors") -> list[tuple[str, int]]:
    """Return each program with each of its inputs, without importing any program."""
    known = {name: record(name) for name in NAMES}
    return [
        (name, index)
        for name in NAMES
        if mode in known[name]["modes"]
        for index in range(len(known[name]["results"]))
    ]


def measured(value: Any) -> Measured:
    """A result of any kind in the form that the JSON files hold."""
    if isinstance(value, dict):
        return {key: measured(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [measured(part) for part in value]
    if hasattr(value, "numpy"):
        value = value.numpy()
    python_dtype = {bool: "bool", int: "int32", float: "float32"}.get(type(value))
    array = np.asarray(value)
    return {"dtype": python_dtype or array.dtype.name, "shape": list(array.shape), "value": array.tolist()}


def differences(
    expected: Measured, actual: Measured, types: bool = True, at: str = "result"
) -> Iterator[str]:
    """Where two measured results differ: numbers to a relative 1e-5, the rest exactly.

    Python numbers have no dtype of their own, so `types=False` leaves dtypes out.
    """
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for place, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(left, right, types, f"{at}[{place}]")
    elif isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        for key in expected:
            if types or key != "dtype":
                yield from differences(expected[key], actual[key], types, f"{at}[{key!r}]")
    elif not alike(expected, actual, types):
        yield f"{at}: {expected!r} became {actual!r}"


def alike(expected: object, actual: object, types: bool) -> bool:
    """Whether two numbers, or two names, count as the same."""
    if types and type(expected) is not type(actual):
        return False
    if isinstance(expected, float) and isinstance(actual, int | float):
        both_nan = math.isnan(expected) and math.isnan(actual)
        return both_nan or math.isclose(expected, actual, rel_tol=1e-5, abs_tol=1e-6)
    return expected == actual
