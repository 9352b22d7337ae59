"""The namespace `tf.raw_ops`: TensorFlow's operations by their own names, with keyword arguments only.

>>> from agc.runtime import constant, raw_ops
>>> raw_ops.Relu(features=constant([-1.0, 2.0])).numpy().tolist()
[0.0, 2.0]
>>> raw_ops.UniqueV2(x=constant([5, 5, 7]), axis=constant([0])).idx.numpy().tolist()
[0, 0, 1]

The files in `tables` hold an expression for each operation; `missing.txt` has reasons for the others.
"""

from __future__ import annotations

import typing as _typing

from agc.autograph import api as _api

from ..core.missing_names import missing_name as _missing_name
from . import table_reader as _tables


def __getattr__(name: str) -> _typing.Any:
    """Return an operation, which is compiled at its first use."""
    definitions = _tables.definitions
    if name == "__all__":
        return sorted(definitions())
    if not name.startswith("_") and name in definitions():
        value = globals()[name] = _tables.function(name)
        return value
    reason = None if name.startswith("_") else _tables.why_missing(name)
    if reason is None:
        raise _missing_name(__name__, name, among=definitions())
    raise AttributeError(reason, name=name)


def __dir__() -> list[str]:
    return sorted(_tables.definitions())


_api.filter_tracebacks(__name__)
