"""`agc.runtime.export`: write functions in the formats of other systems.

>>> import agc.runtime as tf, pathlib, tempfile
>>> @tf.function
... def scaled(x):
...     return 2.0 * x
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "scaled.txt")
...     _ = tf.export.text(scaled, path, [tf.TensorSpec([None])])
...     print(path.read_text())
graph scaled(x: float32[?]) -> float32[?]
  multiply = multiply 2.0, x                    : float32[?]
  return multiply
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
from .writers import dot, graphdef, json, mermaid, onnx, saved_model, stablehlo, text

__all__ = [
    "CannotExportError", "Difference", "FORMATS", "Format", "Program", "dot", "format_of", "graphdef", "json",
    "mermaid", "onnx", "resolve", "saved_model", "stablehlo", "text", "verify", "write",
]  # fmt: skip

_explain(__name__)
