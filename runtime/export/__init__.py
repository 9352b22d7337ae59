"""`agc.runtime.export`: write functions in the formats of other systems.

>>> import agc.runtime as tf, tempfile, os
>>> @tf.function
... def scaled(x):
...     return 2.0 * x
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "scaled.txt")
...     _ = tf.export.text(scaled, path, [tf.TensorSpec([None])])
...     print(open(path).read())
graph scaled(x: float32[?]) -> float32[?]
  mul = multiply 2.0, x                         : float32[?]
  return mul
<BLANKLINE>
"""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from ..formats.program import Program
from ..formats.refusals import CannotExportError
from .formats import FORMATS, Format, format_of
from .source import resolve
from .verify import Difference, verify
from .write import write
from .writers import json, text

__all__ = [
    "CannotExportError", "Difference", "FORMATS", "Format", "Program", "format_of", "json", "resolve", "text", "verify",
    "write",
]  # fmt: skip

_explain(__name__)
