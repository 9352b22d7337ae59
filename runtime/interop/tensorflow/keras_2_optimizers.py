"""Optimizers of Keras 3 with the methods that those of Keras 2 had, for libraries that call them.

tf_keras.optimizers.Adam(0.1).minimize(loss, variables)
class NaturalGradient(tf_keras.optimizers.Optimizer): ...       calls Optimizer.__init__(name)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...autodiff.tape import GradientTape

_BASE = "Optimizer"


@functools.cache
def with_methods_of_keras_2(kind: type) -> type:
    """Return a subclass of a class of optimizers, with `minimize`; that of the base class takes its name first."""
    members: dict[str, Any] = {"minimize": _minimize, "__module__": kind.__module__, "__doc__": kind.__doc__}
    if kind.__name__ == _BASE:

        def start(self: Any, name: str, **kwargs: Any) -> None:
            kind.__init__(self, learning_rate=0.0, name=name, **kwargs)  # type: ignore[misc]

        members["__init__"] = start
    return type(kind.__name__, (kind,), members)


def _minimize(
    self: Any,
    loss: Callable[[], Any] | Any,
    var_list: Sequence[Any] | Callable[[], Sequence[Any]],
    tape: GradientTape | None = None,
) -> None:
    """Take a step against the gradient of `loss()`, or of a loss that `tape` has recorded."""
    with tape or GradientTape() as recorded:
        value = loss() if callable(loss) else loss
    variables = list(var_list() if callable(var_list) else var_list)
    self.apply_gradients(zip(recorded.gradient(value, variables), variables, strict=True))
