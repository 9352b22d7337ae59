"""`Loss`: how wrong predictions are, as an object with a reduction and a config.

>>> class Distance(Loss):
...     def call(self, y_true, y_pred):
...         return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)
>>> Distance()([[1.0], [2.0]], [[3.0], [2.0]]).numpy()
np.float32(1.0)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from agc import runtime as tf

from .. import notes, settings
from ..naming import auto_name, snake_case
from .reducing import REDUCTIONS, reduced, same_rank, tensors_of


class Loss:
    """Base class: a subclass has `call(y_true, y_pred)`, which gives a loss for each sample.

    Args:
        reduction: "sum_over_batch_size", also called "mean" (the sum by the number of losses),
            "mean_with_sample_weight" (by the sum of the weights), "sum", or None and "none".
        dtype: that `y_true` and `y_pred` are cast to (default: `keras.config.floatx()`).
    """

    def __init__(
        self, name: str | None = None, reduction: str | None = "sum_over_batch_size", dtype: Any = None
    ) -> None:
        if reduction == "auto":  # TensorFlow 2.3's name for the usual one
            reduction = "sum_over_batch_size"
        if reduction not in REDUCTIONS:
            allowed = ", ".join(map(repr, REDUCTIONS))
            raise ValueError(
                f"Invalid value for argument `reduction`. Expected one of {allowed}. Received: reduction={reduction}"
            )
        self.name = name or auto_name(snake_case(type(self).__name__))
        self.reduction = reduction
        self._dtype = tf.as_dtype(dtype or settings.floatx())

    @property
    def dtype(self) -> str:
        return self._dtype.name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss: a scalar, or without reduction one number for each sample."""
        y_true, y_pred = tensors_of(y_true, self._dtype), tensors_of(y_pred, self._dtype)
        losses = self.call(y_true, y_pred)
        marked = [losses] if tf.nest.is_nested(y_pred) else [y_pred, losses]
        masks = [tf.cast(mask, tf.bool) for mask in map(notes.masks.get, marked) if mask is not None]
        mask = functools.reduce(tf.logical_and, masks) if masks else None
        return reduced(losses, sample_weight, mask, self.reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not implement call(y_true, y_pred)")

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "reduction": self.reduction}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Loss:
        return cls(**config)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


class LossFunctionWrapper(Loss):
    """A function as a `Loss`; `kwargs` are its further arguments."""

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        if not tf.nest.is_nested(y_pred):
            logits = notes.logits.get(y_pred)
            y_true, fitted = same_rank(y_true, y_pred)
            if fitted is not y_pred and logits is not None:
                notes.logits[fitted] = tf.reshape(logits, tf.shape(fitted))
            y_pred = fitted
        return self.fn(y_true, y_pred, **self._fn_kwargs)


class FunctionLoss(LossFunctionWrapper):
    """Base class of the losses that are a function with arguments: `usual` is the function."""

    usual: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        usual = type(self).usual
        super().__init__(usual, reduction, name or usual.__name__, dtype, **kwargs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}
