"""Which functions of a module are traced, as far as its text says so.

    import agc.runtime as tf

    @tf.function                entries: step            asked to become a graph
    def step(x):
        return half(x)          reached: step, half      runs while a graph is made

    def half(x): …
    def main(): …               none of them

The caller says what traces, here `agc.runtime.function`. Names are looked up by their text: a function is known by
its name if only one in the module has that name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import gast

from ..syntax.tree_queries import DEFINITIONS, children, dotted


class Definition(NamedTuple):
    """A function of the module, and the class that it is a method of."""

    node: Any
    owner: gast.ClassDef | None
    outer: Any  # the function around it, if there is one


class Entries:
    """`definitions` lists all functions, in the order of the text. Three sets hold ids of such nodes: `entries`,
    `within` for these and the functions inside them, and `reached` for these and what they call."""

    def __init__(self, tree: gast.Module, tracers: Collection[str]) -> None:
        self.tracers = tracers
        self.imports = dict(_imports(tree))
        self.definitions = list(_definitions(tree))
        self.named: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            self.named.setdefault(definition.node.name, []).append(definition)
        self.entries: set[int] = set()
        self.within: set[int] = set()
        self.reached: set[int] = set()
        self._find(tree)

    def full_name(self, node: gast.AST) -> str | None:
        """`agc.runtime.function` for `tf.function`, as the module's imports have it."""
        called = node.func if isinstance(node, gast.Call) else node
        text = dotted(called)
        if text is None:
            return None
        first, dot, rest = text.partition(".")
        return self.imports.get(first, first) + dot + rest

    def _find(self, tree: gast.Module) -> None:
        for definition in self.definitions:
            if any(self.full_name(mark) in self.tracers for mark in definition.node.decorator_list):
                self.entries.add(id(definition.node))
        for node in gast.walk(tree):
            if isinstance(node, gast.Call) and node.args and self.full_name(node) in self.tracers:
                self.entries |= {id(known.node) for known in self._meant(node.args[0], None)}
        for definition in self.definitions:  # outer functions come first
            if id(definition.node) in self.entries or id(definition.outer) in self.within:
                self.within.add(id(definition.node))
        pending = [known for known in self.definitions if id(known.node) in self.within]
        while pending:
            definition = pending.pop()
            if id(definition.node) not in self.reached:
                self.reached.add(id(definition.node))
                pending += [known for known in self.definitions if known.outer is definition.node]
                for node in gast.walk(definition.node):
                    pending += self._meant(node, definition.owner)

    def _meant(self, node: gast.AST, owner: gast.ClassDef | None) -> list[Definition]:
        """The function that a name, or the method that `self.name`, stands for."""
        if isinstance(node, gast.Name):
            known = [known for known in self.named.get(node.id, ()) if known.owner is None]
        elif isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
            holder, known = node.value.id, self.named.get(node.attr, [])
            if holder in ("self", "cls"):
                known = [one for one in known if one.owner is not None and owner in (None, one.owner)]
            else:
                known = [one for one in known if one.owner is not None and one.owner.name == holder]
        else:
            return []
        return known if len(known) == 1 else []


def _imports(tree: gast.Module) -> Iterator[tuple[str, str]]:
    """name in the module → full name"""
    for node in gast.walk(tree):
        if isinstance(node, gast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(node, gast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _definitions(tree: gast.Module) -> Iterator[Definition]:
    pending: list[Definition] = [Definition(tree, None, None)]
    while pending:
        node, owner, outer = pending.pop()
        if isinstance(node, DEFINITIONS):
            yield Definition(node, owner, outer)
            owner, outer = None, node
        elif isinstance(node, gast.ClassDef):
            owner = node
        pending += [Definition(child, owner, outer) for child in reversed(children(node))]
