"""`InputSpec`: what a layer demands of its input's rank, dimensions and dtype.

>>> check(InputSpec(min_ndim=2), KerasTensor((3,)), "dense")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
ValueError: Input 0 of layer "dense" is incompatible with the layer: expected min_ndim=2, found ndim=1. ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agc import runtime as tf

from ..symbolic import KerasTensor as KerasTensor


class InputSpec:
    """Demands on one input. Each is None where anything goes.

    Args:
        axes: dimensions that have a certain size, by their number; negative ones count from the end.
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[int, int] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        self.dtype = None if dtype is None else tf.as_dtype(dtype).name
        self.shape = None if shape is None else tuple(shape)
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        self.allow_last_axis_squeeze, self.name, self.optional = allow_last_axis_squeeze, name, optional

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if value}
        return f"InputSpec({', '.join(f'{name}={value}' for name, value in shown.items())})"


def check(spec: Any, inputs: Any, layer: str) -> None:
    """ValueError when an input does not fit its spec."""
    for number, (one, value) in enumerate(zip(tf.nest.flatten(spec), tf.nest.flatten(inputs), strict=False)):
        if isinstance(one, InputSpec) and getattr(value, "shape", None) is not None:
            _check(one, value, number, layer)


def _check(spec: InputSpec, value: Any, number: int, layer: str) -> None:
    if isinstance(value.shape, tf.TensorShape) and value.shape.rank is None:
        return
    shape = tuple(value.shape)
    rank = len(shape)
    which = f'Input {number} of layer "{layer}" is incompatible with the layer: '
    full = f"Full shape received: {shape}"
    if spec.ndim is not None and rank != spec.ndim and not spec.allow_last_axis_squeeze:
        raise ValueError(f"{which}expected ndim={spec.ndim}, found ndim={rank}. {full}")
    if spec.max_ndim is not None and rank > spec.max_ndim:
        raise ValueError(f"{which}expected max_ndim={spec.max_ndim}, found ndim={rank}")
    if spec.min_ndim is not None and rank < spec.min_ndim:
        raise ValueError(f"{which}expected min_ndim={spec.min_ndim}, found ndim={rank}. {full}")
    if spec.dtype is not None and tf.as_dtype(value.dtype).name != spec.dtype:
        raise ValueError(f"{which}expected dtype={spec.dtype}, found dtype={value.dtype}")
    for axis, size in spec.axes.items():
        if size is not None and shape[axis] not in (size, None):
            raise ValueError(
                f"{which}expected axis {axis} of input shape to have value {size}, but received input with "
                f"shape {shape}"
            )
    if spec.shape is not None:
        for wanted, found in zip(spec.shape, shape, strict=True):
            if wanted is not None and found is not None and wanted != found:
                raise ValueError(f"{which}expected shape={spec.shape}, found shape={shape}")
