"""`compile`, `fit`, `evaluate`, `predict`: a model learns from batches, each a call of one traced function.

model.fit(x, y)       for each epoch, for each batch:  train_function(batch)  →  model.train_step(batch)
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from agc import runtime as tf
from agc.autograph import api

from .. import optimizers
from ..layers.calling import converted
from ..layers.tracking import Kept, each_once
from ..metrics.base import Mean, Metric
from ..registry import serialized
from .batches import Batches, unpacked
from .compiled import Losses, Metrics


class Trainer:
    """The half of `Model` that trains. `train_step`, `test_step` and `predict_step` may be overridden."""

    layers: Any
    name: Any

    def _init_trainer(self) -> None:
        self.stop_training = False
        self.compiled = False
        self.optimizer: Any = None
        self.loss: Any = None
        self.run_eagerly = False
        self.steps_per_execution = 1
        self._compiled: Kept = Kept()
        self._functions: dict[tuple[str, str], Any] = {}
        self._options: dict[str, Any] = {}
        self.history: Any = None
        self.train_function: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles have: all but the traced steps, which train this model and no other."""
        state: Any = super().__getstate__()
        return {**state, "_functions": {}}

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool | None = False,
        steps_per_execution: int = 1,
        jit_compile: Any = "auto",
        auto_scale_loss: bool = True,
    ) -> None:
        """Settle how the model is trained.

        Args:
            optimizer, loss, metrics: names, functions or objects; losses and metrics may be lists or dicts with one
                for each output.
            loss_weights: by what each output's loss is multiplied.
            weighted_metrics: metrics that see the weights of samples.
            run_eagerly: call `train_step` as Python, without tracing it.
            steps_per_execution, auto_scale_loss: accepted, no effect.
            jit_compile: True compiles the steps to native code, as `tf.function` does; what cannot be compiled is an
                error with the reasons when a step first runs. "auto" and None compile what has run for long where
                that makes it faster; False never does.

        Raises ValueError for `jit_compile=True` without a native compiler, or with `run_eagerly`.
        """
        if jit_compile is True and run_eagerly:
            raise ValueError("If `run_eagerly` is True, `jit_compile` cannot also be True.")
        self._options = {"jit_compile": None if jit_compile == "auto" else jit_compile}
        tf.function(_nothing, **self._options)  # says at once that there is no compiler
        self.optimizer = optimizers.get(optimizer)
        self.loss = loss
        self.run_eagerly = bool(run_eagerly)
        self.steps_per_execution = steps_per_execution
        names = self.output_names
        self._compiled.items = [
            Losses(loss, loss_weights, names), Metrics(metrics, weighted_metrics, names), Mean("loss"),
        ]  # fmt: skip
        self._compile_config = {
            "optimizer": optimizer, "loss": loss, "loss_weights": loss_weights, "metrics": metrics,
            "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution, "jit_compile": jit_compile,
        }  # fmt: skip
        self._functions = {}
        self.compiled = True
        self.stop_training = False

    output_names: Any

    @property
    def compiled_loss(self) -> Losses:
        """The loss of all outputs: `compiled_loss(y, y_pred, sample_weight, regularization_losses)`."""
        return self._parts()[0]

    @property
    def compiled_metrics(self) -> Metrics:
        """The metrics of all outputs: `compiled_metrics.update_state(y, y_pred, sample_weight)`."""
        return self._parts()[1]

    def _parts(self) -> tuple[Losses, Metrics, Mean]:
        if not self.compiled:
            raise ValueError("You must call `compile()` before using the model.")
        losses, metrics, tracker = self._compiled.items
        return losses, metrics, tracker

    @property
    def metrics(self) -> list[Metric]:
        """The loss, the metrics of the layers, and those that `compile` was given."""
        found: list[Metric] = [self._compiled.items[2]] if self.compiled and self.loss is not None else []
        found += super().metrics  # type: ignore[misc]
        if self.compiled:
            losses, metrics, _ = self._compiled.items
            found += [*losses.trackers, *metrics.metrics]
        return each_once(found)

    @property
    def metrics_names(self) -> list[str]:
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """All metrics begin anew."""
        for metric in self.metrics:
            metric.reset_state()

    # One batch

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """The loss of a batch: that of `compile`, and what layers add."""
        losses, _, _ = self._parts()
        total = None if self.loss is None else losses(y, y_pred, sample_weight)
        added = [tf.reduce_sum(tf.cast(loss, tf.float32)) for loss in self.losses]
        parts = ([] if total is None else [total]) + added
        if not parts:
            raise ValueError(
                "No loss to compute. Provide a `loss` argument in `compile()`, or call `add_loss` in a layer."
            )
        return parts[0] if len(parts) == 1 else tf.add_n(parts)

    losses: Any
    trainable_weights: Any

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Update the metrics of `compile`, and give all results."""
        if y is not None:
            self._parts()[1].update(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """The results of all metrics, by name."""
        _, metrics, tracker = self._parts()
        own = {id(metric) for metric in [*metrics.metrics, tracker]}
        found: dict[str, Any] = {"loss": tracker.result()} if self.loss is not None or self.losses else {}
        for metric in self.metrics:
            if id(metric) not in own:
                result = api.converted_call(metric.result)
                found.update(result if isinstance(result, dict) else {metric.name: result})
        return {**found, **metrics.results()}

    def _track_loss(self, loss: Any, x: Any) -> None:
        self._parts()[2].update_state(loss, tf.shape(tf.nest.flatten(x)[0])[0])

    def train_step(self, data: Any) -> Any:
        """Learn from a batch, and give the metrics' results."""
        x, y, sample_weight = unpacked(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self._compute_loss(x, y, y_pred, sample_weight, training=True)
            scaled = self.optimizer.scale_loss(loss)
        self._track_loss(loss, x)
        variables = self.trainable_weights
        if not variables:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        else:
            gradients = tape.gradient(scaled, variables)
            self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return self._compute_metrics(x, y, y_pred, sample_weight)

    def _compute_loss(self, x: Any, y: Any, y_pred: Any, sample_weight: Any, training: bool) -> Any:
        arguments = {"x": x, "y": y, "y_pred": y_pred, "sample_weight": sample_weight, "training": training}
        if not _takes(type(self).compute_loss, "training"):
            del arguments["training"]
        return api.converted_call(self.compute_loss, (), arguments)

    def _compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> Any:
        return api.converted_call(self.compute_metrics, (x, y, y_pred, sample_weight))

    __call__: Any

    def test_step(self, data: Any) -> Any:
        """Judge a batch, and give the metrics' results."""
        x, y, sample_weight = unpacked(data)
        y_pred = self(x, training=False)
        if self.loss is not None or self.losses:
            self._track_loss(self._compute_loss(x, y, y_pred, sample_weight, training=False), x)
        return self._compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data: Any) -> Any:
        """What the model gives for a batch."""
        x, _, _ = unpacked(data)
        return self(x, training=False)

    def _step(self, kind: str, data: Any) -> Any:
        """Call `train_step`, `test_step` or `predict_step` on a batch: a graph for each kind of batch."""
        method = getattr(self, f"{kind}_step")
        if self.run_eagerly or tf.config.functions_run_eagerly():
            return method(data)
        leaves = tf.nest.flatten(data)
        layout = tf.nest.map_structure(lambda leaf: None, data)
        key = kind, str(layout)
        if key not in self._functions:

            def step(*values: Any) -> Any:
                return converted(method)(tf.nest.pack_sequence_as(data, list(values)))

            self._functions[key] = tf.function(step, reduce_retracing=True, **self._options)
        return self._functions[key](*leaves)

    # Many batches

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

    def get_compile_config(self) -> dict[str, Any] | None:
        """What `compile` was given, to be given again."""
        return (
            {name: serialized(value) for name, value in self._compile_config.items()}
            if self.compiled
            else None
        )

    def make_train_function(self, force: bool = False) -> Callable[..., Any]:
        """A function of an iterator of batches that learns from the next one."""
        return lambda iterator: self._step("train", next(iterator))


@functools.cache
def _takes(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


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


def _nothing() -> None:
    """What a function is made of to see whether its options are fine."""
