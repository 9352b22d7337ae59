"""The module `tf.summary`: summaries of a program, written to event files for TensorBoard.

>>> import agc.runtime as tf, os, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     writer = tf.summary.create_file_writer(folder)
...     with writer.as_default():
...         tf.summary.scalar("loss", 0.1, step=42)
...     writer.close()
...     len(os.listdir(folder))
<tf.Tensor: shape=(), dtype=bool, numpy=True>
1
"""
# Namespace summary: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from . import experimental
from .graphs import graph
from .state import SummaryWriter, record_if, should_record_summaries
from .summary_ops import audio, flush, histogram, image, scalar, text
from .traces import trace_export, trace_off, trace_on
from .write import write
from .writer import create_file_writer, create_noop_writer

__all__ = [
    "SummaryWriter", "audio", "create_file_writer", "create_noop_writer", "experimental", "flush", "graph",
    "histogram", "image", "record_if", "scalar", "should_record_summaries", "text", "trace_export",
    "trace_off", "trace_on", "write",
]

_explain(__name__)
