"""`tf.types.experimental`: what functions and their arguments are.

>>> from agc.runtime import function
>>> isinstance(function(lambda x: x), PolymorphicFunction)
True
"""

from __future__ import annotations

from ..convert import TensorLike
from ..missing_names import explain as _explain
from ..trace_types import SupportsTracingProtocol, TraceType, TracingContext
from ..tracing.concrete import ConcreteFunction
from ..tracing.function import Function as PolymorphicFunction

GenericFunction = PolymorphicFunction

__all__ = [
    "ConcreteFunction", "GenericFunction", "PolymorphicFunction", "SupportsTracingProtocol", "TensorLike", "TraceType",
    "TracingContext",
]  # fmt: skip

_explain(__name__)
