"""A function gives the same on Python's values, converted, on eager tensors, and in graphs of both executors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
from agc import autograph

from .versions import converted_version

EXECUTORS: tuple[dict[str, Any], ...] = ({}, {"experimental_executor": "interpret"})


def plainly(value: Any) -> Any:
    """Return a nest with Python's numbers, texts and lists in place of tensors and arrays."""
    return tf.nest.map_structure(lambda leaf: np.asarray(leaf).tolist(), value)


def agrees(f: Callable[..., Any], *inputs: Any, dtype: Any = None, converted: bool = False) -> None:
    """Compare the results for each input, a tuple of arguments or a single one; `converted` compares that, too."""
    versions = (autograph.convert(f), converted_version(f)) if converted else (f,)
    graphs = [tf.function(f, **options) for options in EXECUTORS]
    for args in inputs:
        args = args if isinstance(args, tuple) else (args,)
        expected = f(*args)
        assert all(version(*args) == expected for version in versions if converted)
        tensors = [tf.constant(arg, dtype) for arg in args]
        for run in (*versions, *graphs):
            pairs = [tf.nest.flatten(plainly(result)) for result in (run(*tensors), expected)]
            for one, other in zip(*pairs, strict=True):
                assert one == other or math.isclose(one, other, rel_tol=1e-6), args
