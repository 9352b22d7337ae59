"""Tape records: an operation with its inputs, outputs and VJP.

Tensors are identified by their `key`. The key of a tensor of a graph is its value. The key of an eager tensor or a
variable is its `id`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any

from .. import dtypes
from ..core import late_binding
from ..core.abstract_value import abstract_value_of
from ..core.symbolic_tensor import SymbolicArray, SymbolicTensor
from ..core.tensor import EagerTensor, Reference, Tensor
from ..ir.builder import Builder
from ..ir.captured_tensors import tensor_of
from ..ir.graph import Constant, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.source_location import Origin, Site, origin_at
from ..ir.value_types import AnySpec, ListType, VariableType
from ..ops.framework.kernel_results import returns_many
from ..ops.framework.op import wrap

Key = Hashable
Grads = list[Any]


def key_of(x: Any) -> Key:
    """Return the key that identifies a tensor, the state of a TensorArray or a variable."""
    if type(x) is EagerTensor:
        return id(x)
    return x._value if isinstance(x, (SymbolicTensor, SymbolicArray)) else id(x)


def carries_gradient(x: Any) -> bool:
    """Return whether the elements are of a continuous dtype, or may be: an optional may hold any tensor."""
    if type(x) is EagerTensor:
        return (x._kind or abstract_value_of(x)).carries_gradient
    if isinstance(x, Tensor):
        return is_continuous(x.dtype) or x.dtype is dtypes.variant
    return spec_carries_gradient(x.spec)


def spec_carries_gradient(spec: AnySpec) -> bool:
    if isinstance(spec, ListType):
        return spec_carries_gradient(spec.element)
    return is_continuous(spec.content.dtype if isinstance(spec, VariableType) else spec.dtype)


def is_continuous(dtype: dtypes.DType) -> bool:
    return dtype.kind in "fc"


class Record:
    """One recorded operation that ran eagerly, or another computation with a VJP."""

    __slots__ = ("attrs", "inputs", "op", "outputs", "site")

    def __init__(
        self,
        op: OpDef | None,
        inputs: Sequence[Any],
        attrs: Mapping[str, Any],
        outputs: Sequence[Any],
        site: Site | Origin | None = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.outputs = outputs
        self.site = site

    @property
    def origin(self) -> Origin | None:
        """The line of user code."""
        site = self.site
        return site if site is None or isinstance(site, Origin) else origin_at(site)

    @property
    def name(self) -> str:
        """The operation's name; empty if there is none."""
        return "" if self.op is None else self.op.name

    @property
    def size(self) -> int:
        """The number of operations in the backward pass of the record, about."""
        return 1

    def on(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Record:
        """Return a record of the same operation on other tensors, which may be symbolic."""
        return Record(self.op, inputs, self.attrs, outputs)

    def input_keys(self) -> list[Key]:
        return list(map(key_of, self.inputs))

    def output_keys(self) -> list[Key]:
        return list(map(key_of, self.outputs))

    def back(self, grads: Grads, wanted: Sequence[bool]) -> Grads:
        """Return the cotangents of the inputs, given those of the outputs (None if nothing depends on an output)."""
        assert self.op is not None
        return pulled_back(self.op, self.attrs, self.inputs, self.outputs, grads, wanted)


class EagerRecord(Record):
    """An operation that ran eagerly, on eager tensors and variables."""

    __slots__ = ()

    def input_keys(self) -> list[Key]:
        return list(map(id, self.inputs))

    def output_keys(self) -> list[Key]:
        return list(map(id, self.outputs))


class Pullback(Record):
    """A computation with a VJP of its own, such as one with a custom gradient."""

    __slots__ = ("function",)

    def __init__(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        function: Callable[[Grads, Sequence[bool]], Grads],
    ) -> None:
        super().__init__(None, list(inputs), {}, list(outputs))
        self.function = function

    def back(self, grads: Grads, wanted: Sequence[bool]) -> Grads:
        return self.function(grads, wanted)


class GraphRecord(Record):
    """An operation of a graph that is being built. It may get more inputs and outputs later.

    The values in `unrecorded`, which operations in regions compute, carry no gradient for the tape.
    """

    __slots__ = ("_known", "builder", "operation", "unrecorded")

    def __init__(self, operation: Operation, builder: Builder, unrecorded: Set[Value] = frozenset()) -> None:
        self.unrecorded = unrecorded
        self.op = operation.op
        self.attrs = operation.attrs
        self.operation = operation
        self.builder = builder
        self._known: tuple[int, list[Any]] | None = None

    @property
    def inputs(self) -> list[Any]:  # type: ignore[override]
        size = len(self.operation.inputs)
        if self._known is None or self._known[0] != size:
            self._known = (size, [_original(operand, self.builder) for operand in self.operation.inputs])
        return self._known[1]

    @property
    def outputs(self) -> list[Any]:  # type: ignore[override]
        return [wrap(value, self.builder) for value in self.operation.outputs]

    def output_keys(self) -> list[Key]:
        return list(self.operation.outputs)

    @property
    def origin(self) -> Origin | None:
        return self.operation.origin

    def back(self, grads: Grads, wanted: Sequence[bool]) -> Grads:
        if self.operation.regions:
            return late_binding.region_gradients.BACK[self.operation.op](self, grads, wanted)
        return super().back(grads, wanted)


def _original(operand: Operand, builder: Builder) -> Any:
    """Return the tensor or variable of an operand, in the graph in which it was made."""
    if isinstance(operand, Constant):
        return tensor_of(operand)
    outer, owner = builder.outermost(operand)
    return outer.deref() if isinstance(outer, Reference) else wrap(outer, owner)  # type: ignore[arg-type]


def pulled_back(
    op: OpDef,
    attrs: Mapping[str, Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    grads: Grads,
    wanted: Sequence[bool],
) -> Grads:
    """Return the result of the operation's own gradient function, one cotangent for each input."""
    if op.differentiate is None and op.has_no_gradient is None:
        from ..ops.lists import tensor_array_gradients  # noqa: F401  (registers the gradients of lists)
    if op.differentiate is None:
        if op.has_no_gradient is not None:
            return [None] * len(inputs)
        raise LookupError(
            f"no gradient is defined for the operation {op.name!r}: declare it with `@{op.name}.gradient`, or stop "
            "here with tf.stop_gradient"
        )
    single = len(outputs) == 1 and not returns_many(op)
    dy, y = (grads[0], outputs[0]) if single else (grads, list(outputs))
    arguments = op.grouped(list(inputs))
    found = op.differentiate(dy, y, *arguments, **attrs)
    parts = [found] if len(arguments) == 1 else found
    assert len(parts) == len(arguments), (
        f"the gradient of {op.name} has {len(parts)} parts, not {len(arguments)}"
    )
    flat: Grads = []
    for argument, part in zip(arguments, parts, strict=True):
        flat.extend((part or [None] * len(argument)) if isinstance(argument, list) else [part])
    return [_called(grad) if want else None for grad, want in zip(flat, wanted, strict=True)]


def _called(grad: Any) -> Any:
    """Return a cotangent, which may be a function without arguments that computes it lazily."""
    return grad() if callable(grad) else grad
