"""The namespace `tf.io`: files of records."""

from __future__ import annotations

from .data.records import TFRecordOptions, TFRecordWriter

__all__ = ["TFRecordOptions", "TFRecordWriter"]
