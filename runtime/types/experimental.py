"""`tf.types.experimental`: the types of functions and their arguments.

>>> from agc.runtime import function
>>> isinstance(function(lambda x: x), PolymorphicFunction)
True
"""

from __future__ import annotations

import abc

from ..core.conversion import TensorLike
from ..core.missing_names import explain as _explain
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import BoundFunction
from ..tracing.function import Function as PolymorphicFunction
from ..tracing.trace_type import SupportsTracingProtocol, TraceType, TracingContext
from . import distributed


class GenericFunction(abc.ABC):  # noqa: B024
    """The class of what `tf.function` returns, also as a method of an instance.

    >>> import agc.runtime as tf
    >>> class Model(tf.Module):
    ...     @tf.function
    ...     def double(self, x):
    ...         return 2 * x
    >>> isinstance(Model.double, GenericFunction), isinstance(Model().double, GenericFunction)
    (True, True)
    """


GenericFunction.register(PolymorphicFunction)
GenericFunction.register(BoundFunction)

__all__ = [
    "ConcreteFunction", "GenericFunction", "PolymorphicFunction", "SupportsTracingProtocol", "TensorLike", "TraceType",
    "TracingContext", "distributed",
]  # fmt: skip

_explain(__name__)
