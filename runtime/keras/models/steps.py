"""What a model does with one batch: learn from it, judge it, or give what it predicts; `compile` settles how.

model.train_step(batch)       prediction  →  loss  →  gradients  →  optimizer, and the metrics' results
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from agc import runtime as tf
from agc.autograph import api

from .. import optimizers
from ..layers.calling import converted
from ..layers.tracking import Kept, each_once
from ..metrics.base import Mean, Metric
from ..registry import serialized
from .batches import unpacked
from .compiled import Losses, Metrics


class Steps:
    """What `Model` does with a batch. `train_step`, `test_step` and `predict_step` may be overridden."""

    layers: Any
    name: Any

    def _init_steps(self) -> None:
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

    def get_compile_config(self) -> dict[str, Any] | None:
        """What `compile` was given, to be given again."""
        return (
            {name: serialized(value) for name, value in self._compile_config.items()}
            if self.compiled
            else None
        )

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


@functools.cache
def _takes(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _nothing() -> None:
    """What a function is made of to see whether its options are fine."""
