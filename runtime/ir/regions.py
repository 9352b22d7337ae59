"""Check that the regions of an operation match its operands and results.

    y = cond p, x           : float32[?]        two regions; each takes the operands of `cond` after the
      then x                                    predicate, and yields the results of `cond`
        yield x

`fits(taken, given)` returns whether a value of type `given` may be used as type `taken`. `agree` is used for
graphs from traces and passes, where either type may be more precise. `covers` is used for untrusted graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .. import dtypes
from ..core import shapes
from .graph import Graph, Operand, Operation
from .op_def import OpDef
from .structured import CALL, COND, CUSTOM_GRADIENT, FUSED, SWITCH, WHILE, is_custom_gradient
from .value_types import AnySpec, ListType, TensorType, VariableType

Fits: TypeAlias = Callable[[AnySpec, AnySpec], bool]

SCALAR_BOOL = TensorType(dtypes.bool_, ())
SCALAR_INDEX = TensorType(dtypes.int32, ())


class RegionError(ValueError):
    """The regions of an operation do not match it."""


def agree(taken: AnySpec, given: AnySpec) -> bool:
    """Return whether some value has both types."""
    if isinstance(taken, TensorType) and isinstance(given, TensorType):
        return taken.dtype is given.dtype and shapes.compatible(taken.shape, given.shape)
    if isinstance(taken, ListType) and isinstance(given, ListType):
        return agree(taken.element, given.element)
    return isinstance(taken, VariableType) and taken == given


def covers(taken: AnySpec, given: AnySpec) -> bool:
    """Return whether every value of type `given` has type `taken`.

    Element types of lists need only agree, since no executor trusts them.
    """
    if isinstance(taken, ListType):
        return agree(taken, given)
    return taken.covers(given)


def all_fit(fits: Fits, taken: Sequence[AnySpec], given: Sequence[AnySpec]) -> bool:
    return len(taken) == len(given) and all(map(fits, taken, given))


def show(specs: Sequence[AnySpec]) -> str:
    return ", ".join(map(str, specs)) or "nothing"


def check_regions(operation: Operation, fits: Fits) -> None:
    """Raise RegionError for regions that do not match their operation."""
    check = _CHECKS.get(operation.op.name)
    if check is not None:
        check(operation, fits)
    elif operation.regions:
        raise RegionError(f"{operation.op.name} has no regions")


def has_regions(op: OpDef) -> bool:
    """Return whether operations of this kind have regions, which determine the operands."""
    return op.name in _CHECKS


def gives_by_regions(operation: Operation) -> bool:
    """Return whether the types of the results follow from the regions."""
    return operation.op.name in _CHECKS and not is_custom_gradient(operation)


def _check_cond(operation: Operation, fits: Fits) -> None:
    _check_count(operation, 2)
    _check_selector(operation, SCALAR_BOOL)
    _check_branches(operation, operation.inputs[1:], fits)


def _check_switch(operation: Operation, fits: Fits) -> None:
    if not operation.regions:
        raise RegionError("switch has no branches")
    _check_selector(operation, SCALAR_INDEX)
    _check_branches(operation, operation.inputs[1:], fits)


def _check_call(operation: Operation, fits: Fits) -> None:
    _check_count(operation, 1)
    _check_branches(operation, operation.inputs, fits)


def _check_fused(operation: Operation, fits: Fits) -> None:
    _check_call(operation, fits)
    if any(inner.stateful or inner.regions for inner in operation.regions[0].operations):
        raise RegionError("fused holds more than operations on elements and reductions")


def _check_while(operation: Operation, fits: Fits) -> None:
    _check_count(operation, 2)
    test, body = operation.regions
    count = len(operation.outputs)
    for region in operation.regions:
        _check_arguments(region, operation.inputs, fits)
    yielded = [operand.spec for operand in test.outputs]
    if len(yielded) != 1 or not agree(SCALAR_BOOL, yielded[0]):
        raise RegionError(f"the test of while yields {show(yielded)}, not one bool[]")
    results = [value.spec for value in operation.outputs]
    for taken in ([value.spec for value in region.inputs[:count]] for region in (body, test)):
        _check_results(body, taken, fits)
    _check_results(body, results, fits)
    given = [operand.spec for operand in operation.inputs[:count]]
    if not all_fit(fits, results, given):  # the initial state is the result if the body never runs
        raise RegionError(f"while gives {show(results)} but begins with {show(given)}")


def _check_gradient(operation: Operation, fits: Fits) -> None:
    """Check a custom gradient.

    Its region takes the gradients of the results and the last operands, and yields the gradients of some
    operands.
    """
    _check_count(operation, 1)
    (region,) = operation.regions
    count, given = operation.attrs["results"], operation.attrs["given"]
    own = operation.inputs[count:]
    if not 0 <= count <= len(operation.inputs) or not set(given or ()) <= set(range(len(own))):
        raise RegionError("custom_gradient refers to operands that do not exist")
    captured = len(region.inputs) - count
    if not 0 <= captured <= len(own):
        raise RegionError(f"`{region.name}` takes {len(region.inputs)} values")
    _check_arguments(region, [*operation.inputs[:count], *own[len(own) - captured :]], fits)
    found = [operand.spec for operand in region.outputs]
    wanted = [own[number].spec for number in given or ()]
    if not all_fit(_is_gradient, wanted, found):
        raise RegionError(f"`{region.name}` yields {show(found)} for {show(wanted)}")


def _is_gradient(of: AnySpec, given: AnySpec) -> bool:
    """Return whether a value can be the gradient of an operand; the gradient of a variable is a tensor."""
    wanted = of.content if isinstance(of, VariableType) else of
    return isinstance(wanted, TensorType) and agree(wanted, given)


def _check_count(operation: Operation, count: int) -> None:
    found = len(operation.regions)
    if found != count:
        raise RegionError(f"{operation.op.name} has {found} regions instead of {count}")


def _check_selector(operation: Operation, wanted: TensorType) -> None:
    """Check the type of the first operand; an unknown rank is checked at run time."""
    if not operation.inputs or not agree(wanted, operation.inputs[0].spec):
        raise RegionError(f"the first operand of {operation.op.name} is not {wanted}")


def _check_branches(operation: Operation, arguments: Sequence[Operand], fits: Fits) -> None:
    specs = [value.spec for value in operation.outputs]
    for region in operation.regions:
        _check_arguments(region, arguments, fits)
        _check_results(region, specs, fits)


def _check_arguments(region: Graph, arguments: Sequence[Operand], fits: Fits) -> None:
    taken = [value.spec for value in region.inputs]
    given = [operand.spec for operand in arguments]
    if not all_fit(fits, taken, given):
        raise RegionError(f"`{region.name}` takes {show(taken)} but is given {show(given)}")


def _check_results(region: Graph, wanted: Sequence[AnySpec], fits: Fits) -> None:
    found = [operand.spec for operand in region.outputs]
    if not all_fit(fits, wanted, found):
        raise RegionError(f"`{region.name}` yields {show(found)} where {show(wanted)} is wanted")


_CHECKS: dict[str, Callable[[Operation, Fits], None]] = {
    COND: _check_cond,
    SWITCH: _check_switch,
    CALL: _check_call,
    FUSED: _check_fused,
    WHILE: _check_while,
    CUSTOM_GRADIENT: _check_gradient,
}
"""By operation with regions, the function that checks them."""
