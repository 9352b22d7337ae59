"""`tf.types.experimental`: the types of functions and their arguments.

>>> from agc.runtime import function
>>> isinstance(function(lambda x: x), PolymorphicFunction)
True
"""

from __future__ import annotations

from ..core.conversion import TensorLike
from ..core.missing_names import explain as _explain
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import Function as PolymorphicFunction
from ..tracing.trace_type import SupportsTracingProtocol, TraceType, TracingContext
from . import distributed

GenericFunction = PolymorphicFunction

__all__ = [
    "ConcreteFunction", "GenericFunction", "PolymorphicFunction", "SupportsTracingProtocol", "TensorLike", "TraceType",
    "TracingContext", "distributed",
]  # fmt: skip

_explain(__name__)
