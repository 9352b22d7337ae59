"""Input pipelines: `tf.data`.

>>> [x.numpy().tolist() for x in Dataset.range(5).map(lambda x: x * x).batch(2)]
[[0, 1], [4, 9], [16]]
"""

from __future__ import annotations

from ..missing_names import explain as _explain
from . import experimental, staged
from .dataset import Dataset
from .files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .iterator import Iterator, NumpyIterator
from .options import Options, ThreadingOptions
from .specs import DatasetSpec, IteratorSpec
from .stage import INFINITE as INFINITE_CARDINALITY
from .stage import UNKNOWN as UNKNOWN_CARDINALITY
from .threads import AUTOTUNE

BACKEND = staged.BACKEND

__all__ = [
    "AUTOTUNE", "BACKEND", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec",
    "FixedLengthRecordDataset", "Iterator", "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset",
    "TextLineDataset", "ThreadingOptions", "experimental",
]  # fmt: skip

_explain(__name__)
