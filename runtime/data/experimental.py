"""`tf.data.experimental`: older names of `Dataset` methods, and a few other functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import dtypes, nest
from ..core.missing_names import explain as _explain
from ..ops.arrays.creation import constant, zeros
from . import reorder_stages
from .csv_dataset import CsvDataset, make_csv_dataset
from .dataset import Dataset
from .file_datasets import TFRecordDataset
from .group_by_reducer import Reduced, Reducer
from .optional import Optional
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from .pipeline_stage import INFINITE as INFINITE_CARDINALITY
from .pipeline_stage import UNKNOWN as UNKNOWN_CARDINALITY
from .pipeline_stage import Given, number
from .prefetch_threads import AUTOTUNE
from .source_datasets import ListItems
from .table_from_dataset import DatasetInitializer, index_table_from_dataset, table_from_dataset
from .tfrecord_writer import TFRecordWriter as _Records

Transformation = Callable[[Dataset], Dataset]


class TFRecordWriter:
    """Writes a dataset of scalar strings to a TFRecord file.

    >>> TFRecordWriter("numbers.tfrecord").write(Dataset.from_tensors("1"))  # doctest: +SKIP
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename, self._compression = filename, compression_type

    def write(self, dataset: Dataset) -> None:
        """Write the elements, one record each."""
        spec = dataset.element_spec
        if getattr(spec, "dtype", None) is not dtypes.string or spec.shape.rank != 0:
            raise TypeError(
                f"`dataset` must produce scalar `DT_STRING` tensors whereas it produces {spec!r}."
            )
        with _Records(self._filename, self._compression) as file:
            for record in dataset:
                file.write(record.numpy())


def cardinality(dataset: Dataset) -> Any:
    """Return `dataset.cardinality()`.

    >>> cardinality(Dataset.range(3)).numpy()
    np.int64(3)
    """
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Set the expected number of elements of a dataset, which is checked at its end.

    >>> Dataset.range(9).filter(lambda x: x > 3).apply(assert_cardinality(5)).cardinality().numpy()
    np.int64(5)
    """
    return lambda dataset: Dataset(reorder_stages.Asserted(dataset._stage, number(expected_cardinality)))


def get_single_element(dataset: Dataset) -> Any:
    """Return `dataset.get_single_element()`.

    >>> get_single_element(Dataset.from_tensors(5)).numpy()
    np.int32(5)
    """
    return dataset.get_single_element()


def get_next_as_optional(iterator: Any) -> Optional:
    """Return `iterator.get_next_as_optional()`.

    >>> get_next_as_optional(iter(Dataset.range(0))).has_value().numpy()
    np.False_
    """
    return iterator.get_next_as_optional()  # type: ignore[no-any-return]


def get_structure(dataset_or_iterator: Any) -> Any:
    """Return `dataset.element_spec`.

    >>> get_structure(Dataset.range(3))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    return dataset_or_iterator.element_spec


def to_variant(dataset: Dataset) -> Any:
    """Return the dataset as a tensor of dtype variant.

    >>> to_variant(Dataset.range(3)).dtype
    tf.variant
    """
    return dataset.handle()


def from_variant(variant: Any, structure: Any) -> Dataset:
    """Return the dataset in a tensor of dtype variant, with elements of the spec `structure`.

    >>> [int(x) for x in from_variant(to_variant(Dataset.range(2)), Dataset.range(2).element_spec)]
    [0, 1]
    """
    return Dataset(Given(variant, structure))


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """Return a dataset of the elements of a Python list: nests of one structure, stacked.

    >>> [int(each["a"]) for each in from_list([{"a": 1}, {"a": 2}])]
    [1, 2]
    """
    from ..nest import map_structure
    from ..ops.arrays.concat_split import stack
    from .element_spec import normalized

    if not elements:
        raise ValueError("Empty list. `from_list` needs at least one element.")
    nests = [normalized(element) for element in elements]
    return Dataset(ListItems(map_structure(lambda *leaves: stack(leaves), *nests)))


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """Prefetch elements; there is only one device.

    >>> [int(each) for each in Dataset.range(3).apply(prefetch_to_device("/cpu:0"))]
    [0, 1, 2]
    """
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """Return the dataset unchanged; there is only one device.

    >>> [int(each) for each in Dataset.range(3).apply(copy_to_device("/cpu:0"))]
    [0, 1, 2]
    """
    return lambda dataset: dataset


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """Apply `shuffle`, then `repeat`.

    >>> sorted(int(each) for each in Dataset.range(3).apply(shuffle_and_repeat(3, 2)))
    [0, 0, 1, 1, 2, 2]
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Any,
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """Apply `map`, then `batch`.

    >>> [each.numpy().tolist() for each in Dataset.range(4).apply(map_and_batch(lambda x: x * x, 2))]
    [[0, 1], [4, 9]]
    """
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """Reduce all elements with the same key to one element by a `Reducer`.

    >>> total = Reducer(lambda key: constant(0, dtypes.int64), lambda sum, x: sum + x, lambda sum: sum)
    >>> [int(each) for each in Dataset.range(6).apply(group_by_reducer(lambda x: x % 2, total))]
    [6, 9]
    """
    return lambda dataset: Dataset(Reduced(dataset._stage, key_func, reducer))


def parallel_interleave(
    map_func: Any,
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Apply `interleave` with threads.

    >>> pairs = parallel_interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2)
    >>> [int(each) for each in Dataset.range(2).apply(pairs)]
    [0, 1, 0, 1]
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length, not sloppy)


def _method(name: str, example: str, result: str) -> Callable[..., Transformation]:
    def transformation(*args: Any, **kwargs: Any) -> Transformation:
        return lambda dataset: getattr(dataset, name)(*args, **kwargs)

    of_method = inspect.signature(getattr(Dataset, name))
    parameters = [p for p in of_method.parameters.values() if p.name not in ("self", "name")]
    transformation.__signature__ = of_method.replace(parameters=parameters)  # type: ignore[attr-defined]
    transformation.__name__ = name
    transformation.__doc__ = (
        f"Return `Dataset.{name}` as a transformation for `Dataset.apply`.\n\n>>> {example}\n{result}\n"
    )
    return transformation


# fmt: off
bucket_by_sequence_length = _method(
    "bucket_by_sequence_length",
    "len(list(Dataset.range(4).apply(bucket_by_sequence_length(lambda x: x, [2], [2, 2]))))", "2")
dense_to_ragged_batch = _method(
    "ragged_batch", "rows = Dataset.range(3).map(lambda n: zeros([n])).apply(dense_to_ragged_batch(3))\n"
    ">>> next(iter(rows)).shape", "TensorShape([3, None])")
dense_to_sparse_batch = _method(
    "sparse_batch", "rows = Dataset.range(3).map(lambda n: zeros([n])).apply(dense_to_sparse_batch(3, [4]))\n"
    ">>> next(iter(rows)).shape", "TensorShape([3, 4])")
enumerate_dataset = _method(
    "enumerate", "[(int(n), int(x)) for n, x in Dataset.range(5, 7).apply(enumerate_dataset())]", "[(0, 5), (1, 6)]")
group_by_window = _method(
    "group_by_window", "pairs = group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)\n"
    ">>> [each.numpy().tolist() for each in Dataset.range(4).apply(pairs)]", "[[0, 2], [1, 3]]")
ignore_errors = _method(
    "ignore_errors", "[int(x) for x in Dataset.range(3).map(lambda x: 6 // (x - 1)).apply(ignore_errors())]", "[-6, 6]")
rejection_resample = _method(
    "rejection_resample", "ones = rejection_resample(lambda x: x, [0.0, 1.0], seed=1)\n"
    ">>> {int(x) for _, x in Dataset.from_tensor_slices([0, 1] * 9).apply(ones)}", "{1}")
scan = _method(
    "scan", "sums = scan(constant(0, dtypes.int64), lambda total, x: (total + x, total + x))\n"
    ">>> [int(x) for x in Dataset.range(4).apply(sums)]", "[0, 1, 3, 6]")
snapshot = _method(
    "snapshot", "import tempfile\n>>> with tempfile.TemporaryDirectory() as folder:\n"
    "...     [int(x) for x in Dataset.range(3).apply(snapshot(folder))]", "[0, 1, 2]")
take_while = _method(
    "take_while", "[int(x) for x in Dataset.range(9).apply(take_while(lambda x: x < 3))]", "[0, 1, 2]")
unbatch = _method("unbatch", "[int(x) for x in Dataset.range(4).batch(2).apply(unbatch())]", "[0, 1, 2, 3]")
unique = _method("unique", "[int(x) for x in Dataset.from_tensor_slices([1, 2, 1]).apply(unique())]", "[1, 2]")
# fmt: on


def choose_from_datasets(
    datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Call `Dataset.choose_from_datasets`; by default, exhausted datasets are skipped.

    >>> evens, odds = Dataset.range(0, 6, 2), Dataset.range(1, 6, 2)
    >>> [int(each) for each in choose_from_datasets([evens, odds], Dataset.range(2).repeat(2))]
    [0, 1, 2, 3]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def save(
    dataset: Dataset,
    path: Any,
    compression: str | None = None,
    shard_func: Any = None,
    checkpoint_args: Any = None,
) -> None:
    """Call `dataset.save(path)`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Dataset.range(3), folder)
    ...     [int(each) for each in Dataset.load(folder)]
    [0, 1, 2]
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


sample_from_datasets = Dataset.sample_from_datasets
Counter = Dataset.counter
RandomDataset = Dataset.random
load = Dataset.load

SHARD_HINT = -1
"""The number of shards that a distribution strategy decides; `Dataset.shard` does not take it."""


def at(dataset: Dataset, index: int) -> Any:
    """Return the element of a dataset at `index`. Raises OutOfRangeError if there are not so many.

    >>> at(Dataset.range(5, 9), 2).numpy()
    np.int64(7)
    """
    return iter(dataset.skip(index)).get_next()


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Transformation:
    """Return a transformation that adds zeros to a dataset of dicts until it has `cardinality` elements.

    Each element gets an entry `mask_key`, a bool scalar: whether it is one of the dataset's own.

    >>> padded = Dataset.from_tensor_slices({"a": [1, 2]}).apply(pad_to_cardinality(3))
    >>> [(int(x["a"]), bool(x["valid"])) for x in padded]
    [(1, True), (2, True), (0, False)]
    """

    def padded(dataset: Dataset) -> Dataset:
        own = dataset.map(lambda x: {**x, mask_key: constant(True)})
        empty = nest.map_structure(lambda spec: zeros(spec.shape, spec.dtype), dataset.element_spec)
        rest = Dataset.from_tensors({**empty, mask_key: constant(False)}).repeat()
        return own.concatenate(rest).take(cardinality)

    return padded


__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "SHARD_HINT", "UNKNOWN_CARDINALITY", "AutoShardPolicy", "AutotuneAlgorithm",
    "AutotuneOptions", "Counter", "CsvDataset", "DatasetInitializer", "DistributeOptions", "ExternalStatePolicy",
    "OptimizationOptions", "Optional", "RandomDataset", "Reducer", "ServiceOptions", "TFRecordDataset",
    "TFRecordWriter", "ThreadingOptions", "assert_cardinality", "at", "bucket_by_sequence_length", "cardinality",
    "choose_from_datasets", "copy_to_device", "dense_to_ragged_batch", "dense_to_sparse_batch",
    "enumerate_dataset", "from_list", "from_variant", "get_next_as_optional", "get_single_element",
    "get_structure", "group_by_reducer", "group_by_window", "ignore_errors", "index_table_from_dataset", "load",
    "make_csv_dataset",
    "map_and_batch", "pad_to_cardinality", "parallel_interleave", "prefetch_to_device",
    "rejection_resample", "sample_from_datasets",
    "save", "scan", "shuffle_and_repeat", "snapshot", "table_from_dataset", "take_while", "to_variant", "unbatch",
    "unique",
]  # fmt: skip

_explain(__name__)
