"""A callable whose `__call__` is a slot of the instance: a Python method, or a faster entry point.

f(x)   →   the object in f.__call__
"""

from __future__ import annotations

import inspect
from typing import Any


class SignatureOfWrapped:
    """The `__signature__` of instances: that of their `__wrapped__`, which `inspect.getfullargspec` does not follow."""

    def __get__(self, instance: Any, owner: Any = None) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")  # the signature of the class is that of its constructor
        return inspect.signature(instance.__wrapped__)


class CallSlot:
    __slots__ = {"__call__": "Run the graph for the arguments; trace it first when there is none yet."}

    __signature__ = SignatureOfWrapped()
