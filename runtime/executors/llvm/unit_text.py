"""The text of a unit: LLVM compiles its complete functions while the rest of the graph is lowered.

lower …  part.1, part.2 …  part.3, part.4 …  the rest
                     │               │          └──► modules of all other functions
                     │               └──► module of part.3 and part.4, in the background
                     └──► module of part.1 and part.2, in the background
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .codegen.llvm_types import ir
from .module_partition import (
    LARGEST,
    LOOP,
    NODE,
    ModulePart,
    ModuleText,
    declared,
    divided,
    external,
    is_copied,
    partition,
)

_EARLY = LARGEST // 2
"""The weight from which complete functions are compiled as a module of their own."""


class UnitText:
    """The text of a module of llvmlite. `begin` is called with modules of complete functions."""

    def __init__(self, module: Any, begin: Callable[[ModulePart], None] | None) -> None:
        self._module = module
        self._begin = begin
        self._printed = ModuleText([f'target triple = "{module.triple}"'])
        self._begun: list[ModulePart] = []
        self._done: list[str] = []
        self._waiting: list[Any] = []
        self._weight = 0

    def whole(self) -> str:
        """Return the LLVM IR of the module."""
        return with_distinct_loops(str(self._module))

    def complete(self, function: Any) -> None:
        """Take note that a function does not change any more."""
        if self._begin is None:
            return
        self._waiting.append(function)
        self._weight += _weight(function)
        if self._weight >= _EARLY:
            for each in self._waiting:
                self._print(each)
            names = [each.name for each in self._waiting]
            part = ModulePart(self._printed.written(set(names), is_first=False))
            self._begun.append(part)
            self._done += names
            self._waiting, self._weight = [], 0
            self._begin(part)

    def parts(self) -> list[ModulePart]:
        """Return the modules that together define the functions, after all are complete."""
        self._begin_rest()
        if not self._begun:
            return partition(self.whole())
        for each in self._module.globals.values():
            if getattr(each, "initializer", None) is not None:
                self._printed.globals[each.name] = str(each)
            elif isinstance(each, ir().Function) and each.blocks and not is_copied(each.name):
                self._print(each)
        return [*self._begun, *divided(self._printed, done=self._done)]

    def _begin_rest(self) -> None:
        """Let LLVM compile the loop nests of a large module while the other functions are printed."""
        known = {*self._done, *(each.name for each in self._waiting)}
        defined = [each for each in self._module.functions if each.blocks and not is_copied(each.name)]
        rest = {each: _weight(each) for each in reversed(defined) if each.name not in known}
        if self._begin is not None and (self._begun or sum(rest.values()) > LARGEST):
            for each in filter(_has_nest, rest):
                self._print(each)
                if not self._printed.is_cold(each.name):
                    self.complete(each)

    def _print(self, function: Any) -> None:
        """Print a function, and what it uses."""
        printed, name = self._printed, function.name
        if name in printed.functions:
            return
        printed.define(name, str(function).strip())
        for symbol in printed.used[name]:
            value = self._module.globals[symbol]
            if is_copied(symbol):
                self._print(value)
            elif symbol not in printed.globals:
                printed.globals[symbol] = _declaration(value)
        pending = NODE.findall(printed.functions[name])
        while pending:
            node = pending.pop()
            if node not in printed.metadata:
                text = with_distinct_loops(str(self._module.metadata[int(node[1:])]).strip())
                printed.metadata[node] = text
                pending += NODE.findall(text)


def _has_nest(function: Any) -> bool:
    return any("llvm.loop" in block.terminator.metadata for block in function.blocks)


def _weight(function: Any) -> int:
    return sum(
        len(block.instructions) + LOOP * ("llvm.loop" in block.terminator.metadata)
        for block in function.blocks
    )


def _declaration(value: Any) -> str:
    """Return the line that makes a symbol known to a module which does not define it; constants are defined."""
    if getattr(value, "initializer", value) is None:  # the table, which still grows
        return external(value.name)
    if not getattr(value, "blocks", ()):
        return str(value).strip()
    prototype: list[str] = []
    value.descr_prototype(prototype)
    return declared("".join(prototype).strip())


_LOOP_OR_GROUP = re.compile(r'^(!\d+) = !\{ !"(loop|group)\d+"(, .*)? \}$', re.MULTILINE)


def with_distinct_loops(text: str) -> str:
    """Make loops and access groups distinct metadata nodes; the node of a loop refers to itself.

    llvmlite has no such nodes, so each has a number in its content.
    """

    def node(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        content = f" {name}{rest or ''} " if kind == "loop" else ""
        return f"{name} = distinct !{{{content}}}"

    return _LOOP_OR_GROUP.sub(node, text)
