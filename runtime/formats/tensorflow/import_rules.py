"""Import rules of control flow, calls, constants and resources: what `tf.raw_ops` does not have.

While(input: …, cond: f, body: g)     ==>     while_loop(lambda *xs: call(f, xs), lambda *xs: call(g, xs), …)

Resources do not change in loops and branches: they are objects, of which all iterations use the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...autodiff.custom_gradients import custom_gradient
from ...control_flow.functional_api import cond, while_loop
from ...control_flow.switch_case import switch_case
from ...core.conversion import convert_to_tensor
from ...core.tensor import EagerTensor, Tensor
from ...core.tensor_array import TensorArray
from ...errors import FailedPreconditionError, UnimplementedError
from ...ops.arrays.creation import zeros_like
from ...ops.arrays.reshape import ensure_shape
from ...ops.assertions.assert_op import require
from ...ops.math.cast import identity
from ...ops.math.comparison import not_equal
from ...storage import tensor_protos
from .attribute_values import read_shape
from .graph_import import GraphFunctions, ReferenceVariable, plain, rule
from .graph_messages import NodeDef

Values = list[Any]


@rule("Const")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    try:
        return [EagerTensor(tensor_protos.parsed(node.attr["value"].tensor))]
    except ValueError as error:
        raise ValueError(f"the constant {node.name!r}: {error}") from error


@rule("NoOp", "ControlTrigger")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    return []


@rule("Identity", "IdentityN", "ReadVariableOp", "PlaceholderWithDefault")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    if node.op == "ReadVariableOp":
        return [inputs[0].read_value()]
    values = [plain(value) for value in inputs]
    if "_gradient_op_type" in node.attr and all(isinstance(value, Tensor) for value in values):
        return _with_gradient(functions, node, values)
    return values


def _with_gradient(functions: GraphFunctions, node: NodeDef, values: Values) -> Values:
    """Return the values with the gradient that Python code defined, if it was saved; else it is an error."""
    saved = functions.gradients.get(bytes(node.attr["_gradient_op_type"].s).decode())
    names = [_tensor_name(reference) for reference in node.input]
    captured = [
        values[names.index(_tensor_name(each))]
        if isinstance(each, str) and _tensor_name(each) in names
        else each
        for each in (saved.captured if saved is not None else ["?"])
    ]
    is_known = saved is not None and not any(isinstance(each, str) for each in captured)

    @custom_gradient
    def forward(*tensors: Any) -> Any:
        def backward(*grads: Any) -> Values:
            if saved is None or not is_known:
                message = f"{node.name} has a gradient that Python code defined, and that was not saved"
                require(False, message)
                return [zeros_like(tensor) for tensor in tensors]
            found = functions.call(saved.function, [*grads, *captured])
            if len(found) != sum(saved.given):
                raise ValueError(f"the gradient {saved.function!r} has {len(found)} results")
            results = iter(found)
            return [next(results) if given else None for given in saved.given]

        return [identity(tensor) for tensor in tensors], backward

    return list(forward(*values))


def _tensor_name(reference: str) -> tuple[str, int]:
    """Return the node and the number of a reference, of the form of graphs or of functions."""
    name, *parts = reference.split(":")
    return name, int(parts[-1]) if parts else 0


@rule("Placeholder")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    raise FailedPreconditionError(f"the graph needs a value for the placeholder {node.name!r}")


@rule("PartitionedCall", "StatefulPartitionedCall")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    return functions.call(node.attr["f"].func.name, inputs)


@rule("If", "StatelessIf")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    branches = [node.attr[name].func.name for name in ("then_branch", "else_branch")]
    then, other = [_branch(functions, name, inputs[1:]) for name in branches]
    return list(cond(_as_bool(inputs[0]), then, other))


@rule("Case", "StatelessCase")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    branches = [_branch(functions, each.name, inputs[1:]) for each in node.attr["branches"].list.func]
    return list(switch_case(inputs[0], branches))


def _as_bool(value: Any) -> Any:
    """Return a condition: numbers other than zero and texts that are not empty are true."""
    tensor = convert_to_tensor(value)
    if tensor.dtype is dtypes.bool_:
        return tensor
    return not_equal(tensor, b"" if tensor.dtype is dtypes.string else 0)


def _branch(functions: GraphFunctions, name: str, inputs: Values) -> Callable[[], Values]:
    def branch() -> Values:
        results = functions.call(name, inputs)
        _refuse_resources(results)
        return results

    return branch


def _is_value(value: Any) -> bool:
    return isinstance(value, (Tensor, TensorArray))


def _refuse_resources(values: Sequence[Any]) -> None:
    for value in values:
        if not _is_value(value):
            raise UnimplementedError(f"a condition of the graph chooses among resources, such as {value!r}")


def _shaped(value: Any, shape: Any) -> Any:
    """Return a result of a loop's body with the shape that the graph states for it."""
    return value if shape is None or shape.rank is None else ensure_shape(value, shape)


@rule("While", "StatelessWhile")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    inputs = [plain(value) for value in inputs]
    places = [place for place, value in enumerate(inputs) if _is_value(value)]
    test, body = node.attr["cond"].func.name, node.attr["body"].func.name

    def whole(state: Sequence[Any]) -> Values:
        values = list(inputs)
        for place, value in zip(places, state, strict=True):
            values[place] = value
        return values

    def go_on(*state: Any) -> Any:
        return _as_bool(functions.call(test, whole(state))[0])

    def step(*state: Any) -> Values:
        results = functions.call(body, whole(state))
        kept = [result for place, result in enumerate(results) if place not in places]
        before = [value for value in inputs if not _is_value(value)]
        if any(one is not other for one, other in zip(kept, before, strict=True)):
            raise UnimplementedError("a loop of the graph changes which resources it uses")
        return [_shaped(results[place], shape) for place, shape in zip(places, invariants, strict=True)]

    state = [inputs[place] for place in places]
    shapes = [read_shape(shape) for shape in node.attr["output_shapes"].list.shape]
    invariants = [
        shapes[place] if len(shapes) == len(inputs) and isinstance(inputs[place], Tensor) else None
        for place in places
    ]
    return whole(while_loop(go_on, step, state, invariants))


@rule("VarHandleOp", "VariableV2", "Variable")
def _(functions: GraphFunctions, node: NodeDef, inputs: Values) -> Values:
    name = bytes(node.attr["shared_name"].s).decode() or node.name
    variable = functions.variable(name)
    return [variable if node.op == "VarHandleOp" else ReferenceVariable(variable)]
