"""The module `tf.profiler`: the time and memory of graphs, by operation and by line of the program.

>>> import agc.runtime as tf
>>> @tf.function
... def halved(x):
...     while x > 1.0:
...         x = x * 0.5
...     return x
>>> report = tf.profiler.profile(halved, tf.constant(100.0))
>>> print(report.result)
tf.Tensor(0.78125, shape=(), dtype=float32)
>>> sorted((row.name, row.calls) for row in report.rows)
[('greater', 8), ('halved', 1), ('multiply', 7), ('while', 1)]

`profile` runs a function under a profile; `Profiling` is the context manager. TensorFlow's names are in
`tf.profiler.experimental`.
"""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from . import experimental
from .report import Report, ReportRow
from .session import Profiling, profile

__all__ = ["Profiling", "Report", "ReportRow", "experimental", "profile"]

_explain(__name__)
