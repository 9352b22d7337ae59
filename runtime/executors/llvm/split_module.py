"""Split a module, so that LLVM compiles one part in another thread.

    kernel: …                           kernel: …
            for i: y[i] ← f(x[i])  ==>          agc_apart(x, y)       agc_apart(x, y): for i: y[i] ← f(x[i])
            …                                   …                     …
    part: …

Functions for the thread pool can be moved, and loop nests without live-out values. The largest ones are moved
first, as long as the part is smaller than the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .codegen.liveness import operands_of
from .codegen.llvm_types import ir
from .codegen.merge_functions import Users
from .codegen.outlining import (
    OutermostLoopNest,
    captured,
    fill,
    instructions_of,
    new_part,
    redirect,
    replace_by,
)
from .codegen.parallel_loops import count as count_of_threads
from .libm.registry import shared

LEAST = 300
"""Number of instructions from which splitting pays off."""

_PART = 0.4
"""The share of instructions to move. Loops cost more than their size suggests: vectorization adds epilogue loops."""


def split_module(module: Any, kernel: Any, nests: Sequence[OutermostLoopNest], users: Users) -> Any:
    """Move functions and nests of the kernel to a new module; return it, or None if splitting is not worth it."""
    if count_of_threads() == 1:
        return None
    total = sum(map(_size, _own_functions(module)))
    if total < LEAST:
        return None
    chosen = _chosen(module, kernel, [nest for nest in nests if users.is_apart(nest)], total * _PART)
    if not chosen:
        return None
    slots = {id(nest): set(users.own_slots(nest)) for nest in chosen if isinstance(nest, OutermostLoopNest)}
    part = ir().Module("agc apart")
    part.metadata, part._metadatacache = module.metadata, module._metadatacache  # keep metadata numbers
    part.host = module.host
    for each in chosen:
        _move(_outlined(kernel, each, slots[id(each)]) if isinstance(each, OutermostLoopNest) else each, part)
    return part


def _own_functions(module: Any) -> list[Any]:
    return [each for each in module.functions if each.blocks and each.module is module]


def _size(function: Any) -> int:
    return _weight(function.blocks)


def _weight(blocks: Iterable[Any]) -> int:
    """Return the number of instructions, including those of the project's own functions, which are inlined."""
    return sum(
        1 + (_size(each.callee) if each.opname == "call" and each.callee.name.startswith("agc.") else 0)
        for each in instructions_of(blocks)
    )


def _chosen(module: Any, kernel: Any, nests: Sequence[OutermostLoopNest], most: float) -> list[Any]:
    """Return the largest functions and nests that can be moved, with at most `most` instructions in total."""
    blocks = set(kernel.blocks)
    sizes = [
        (each, _size(each)) for each in _own_functions(module) if each is not kernel and _is_called(each)
    ]
    sizes += [(nest, _weight(nest.blocks)) for nest in nests if nest.blocks[0] in blocks]
    chosen = []
    for each, size in sorted(sizes, key=lambda pair: pair[1], reverse=True):
        if size <= most and _can_move(module, each.blocks):
            chosen.append(each)
            most -= size
    return chosen


def _is_called(function: Any) -> bool:
    """Return whether a function stays a function: it is neither inlined nor called by the entry."""
    return function.linkage == "internal" and not function.name.startswith("agc.")


def _can_move(module: Any, blocks: Sequence[Any]) -> bool:
    """Return whether blocks refer only to symbols that are available in another module."""
    return all(
        each.module is not module or each.is_declaration
        if isinstance(each, ir().Function)
        else each.global_constant
        for each in _globals_of(blocks)
    )


def _globals_of(blocks: Iterable[Any]) -> Iterator[Any]:
    kinds = ir().Function, ir().GlobalVariable
    return (
        each
        for instruction in instructions_of(blocks)
        for each in (*operands_of(instruction), getattr(instruction, "callee", None))
        if isinstance(each, kinds)
    )


def _outlined(kernel: Any, nest: OutermostLoopNest, slots: set[Any]) -> Any:
    """Outline a nest of the kernel."""
    given = captured(nest.blocks, slots)
    part = new_part(kernel.module, kernel.scope, [value.type for value in given], "agc_apart")
    part.attributes.add("noinline")
    b = replace_by(nest.before)
    b.call(part, given)
    b.branch(nest.after)
    fill(part, nest, slots, kernel.blocks[:1], lambda _: dict(zip(given, part.args, strict=True)))
    return part


def _move(function: Any, part: Any) -> None:
    """Move a function's definition to another module; a declaration stays in its own module."""
    made = ir().Function(part, function.function_type, function.name)
    made.scope, made.attributes = function.scope, function.attributes
    for argument, other in zip(function.args, made.args, strict=True):
        other.name, other.attributes = argument.name, argument.attributes
    function.linkage = ""
    redirect(instructions_of(function.blocks), dict(zip(function.args, made.args, strict=True)))
    for block in function.blocks:
        block.parent = made
    made.blocks, function.blocks = function.blocks, []
    for each in _globals_of(made.blocks):
        if isinstance(each, ir().Function) and each.blocks:
            shared(each.module, part, each.name)
        else:
            part.globals.setdefault(each.name, each)
