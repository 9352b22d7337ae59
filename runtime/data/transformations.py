"""The methods of a dataset that return another dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ..core import late_binding
from ..core.conversion import convert_to_tensor
from ..kernels.random import seeds
from . import batching, combine, map_stages, reorder_stages, shuffle_buffer
from . import cache as caching
from . import window as windows
from .element_spec import normalized
from .options import Options
from .pipeline_stage import Given, PipelineStage, number
from .prefetch_threads import AUTOTUNE
from .random_order import Seeds

T = TypeVar("T")
D = TypeVar("D", bound="Transformations[Any]")


def optional_number(value: Any) -> Any:
    return None if value is None else number(value)


class Transformations(Generic[D]):
    """The transformations that `Dataset` inherits; each returns a `D`, which is a `Dataset`."""

    _stage: PipelineStage

    @property
    def element_spec(self) -> Any:
        """The spec of the elements: TensorSpecs in the structure of the elements."""
        return self._stage.spec

    @classmethod
    def _of(cls, stage: PipelineStage) -> D:
        """Return the dataset with this last stage."""
        raise NotImplementedError

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> D:
        """Apply `map_func` to each element. A tuple is unpacked into arguments.

        The function is converted and traced once.

        Args:
            num_parallel_calls: the number of threads that call the function, AUTOTUNE for one per processor. Threads
                are used for long calls. The order is kept, unless `deterministic` is False.
            synchronous, use_unbounded_threadpool: accepted for compatibility.

        >>> import agc.runtime as tf
        >>> list(tf.data.Dataset.range(3).map(lambda x: x * x).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(4)]
        """
        calls = optional_number(num_parallel_calls)
        return self._of(map_stages.Mapped(self._stage, map_func, calls, deterministic))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> D:
        """Keep the elements for which `predicate` returns true, a scalar bool.

        >>> import agc.runtime as tf
        >>> list(tf.data.Dataset.range(5).filter(lambda x: x % 2 == 1).as_numpy_iterator())
        [np.int64(1), np.int64(3)]
        """
        return self._of(map_stages.Filtered(self._stage, predicate))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> D:
        """Return the elements before the first for which `predicate` returns false."""
        return self._of(map_stages.TakenWhile(self._stage, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> D:
        """Concatenate the datasets that `map_func` returns.

        >>> import agc.runtime as tf
        >>> list(tf.data.Dataset.range(3).flat_map(tf.data.Dataset.range).as_numpy_iterator())
        [np.int64(0), np.int64(0), np.int64(1)]
        """
        return self._of(map_stages.Interleaved(self._stage, map_func, what="flat_map"))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> D:
        """Interleave the elements of the datasets that `map_func` returns.

        Args:
            cycle_length: the number of open datasets; by default one per processor.
            block_length: the number of consecutive elements from one of them.
            num_parallel_calls: with it, threads prefetch elements. The order stays the same.

        >>> import agc.runtime as tf
        >>> twice = lambda x: tf.data.Dataset.from_tensors(x).repeat(2)
        >>> [int(x) for x in tf.data.Dataset.range(1, 4).interleave(twice, cycle_length=2)]
        [1, 2, 1, 2, 3, 3]
        """
        cycle = AUTOTUNE if cycle_length is None else number(cycle_length)
        block = 1 if block_length is None else number(block_length)
        calls = optional_number(num_parallel_calls)
        return self._of(map_stages.Interleaved(self._stage, map_func, cycle, block, calls, deterministic))

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> D:
        """Return the elements of `state, element = scan_func(state, element)`.

        >>> import agc.runtime as tf
        >>> sums = tf.data.Dataset.range(1, 5).scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total + x))
        >>> [int(x) for x in sums]
        [1, 3, 6, 10]
        """
        return self._of(map_stages.Scanned(self._stage, normalized(initial_state), scan_func))

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> D:
        """Stack `batch_size` consecutive elements; the last batch may be smaller, or is dropped.

        >>> import agc.runtime as tf
        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        is_parallel = num_parallel_calls is not None
        size = number(batch_size)
        return self._of(batching.Batched(self._stage, size, bool(drop_remainder), is_parallel))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> D:
        """Pad elements to one shape and stack them.

        Args:
            padded_shapes: in the structure of the elements; None (or -1) for the longest of each batch.
            padding_values: scalars in the structure of the elements, or one for all of them.
                By default 0, False or "".

        >>> import agc.runtime as tf
        >>> ragged = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
        >>> [x.numpy().tolist() for x in ragged.padded_batch(3)]
        [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]
        """
        drop, size = bool(drop_remainder), number(batch_size)
        return self._of(batching.PaddedBatched(self._stage, size, padded_shapes, padding_values, drop))

    def unbatch(self, name: str | None = None) -> D:
        """Return the slices of each element along its first axis."""
        return self._of(batching.Unbatched(self._stage))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> D:
        """Return batches of another size; of several sizes in turn for a list."""
        given = convert_to_tensor(batch_size).numpy()
        sizes = [int(size) for size in given.reshape(-1)]
        return self._of(batching.Rebatched(self._stage, sizes, bool(drop_remainder)))

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> D:
        """Return datasets of `size` elements that are `stride` apart; the next one begins `shift` elements later.

        >>> import agc.runtime as tf
        >>> [[int(x) for x in window] for window in tf.data.Dataset.range(5).window(3, shift=2)]
        [[0, 1, 2], [2, 3, 4], [4]]
        """
        size = number(size)
        shift = size if shift is None else number(shift)
        stage = windows.Window(self._stage, size, shift, number(stride), bool(drop_remainder))
        return self._of(stage)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> D:
        """Group elements by key, and reduce each group to a dataset.

        The result concatenates the datasets that `reduce_func(key, dataset)` returns for up to `window_size`
        elements.

        Args:
            key_func: returns the key of an element, a scalar int64.
            window_size_func: returns the size of the window for a key; replaces `window_size`.
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be specified."
            )
        if window_size_func is None:
            size = convert_to_tensor(window_size, "int64")
            window_size_func = lambda key: size  # noqa: E731
        return self._of(windows.Grouped(self._stage, key_func, reduce_func, window_size_func))

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> D:
        """Shuffle the elements: each is drawn from a buffer of the next `buffer_size` elements.

        The order equals TensorFlow's for the same seeds.

        >>> import agc.runtime as tf
        >>> tf.random.set_seed(5)
        >>> [int(x) for x in tf.data.Dataset.range(6).shuffle(6, seed=7)]
        [3, 1, 4, 0, 5, 2]
        """
        renew = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        chosen = Seeds(*seeds.pair(None if seed is None else int(seed))[:2], renew)
        return self._of(shuffle_buffer.Shuffled(self._stage, number(buffer_size), chosen))

    def repeat(self, count: Any = None, name: str | None = None) -> D:
        """Repeat the elements `count` times, infinitely for None and -1."""
        return self._of(reorder_stages.Repeated(self._stage, -1 if count is None else number(count)))

    def take(self, count: Any, name: str | None = None) -> D:
        """Return the first `count` elements, all for -1."""
        return self._of(reorder_stages.Taken(self._stage, number(count)))

    def skip(self, count: Any, name: str | None = None) -> D:
        """Skip the first `count` elements, all for -1."""
        return self._of(reorder_stages.Skipped(self._stage, number(count)))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> D:
        """Return every `num_shards`-th element, from index `index` on."""
        return self._of(reorder_stages.Sharded(self._stage, number(num_shards), number(index)))

    def concatenate(self, dataset: D, name: str | None = None) -> D:
        """Append the elements of another dataset."""
        return self._of(combine.Concatenated(self._stage, dataset._stage))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> D:
        """Compute up to `buffer_size` elements ahead in a thread (AUTOTUNE: a few)."""
        return self._of(reorder_stages.Prefetch(self._stage, number(buffer_size)))

    def cache(self, filename: Any = "", name: str | None = None) -> D:
        """Cache the elements of the first complete iteration.

        They are kept in memory, or in a file whose name begins with `filename`.
        """
        return self._of(caching.Cached(self._stage, convert_to_tensor(filename, "string")))

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Any = None,
        shard_func: Any = None,
        name: str | None = None,
    ) -> D:
        """Cache the elements of the first complete iteration in a file under `path`. `compression` has no effect."""
        if reader_func is not None or shard_func is not None:
            raise ValueError("snapshot: there is one file; reader_func and shard_func have nothing to do")
        return self.cache(convert_to_tensor(path, "string"))

    def unique(self, name: str | None = None) -> D:
        """Drop duplicate elements. The elements are scalars or vectors of int32, int64 or string."""
        return self._of(reorder_stages.UniqueElements(self._stage))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> D:
        """Drop elements that fail."""
        return self._of(reorder_stages.IgnoredErrors(self._stage, log_warning))

    def apply(self, transformation_func: Callable[[Any], T]) -> T:
        """Return `transformation_func(dataset)`, for method chains."""
        return transformation_func(self)

    def options(self) -> Options:
        """Return the merged options of this dataset and of its sources. They refuse changes with a ValueError."""
        found = Options()
        stage: Any = self._stage
        while stage is not None:
            if isinstance(stage, reorder_stages.WithOptions):
                found = stage.options.merge(found)
            stage = getattr(stage, "like" if isinstance(stage, Given) else "source", None)
        found.freeze()
        return found

    def with_options(self, options: Options, name: str | None = None) -> D:
        """Store a copy of `options`; the elements stay the same."""
        return self._of(reorder_stages.WithOptions(self._stage, Options().merge(options)))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> D:
        """Return padded batches of elements of similar length.

        Args:
            element_length_func: returns the length of an element, an int32.
            bucket_boundaries: the exclusive upper length of each bucket but the last.
            bucket_batch_sizes: the batch size of each bucket.
            pad_to_bucket_boundary: pad to the bucket's boundary minus 1 instead of the longest of the batch.
            no_padding: batch elements without padding; they must have one shape.
        """
        return late_binding.bucket_by_length.bucketed(
            self, element_length_func, list(bucket_boundaries), list(bucket_batch_sizes), padded_shapes,
            padding_values, pad_to_bucket_boundary, no_padding, drop_remainder,
        )  # fmt: skip

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = "int64",
        name: str | None = None,
    ) -> D:
        """Stack elements: a RaggedTensor for elements of varying shape, a tensor for others.

        >>> import agc.runtime as tf
        >>> ragged = tf.data.Dataset.range(1, 4).map(tf.range)
        >>> [x.to_list() for x in ragged.ragged_batch(2)]
        [[[0], [0, 1]], [[0, 1, 2]]]
        """
        from .ragged_batches import as_ragged

        as_rows: Any = self._of(as_ragged(self._stage, row_splits_dtype))
        return as_rows.batch(batch_size, drop_remainder)  # type: ignore[no-any-return]

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> D:
        """Stack `batch_size` dense elements of at most the shape `row_shape` to a SparseTensor.

        >>> import agc.runtime as tf
        >>> batches = tf.data.Dataset.range(1, 3).map(tf.range).sparse_batch(2, [3])
        >>> [tf.sparse.to_dense(x).numpy().tolist() for x in batches]
        [[[0, 0, 0], [0, 1, 0]]]
        """
        from .sparse_batches import SparseBatched

        return self._of(SparseBatched(self._stage, number(batch_size), row_shape))
