"""Find the functions of a module that are traced, as far as its source shows.

    import agc.runtime as tf

    @tf.function                entries: step            decorated as a traced function
    def step(x):
        return half(x)          reached: step, half      runs during a trace

    def half(x): …
    def main(): …               none of them

The caller passes the full names of the tracing functions, such as `agc.runtime.function`. Calls are resolved by name:
a name resolves to a function only if exactly one function of the module has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import gast

from ..syntax.tree_queries import DEFINITIONS, children, dotted


class EntryDefinition(NamedTuple):
    """A function of the module, and the class that it is a method of."""

    node: Any
    owner: gast.ClassDef | None
    outer: Any  # the enclosing function, if there is one


class EntryPoints:
    """The traced functions of a module.

    `definitions` lists all functions in source order. Three sets hold ids of such nodes: `entries`, `within` for these
    and the functions inside of them, and `reached` for these and the functions that they call."""

    def __init__(self, tree: gast.Module, tracers: Collection[str]) -> None:
        self.tracers = tracers
        self.imports = dict(_imports(tree))
        self.definitions = list(_definitions(tree))
        self.named: dict[str, list[EntryDefinition]] = {}
        for definition in self.definitions:
            self.named.setdefault(definition.node.name, []).append(definition)
        self.entries: set[int] = set()
        self.within: set[int] = set()
        self.reached: set[int] = set()
        self._find(tree)

    def full_name(self, node: gast.AST) -> str | None:
        """Return the full name of `node` by the module's imports: `agc.runtime.function` for `tf.function`."""
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

    def _meant(self, node: gast.AST, owner: gast.ClassDef | None) -> list[EntryDefinition]:
        """Return the function that a name refers to, or the method that `self.name` refers to."""
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
    """Yield each imported name with its full name."""
    for node in gast.walk(tree):
        if isinstance(node, gast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(node, gast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _definitions(tree: gast.Module) -> Iterator[EntryDefinition]:
    pending: list[EntryDefinition] = [EntryDefinition(tree, None, None)]
    while pending:
        node, owner, outer = pending.pop()
        if isinstance(node, DEFINITIONS):
            yield EntryDefinition(node, owner, outer)
            owner, outer = None, node
        elif isinstance(node, gast.ClassDef):
            owner = node
        pending += [EntryDefinition(child, owner, outer) for child in reversed(children(node))]
