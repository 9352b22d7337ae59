"""Rewrite assignments to items in the version of a function for plain values, where values of Python keep theirs.

    def f(x, n):                      is_python = ag__.backends[ag__.type(x)] is ag__.PYTHON
        for i in range(n):            for i in range(n):
            x[i] = g(i)                   if is_python:
                               ==>            x[i] = g(i)
                                          else:
                                              x = ag__.put(g(i), x, i)

    x[i] += 1                  ==>    if ag__.backends[ag__.type(x)] is ag__.PYTHON: …

A variable that holds one object from beginning to end is tested once, before the loops that assign its items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ..syntax.node_builders import as_load, assign, load, store
from ..syntax.template import Template
from ..syntax.tree_queries import (
    COMPREHENSIONS,
    FUNCTIONS,
    LOOPS,
    Statements,
    at,
    contains,
    docstring_end,
    evolve,
    parameters,
    stored_names,
)
from .stage_items import StageItems
from .version_choices import may_begin_graph

IS_PYTHON = Template("$ag.backends[$ag.type($x)] is $ag.PYTHON")
IS_LIST = Template("$ag.type($x) is $ag.list")
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, gast.NamedExpr)


class StagePlainItems(StageItems):
    """Keep the assignments, for values of Python."""

    loops = 0  # around the statement

    def function(self, node: Any) -> Any:
        self.flags: dict[str, str] = {}  # variable → the variable that says whether it is Python's
        # A version of single statements reads no flags from outside of them.
        self.origins = {} if may_begin_graph(node) else _bound_at_top(node)
        new = super().function(node)
        return evolve(new, body=self.with_flags(new.body)) if self.flags else new

    def statement(self, statement: Any) -> Statements:
        self.loops += isinstance(statement, LOOPS)
        new = super().statement(statement)
        self.loops -= isinstance(statement, LOOPS)
        if new == [statement] or not isinstance(statement, (gast.Assign, gast.AugAssign)):
            return new
        if contains(statement, SCOPES):
            return new
        tests = self.flags_of(statement) or self.tests_of(statement)
        if not tests:
            return new
        test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
        return [at(gast.If(test, [statement], new), statement)]

    def flags_of(self, statement: Any) -> list[gast.expr]:
        """Return the flags of all variables whose items a statement assigns; none if one has no flag."""
        targets = statement.targets if isinstance(statement, gast.Assign) else [statement.target]
        bases = {
            part.value.id if isinstance(part.value, gast.Name) else ""
            for part in _parts(targets)
            if self.path(part)[0] is not None
        }
        if not self.loops or not all(map(self.is_one_object, bases)):
            return []
        for name in bases - self.flags.keys():
            self.flags[name] = self.names.fresh("is_python")
        return [load(self.flags[name]) for name in sorted(bases)]

    def is_one_object(self, name: str) -> bool:
        """Return whether a variable is bound once, at the top of the function."""
        return name in self.origins and len(self.containers.bindings[name]) == 1

    def with_flags(self, body: Statements) -> Statements:
        """Return the body with assignments of the flags, each after that of its variable."""
        start = docstring_end(body)
        new = body[:start]
        for name, flag in self.flags.items():
            if self.origins[name] is None:
                new.append(self.flag(name, flag, body[start]))
        for statement in body[start:]:
            new.append(statement)
            for name, flag in self.flags.items():
                if self.origins[name] is statement:
                    new.append(self.flag(name, flag, statement))
        return new

    def flag(self, name: str, flag: str, origin: Any) -> gast.stmt:
        first = (getattr(origin, "decorator_list", None) or [origin])[0]
        start = evolve(first, end_lineno=first.lineno, end_col_offset=first.col_offset)
        return at(assign(store(flag), self.is_pythons(load(name), start)), start)

    def is_pythons(self, x: gast.expr, origin: Any) -> gast.expr:
        return IS_PYTHON.expression(origin, ag=self.context.ag, x=x)

    def tests_of(self, statement: Any) -> list[gast.expr]:
        """Return tests of the objects on the path to the one target, if they may precede the value."""
        if isinstance(statement, gast.AugAssign):
            target = statement.target
        elif len(statement.targets) == 1 and not contains(statement.value, gast.Call):
            target = statement.targets[0]
        else:
            return []
        if not isinstance(target, gast.Subscript):
            return []
        tests = [self.is_pythons(as_load(target.value), statement)]
        while isinstance(target := target.value, gast.Subscript):  # reading an item of a list has no effects
            tests.insert(0, IS_LIST.expression(statement, ag=self.context.ag, x=as_load(target.value)))
        return tests


def _bound_at_top(function: Any) -> dict[str, gast.stmt | None]:
    """Return the parameters, and the variables that statements of the body itself bind, with these."""
    origins: dict[str, gast.stmt | None] = {name.id: None for name in parameters(function)}
    for statement in function.body:
        match statement:
            case gast.Assign(targets=[target]) if all(
                isinstance(part, gast.Name) for part in _parts([target])
            ):
                origins.update((name.id, statement) for name in stored_names(target))
    return origins


def _parts(targets: list[Any]) -> Iterator[Any]:
    """Yield the targets, and the parts of those that are tuples."""
    for target in targets:
        if isinstance(target, gast.Starred):
            yield from _parts([target.value])
        elif isinstance(target, (gast.Tuple, gast.List)):
            yield from _parts(target.elts)
        else:
            yield target
