"""Wrap callees in the version of a function for plain values, where no backend overloads a built-in function.

step(x)              ==>     ag__.converted(step)(x)
len(x)               stays: a built-in function
xs = []
xs.append(x)         stays: a method of a built-in container
def inner(): …
inner()              stays: a function that is converted with the one around it
x.append(y)          ==>     ag__.receiver(x, "append").append(y)      `x` itself if it is a list"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import Any

import gast

from ..analysis.container_types import Containers
from ..syntax.node_builders import text
from ..syntax.template import Template
from ..syntax.tree_queries import at, evolve, inside, root
from .base import Context
from .stage_calls import StageCalls

DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
METHODS = frozenset(name for kind in (list, dict, set, str, deque) for name in vars(kind))

RECEIVER = Template("$ag.receiver($value, $name)")


class StagePlainCalls(StageCalls):
    scope: _Scope | None = None  # the function around

    def visit_FunctionDef(self, node: Any) -> Any:
        around, self.scope = self.scope, _Scope(node, self.scope, self.context)
        new = super().visit_FunctionDef(node)
        self.scope = around
        return new

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: Any) -> Any:
        around, self.scope = self.scope, _Scope(node, self.scope, self.context)
        new = super().visit_Lambda(node)
        self.scope = around
        return new

    def is_left_alone(self, callee: gast.expr) -> bool:
        scope = self.scope
        match callee:
            case gast.Name(id=name) if self.is_builtin(callee, name) or (scope and name in scope.functions):
                return True
            case gast.Attribute(value=gast.Name(id=name)) if scope and name in scope.containers:
                return True
        return super().is_left_alone(callee)

    def staged(self, callee: gast.expr) -> gast.expr:
        # A private name would have to be mangled.
        if not isinstance(callee, gast.Attribute) or callee.attr.startswith("__"):
            return super().staged(callee)
        around = root(callee)  # a global variable is most often a module or a class
        if around is not None and around not in self.names.bound and callee.attr not in METHODS:
            return super().staged(callee)
        name = at(text(callee.attr), callee)
        value = RECEIVER.expression(callee, ag=self.context.ag, value=callee.value, name=name)
        return evolve(callee, value=value)

    def copies(self, call: gast.Call) -> bool:
        return False


class _Scope:
    """Facts about the variables that a function and those around it bind."""

    def __init__(self, node: Any, around: _Scope | None, context: Context) -> None:
        self.node = evolve(node, body=[node.body]) if isinstance(node, gast.Lambda) else node
        self.around, self.context = around, context

    @cached_property
    def _local(self) -> Containers:
        return Containers(self.node, self.context.is_builtin)

    @cached_property
    def _hidden(self) -> set[str]:
        """The names that do not refer to variables of functions around this one."""
        declared = (node for node in inside(self.node.body) if isinstance(node, gast.Global))
        return {*self._local.bindings, *(name for node in declared for name in node.names)}

    @cached_property
    def functions(self) -> set[str]:
        """The variables that hold a function, defined in one place, without decorators."""
        bindings = self._local.bindings
        defined = {
            node.name
            for node in inside(self.node.body)
            if isinstance(node, DEFINITIONS) and not node.decorator_list
        }
        lambdas = {name for name, (value, *_) in bindings.items() if isinstance(value, gast.Lambda)}
        own = {name for name in (defined | lambdas) & self._local.local if len(bindings[name]) == 1}
        return own | (self.around.functions - self._hidden if self.around else set())

    @cached_property
    def containers(self) -> set[str]:
        """The variables that always hold built-in containers."""
        own = {
            name
            for name in self._local.local
            if all(map(self._local.is_builtin_container, self._local.bindings[name]))
        }
        return own | (self.around.containers - self._hidden if self.around else set())
