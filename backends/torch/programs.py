"""Trace functions of tensors to graph modules, whose tensors from outside become inputs.

    z = y * 2
    lambda x: x + z      ⇒    graph(x, z): return x + z        with the outer tensors [z]

The operators of torch for control flow take functions of all tensors that they use, so each tensor from outside must be
known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from agc.arrays import Type
from agc.autograph.staging_errors import staging_error

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, make_fx
from torch.fx.graph import CodeGen

HIGHER_ORDER = torch.ops.higher_order
_BLOCKS = {HIGHER_ORDER.cond, HIGHER_ORDER.while_loop, HIGHER_ORDER.scan}
_TOTAL = {
    overload
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "neg", "abs", "logical_and", "logical_or",
                 "logical_not", "sum", "all", "any", "view", "full", "clone")
    for overload in (getattr(getattr(torch.ops.aten, name), kind) for kind in getattr(torch.ops.aten, name).overloads())
}  # fmt: skip
"""Operations that cannot fail: an integer division, for instance, fails for zero."""
_EFFECTS = {HIGHER_ORDER.print, torch.ops.aten._assert_async.msg}


class TorchProgram:
    """A graph module; its inputs are those of the function, and then `outer`, the tensors from outside."""

    def __init__(self, module: GraphModule, outer: Sequence[Any]) -> None:
        self.module, self.outer = module, outer
        nodes = list(module.graph.nodes)
        calls = [node.target for node in nodes if node.op == "call_function"]
        self._operations = len(calls) if _TOTAL.issuperset(calls) else math.inf
        self.has_blocks = not _BLOCKS.isdisjoint(calls)
        self.has_effects = any(call in _EFFECTS for call in calls)
        inputs = [node for node in nodes if node.op == "placeholder"]
        tensor_of = dict(zip(inputs[len(inputs) - len(outer) :], outer, strict=True))
        self.passed_on: Sequence[Any] = [tensor_of.get(node) for node in nodes[-1].args[0]]

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        return list(self.module(*arrays, *self.outer))

    def operations(self) -> float:
        """Return the number of operations; infinity if one may fail, or is a loop or a branch."""
        return self._operations

    def is_selectable(self) -> bool:
        return not self._operations


def trace(function: Callable[..., Sequence[Any]], types: Sequence[Type]) -> TorchProgram:
    """Trace a function of tensors of these types, while a function around it is traced."""
    with disable_proxy_modes_tracing():
        inputs = [torch.empty(type.shape, dtype=type.dtype.dtype, device=type.dtype.device) for type in types]
        module = graph_of(function, inputs)
    outer = _with_inputs(module)
    _refuse_changes(module, len(types))
    return TorchProgram(module, outer)


def graph_of(function: Callable[..., Sequence[Any]], inputs: Sequence[Any]) -> GraphModule:
    """Return the graph of a function of tensors, with one input for each."""
    traced = make_fx(
        lambda tensors: tuple(function(*tensors)), tracing_mode="real", _allow_non_fake_inputs=True
    )
    module = traced(list(inputs))
    module.graph.set_codegen(CodeGen())  # without a list around the inputs
    module.recompile()
    return module


def _with_inputs(module: GraphModule) -> list[Any]:
    """Make inputs of the tensors that the graph holds as attributes; return these tensors."""
    graph, outer, new = module.graph, list[Any](), dict[int, Node]()
    for node in [node for node in graph.nodes if node.op == "get_attr"]:
        tensor = getattr(module, node.target)
        if not isinstance(tensor, torch.Tensor):  # a nested graph
            continue
        if id(tensor) not in new:
            with graph.inserting_before(next(node for node in graph.nodes if node.op != "placeholder")):
                new[id(tensor)] = graph.placeholder(f"outer_{len(outer)}")
            outer.append(tensor)
        node.replace_all_uses_with(new[id(tensor)])
        graph.erase_node(node)
    module.recompile()
    return outer


def _refuse_changes(module: GraphModule, count: int) -> None:
    """Refuse a block that changes a tensor from outside in place: torch's operators are pure."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    outer = set(inputs[count:])
    for node in module.graph.nodes:
        if is_change(node) and base(node.args[0]) in outer:
            raise staging_error(
                "AGC232",
                "the block changes a tensor in place that it does not assign",
                why="a staged block is a pure function: PyTorch's operators for control flow refuse other effects",
                fix="assign the variable: write `x = x.add(1)` or `x += 1` instead of `x.add_(1)`",
            )


def is_change(node: Node) -> bool:
    """Return whether the operation changes its first argument in place."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable and bool(node.args)


def base(node: Any) -> Any:
    """Return the node whose memory a node is a view of.

    For `y = x[1:].T` this is `x`.
    """
    while isinstance(node, Node) and node.op == "call_function":
        returns = getattr(node.target, "_schema", None)
        if returns is None or not returns.returns or returns.returns[0].alias_info is None:
            break
        node = node.args[0]
    return node


def applied(programs: Sequence[TorchProgram]) -> tuple[list[Callable[..., tuple[Any, ...]]], list[Any]]:
    """Return functions of the programs' inputs and of the same outer tensors, and these tensors.

    Results that share memory with an input, or are views such as `x.T`, are copied, as torch's operators demand.
    """
    outer = list({id(tensor): tensor for program in programs for tensor in program.outer}.values())
    places = {id(tensor): place for place, tensor in enumerate(outer)}

    def function_of(program: TorchProgram) -> Callable[..., tuple[Any, ...]]:
        _copy_views(program.module)
        own = [places[id(tensor)] for tensor in program.outer]

        def run(*inputs: Any) -> tuple[Any, ...]:
            arguments, tensors = inputs[: len(inputs) - len(outer)], inputs[len(inputs) - len(outer) :]
            return tuple(program.module(*arguments, *(tensors[place] for place in own)))

        return run

    return [function_of(program) for program in programs], outer


def _copy_views(module: GraphModule) -> None:
    graph = module.graph
    end = next(node for node in graph.nodes if node.op == "output")
    results, seen = [], set()
    for node in end.args[0]:
        memory = base(node)
        if memory.op == "placeholder" or memory in seen or not is_plain(node.meta["val"]):
            with graph.inserting_before(end):
                node = graph.call_function(
                    torch.ops.aten.clone.default, (node,), {"memory_format": torch.contiguous_format}
                )
        seen.add(memory)
        results.append(node)
    end.args = (tuple(results),)
    module.recompile()


def is_plain(tensor: Any) -> bool:
    """Return whether the elements lie one after the other, from the beginning of the tensor's memory."""
    return bool(tensor.is_contiguous()) and tensor.storage_offset() == 0
