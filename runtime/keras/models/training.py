"""`fit`, `evaluate`, `predict`: a model learns from batches, each a call of one traced function.

model.fit(x, y)       for each epoch, for each batch:  train_function(batch)  →  model.train_step(batch)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from agc import runtime as tf

from .batches import Batches, unpacked
from .steps import Steps


class Trainer(Steps):
    """The half of `Model` that trains."""

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Mapping[int, float] | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> Any:
        """Train for some epochs. Returns a `History`.

        Args:
            x, y: arrays, tensors, or nests of them; or `x` is a Dataset, a generator, or a Sequence of batches.
            batch_size: 32 by default, for arrays.
            verbose: 0 says nothing, 1 ("auto") shows a bar, 2 prints a line for each epoch.
            validation_split: the last share of arrays is kept for validation.
            validation_data: `(x, y)` or `(x, y, sample_weight)` or a Dataset, to be judged after each epoch.
            class_weight: how much samples of a class count.
            steps_per_epoch, validation_steps: so many batches at most.
            validation_freq: validate after every so many epochs, or after these.
        """
        from ..callbacks import CallbackList

        self._parts()
        self.stop_training = False
        batches = Batches(x, y, sample_weight, batch_size, shuffle, class_weight, steps_per_epoch)
        if validation_split and validation_data is None:
            batches, validation_data = batches.split(validation_split)
        watchers = CallbackList.of(
            callbacks, self, add_history=True, verbose=verbose, epochs=epochs, steps=batches.count
        )
        self.history = watchers.history
        watchers.on_train_begin()
        logs: dict[str, Any] = {}
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            watchers.on_epoch_begin(epoch)
            logs = self._epoch("train", batches, watchers)
            if validation_data is not None and _is_due(epoch, validation_freq):
                judged = self.evaluate(
                    **_as_arguments(validation_data),
                    batch_size=validation_batch_size or batch_size,
                    steps=validation_steps,
                    callbacks=watchers,
                    return_dict=True,
                )
                logs.update({f"val_{name}": value for name, value in judged.items()})
                logs = dict(sorted(logs.items()))
            watchers.on_epoch_end(epoch, logs)
            if self.stop_training:
                break
        if self.optimizer is not None and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        watchers.on_train_end(logs)
        return self.history

    def _epoch(self, kind: str, batches: Batches, watchers: Any) -> dict[str, Any]:
        """Go through an epoch; the last batch's logs."""
        begin, end = (getattr(watchers, f"on_{kind}_batch_{which}") for which in ("begin", "end"))
        logs: dict[str, Any] = {}
        for number, data in enumerate(batches.epoch()):
            begin(number)
            logs = _numbers(self._step(kind, data))
            end(number, logs)
            if self.stop_training:
                break
        else:
            if batches.count is None:
                batches.count = number + 1 if logs else None
        batches.on_epoch_end()
        return dict(logs)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Judge the model on data. Returns the loss, or a list of loss and metrics, or with `return_dict` a dict."""
        from ..callbacks import CallbackList

        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        self._parts()
        batches = Batches(x, y, sample_weight, batch_size, steps=steps)
        watchers = callbacks
        if not isinstance(callbacks, CallbackList):
            watchers = CallbackList.of(callbacks, self, verbose=verbose, epochs=1, steps=batches.count)
        watchers.on_test_begin()
        self.reset_metrics()
        logs = self._epoch("test", batches, watchers)
        watchers.on_test_end(logs)
        return logs if return_dict else self._in_order(logs)

    def _in_order(self, logs: Mapping[str, Any]) -> Any:
        """The results as a list, in the order of the metrics; a single one as it is."""
        if not self.compiled:
            return list(logs.values())
        losses, metrics, _ = self._parts()
        names = [
            "loss",
            *(metric.name for metric in losses.trackers),
            *(name for _, name, _, _ in metrics._parts or ()),
        ]
        ordered = [logs[name] for name in names if name in logs]
        ordered += [value for name, value in logs.items() if name not in names]
        return ordered[0] if len(ordered) == 1 else ordered

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """What the model gives for data, as arrays."""
        from ..callbacks import CallbackList

        batches = Batches(x, None, None, batch_size, steps=steps)
        watchers = CallbackList.of(callbacks, self, verbose=verbose, epochs=1, steps=batches.count)
        watchers.on_predict_begin()
        collected: list[Any] = []
        for number, data in enumerate(batches.epoch()):
            watchers.on_predict_batch_begin(number)
            outputs = tf.nest.map_structure(lambda tensor: tensor.numpy(), self._step("predict", data))
            watchers.on_predict_batch_end(number, {"outputs": outputs})
            collected.append(outputs)
        watchers.on_predict_end()
        if not collected:
            raise ValueError("there is no batch to predict")
        return tf.nest.map_structure(lambda *parts: np.concatenate(parts), *collected)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Learn from one batch."""
        self._parts()
        logs = self._on_batch("train", x, y, sample_weight, class_weight)
        return logs if return_dict else self._in_order(logs)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Judge one batch."""
        self._parts()
        logs = self._on_batch("test", x, y, sample_weight, None)
        return logs if return_dict else self._in_order(logs)

    def _on_batch(self, kind: str, x: Any, y: Any, weight: Any, class_weight: Any) -> dict[str, Any]:
        size = len(tf.nest.flatten(x)[0])
        self.reset_metrics()
        (data,) = Batches(x, y, weight, size, class_weight=class_weight).epoch()
        return _numbers(self._step(kind, data))

    def predict_on_batch(self, x: Any) -> Any:
        """What the model gives for one batch, as arrays."""
        (data,) = Batches(x, batch_size=len(tf.nest.flatten(x)[0])).epoch()
        return tf.nest.map_structure(lambda tensor: tensor.numpy(), self._step("predict", data))

    def make_train_function(self, force: bool = False) -> Callable[..., Any]:
        """A function of an iterator of batches that learns from the next one."""
        return lambda iterator: self._step("train", next(iterator))


def _numbers(logs: Any) -> dict[str, Any]:
    """Logs as Python numbers, in the order of their names."""
    if not isinstance(logs, Mapping):
        raise TypeError(f"`train_step` and `test_step` return a dict of results, not {logs!r}")
    found: dict[str, Any] = {}
    for name, value in sorted(logs.items()):
        if isinstance(value, Mapping):
            found.update(_numbers(value))
        else:
            array = np.asarray(value)
            found[name] = array.item() if not array.ndim else array
    return found


def _is_due(epoch: int, frequency: Any) -> bool:
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def _as_arguments(data: Any) -> dict[str, Any]:
    """Validation data as `evaluate` takes them."""
    if not isinstance(data, (tuple, list)) or hasattr(data, "cardinality"):
        return {"x": data}
    x, y, weight = unpacked(tuple(data))
    return {"x": x, "y": y, "sample_weight": weight}
