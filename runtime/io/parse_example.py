"""`tf.io.parse_example` and others: features of records become dense, sparse and ragged tensors.

{"x": FixedLenFeature([], int64), "v": VarLenFeature(int64)}
    columns     dense int64  x      values int64  v
    results     a tensor            values and lengths  ⇒  a sparse tensor
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import dtypes, errors
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.creation import zeros_like
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.math.cast import cast
from ..ops.math.comparison import equal
from ..ops.parsing.parse_examples import parse_examples
from ..ops.parsing.parse_sequences import parse_sequences, partition_lengths
from ..ops.parsing.record_reader import DTYPES, Column
from ..ragged.row_partition import RowPartition
from ..ragged.tensor import RaggedTensor
from ..sparse.checks import expect
from ..sparse.reorder_reshape import reorder
from ..sparse.tensor import SparseTensor
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
)


class _Columns:
    """The columns that features need, their defaults, and the results by column."""

    def __init__(self, features: Mapping[str, Any], is_context: bool = False) -> None:
        self.defaults: list[Any] = []
        self._results: dict[str, tuple[Tensor, ...]] = {}
        self._columns: dict[str, list[str]] = {}
        for key, feature in sorted(features.items()):
            _check_allowed(key, feature, _IN_CONTEXT if is_context else _IN_EXAMPLES)
            is_fixed = isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature))
            self._columns[key] = [self._fixed(key, feature)] if is_fixed else values_columns(key, feature)
        self.texts = list(dict.fromkeys(text for texts in self._columns.values() for text in texts))

    def _fixed(self, key: str, feature: Any) -> str:
        """Return the column of a feature of one shape; its default is recorded."""
        dtype = allowed_dtype(feature.dtype)
        dims = shape_of_feature(key, feature)
        default = feature.default_value
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            default = ("" if dtype is dtypes.string else 0) if default is None else default
            self.defaults.append(reshape(_default(default, dtype), []))
            return str(Column("padded", dtype, dims, key))
        if default is None:
            return str(Column("dense", dtype, dims, key))
        self.defaults.append(reshape(_default(default, dtype), list(dims)))
        return str(Column("default", dtype, dims, key))

    def take(self, results: list[Tensor]) -> list[Tensor]:
        """Store the first results of an operation as those of the columns, and return the others."""
        for text in self.texts:
            count = 2 if text.startswith("values ") else 1
            self._results[text], results = tuple(results[:count]), results[count:]
        return results

    def value(self, key: str, feature: Any, is_single: bool) -> Any:
        """Return what a feature becomes."""
        found = [self._results[text] for text in self._columns[key]]
        if isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
            return found[0][0]
        if isinstance(feature, VarLenFeature):
            return sparse_rows(found[0][0], found[0][1], is_single)
        if isinstance(feature, SparseFeature):
            return _sparse(found, feature, is_single)
        ragged, rows = partitioned(found, feature)
        return ragged if is_single else in_rows(ragged, rows, feature.row_splits_dtype)


_IN_CONTEXT = (FixedLenFeature, VarLenFeature, RaggedFeature)
_IN_LISTS = (FixedLenSequenceFeature, VarLenFeature, RaggedFeature)
_IN_EXAMPLES = (*_IN_CONTEXT, FixedLenSequenceFeature, SparseFeature)


def _check_allowed(key: Any, feature: Any, classes: tuple[type, ...]) -> None:
    if not isinstance(feature, classes):
        raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key {key!r}")


def allowed_dtype(dtype: Any) -> dtypes.DType:
    """Return the dtype of a feature; InvalidArgumentError for one that records do not have."""
    found = dtypes.as_dtype(dtype)
    if found.name not in DTYPES:
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tdense' of {found.name} is not in the list of allowed values: float, int64, string"
        )
    return found


def shape_of_feature(key: str, feature: Any) -> tuple[int, ...]:
    """Return the shape of a feature; ValueError if it is not known."""
    dims = TensorShape(feature.shape).as_list()
    if dims and dims[0] is None and isinstance(feature, FixedLenFeature):
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. "
            f"Received feature={feature}."
        )
    known = tuple(size for size in dims if size is not None)
    if len(known) < len(dims):
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {dims}.")
    return known


def _default(value: Any, dtype: dtypes.DType) -> Tensor:
    return convert_to_tensor(value, dtype)


def values_columns(key: str, feature: Any) -> list[str]:
    """Return the columns of values of a feature: its own, and those of its coordinates or partitions."""
    dtype = allowed_dtype(feature.dtype)
    if isinstance(feature, VarLenFeature):
        found = [(key, dtype)]
    elif isinstance(feature, SparseFeature):
        keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
        found = [(feature.value_key, dtype), *((index, dtypes.int64) for index in keys)]
    else:
        keyed = (part.key for part in feature.partitions if not isinstance(part, UniformRowLength))
        found = [(feature.value_key or key, dtype), *((part, dtypes.int64) for part in keyed)]
    return [str(Column("values", dtype, (), name)) for name, dtype in found]


def sparse_rows(values: Tensor, lengths: Tensor, is_single: bool) -> SparseTensor:
    """Return values in rows as a sparse tensor: a vector of one record, a matrix of several."""
    if not is_single:
        made: SparseTensor = in_rows(values, lengths, dtypes.int64).to_sparse()
        return made
    count = reshape(lengths, [1])
    return SparseTensor(expand_dims(counted(lengths), -1), values, count)


def in_rows(values: Any, lengths: Tensor, dtype: Any) -> RaggedTensor:
    """Return values in rows of these lengths."""
    return RaggedTensor(values, RowPartition.from_row_lengths(cast(lengths, dtype)), internal=True)


def _sparse(found: list[tuple[Tensor, ...]], feature: SparseFeature, is_single: bool) -> SparseTensor:
    (values, lengths), *axes = found
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    if len(sizes) != len(axes):
        raise ValueError(f"{len(axes)} index keys need as many sizes, not {sizes}")
    for _, count in axes:
        expect(equal(count, lengths), "the numbers of indices and values differ:", [count, lengths])
    columns = [index for index, _ in axes]
    shape: Any = convert_to_tensor(sizes, dtypes.int64)
    if not is_single:
        partition = RowPartition.from_row_lengths(lengths)
        columns = [partition.value_rowids(), *columns]
        shape = concat([shape_of(lengths, dtypes.int64), shape], 0)
    made = SparseTensor(stack(columns, 1), values, shape)
    return made if feature.already_sorted else reorder(made)


def partitioned(found: list[tuple[Tensor, ...]], feature: RaggedFeature) -> tuple[Any, Tensor]:
    """Return values with their partitions, and the number of outer rows of each record."""
    (values, counts), *parts = found
    ragged: Any = values
    for partition in reversed(feature.partitions):
        if isinstance(partition, UniformRowLength):
            length = int(partition.length)
            expect(equal(counts % length, zeros_like(counts)), "the rows are not of the length", [length])
            ragged = _uniform(ragged, length, feature)
            counts = counts // length
        else:
            lengths, counts = partition_lengths(*parts.pop(), counts, type(partition).__name__)
            ragged = in_rows(ragged, lengths, feature.row_splits_dtype)
    return ragged, counts


def _uniform(values: Any, length: int, feature: RaggedFeature) -> Any:
    if isinstance(values, Tensor):
        return reshape(values, [-1, length])
    return RaggedTensor.from_uniform_row_length(values, cast(length, feature.row_splits_dtype))


@export("io.parse_example")
def parse_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Return the features of a batch of records of `tf.train.Example`, by their names.

    Args:
        serialized: a vector of strings, or a scalar.
        features: a dict of `FixedLenFeature` (a tensor with the batch as its first axis), `FixedLenSequenceFeature`
            (padded to the longest record), `VarLenFeature` and `SparseFeature` (a sparse tensor), and `RaggedFeature`.
        example_names: accepted for compatibility; errors have the positions of records.

    Raises InvalidArgumentError for invalid records, and for required features that a record lacks.

    >>> from agc.runtime import io, train, int64
    >>> record = train.Example()
    >>> record.features.feature["x"].int64_list.value.append(3)
    >>> io.parse_example([record.SerializeToString()], {"x": io.FixedLenFeature([], int64)})["x"].numpy().tolist()
    [3]
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    columns = _Columns(features)
    strings = convert_to_tensor(serialized, dtypes.string)
    columns.take(list(parse_examples(strings, columns.defaults, columns.texts, name=name)))
    is_single = strings.shape.rank == 0
    return {key: columns.value(key, feature, is_single) for key, feature in features.items()}


@export("io.parse_single_example")
def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Return the features of one record of `tf.train.Example`, a scalar string; see `tf.io.parse_example`.

    >>> import agc.runtime as tf
    >>> value = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))
    >>> record = tf.train.Example(features=tf.train.Features(feature={"x": value})).SerializeToString()
    >>> tf.io.parse_single_example(record, {"x": tf.io.FixedLenFeature([], tf.float32)})["x"].numpy()
    np.float32(0.5)
    """
    return parse_example(scalar(serialized), features, example_names, name)


def scalar(serialized: Any) -> Tensor:
    """Return a record as a tensor; ValueError if it is no scalar."""
    tensor: Tensor = convert_to_tensor(serialized, dtypes.string)
    if tensor.shape.rank is None:
        flat: Tensor = reshape(tensor, [])
        return flat
    if tensor.shape.rank:
        raise ValueError("Input serialized must be a scalar")
    return tensor


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:
    """Return a batch of `tf.train.SequenceExample`: the features of the context, the sequences, and their lengths.

    Args:
        serialized: a vector of strings, or a scalar.
        context_features: a dict as for `tf.io.parse_example`.
        sequence_features: a dict of `FixedLenSequenceFeature` (a tensor of batch, steps and its shape, padded with
            zeros), `VarLenFeature` (a sparse tensor of three axes), and `RaggedFeature`.
        example_names: accepted for compatibility.

    The lengths are those of the sequences of `FixedLenSequenceFeature`.

    Raises InvalidArgumentError for invalid records, and for required features that a record lacks.

    >>> import agc.runtime as tf
    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> lists = tf.train.FeatureLists(feature_list={"ids": tf.train.FeatureList(feature=[step, step])})
    >>> record = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    >>> features = {"ids": tf.io.FixedLenSequenceFeature([2], tf.int64)}
    >>> _, sequences, lengths = parse_sequence_example([record], sequence_features=features)
    >>> sequences["ids"].numpy().tolist(), lengths["ids"].numpy().tolist()
    ([[[1, 2], [1, 2]]], [2])
    """
    if not context_features and not sequence_features:
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    context, lists = dict(context_features or {}), dict(sequence_features or {})
    columns = _Columns(context, is_context=True)
    steps = list(dict.fromkeys(text for key in sorted(lists) for text in _steps_of(key, lists[key])))
    strings = convert_to_tensor(serialized, dtypes.string)
    rest = columns.take(list(parse_sequences(strings, columns.defaults, columns.texts, steps, name=name)))
    found = {}
    for text in steps:
        count = 3 if text.startswith("values ") else 2
        found[text], rest = rest[:count], rest[count:]
    is_single = strings.shape.rank == 0
    sequences, lengths = {}, {}
    for key, feature in lists.items():
        results = [found[text] for text in _steps_of(key, feature)]
        sequences[key] = _sequence(results, feature, is_single)
        if isinstance(feature, FixedLenSequenceFeature):
            lengths[key] = results[0][1]
    made = {key: columns.value(key, feature, is_single) for key, feature in context.items()}
    return made, sequences, lengths


def _steps_of(key: str, feature: Any) -> list[str]:
    _check_allowed(key, feature, _IN_LISTS)
    if not isinstance(feature, FixedLenSequenceFeature):
        return values_columns(key, feature)
    if feature.default_value is not None:
        raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
    kind = "any_steps" if feature.allow_missing else "steps"
    return [str(Column(kind, allowed_dtype(feature.dtype), shape_of_feature(key, feature), key))]


def _sequence(found: list[list[Tensor]], feature: Any, is_single: bool) -> Any:
    if isinstance(feature, FixedLenSequenceFeature):
        return found[0][0]
    steps = found[0][2]
    if isinstance(feature, VarLenFeature):
        inner = in_rows(found[0][0], found[0][1], dtypes.int64)
        return (inner if is_single else in_rows(inner, steps, dtypes.int64)).to_sparse()
    for _, _, others in found[1:]:
        expect(equal(others, steps), "the numbers of steps differ:", [others, steps])
    values, rows = partitioned([(one[0], one[1]) for one in found], feature)
    ragged = in_rows(values, rows, feature.row_splits_dtype)
    return ragged if is_single else in_rows(ragged, steps, feature.row_splits_dtype)


@export("io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the context and the sequences of one `tf.train.SequenceExample`; see `tf.io.parse_sequence_example`.

    >>> import agc.runtime as tf
    >>> context = tf.train.Features(feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))})
    >>> record = tf.train.SequenceExample(context=context).SerializeToString()
    >>> found, _ = parse_single_sequence_example(record, {"n": tf.io.FixedLenFeature([], tf.int64)})
    >>> found["n"].numpy()
    np.int64(7)
    """
    found = parse_sequence_example(
        scalar(serialized), context_features, sequence_features, example_name, name
    )
    return found[0], found[1]
