"""Eager calls that were accepted before: the kernel runs at once, without conversions, attributes and inference.

    reduce_sum(x, axis=1)          x: float32[2, 3]
        key                        (float32[2, 3], "axis", int, 1)
        EagerCall                  the kernel, its attributes axis=(1,) and keepdims=False, the result float32[2]

kept_calls.py keeps the calls, by keys of call_keys.py. The C extension does the same in native_calls.h and
native_programs.h; native_operations.h calls these.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NoReturn

import numpy as np

from ... import errors
from ...core import abstract_value, late_binding, shapes
from ...core.abstract_value import AbstractValue, abstract_value_of
from ...core.devices import placement
from ...core.fast_path_guard import busy, found_recorders
from ...core.fp_errors import SILENCE, SILENT, begin, end
from ...core.tensor import EagerArray, EagerTensor
from ...core.variable import Variable
from ...ir.builder import Recorder, stack
from ...ir.graph import Constant
from ...ir.op_def import OpDef
from ...ir.traits import CALLS_PYTHON, SIZE_QUERY
from ...ir.value_types import ListType, TensorType
from ...kernels import matrix_products, native_pool
from . import narrow_floats
from .call_keys import ATOMS, Elements, KnownOperand, have_key, types_in
from .op_errors import FAILURES, runtime_op_error, throw
from .signature import Signature

MOST = 256
"""The maximum number of keys that an operation keeps."""

MANY = 16
"""The number of calls that differ only by numbers, after which others convert these to tensors.

Until then, a call is kept for each number that comes twice, which runs in half the time.
"""

HOT, BEGIN = 0.05, 0.2
"""Seconds that a kernel, and all of them, take before native code is compiled for it.

The first one loads the compiler, which takes a third of a second.
"""

_spent = 0.0

_MOST_FOLDED = 4096
"""The size in bytes of results that calls keep: those of constants, and of operations that read only shapes."""

_OWN = f"{__name__.partition('.')[0]}."

_OF_KERNELS = (MemoryError, *FAILURES)


def is_closed(op: OpDef) -> bool:
    """Return whether the kernel of an operation calls no function of the program."""
    return op.rule.__module__.startswith(_OWN) and not op.stateful and not op.has(CALLS_PYTHON)


class KeptAttributes(dict[str, Any]):
    """The attributes of a call that runs again and again, and the plans for its gradients by the types of tensors.

    They are compared by identity.

    `template` has the inputs that are the same in each call, and None for others.
    """

    __slots__ = ("plans", "template")

    def __init__(self, attributes: Mapping[str, Any], template: Sequence[EagerTensor | None]) -> None:
        super().__init__(attributes)
        self.plans: dict[Any, Any] = {}
        self.template = template

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # type: ignore[assignment]


class EagerCall:
    """A call with everything decided but the elements of its tensors.

    Attributes: `tail` are the kernel's arguments after the arrays. `kinds` are the abstract values of the results, None
    where they differ from call to call, or the types of TensorArrays. `is_plain` is True if there are only tensors,
    `is_closed` if the kernel calls no function of the program.
    `seconds` is the time that the kernel took.
    `positions` are those of the key's tensors in the inputs, None if these are all inputs in the same order.
    `variables` are those of variables.
    """

    __slots__ = (
        "attributes", "compute", "dtypes", "is_closed", "is_plain", "kinds", "op", "positions",
        "returns_many", "seconds", "tail", "template", "variables",
    )  # fmt: skip

    def __init__(
        self,
        op: Signature,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        specs: Any,
        results: Any,
        order: Sequence[int],
    ) -> None:
        self.op = op
        self.template = [EagerTensor(x.value) if type(x) is Constant else None for x in inputs]
        self.attributes = KeptAttributes(attributes, self.template)
        positions = [i for i, x in enumerate(self.template) if x is None]
        positions = [i for _, i in sorted(zip(order, positions, strict=True))]
        self.positions = None if positions == list(range(len(inputs))) else positions
        self.variables = [i for i, x in enumerate(inputs) if type(x) is Variable]
        self.returns_many = isinstance(specs, tuple)
        specs = specs if self.returns_many else (specs,)
        self.kinds = list(map(_kind, specs, results if self.returns_many else [results]))
        self.dtypes = [spec.dtype.numpy_dtype if type(spec) is TensorType else None for spec in specs]
        self.is_plain = ListType not in map(type, self.kinds)
        self.compute, self.tail = _kernel(op, inputs, specs, attributes)
        self.is_closed = is_closed(op)
        depends_on_shapes = op.fills is not None or (op.has(SIZE_QUERY) and not any(map(_is_list, inputs)))
        is_fixed = self.is_closed and not self.returns_many and (depends_on_shapes or not positions)
        if is_fixed and _are_few(specs):
            found = results._array.copy()
            self.compute, self.tail = lambda *arrays: found.copy(), ()
        self.seconds = 0.0

    def run(self, tensors: list[Any], recorders: Sequence[Recorder]) -> Any:
        """Return the results for other tensors with the same key."""
        if self.positions is not None:
            given = tensors
            tensors = [*self.template]
            for i, x in zip(self.positions, given):  # noqa: B905  (as many, by the key)
                tensors[i] = x
        arrays: list[Any] = []
        for x in tensors:  # a comprehension takes twice as long
            arrays.append(x._array)
        if self.variables:
            for i in self.variables:
                arrays[i] = tensors[i]
        arrays += self.tail
        before = begin(SILENCE)
        try:
            found = self.compute(*arrays)
        except Exception as error:
            self.failed(error, arrays[: len(tensors)])
        finally:
            end(before)
        many = self.returns_many
        results: Any = self.results(found) if many else _result(found, self.dtypes[0], self.kinds[0])
        if recorders:
            outputs = list(results) if many else [results]
            for recorder in recorders:
                recorder.computed(self.op, tensors, self.attributes, outputs)
        return results

    def results(self, found: Any) -> Any:
        """Return what a kernel returned as a tensor or a TensorArray, or as a list of tensors."""
        if self.returns_many:
            return list(map(_result, found, self.dtypes, self.kinds))
        return _result(found, self.dtypes[0], self.kinds[0])

    def slow(self, seconds: float, arrays: Sequence[Any]) -> None:
        """Count the time of the kernel; if that is long, let native code take over."""
        global _spent
        self.seconds += seconds
        _spent += seconds
        if self.seconds > HOT and _spent > BEGIN:
            self.seconds = -math.inf
            self.compute = late_binding.compiled_kernel(self, arrays) or self.compute

    def failed(self, error: Exception, arrays: Sequence[Any]) -> NoReturn:
        """Raise the error of the operation for one of its kernel."""
        if not isinstance(error, _OF_KERNELS):
            raise error
        throw(runtime_op_error(error, self.op, arrays, self.attributes), error)


class EagerProgram:
    """Several calls, of which each has tensors of the key, constants and results of earlier calls as inputs.

    Attributes: each of `steps` is an EagerCall or an operation, and the positions of its inputs in the tensors of the
    key, the `constants`, and the results of the steps. `results` are such positions. `pack` makes the result of the
    list of these values; it is None if there is one value, which is the result.
    """

    __slots__ = ("constants", "pack", "results", "steps")

    def __init__(
        self,
        steps: Sequence[tuple[Any, tuple[int, ...]]],
        constants: Sequence[EagerTensor],
        results: Sequence[int],
        pack: Callable[[list[Any]], Any] | None,
    ) -> None:
        self.steps = tuple(steps)
        self.constants = tuple(constants)
        self.results = tuple(results)
        self.pack = pack

    def run(self, tensors: list[Any], recorders: Sequence[Recorder]) -> Any:
        """Return the result for other tensors with the same key."""
        values = [*tensors, *self.constants]
        for call, positions in self.steps:
            inputs = [values[i] for i in positions]
            found = call.run(inputs, recorders) if type(call) is EagerCall else call(*inputs)
            values += found if type(found) is list else [found]
        constant = range(len(tensors), len(tensors) + len(self.constants))
        found = [EagerTensor(values[i]._array.copy()) if i in constant else values[i] for i in self.results]
        return found[0] if self.pack is None else self.pack(found)


def run_kept(
    calls: dict[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    takes_variables: bool,
    recorders: Sequence[Recorder],
    otherwise: Callable[..., Any],
) -> Any:
    """Return the result of the call that is kept for some arguments, whose numbers may become tensors for it.

    If there is none, call `otherwise` with the arguments, the key, the number of tensors in it, and its types if it is
    new; the key is None if no call can be kept.
    """
    parts: list[Any] = [*kwargs]
    tensors: list[Any] = []
    numbers: list[int] = []
    arguments = (*args, *kwargs.values()) if kwargs else args
    if not have_key(arguments, parts, tensors, takes_variables, numbers):
        return otherwise(args, kwargs, None, 0, None)
    key = tuple(parts)
    call = calls.get(key)
    if type(call) is Elements:
        key = call.key(key, tensors)
        call = calls.get(key)
    if call and type(call) is not list:  # a list has the dtypes for `with_packed`
        return call.run(tensors, recorders)
    types = None if key in calls else types_in(key, numbers)
    found = calls.get(types)
    if type(found) is list:
        pairs = zip(arguments, found, strict=True)
        given = [x if dtype is None else EagerTensor(np.array(x, dtype)) for x, dtype in pairs]
        args, kwargs = tuple(given[: len(args)]), dict(zip(kwargs, given[len(args) :], strict=True))
        return run_kept(calls, args, kwargs, takes_variables, recorders, otherwise)
    return otherwise(args, kwargs, None if call is False else key, len(tensors), types)


def elementwise(
    compute: Any,
    accepted: Set[Any],
    on_numbers: bool,
    recorders: Sequence[Recorder],
    op: Any,
    kept: KeptAttributes,
    x: Any,
    y: Any = None,
) -> EagerTensor | None:
    """Return the result of an elementwise operation on tensors of one accepted dtype; None if it must be checked.

    With `on_numbers`, the operation computes NumPy's scalars instead of arrays of rank 0.
    """
    one = x._array
    arrays: tuple[Any, ...] = (one,)
    if y is not None:
        other = y._array
        if other.dtype != one.dtype:
            return None
        is_scalar = on_numbers and not one.ndim and not other.ndim
        arrays = (one[()], other[()]) if is_scalar else (one, other)
    if one.dtype not in accepted:
        return None
    before = begin(SILENCE)
    try:
        found = compute(*arrays)
    except (ValueError, errors.OpError):
        return None  # the complete way raises the full error message
    finally:
        end(before)
    result = EagerTensor(found if type(found) is np.ndarray else np.asarray(found))
    for recorder in recorders:
        recorder.computed(op, (x,) if y is None else (x, y), kept, (result,))
    return result


def _extension() -> Any:
    """Return the C extension; None if it was not built, or from older source."""
    if os.environ.get("AGC_NATIVE_CALLS") == "0":
        return None
    try:
        from . import _native_eager as found  # type: ignore[attr-defined, unused-ignore]

        found.register(
            tensor=EagerTensor, variable=Variable, array=EagerArray, array_type=ListType, array_element=TensorType,
            shape=shapes.TensorShape, call=EagerCall, program=EagerProgram, kept_attributes=KeptAttributes,
            atoms=tuple(ATOMS), kinds=abstract_value.INTERNED, kind_of=abstract_value_of, silence=SILENCE,
            silent=SILENT, begin=begin, pool=_pool, end=end, busy=busy, found_recorders=found_recorders,
            stack=stack, placement=placement, refused=(ValueError, errors.OpError),
        )  # fmt: skip
        return found if hasattr(found, "flow_key") else None
    except (ImportError, AttributeError, TypeError):
        return None


def _pool() -> tuple[int, int]:
    """Return the address of `run_parts` of the pool, 0 if there is none, and the number of threads of a loop."""
    return native_pool.addresses().get("run_parts", 0), matrix_products.threads()


def _kind(spec: TensorType | ListType, result: Any) -> AbstractValue | ListType | None:
    """Return the abstract value of a result, or its type if it is a TensorArray; None if it is not known before."""
    if isinstance(spec, ListType):
        return spec
    return abstract_value_of(result) if shapes.is_static(spec.shape) else None


def _result(found: Any, dtype: Any, kind: Any) -> Any:
    if type(kind) is ListType:
        return EagerArray(found, kind)
    return EagerTensor(found if type(found) is np.ndarray else np.asarray(found, dtype), kind)


def _is_list(x: Any) -> bool:
    """Return whether an operand is a list, whose number of elements is no part of its type."""
    return type(x) is not Constant and isinstance(x.spec, ListType)


def _are_few(specs: Sequence[Any]) -> bool:
    """Return whether there is one result, a small array of numbers."""
    (spec, *rest) = specs or [None]
    is_small = type(spec) is TensorType and spec.dtype.kind in "biufc" and not rest
    return is_small and (shapes.num_elements(spec.shape) or _MOST_FOLDED) * spec.dtype.size < _MOST_FOLDED


def _fixed(x: Any) -> Any:
    """Return an operand whose elements are the same in each call with the key; the type of other ones."""
    is_known = type(x) is KnownOperand and x.is_read
    return Constant(x._known) if is_known else x if type(x) is Constant else x.spec


def _kernel(
    op: Signature, inputs: Sequence[Any], results: Sequence[Any], attributes: Mapping[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a kernel that takes the arrays one by one, and the arguments that it takes after them."""
    compute = narrow_floats.kernel(op, [x.spec for x in inputs], results)
    if op.special is not None and compute is op.compute:
        special = op.special(list(map(_fixed, inputs)), **attributes)
        if special is not None:
            return special, ()
    tail = _positional(compute, len(op.operand_parameters), attributes)
    if tail is None:
        compute, tail = functools.partial(compute, **attributes), ()
    if op.group is None:
        return compute, tail
    size = len(inputs) - len(op.operand_parameters) + 1
    return _grouping(compute, op.group, op.group + size), tail


def _positional(compute: Any, count: int, attributes: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the attributes in the order of the kernel's parameters after `count` arrays; None if that is unknown."""
    if not attributes:
        return ()
    code = getattr(compute, "__code__", None)
    names = () if code is None else code.co_varnames[count : code.co_argcount]
    return tuple(map(attributes.get, names)) if set(names) == set(attributes) else None


def _grouping(compute: Callable[..., Any], start: int, end: int) -> Callable[..., Any]:
    """Return a kernel that takes the arrays of a list one by one."""
    if start:
        return lambda *arrays: compute(*arrays[:start], list(arrays[start:end]), *arrays[end:])
    return lambda *arrays: compute([*arrays[:end]], *arrays[end:])


native = _extension()
run_program: Callable[[EagerProgram, list[Any], Sequence[Recorder]], Any] = (
    native.run_program if native else EagerProgram.run
)
"""A function that runs a program on tensors, of which recorders record each operation."""
