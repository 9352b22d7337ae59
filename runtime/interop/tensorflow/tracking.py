"""`AutoTrackable`, the base class of Keras's objects, whose attributes are children in checkpoints."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from agc.autograph import api, staging

from ...core.tracked_object import DEPENDENCIES, Trackable
from ...ir.builder import current

_TRACKING = "_self_setattr_tracking"

_CONVERTED = ("call", "train_step", "test_step", "predict_step")


class _OfKeras:
    """The attributes that Keras's layers, models and metrics have before users add their own."""

    def __get__(self, instance: Any, owner: type) -> frozenset[str]:
        return _attributes_of_keras()


@functools.cache
def _attributes_of_keras() -> frozenset[str]:
    keras = sys.modules["keras"]
    samples = keras.layers.Layer(name="layer"), keras.Model(name="model"), keras.Sequential(name="model")
    return frozenset(name for sample in samples for name in vars(sample))


class AutoTrackable(Trackable):
    """An object whose attributes are its children as soon as they are set.

    Methods in which a layer or model computes are converted while a function is traced, so that they may contain
    control flow on tensors. Those of Keras itself need no conversion.
    """

    _untracked_attributes = _OfKeras()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.partition(".")[0] != "keras":
            for name in _CONVERTED:
                method = vars(cls).get(name)
                if inspect.isfunction(method):
                    setattr(cls, name, converted_in_graphs(method))

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, _TRACKING, True) and isinstance(value, Trackable):
            self._track_trackable(value, name=name, overwrite=True)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        vars(self).get(DEPENDENCIES, {}).pop(name, None)
        super().__delattr__(name)


def converted_in_graphs(method: Callable[..., Any]) -> Callable[..., Any]:
    converted = api.convert(method)

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return method(*args, **kwargs)
        with staging.live():  # in Keras's own graphs, too, if the method's module is converted as a whole
            return converted(*args, **kwargs)

    return called


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method so that attributes that it sets are not tracked."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, _TRACKING, True)
        object.__setattr__(self, _TRACKING, False)
        try:
            return method(self, *args, **kwargs)
        finally:
            object.__setattr__(self, _TRACKING, before)

    return untracked


class ListWrapper(list[Any]):
    """TensorFlow's tracked list, by which Keras recognizes lists; the runtime makes none."""


class _DictWrapper(dict[Any, Any]):
    """TensorFlow's tracked dict, by which Keras recognizes dicts; the runtime makes none."""
