"""The methods of `Dataset` that make one: of tensors, numbers, Python generators, files or several datasets."""

from __future__ import annotations

import glob
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..core import late_binding
from ..core.conversion import convert_to_tensor
from ..core.tensor_spec import TensorSpec
from ..kernels.random import seeds
from . import combine, source_datasets
from .element_spec import is_structure, normalized
from .pipeline_stage import PipelineStage, number
from .random_order import Seeds
from .transformations import D, Transformations


class Sources(Transformations[D]):
    """The sources that `Dataset` inherits; each returns a `D`, which is a `Dataset`."""

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> D:
        """Return a dataset of one element: a nest of tensors."""
        return cls._of(source_datasets.SingleElement(normalized(tensors)))

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> D:
        """Return a dataset of the slices of tensors along their first axis.

        >>> import agc.runtime as tf
        >>> [(x.numpy().tolist(), int(y)) for x, y in tf.data.Dataset.from_tensor_slices(([[1, 2], [3, 4]], [5, 6]))]
        [([1, 2], 5), ([3, 4], 6)]
        """
        return cls._of(source_datasets.Slices(normalized(tensors)))

    @classmethod
    def range(cls, *args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> D:
        """Return a dataset of integers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
            )
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        kind = dtypes.as_dtype(output_type)
        return cls._of(source_datasets.EquallySpaced(number(start), number(stop), number(step), kind))

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None) -> D:
        """Return an infinite dataset of integers from `start` on.

        >>> import agc.runtime as tf
        >>> [int(each) for each in tf.data.Dataset.counter(5, 2).take(3)]
        [5, 7, 9]
        """
        return cls._of(source_datasets.CountFrom(number(start), number(step), dtypes.as_dtype(dtype)))

    @classmethod
    def random(
        cls, seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> D:
        """Return a dataset of random 32-bit integers, equal to TensorFlow's for the same seed.

        With `rerandomize_each_iteration` the numbers differ in each iteration.

        >>> import agc.runtime as tf
        >>> [int(each) for each in tf.data.Dataset.random(seed=1).take(2)]
        [2870909127, 3455438759]
        """
        pair = seeds.pair(None if seed is None else int(seed))[:2]
        return cls._of(source_datasets.Random(Seeds(*pair, bool(rerandomize_each_iteration))))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> D:
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
        return cls._of(source_datasets.Generated(generator, given, spec))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> D:
        """Zip datasets: `zip(a, b)`, `zip((a, b))` or `zip({"x": a, "y": b})`. The elements are nests."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        stages: list[PipelineStage] = []
        spec = _zipped(structure, stages)
        return cls._of(combine.Zipped(stages, spec))

    @classmethod
    def choose_from_datasets(cls, datasets: Any, choice_dataset: D, stop_on_empty_dataset: bool = True) -> D:
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
        return cls._of(combine.Directed(choice_dataset._stage, stages, bool(stop_on_empty_dataset)))

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> D:
        """Take each next element from a random dataset.

        `weights` are the probabilities: a list, or a dataset of lists. Without `weights` all datasets are equally
        likely.

        >>> from agc.runtime.data import Dataset
        >>> ones, twos = Dataset.from_tensors(1).repeat(), Dataset.from_tensors(2).repeat()
        >>> sorted({int(each) for each in Dataset.sample_from_datasets([ones, twos], [0.5, 0.5], seed=1).take(20)})
        [1, 2]
        """
        return late_binding.sample_from_datasets.sampled(  # type: ignore[return-value]
            datasets, weights, seed, bool(stop_on_empty_dataset), rerandomize_each_iteration
        )

    @classmethod
    def list_files(
        cls, file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> D:
        """Return a dataset of the files that match a pattern or one of several; shuffled unless `shuffle` is False.

        Raises InvalidArgumentError when no file matches.
        """
        patterns = np.asarray(convert_to_tensor(file_pattern, "string")).reshape(-1)
        names = sorted({name for pattern in patterns for name in glob.glob(pattern.decode())})
        if not names:
            shown = ", ".join(pattern.decode() for pattern in patterns)
            raise errors.InvalidArgumentError(f"No files matched pattern: {shown}")
        found = cls.from_tensor_slices(names)
        return found.shuffle(len(names), seed=seed) if shuffle in (None, True) else found

    @classmethod
    def load(
        cls,
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Any = None,
        wait: bool = False,
    ) -> D:
        """Return a dataset of the elements that `save` has written.

        >>> import tempfile
        >>> from agc.runtime.data import Dataset
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.range(3).save(folder)
        ...     [int(each) for each in Dataset.load(folder)]
        [0, 1, 2]
        """
        return late_binding.save_load.loaded(path, element_spec)  # type: ignore[return-value]


def _zipped(structure: Any, stages: list[PipelineStage]) -> Any:
    """Return the spec of the zipped elements, and append the datasets' stages to `stages`."""
    if isinstance(structure, Transformations):
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
