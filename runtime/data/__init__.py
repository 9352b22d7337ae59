"""Input pipelines: `tf.data`.

>>> [x.numpy().tolist() for x in Dataset.range(5).map(lambda x: x * x).batch(2)]
[[0, 1], [4, 9], [16]]
"""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from . import autograph_loops, experimental
from .dataset import Dataset
from .dataset_spec import DatasetSpec, IteratorSpec
from .file_datasets import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .iterator import Iterator, NumpyIterator
from .options import Options, ThreadingOptions
from .pipeline_stage import INFINITE as INFINITE_CARDINALITY
from .pipeline_stage import UNKNOWN as UNKNOWN_CARDINALITY
from .prefetch_threads import AUTOTUNE

BACKEND = autograph_loops.BACKEND

__all__ = [
    "AUTOTUNE", "BACKEND", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec",
    "FixedLengthRecordDataset", "Iterator", "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset",
    "TextLineDataset", "ThreadingOptions", "experimental",
]  # fmt: skip

_explain(__name__)
