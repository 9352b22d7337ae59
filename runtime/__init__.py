"""`agc.runtime`: tensors, graphs and `function`, with TensorFlow's names.

>>> import agc.runtime as tf
>>> @tf.function
... def collatz(n):
...     steps = 0
...     while n != 1:
...         n = n // 2 if n % 2 == 0 else 3 * n + 1
...         steps += 1
...     return steps
>>> collatz(tf.constant(27))
<tf.Tensor: shape=(), dtype=int32, numpy=111>
"""

from __future__ import annotations

import importlib
from typing import Any

from .core.gc_pause import Pause as _Pause

with _Pause():  # Python's collections take a tenth of the time
    from agc.autograph import api

    from . import autograph, config, dtypes, errors, ir, nest
    from ._top_level_names import MEMBERS
    from .core import program_time as _program_time  # noqa: F401  (the program begins now)
    from .core.freed_memory import keep_freed_memory as _keep_freed_memory
    from .core.missing_names import imported as _imported
    from .core.missing_names import missing_name
    from .core.tensor import Tensor
    from .core.variable import Variable
    from .ops.arrays.getitem import install as _install_getitem
    from .ops.framework.operator_overloads import install as _install_operators

_keep_freed_memory()
_install_operators(Tensor)
_install_operators(Variable)
_install_getitem()

newaxis = None
__version__ = "2.21.0"
"""The TensorFlow version that this runtime is compatible with; see version.py."""

NAMESPACES = (
    "audio", "autodiff", "bitwise", "compat", "debugging", "experimental", "data", "distribute", "export",
    "graph_util", "image", "io", "linalg", "lookup", "math", "nn", "onnx", "profiler", "ragged", "random",
    "raw_ops", "quantization", "sets", "signal", "sparse", "saved_model", "strings", "summary", "sysconfig",
    "test", "train", "types", "version", "xla",
)  # fmt: skip
"""Modules that are imported at the first access, so that `import agc.runtime` is fast."""

OF_KERAS = ("keras", "initializers", "losses", "metrics", "optimizers")
"""Keras, and its namespaces that are at the top level too; `import *` leaves them out, since Keras loads slowly."""


def __getattr__(name: str) -> Any:
    """Import a namespace, or a public name of this module, at its first use."""
    if name in NAMESPACES or name == "keras":
        with _Pause():
            value = importlib.import_module(f"{__name__}.{name}")
    elif name in MEMBERS:
        value = globals()[name] = _imported(MEMBERS[name], name, __name__)
    elif name in OF_KERAS:
        value = globals()[name] = importlib.import_module(f"{__name__}.keras.{name}")
    else:
        raise missing_name(__name__, name)
    api.filter_tracebacks(__name__)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *OF_KERAS})


__all__ = [
    "autograph", "config", "dtypes", "errors", "ir", "nest", "newaxis", *NAMESPACES, *MEMBERS,
]  # fmt: skip
api.filter_tracebacks(__name__)
