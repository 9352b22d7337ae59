"""Explain a retrace: which argument changed, its old and new type, and the remedy.

    f was traced again, for the 3rd time, at train.py:12, in fit
      `x` was float32[2], and is float32[3]
        pass reduce_retracing=True to tf.function, or input_signature=[tf.TensorSpec([None], tf.float32)]

With AGC_EXPLAIN_RETRACES=1 in the environment each retrace is explained. Otherwise a function that keeps retracing
is explained once. The messages go to the logger `agc`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import nest
from ..core import shapes
from ..core.tensor import Tensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..ir.source_location import caller
from ..ir.value_types import TensorType
from .cache_key import Identity, is_tensor_argument, key_of, key_of_traced

if TYPE_CHECKING:
    from .concrete_function import ConcreteFunction
    from .flat_arguments import FlatArguments

IN_A_ROW = 5
"""The number of consecutive calls that trace after which a warning is logged."""


class RetraceMonitor:
    """A counter of the traces of one function between cache hits."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        self.name = name
        self._names = names  # of the parameters
        self.traces = 0
        self._in_a_row = 0
        self._has_warned = False

    def found(self) -> None:
        """Record a cache hit."""
        self._in_a_row = 0

    def traced(self, earlier: Iterable[ConcreteFunction], arguments: FlatArguments) -> None:
        """Count a trace that is about to start; log the reason of a retrace if that is enabled."""
        self.traces += 1
        if _is_wanted() and self.traces > 1:
            self._tell(
                f"{self.name} was traced again, for the {_ordinal(self.traces)} time", earlier, arguments
            )

    def succeeded(self, earlier: Iterable[ConcreteFunction], arguments: FlatArguments) -> None:
        """Record that a call was traced, before its trace is in `earlier`; warn after too many such calls in a row."""
        self._in_a_row += 1
        if self._in_a_row >= IN_A_ROW and not self._has_warned and not _is_wanted():
            self._has_warned = True
            self._tell(
                f"{IN_A_ROW} out of the last {IN_A_ROW} calls to {self.name} triggered tf.function retracing, which is "
                "expensive: the last one",
                earlier,
                arguments,
            )

    def _tell(self, head: str, earlier: Iterable[ConcreteFunction], arguments: FlatArguments) -> None:
        import logging  # imported late, since the import is slow

        location = caller()
        head += f", at {location}" if location else ""
        logging.getLogger("agc").warning("%s\n%s", head, explained(earlier, self._names, arguments))


def _is_wanted() -> bool:
    """Return whether each retrace is to be explained."""
    return os.environ.get("AGC_EXPLAIN_RETRACES", "") not in ("", "0")


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def explained(earlier: Iterable[ConcreteFunction], names: Sequence[str], arguments: FlatArguments) -> str:
    """Return the differences as text, two lines for each argument."""
    found = differences(earlier, names, arguments)
    if not found:
        return "  no call like it was traced before, or its graph was given up"
    return "\n".join(
        f"  `{path}` was {before}, and is {now}\n    {remedy}" for path, before, now, remedy in found
    )


Difference = tuple[str, str, str, str]


def differences(
    earlier: Iterable[ConcreteFunction], names: Sequence[str], arguments: FlatArguments
) -> list[Difference]:
    """Return (path, old, new, remedy) of each difference between a call and the most similar earlier trace."""
    found = [list(_between(concrete.traced, names, arguments)) for concrete in earlier]
    return min(reversed(found), key=len, default=[])


def _between(traced: FlatArguments, names: Sequence[str], arguments: FlatArguments) -> Iterator[Difference]:
    pairs = zip(traced.by_argument(), arguments.by_argument(), strict=True)
    for i, ((before, old), (now, new)) in enumerate(pairs):
        if before != now:
            yield (
                names[i], _described(traced.values[i]), _described(arguments.values[i]),
                "the structure of nests is part of the signature: keep it, or stack the elements to one tensor",
            )  # fmt: skip
            continue
        changed = [
            index
            for index, (one, other) in enumerate(zip(old, new, strict=True))
            if key_of_traced(one) != key_of(other)
        ]
        if changed:
            paths = [path for path, _ in nest.flatten_with_path(arguments.values[i], names[i])]
            for position in changed:
                one, other = old[position], new[position]
                yield paths[position], _described(one), _described(other), _remedy(one, other)


def _described(value: Any) -> str:
    if isinstance(value, Identity):
        target = value.target
        return "a deleted object" if target is None else _described(target)
    if is_tensor_argument(value) and (isinstance(value, TensorSpec) or hasattr(value, "shape")):
        spec = _spec(value)
        return str(value) if spec is None else str(spec)
    if isinstance(value, TypeSpec) or nest.is_composite(value):
        return str(getattr(value, "_type_spec", value))
    if value is None:
        return "None"
    if nest.is_nested(value):
        return f"a {type(value).__name__} of {len(nest.children(value))}"
    text = repr(value)
    return f"Python {type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def _spec(value: Any) -> TensorType | None:
    if isinstance(value, TensorSpec):
        return value.spec
    if isinstance(value, Tensor):
        return TensorType(value.dtype, value.shape.sizes)
    found = TensorSpec(value.shape, value.dtype) if hasattr(value, "dtype") else None
    return None if found is None else found.spec


def _remedy(before: Any, now: Any) -> str:
    one = _spec(before) if is_tensor_argument(before) and hasattr(before, "dtype") else None
    other = _spec(now) if is_tensor_argument(now) and hasattr(now, "dtype") else None
    if one is not None and other is not None:
        if one.dtype is not other.dtype:
            return "cast to one dtype before the call, so that one graph serves both"
        general = TensorSpec(shapes.generalize(one.shape, other.shape), one.dtype)
        sizes = None if general.spec.shape is None else list(general.spec.shape)
        return (
            "pass reduce_retracing=True to tf.function, or "
            f"input_signature=[tf.TensorSpec({sizes}, tf.{one.dtype.name})]"
        )
    if isinstance(before, Identity) and before.target is None:
        return "objects are told apart by identity: keep one and pass it again, or pass what you need of it as tensors"
    kinds = [value.target if isinstance(value, Identity) else value for value in (before, now)]
    if any(isinstance(value, Variable) for value in kinds):
        return "variables are told apart by identity: close over them, or pass their values"
    if any(value is None for value in kinds):
        return "None is part of the signature: a call with it and one without are two graphs"
    if any(isinstance(value, (str, bytes)) for value in kinds):
        return "Python texts are part of the signature: pass a tensor, or make one function for each"
    numbers = [value for value in kinds if type(value) in (int, float, bool, complex)]
    if len(numbers) == 2 or (numbers and (one is not None or other is not None)):
        return (
            f"Python numbers are part of the signature: pass a tensor, such as tf.constant({numbers[-1]!r})"
        )
    return "objects are told apart by identity: pass the same one, or what you need of it as tensors"
