"""`Dataset`: a sequence of elements, and its transformations.

    ds = Dataset.from_tensor_slices((x, y)).shuffle(1000).map(f).batch(32).prefetch(AUTOTUNE)
    for x, y in ds: …                  in Python, or in a function, where the loop becomes part of the graph

A dataset is a handle of a `PipelineStage`. In a graph, it becomes a tensor of dtype variant where a tensor is
needed: as an argument or result of functions, or as loop state.
"""

from __future__ import annotations

import glob
from collections.abc import Callable
from typing import Any, NoReturn, Self

import numpy as np
from agc.autograph.api import Diagnostic, running

from .. import dtypes, errors, nest
from ..control_flow import functional_api
from ..control_flow.builtin_errors import raise_unless
from ..core import late_binding
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor, Tensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import CompositeTensor
from ..ir.builder import current
from ..kernels.random import seeds
from ..ops.math.comparison import logical_not
from . import combine, ops, source_datasets
from .dataset_spec import DatasetSpec
from .element_spec import boxed, is_structure, leaf_specs, leaves_of, normalized, packer
from .iterator import Iterator, NumpyIterator
from .iterator_state import Walk
from .map_stages import stable
from .pipeline_stage import INFINITE, UNKNOWN, Given, PipelineStage, Recipe, number, symbolic
from .random_order import Seeds
from .transformations import Transformations
from .user_functions import Calls


class Dataset(Transformations["Dataset"], CompositeTensor):
    """A sequence of elements; its methods create and transform datasets.

    >>> import agc.runtime as tf
    >>> ds = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: 2 * x)
    >>> ds
    <_MapDataset element_spec=TensorSpec(shape=(), dtype=tf.int32, name=None)>
    >>> [int(x) for x in ds]
    [2, 4, 6]
    """

    _is_native = False

    def __init__(self, stage: PipelineStage) -> None:
        if not isinstance(stage, PipelineStage):
            raise TypeError("a dataset is made with Dataset.from_tensor_slices and the like")
        if isinstance(stage, Given):
            stage = stage.with_value(stage.tensor)
        elif current() is not None:
            tensors = symbolic(stage)
            stage = Given(ops.dataset(tensors, Recipe(stage, tensors)), stage.spec, stage)
        else:
            stage.check()
        self._stage = stage

    # The protocols of nests, functions and graphs.

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def handle(self) -> Any:
        """Return the tensor of dtype variant that represents the dataset."""
        stage = self._stage
        if isinstance(stage, Given):
            return stage.tensor
        return EagerTensor(boxed(stage)) if current() is None else ops.dataset_handle(stage)

    def __copy__(self) -> Self:
        return self  # immutable

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise TypeError(
            f"a dataset cannot be deep-copied, since its functions refer to other objects: use copy.copy({self!r})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a dataset cannot be pickled: {self!r}. Save its elements with ds.save(path), which "
            "tf.data.Dataset.load reads"
        )

    # Iteration.

    def __iter__(self) -> Any:
        if current() is None:
            return Iterator.of(Walk(self._known()), self.element_spec)
        return Iterator(ops.iterator(self.handle()), self.element_spec)

    def _known(self) -> PipelineStage:
        if symbolic(self._stage):
            raise errors.InaccessibleTensorError(
                Diagnostic(
                    "AGC283",
                    "a dataset is used outside of the function whose graph computes its elements",
                    running(),
                    why="it was made of traced tensors, which have values only in their own graph",
                    fix="make the dataset of tensors that the function returns",
                )
            )
        return self._stage

    def as_numpy_iterator(self) -> NumpyIterator:
        """Return an iterator over the elements as NumPy arrays and scalars. Raises RuntimeError while tracing."""
        if current() is not None:
            raise RuntimeError("as_numpy_iterator() is not supported while tracing functions")
        return NumpyIterator(self)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """Return the number of elements. Raises TypeError when it is infinite or unknown."""
        count = self._stage.cardinality()
        if count < 0:
            raise TypeError(
                "The dataset is infinite." if count == INFINITE else "The dataset length is unknown."
            )
        return count

    def cardinality(self, name: str | None = None) -> Tensor:
        """Return the number of elements as an int64, -1 when it is infinite, -2 when it is unknown.

        >>> Dataset.range(5).batch(2).cardinality().numpy()
        np.int64(3)
        """
        if current() is not None and self._stage.cardinality() == UNKNOWN:
            return ops.dataset_cardinality(self.handle())  # type: ignore[no-any-return]
        return convert_to_tensor(self._stage.cardinality(), dtypes.int64)

    def get_single_element(self, name: str | None = None) -> Any:
        """Return the only element. Raises InvalidArgumentError when there is none, or more than one."""
        iterator = iter(self)
        none = errors.InvalidArgumentError("Dataset was empty.")
        many = errors.InvalidArgumentError("Dataset had more than one element.")
        if current() is None:
            first = iterator.get_next_as_optional()
            if not first.has_value():
                raise none
            if iterator.get_next_as_optional().has_value():
                raise many
            return first.get_value()
        handle = iterator.handle()
        raise_unless(ops.iterator_advance(handle), none)
        leaves = ops.iterator_current(handle, tuple(leaf_specs(self.element_spec)))
        raise_unless(logical_not(ops.iterator_advance(handle)), many)
        return iterator.packed(leaves)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Return the last state of `state = reduce_func(state, element)` over all elements.

        >>> import agc.runtime as tf
        >>> tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda total, x: total + x).numpy()
        np.int64(10)
        """
        state = normalized(initial_state)
        if current() is not None:
            return self._reduced_in_graph(state, reduce_func)
        traced, spec = stable(reduce_func, state, [self.element_spec], "reduce", lambda result: result)
        calls = Calls(traced)
        now: Any = [leaf._array for leaf in leaves_of(state)]
        for row in self._known().elements():
            now = calls([*now, *row])
        return packer(spec)(now)

    def _reduced_in_graph(self, state: Any, reduce_func: Callable[..., Any]) -> Any:
        from agc.autograph.api import converted

        iterator = iter(self)
        handle, call = iterator.handle(), converted(reduce_func)
        specs = tuple(leaf_specs(self.element_spec))

        def step(now: Any) -> tuple[Any]:
            return (normalized(call(now, iterator.packed(ops.iterator_current(handle, specs)))),)

        more: Callable[[Any], Any] = lambda now: ops.iterator_advance(handle)  # noqa: E731
        return functional_api.while_loop(more, step, (state,))[0]

    def _repr_html_(self) -> str:
        from ..core.html_repr import rows_html

        size = int(self.cardinality())
        count = {-1: "infinite", -2: "unknown"}.get(size, str(size))
        paths = nest.flatten_with_path(self.element_spec, "element")
        specs = [(path, type(spec).__name__, str(spec)) for path, spec in paths]
        return rows_html(
            ["part", "type", "spec"], [("dataset", self._stage.name, f"{count} elements"), *specs]
        )

    def __repr__(self) -> str:
        return f"<{self._stage.name} element_spec={self.element_spec!r}>"

    # Sources.

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Return a dataset of one element: a nest of tensors."""
        return Dataset(source_datasets.SingleElement(normalized(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Return a dataset of the slices of tensors along their first axis.

        >>> [(x.numpy().tolist(), int(y)) for x, y in Dataset.from_tensor_slices(([[1, 2], [3, 4]], [5, 6]))]
        [([1, 2], 5), ([3, 4], 6)]
        """
        return Dataset(source_datasets.Slices(normalized(tensors)))

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """Return a dataset of integers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
            )
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        kind = dtypes.as_dtype(output_type)
        return Dataset(source_datasets.EquallySpaced(number(start), number(stop), number(step), kind))

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """Return an infinite dataset of integers from `start` on.

        >>> [int(each) for each in Dataset.counter(5, 2).take(3)]
        [5, 7, 9]
        """
        return Dataset(source_datasets.CountFrom(number(start), number(step), dtypes.as_dtype(dtype)))

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Return a dataset of random 32-bit integers, equal to TensorFlow's for the same seed.

        With `rerandomize_each_iteration` the numbers differ in each iteration.

        >>> [int(each) for each in Dataset.random(seed=1).take(2)]
        [2870909127, 3455438759]
        """
        pair = seeds.pair(None if seed is None else int(seed))[:2]
        return Dataset(source_datasets.Random(Seeds(*pair, bool(rerandomize_each_iteration))))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of the items of a Python generator. Each iteration calls `generator(*args)` again.

        Args:
            output_signature: the spec of the elements; `output_types` with `output_shapes` are the deprecated
                form.
            args: tensors, passed to the generator as NumPy arrays.

        An element that does not fit the signature raises InvalidArgumentError when it is taken.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        spec = _signature(output_types, output_shapes, output_signature)
        given = [] if args is None else [convert_to_tensor(arg) for arg in args]
        return Dataset(source_datasets.Generated(generator, given, spec))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Zip datasets: `zip(a, b)`, `zip((a, b))` or `zip({"x": a, "y": b})`. The elements are nests."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        stages: list[PipelineStage] = []
        spec = _zipped(structure, stages)
        return Dataset(combine.Zipped(stages, spec))

    def _then(self, stage: PipelineStage) -> Dataset:
        return Dataset(stage)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Return pairs of an index, an int64, and an element.

        >>> import agc.runtime as tf
        >>> [(int(i), int(x)) for i, x in tf.data.Dataset.range(5, 7).enumerate(start=1)]
        [(1, 5), (2, 6)]
        """
        return Dataset.zip((Dataset.counter(start), self))

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Return pairs of a class and an element, dropping some elements to reach the target class distribution.

        Args:
            class_func: returns the class of an element, a scalar integer.
            target_dist: the target frequencies of the classes: floats whose sum is 1.
            initial_dist: the frequencies in the source; estimated from the elements so far when it is None.
        """
        return late_binding.rejection_resample.resampled(self, class_func, target_dist, initial_dist, seed)

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Take each next element from the dataset whose index `choice_dataset` gives, a scalar int64.

        Without `stop_on_empty_dataset`, exhausted datasets are skipped.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        spec = choice_dataset.element_spec
        if not (isinstance(spec, TensorSpec) and spec.dtype is dtypes.int64 and spec.shape.rank == 0):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                f"{spec!r}."
            )
        stages = [dataset._stage for dataset in datasets]
        return Dataset(combine.Directed(choice_dataset._stage, stages, bool(stop_on_empty_dataset)))

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Take each next element from a random dataset.

        `weights` are the probabilities: a list, or a dataset of lists. Without `weights` all datasets are equally
        likely.

        >>> ones, twos = Dataset.from_tensors(1).repeat(), Dataset.from_tensors(2).repeat()
        >>> sorted({int(each) for each in Dataset.sample_from_datasets([ones, twos], [0.5, 0.5], seed=1).take(20)})
        [1, 2]
        """
        return late_binding.sample_from_datasets.sampled(
            datasets, weights, seed, bool(stop_on_empty_dataset), rerandomize_each_iteration
        )

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """Return a dataset of the files that match a pattern or one of several; shuffled unless `shuffle` is False.

        Raises InvalidArgumentError when no file matches.
        """
        patterns = np.asarray(convert_to_tensor(file_pattern, "string")).reshape(-1)
        names = sorted({name for pattern in patterns for name in glob.glob(pattern.decode())})
        if not names:
            shown = ", ".join(pattern.decode() for pattern in patterns)
            raise errors.InvalidArgumentError(f"No files matched pattern: {shown}")
        found = Dataset.from_tensor_slices(names)
        return found.shuffle(len(names), seed=seed) if shuffle in (None, True) else found

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Any = None,
        wait: bool = False,
    ) -> Dataset:
        """Return a dataset of the elements that `save` has written.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.range(3).save(folder)
        ...     [int(each) for each in Dataset.load(folder)]
        [0, 1, 2]
        """
        return late_binding.save_load.loaded(path, element_spec)

    def save(
        self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None
    ) -> None:
        """Write the elements to files in the folder `path`, in agc's own format."""
        late_binding.save_load.saved(self, path)


def _zipped(structure: Any, stages: list[PipelineStage]) -> Any:
    """Return the spec of the zipped elements, and append the datasets' stages to `stages`."""
    if isinstance(structure, Dataset):
        stages.append(structure._stage)
        return structure.element_spec
    if not is_structure(structure):
        raise TypeError(
            "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. "
            f"Encountered object of type {type(structure)}."
        )
    return nest.rebuilt(structure, [_zipped(child, stages) for _, child in nest.children(structure)])


def _signature(types: Any, shapes: Any, signature: Any) -> Any:
    if signature is not None:
        if types is not None or shapes is not None:
            raise TypeError(
                "The `output_types` argument and the `output_signature` argument cannot both be specified."
            )
        return signature
    if types is None:
        raise TypeError(
            "Either the `output_signature` or the `output_types` argument of from_generator must be given."
        )
    if not is_structure(types):
        return TensorSpec(shapes, dtypes.as_dtype(types))
    pairs = dict(nest.children(shapes)) if shapes is not None else {}
    return nest.rebuilt(
        types, [_signature(child, pairs.get(key), None) for key, child in nest.children(types)]
    )
