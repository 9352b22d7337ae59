"""`agc.runtime.onnx`: ONNX models as functions; `agc.runtime.export.onnx` writes them (extra `[onnx]`).

>>> import agc.runtime as tf, os, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "twice.onnx")
...     _ = tf.export.onnx(lambda x: x * 2.0, path, [tf.TensorSpec([None])])
...     twice = tf.onnx.load(path)
>>> twice
<OnnxModel lambda(x: float32[?]) -> output_0>
>>> twice([1.0, 2.0]).numpy().tolist()
[2.0, 4.0]
"""

from __future__ import annotations

from .core.missing_names import explain as _explain
from .formats.onnx.reading.load import OnnxModel, load

__all__ = ["OnnxModel", "load"]

_explain(__name__)
