"""`Metric`: a number that is gathered from batch to batch, as an object with variables.

>>> class Longest(Metric):
...     def __init__(self):
...         super().__init__(name="longest")
...         self.most = self.add_weight(name="most", initializer="zeros")
...     def update_state(self, values):
...         self.most.assign(tf.maximum(self.most, tf.reduce_max(values)))
...     def result(self):
...         return tf.identity(self.most)
>>> longest = Longest()
>>> longest.update_state([1.0, 5.0])
>>> longest([3.0]).numpy()
np.float32(5.0)
>>> longest.reset_state()
>>> longest.result().numpy()
np.float32(0.0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc import runtime as tf
from agc.autograph import api

from ...ir.builder import current
from .. import initializers, losses, notes, settings
from ..losses.reducing import masked_weight, same_rank
from ..naming import auto_name, snake_case
from ..variables import Weight, made


class Metric(tf.Module):
    """Base class: a subclass has `update_state`, which changes its variables, and `result`, which reads them.

    Args:
        dtype: of the variables (default: `keras.config.floatx()`).
    """

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self._name = name or auto_name(snake_case(type(self).__name__))
        self._dtype = tf.as_dtype(dtype or settings.floatx())
        self._variables: list[Weight] = []

    @property
    def dtype(self) -> str:
        return self._dtype.name

    @property
    def variables(self) -> list[Weight]:  # type: ignore[override]
        """The metric's own variables, and those of metrics in its attributes."""
        nested = [value for value in vars(self).values() if isinstance(value, Metric)]
        return [*self._variables, *(variable for metric in nested for variable in metric.variables)]

    weights = variables

    def add_weight(
        self, shape: Any = (), initializer: Any = None, dtype: Any = None, name: str | None = None
    ) -> Any:
        """A variable that `reset_state` sets to 0, with the values that `initializer` gives until then."""
        if isinstance(shape, str):  # TensorFlow 2.3 had the name first
            shape, name = (), shape
        chosen = initializers.get(initializer or "zeros")
        kind = tf.as_dtype(dtype or self._dtype)
        own = made(chosen, tuple(shape), kind, name or auto_name("variable"), self.name, trainable=False)
        self._variables.append(own)
        return own

    add_variable = add_weight

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not implement update_state()")

    def result(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not implement result()")

    def reset_state(self) -> None:
        """All variables become 0."""
        for variable in self.variables:
            variable.assign(tf.zeros_like(variable))

    def reset_states(self) -> None:
        """TensorFlow 2.3's name for `reset_state`."""
        self.reset_state()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Update the state, and give the result."""
        if current() is None:
            self.update_state(*args, **kwargs)
            return self.result()
        api.converted_call(self.update_state, args, kwargs)
        return api.converted_call(self.result)

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Metric:
        return cls(**config)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def samplewise(values: Any, sample_weight: Any, reduce: Callable[..., Any], dtype: Any) -> tuple[Any, Any]:
    """One value for each sample, weighted, and the weights of the samples (None without)."""
    given = tf.convert_to_tensor(values)
    mask = notes.masks.get(given)
    values = tf.cast(given, dtype)
    weight = None if sample_weight is None else tf.cast(sample_weight, dtype)
    weight = masked_weight(weight, mask, dtype, "sum")
    if weight is not None:
        values, weight = same_rank(values, weight)
        rank: Any = weight.shape.rank
        if values.shape.rank > rank:
            values = reduce(values, axis=list(range(rank, values.shape.rank)))
        weight = tf.broadcast_to(weight, tf.shape(values))
        values *= weight
        rank = weight.shape.rank
        if rank > 1:
            weight = reduce(weight, axis=list(range(1, rank)))
    if values.shape.rank is not None and values.shape.rank > 1:
        values = reduce(values, axis=list(range(1, values.shape.rank)))
    return values, weight


class Sum(Metric):
    """The weighted sum of values."""

    def __init__(self, name: str | None = "sum", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_weight(name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values, _ = samplewise(values, sample_weight, tf.reduce_sum, self._dtype)
        self.total.assign_add(tf.reduce_sum(values))

    def result(self) -> Any:
        return tf.identity(self.total)


class Mean(Metric):
    """The weighted mean of values; the mean of a sample counts once, whatever its shape."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_weight(name="total")
        self.count = self.add_weight(name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values, weight = samplewise(values, sample_weight, tf.reduce_mean, self._dtype)
        self.total.assign_add(tf.reduce_sum(values))
        count = tf.size(values) if weight is None else tf.reduce_sum(weight)
        self.count.assign_add(tf.cast(count, self._dtype))

    def result(self) -> Any:
        return tf.math.divide_no_nan(self.total, self.count)


class MeanMetricWrapper(Mean):
    """The mean of a function of targets and predictions; `kwargs` are its further arguments."""

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(name or getattr(fn, "__name__", None), dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        y_pred = losses.reducing.tensor_of(y_pred, self._dtype)
        mask = notes.masks.get(y_pred)
        values = api.converted_call(self._fn, (y_true, y_pred), self._fn_kwargs)
        weight = masked_weight(sample_weight, mask, self._dtype, "sum")
        super().update_state(values, weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}


class MeanTensor(Metric):
    """The weighted mean of tensors of one shape, for each element."""

    def __init__(self, name: str | None = "mean_tensor", dtype: Any = None, shape: Any = None) -> None:
        super().__init__(dtype, name)
        self._made = False
        if shape is not None:
            self._make(tuple(shape))

    def _make(self, shape: tuple[int, ...]) -> None:
        self.total = self.add_weight(shape, name="total")
        self.count = self.add_weight(shape, name="count")
        self._made = True

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values = tf.cast(values, self._dtype)
        if not self._made:
            self._make(tuple(values.shape))
        weight = tf.ones_like(values)
        if sample_weight is not None:
            given = tf.cast(sample_weight, self._dtype)
            missing = values.shape.rank - given.shape.rank
            weight *= tf.reshape(given, tf.concat([tf.shape(given), [1] * missing], 0)) if missing else given
        self.total.assign_add(values * weight)
        self.count.assign_add(weight)

    def result(self) -> Any:
        if not self._made:
            raise ValueError("MeanTensor does not have any result yet: call update_state() first")
        return tf.math.divide_no_nan(self.total, self.count)
