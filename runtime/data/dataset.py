"""`Dataset`: a sequence of elements, and its transformations.

    ds = Dataset.from_tensor_slices((x, y)).shuffle(1000).map(f).batch(32).prefetch(AUTOTUNE)
    for x, y in ds: …                  in Python, or in a function, where the loop becomes part of the graph

A dataset is a handle of a `PipelineStage`. In a graph, it becomes a tensor of dtype variant where a tensor is
needed: as an argument or result of functions, or as loop state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from agc.autograph.api import Diagnostic, running

from .. import dtypes, errors, nest
from ..control_flow import functional_api
from ..control_flow.builtin_errors import raise_unless
from ..core import late_binding
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor, Tensor
from ..core.type_spec import CompositeTensor
from ..ir.builder import current
from ..ops.math.comparison import logical_not
from . import ops
from .dataset_spec import DatasetSpec
from .element_spec import boxed, leaf_specs, leaves_of, normalized, packer
from .iterator import Iterator, NumpyIterator
from .iterator_state import Walk
from .map_stages import stable
from .pipeline_stage import INFINITE, UNKNOWN, Given, PipelineStage, Recipe, symbolic
from .sources import Sources
from .user_functions import Calls


class Dataset(Sources["Dataset"], CompositeTensor):
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
            keeps_state = type(stage).renew is not PipelineStage.renew
            made = ops.renewed_dataset if keeps_state else ops.dataset
            stage = Given(made(tensors, Recipe(stage, tensors)), stage.spec, stage)
        else:
            stage.check()
        self._stage = stage

    @classmethod
    def _of(cls, stage: PipelineStage) -> Dataset:
        return Dataset(stage)

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

    def save(
        self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None
    ) -> None:
        """Write the elements to files in the folder `path`, in agc's own format."""
        late_binding.save_load.saved(self, path)
