"""`Weight`: the variables of layers, metrics and optimizers. They know their path, and what is done to them.

>>> Weight([1.0], name="bias", path="dense/bias")
<Variable path=dense/bias, shape=(1,), dtype=float32, value=[1.]>
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc import runtime as tf

from ..ir.builder import current, eagerly


class Weight(tf.Variable):
    """A `tf.Variable` with Keras's attributes: `path`, whose last part is its name, `regularizer`, `constraint`."""

    def __init__(
        self,
        initial_value: Any,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        path: str | None = None,
        regularizer: Callable[[Any], Any] | None = None,
        constraint: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(
            initial_value, trainable, name=name or "variable", dtype=dtype, constraint=constraint
        )
        self.path = path or self.short_name
        self.regularizer = regularizer

    @property
    def name(self) -> str:
        return self.short_name

    def __repr__(self) -> str:
        known = f"<Variable path={self.path}, shape={tuple(self.shape)}, dtype={self.dtype.name}"
        return f"{known}>" if current() is not None else f"{known}, value={self.numpy()}>"


def made(
    initializer: Callable[..., Any],
    shape: tuple[int, ...],
    dtype: Any,
    name: str,
    owner: str,
    trainable: bool = True,
    **options: Any,
) -> Weight:
    """A new weight with the values that an initializer gives, whether a function is being traced or not.

    It belongs to an object that makes its weights once; so it is made at once, and not by the graph.
    """
    with eagerly():
        value = initializer(shape, dtype=dtype)
        return Weight(value, trainable, name, dtype, f"{owner}/{name}" if owner else name, **options)
