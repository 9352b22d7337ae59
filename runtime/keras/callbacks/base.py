"""`Callback`: what a program does while a model is trained; `CallbackList`, which tells all of them.

>>> class Counting(Callback):
...     batches = 0
...     def on_train_batch_end(self, batch, logs=None):
...         self.batches += 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Callback:
    """Base class: methods that `fit`, `evaluate` and `predict` call.

    Attributes: `model`; `params`: a dict of "verbose", "epochs" and "steps"; `validation_data` is None.
    """

    def __init__(self) -> None:
        self.params: dict[str, Any] = {}
        self.model: Any = None
        self.validation_data: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def set_model(self, model: Any) -> None:
        self.model = model

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """An epoch of training begins."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """An epoch of training is over; `logs` has the results, those of validation with "val_" before the name."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """The same as `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """The same as `on_train_batch_end`."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """A batch of training begins."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """A batch of training is over."""
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """A batch of `evaluate`, or of validation, begins."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """It is over."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """A batch of `predict` begins."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """It is over; `logs["outputs"]` is what the model gave."""

    def on_train_begin(self, logs: Any = None) -> None:
        """`fit` begins."""

    def on_train_end(self, logs: Any = None) -> None:
        """`fit` is over."""

    def on_test_begin(self, logs: Any = None) -> None:
        """`evaluate`, or validation, begins."""

    def on_test_end(self, logs: Any = None) -> None:
        """It is over."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """`predict` begins."""

    def on_predict_end(self, logs: Any = None) -> None:
        """It is over."""


class History(Callback):
    """What `fit` returns: `history`, a list for each result, and `epoch`, the numbers of the epochs."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Any = None) -> None:
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class CallbackList:
    """Several callbacks as one."""

    def __init__(
        self,
        callbacks: Any = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ) -> None:
        given = (
            list(callbacks) if isinstance(callbacks, Sequence) else [] if callbacks is None else [callbacks]
        )
        for callback in given:
            if not isinstance(callback, Callback):
                raise TypeError(f"`callbacks` must be a list of Callback objects, and {callback!r} is none")
        self.callbacks: list[Callback] = given
        self.history = next((one for one in given if isinstance(one, History)), None)
        if add_history and self.history is None:
            self.history = History()
            self.callbacks.append(self.history)
        if add_progbar:
            from .progress import ProgbarLogger

            self.callbacks.append(ProgbarLogger())
        self.set_params(params)
        if model is not None:
            self.set_model(model)

    @classmethod
    def of(
        cls, callbacks: Any, model: Any, add_history: bool = False, verbose: Any = "auto", **params: Any
    ) -> CallbackList:
        """The callbacks of a call of `fit`, `evaluate` or `predict`."""
        verbose = 1 if verbose == "auto" else int(verbose)
        if isinstance(callbacks, CallbackList):
            return callbacks
        return cls(callbacks, add_history, verbose != 0, model, verbose=verbose, **params)

    def append(self, callback: Callback) -> None:
        self.callbacks.append(callback)

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        for callback in self.callbacks:
            callback.set_model(model)

    def _tell(self, name: str, *args: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, name)(*args)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._tell("on_epoch_begin", epoch, logs or {})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._tell("on_epoch_end", epoch, {} if logs is None else logs)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._tell("on_train_batch_begin", batch, logs or {})

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._tell("on_train_batch_end", batch, logs or {})

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._tell("on_test_batch_begin", batch, logs or {})

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self._tell("on_test_batch_end", batch, logs or {})

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._tell("on_predict_batch_begin", batch, logs or {})

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self._tell("on_predict_batch_end", batch, logs or {})

    def on_train_begin(self, logs: Any = None) -> None:
        self._tell("on_train_begin", logs or {})

    def on_train_end(self, logs: Any = None) -> None:
        self._tell("on_train_end", logs or {})

    def on_test_begin(self, logs: Any = None) -> None:
        self._tell("on_test_begin", logs or {})

    def on_test_end(self, logs: Any = None) -> None:
        self._tell("on_test_end", logs or {})

    def on_predict_begin(self, logs: Any = None) -> None:
        self._tell("on_predict_begin", logs or {})

    def on_predict_end(self, logs: Any = None) -> None:
        self._tell("on_predict_end", logs or {})
