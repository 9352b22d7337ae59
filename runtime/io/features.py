"""Descriptions of the features of a record, for `tf.io.parse_example`.

>>> FixedLenFeature([2], "float32", default_value=0.0).shape, VarLenFeature("int64").dtype
([2], 'int64')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from .. import dtypes
from ..core.export import export


@export("io.VarLenFeature")
class VarLenFeature(NamedTuple):
    """A feature with any number of values, which becomes a sparse tensor.

    >>> VarLenFeature("int64").dtype
    'int64'
    """

    dtype: Any


@export("io.FixedLenFeature")
class FixedLenFeature(NamedTuple):
    """A feature of one shape, which becomes a tensor; it is required if it has no default.

    >>> import agc.runtime as tf
    >>> value = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> record = tf.train.Example(features=tf.train.Features(feature={"n": value})).SerializeToString()
    >>> tf.io.parse_single_example(record, {"n": tf.io.FixedLenFeature([], tf.int64)})["n"].numpy()
    np.int64(3)
    """

    shape: Any
    dtype: Any
    default_value: Any = None


@export("io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(NamedTuple):
    """A feature that is any number of tensors of one shape, which becomes a padded tensor.

    >>> FixedLenSequenceFeature([2], "float32", allow_missing=True).shape
    [2]
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


@export("io.SparseFeature")
class SparseFeature(NamedTuple):
    """A sparse tensor of `size`, with its values in one feature and its coordinates in others.

    Attributes: `index_key`, the name of the feature with the coordinates, or one for each axis; `value_key`; `dtype`;
    `size`, one number or one for each axis; `already_sorted`, whether the coordinates are in order.

    >>> SparseFeature("index", "value", "float32", 100).size
    100
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class _Keyed(NamedTuple):
    key: str


class RowSplits(_Keyed):
    """A partition by the splits of rows."""


class RowLengths(_Keyed):
    """A partition by the lengths of rows."""


class RowStarts(_Keyed):
    """A partition by the starts of rows."""


class RowLimits(_Keyed):
    """A partition by the limits of rows."""


class ValueRowIds(_Keyed):
    """A partition by the row of each value."""


class UniformRowLength(NamedTuple):
    """A partition in rows of one length."""

    length: int


class _RaggedFields(NamedTuple):
    dtype: dtypes.DType
    value_key: str | None
    partitions: tuple[Any, ...]
    row_splits_dtype: dtypes.DType
    validate: bool


@export("io.RaggedFeature")
class RaggedFeature(_RaggedFields):
    """A feature with any number of values, which becomes a ragged tensor.

    Args:
        dtype: the dtype of the values.
        value_key: the name of the feature in the record, by default that in the dict of features.
        partitions: how the values are divided, the outermost partition first: objects of `RowSplits`, `RowLengths`,
            `RowStarts`, `RowLimits` and `ValueRowIds` with the name of a feature, or `UniformRowLength`.
        row_splits_dtype: int32 or int64.
        validate: accepted for compatibility; partitions are always validated.

    Raises TypeError for other partitions.

    >>> RaggedFeature(dtypes.int64, partitions=[RaggedFeature.RowLengths("lengths")]).partitions
    (RowLengths(key='lengths'),)
    """

    __slots__ = ()
    RowSplits: ClassVar = RowSplits
    RowLengths: ClassVar = RowLengths
    RowStarts: ClassVar = RowStarts
    RowLimits: ClassVar = RowLimits
    ValueRowIds: ClassVar = ValueRowIds
    UniformRowLength: ClassVar = UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> RaggedFeature:
        for partition in partitions:
            if not isinstance(partition, (_Keyed, UniformRowLength)):
                raise TypeError(f"partitions must be a list of partition objects, got {partition!r}")
        types = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        return super().__new__(cls, types[0], value_key, tuple(partitions), types[1], validate)
