"""Turn `if`, `while` and `for` into functions of their state, and a call that decides which of them runs.

    if x > 0:                     def if_true(y):
        y = y + x                     y = y + x
    else:               ==>           return (y,)
        y = 0
                                  def if_false(y):
                                      y = 0
                                      return (y,)
                                  (y,) = ag__.cond(x > 0, if_true, if_false, (y,))

What is state is decided in `analyses/state.py`. Blocks that are provably Python stay
(`analyses/staticness.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from ..analyses.scopes import mentions_choice
from ..analyses.state import FunctionPlan, Plan, plan
from ..analyses.staticness import Staging
from ..syntax.template import Template
from ..syntax.tree import (
    BLOCK_FIELDS,
    DEFINITIONS,
    Statements,
    at,
    blocks,
    contains,
    docstring_end,
    dotted,
    evolve,
    is_call_of,
    parameters,
    with_blocks,
)
from .base import FunctionPass
from .guards import Guard
from .supers import SpellOutSuper

FUNCTION = Template("""
    def $name($parameters):
        $body
""")
DECLARED = Template("$name: object")


class StageBlocks(FunctionPass):
    name = "stage_blocks"
    erases = None

    def function(self, node: Any) -> Any:
        staging = Staging(node, self.names.plain)
        if not staging.staged and not mentions_choice(node):
            return node
        found = plan(node, staging, self.names.generated, self.context.ag)
        if not found.blocks and not found.unproven:
            return node
        return _Writer(self, node, found).function()


class _Writer:
    """Writes the new body of one function."""

    def __init__(self, owner: StageBlocks, node: Any, found: FunctionPlan) -> None:
        self.node = node
        self.plan = found
        self.names = owner.names
        self.ag = owner.context.ag
        self.guard = Guard(owner.context, owner.registry, found.unproven, found.guarded)
        self.guard.names = owner.names
        self.supers: SpellOutSuper | None = None
        first = parameters(node)
        if "super" in owner.names.used and first:
            self.supers = SpellOutSuper(owner.context, owner.registry)
            self.supers.first = first[0].id
        self.setters: dict[str, str] = {}  # of variables of the whole function
        self.local_setters: dict[str, str] = {}  # of those that are cells for the block being written
        self.hoisted = {id(statement) for statement in found.hoisted}

    def function(self) -> Any:
        body = self.body(self.node.body)
        start = docstring_end(body)
        head = list(self.plan.hoisted)
        for name in self.plan.unbound_cells:
            head += DECLARED(self.node, name=name)
        for name in self.plan.undefined:
            head += self.guard.undefined(name, self.node)
        for name, setter in self.setters.items():
            head += self.setter(setter, name, self.node)
        return evolve(self.node, body=body[:start] + head + body[start:])

    def body(self, body: Statements) -> Statements:
        return [new for statement in body for new in self.statement(statement)]

    def statement(self, statement: Any) -> Statements:
        if id(statement) in self.hoisted:
            return []
        found = self.plan.blocks.get(id(statement))
        if found is None:
            return self.native(statement)
        before: Statements = []
        for name in found.undefined:
            before += self.guard.undefined(name, statement)
        around, self.local_setters = self.local_setters, {}
        for name in found.cells:
            if name not in self.plan.captured and name not in self.plan.scopes:
                # The block around assigns the same cell, or else has a variable of its own.
                self.local_setters[name] = around.get(name) or self.names.fresh(f"set_{name}")
        if isinstance(statement, gast.If):
            staged = self.choice(statement, found)
        elif isinstance(statement, gast.While):
            staged = self.while_loop(statement, found)
        else:
            staged = self.for_loop(statement, found)
        for name, setter in self.local_setters.items():
            if name not in around:
                before += self.setter(setter, name, statement)
        self.local_setters = around
        return before + [at(new, statement) for new in staged]

    def native(self, statement: Any) -> Statements:
        if isinstance(statement, (*DEFINITIONS, gast.ClassDef)) or type(statement) not in BLOCK_FIELDS:
            if not self.plan.unproven and not self.plan.guarded:
                return [statement]
            new = self.guard.visit(statement)
            return new if isinstance(new, list) else [new]
        new = with_blocks(statement, [self.body(part) or [at(gast.Pass(), statement)] if part else part
                                      for part in blocks(statement)])  # fmt: skip
        if not self.plan.unproven and not self.plan.guarded:
            return [new]
        new = self.guard.outside_blocks(new)
        if getattr(new, "handlers", None):
            new = evolve(
                new, handlers=[self.guard.handler(handler, handler.body) for handler in new.handlers]
            )
        return [new]

    # The three kinds of blocks

    def choice(self, statement: Any, found: Plan) -> Statements:
        functions: Statements = []
        arms, otherwise = self.arms(statement, found)
        branches = [self.branch("if_true", arm.body, found, functions, arm) for arm in arms]
        orelse = self.branch("if_false", otherwise, found, functions, arms[-1])
        keywords: dict[str, gast.expr] = {}
        if found.parameters != found.results:
            keywords["names"] = _texts(found.results)
        state = [_tuple(found.parameters)] if found.parameters else []
        if len(arms) == 1:
            arguments = [self.expression(statement.test), *branches, orelse, *state]
            return [*functions, *self.call("cond", arguments, keywords, found, statement)]
        tests = [_lambda([], self.moved(self.expression(arm.test))) for arm in arms]
        pairs = [gast.Tuple(list(pair), gast.Load()) for pair in zip(tests, branches, strict=True)]
        keywords = {"orelse": orelse, **dict(zip(("state",), state, strict=False)), **keywords}
        return [*functions, *self.call("cases", pairs, keywords, found, statement)]

    def arms(self, statement: Any, found: Plan) -> tuple[list[Any], Statements]:
        """The `if` and the `elif`s that can be arms of one call; then what is in the last `else`."""
        arms, otherwise = [statement], statement.orelse
        places = {dotted(target) for target in found.places}
        if contains(statement.test, gast.NamedExpr):
            return arms, otherwise  # tests become lambdas, which cannot bind our variables
        while len(otherwise) == 1 and isinstance(otherwise[0], gast.If):
            following = self.plan.blocks.get(id(otherwise[0]))
            if (
                following is None
                or following.undefined
                or contains(otherwise[0].test, gast.NamedExpr)
                or not {dotted(target) for target in following.places} <= places
            ):
                break
            arms.append(otherwise[0])
            otherwise = otherwise[0].orelse
        return arms, otherwise

    def branch(
        self, base: str, part: Statements, found: Plan, functions: Statements, origin: gast.stmt
    ) -> gast.expr:
        """What a call gets for one branch; the function that this may need goes to `functions`."""
        takes, gives = found.parameters, found.results
        name = self.names.fresh(base)
        body = self.body(part)
        if all(isinstance(child, gast.Pass) for child in body):
            self.names.release(name)
            return self.operator("keep") if takes == gives else _lambda(takes, _tuple(gives))
        body = self.giving(body, gives)
        if not found.cells and _is_plain(body):
            self.names.release(name)
            return _lambda(takes, body[0].value)
        functions.append(self.block_function(name, takes, body, found, origin))
        return _load(name)

    def while_loop(self, statement: Any, found: Plan) -> Statements:
        state = found.parameters
        name = self.names.fresh("loop_body")
        body = self.giving(self.body(statement.body), state)
        test = self.moved(self.expression(statement.test))
        arguments = [_lambda(state, test), _load(name), _tuple(state)]
        return [
            self.block_function(name, state, body, found, statement),
            *self.call("while_loop", arguments, {}, found, statement),
        ]

    def for_loop(self, statement: Any, found: Plan) -> Statements:
        state, items, target = found.parameters, statement.iter, statement.target
        keywords: dict[str, gast.expr] = {}
        if is_call_of(items, self.ag, "until"):
            items, flag = items.args[0], items.args[1].body
            if flag.id in state:  # otherwise nothing in the loop sets it
                keywords["until"] = gast.Constant(flag.id, None)
        name = self.names.fresh("loop_body")
        body = self.body(statement.body)
        plain = isinstance(target, gast.Name) and target.id not in (*state, *found.cells)
        item = target.id if plain else self.names.fresh("item")
        if not plain:
            targets = [self.expression(target)]
            body = [at(gast.Assign(targets, _load(item), None), target), *body]
        body = self.giving(body, state)
        arguments = [self.expression(items), _load(name), _tuple(state)]
        return [
            self.block_function(name, [item, *state], body, found, statement),
            *self.call("for_loop", arguments, keywords, found, statement),
        ]

    # Pieces

    def block_function(
        self, name: str, takes: list[str], body: Statements, found: Plan, origin: gast.stmt
    ) -> gast.stmt:
        """`def name(takes): body`, with the cells that it assigns declared."""
        cells = set(found.cells)
        body = [_without_annotation(child, cells) for child in body if not _is_pass(child)]
        head = [at(self.declaration(cell), origin) for cell in found.cells]
        (function,) = FUNCTION(
            origin,
            name=name,
            parameters=[_parameter(parameter) for parameter in takes],
            body=[*head, *self.moved(body)] or [at(gast.Pass(), origin)],
        )
        return function

    def giving(self, body: Statements, results: list[str]) -> Statements:
        """The body with its results returned; what a block inside gives, or a generated variable is set to,
        is not assigned just to be returned."""
        last = body[-1] if body else None
        if not results or isinstance(last, gast.Raise):
            return body
        values = _tuple(results)
        if isinstance(last, gast.Assign) and isinstance(last.targets[0], gast.Tuple):
            if is_call_of(last.value, self.ag) and _names(last.targets[0]) == results:
                return [*body[:-1], at(gast.Return(last.value), last)]
        elif (
            isinstance(last, gast.Assign)
            and isinstance(last.targets[0], gast.Name)
            and last.targets[0].id in self.names.generated
            and results.count(last.targets[0].id) == 1
            and not contains(last.value, gast.NamedExpr)
        ):
            values.elts[results.index(last.targets[0].id)] = last.value
            body = body[:-1]
        return [*body, at(gast.Return(values), last or values)] if last else [*body, gast.Return(values)]

    def moved(self, code: Any) -> Any:
        """Code on its way into a generated function."""
        if self.supers is None:
            return code
        return self.supers.visit_all(code) if isinstance(code, list) else self.supers.visit(code)

    def call(
        self,
        operator: str,
        arguments: Sequence[gast.expr],
        keywords: dict[str, gast.expr],
        found: Plan,
        origin: Any,
    ) -> Statements:
        """The call of an operator, with its results assigned; before it, the setters that its places
        need."""
        before: Statements = []
        places = [self.cell(name) for name in found.cells]
        places += [self.place(target, before, origin) for target in found.places]
        if places:
            keywords = {**keywords, "places": gast.Tuple(places, gast.Load())}
        named = [gast.keyword(key, value) for key, value in keywords.items()]
        call = gast.Call(self.operator(operator), list(arguments), named)
        if not found.results:
            return [*before, gast.Expr(call)]
        targets = [gast.Name(name, gast.Store(), None, None) for name in found.results]
        return [*before, gast.Assign([gast.Tuple(targets, gast.Store())], call, None)]

    def cell(self, name: str) -> gast.expr:
        """`ag__.cell(lambda: x, set_x)`. A variable of the whole function has one setter, at its start."""
        if name in self.plan.captured or name in self.plan.scopes:
            if name not in self.setters:
                self.setters[name] = self.names.fresh(f"set_{name}")
            setter = self.setters[name]
        else:
            setter = self.local_setters[name]
        return gast.Call(self.operator("cell"), [_lambda([], _load(name)), _load(setter)], [])

    def setter(self, setter: str, name: str, origin: Any) -> Statements:
        value = "value" if name != "value" else "new_value"
        assign = gast.Assign([_store(name)], _load(value), None)
        body = [at(new, origin) for new in (self.declaration(name), assign)]
        return FUNCTION(origin, name=setter, parameters=[_parameter(value)], body=body)

    def place(self, target: Any, before: Statements, origin: Any) -> gast.expr:
        if isinstance(target, gast.Subscript):
            base, key = _lambda([], _as_load(target.value)), _lambda([], target.slice)
            return gast.Call(self.operator("item"), [base, key], [])
        if not target.attr.startswith("__") or target.attr.endswith("__"):
            base, name = _lambda([], _as_load(target.value)), gast.Constant(target.attr, None)
            return gast.Call(self.operator("attr"), [base, name], [])
        # Only code, not a text, gets the private name that Python makes of `self.__x` in a class.
        setter = self.names.fresh(f"set_{target.attr.strip('_')}")
        assign = at(gast.Assign([target], _load("value"), None), origin)
        before += FUNCTION(origin, name=setter, parameters=[_parameter("value")], body=[assign])
        return gast.Call(self.operator("cell"), [_lambda([], _as_load(target)), _load(setter)], [])

    def declaration(self, name: str) -> gast.stmt:
        return gast.Global([name]) if self.plan.scopes.get(name) == "global" else gast.Nonlocal([name])

    def operator(self, name: str) -> gast.expr:
        return gast.Attribute(_load(self.ag), name, gast.Load())

    def expression(self, node: Any) -> Any:
        return self.guard.visit(node) if self.plan.unproven else node


def _load(name: str) -> gast.Name:
    return gast.Name(name, gast.Load(), None, None)


def _store(name: str) -> gast.Name:
    return gast.Name(name, gast.Store(), None, None)


def _parameter(name: str) -> gast.Name:
    return gast.Name(name, gast.Param(), None, None)


def _tuple(names: Sequence[str]) -> gast.Tuple:
    return gast.Tuple([_load(name) for name in names], gast.Load())


def _texts(names: Sequence[str]) -> gast.Tuple:
    return gast.Tuple([gast.Constant(name, None) for name in names], gast.Load())


def _lambda(names: Sequence[str], body: gast.expr) -> gast.Lambda:
    arguments = gast.arguments([_parameter(name) for name in names], [], None, [], [], None, [])
    return gast.Lambda(arguments, body)


def _as_load(node: Any) -> gast.expr:
    return evolve(node, ctx=gast.Load())


def _names(target: gast.Tuple) -> list[str]:
    return [element.id for element in target.elts if isinstance(element, gast.Name)]


def _is_plain(body: Statements) -> bool:
    """Whether a branch does nothing but give names and constants."""
    if len(body) != 1 or not isinstance(body[0], gast.Return):
        return False
    values = body[0].value
    return isinstance(values, gast.Tuple) and all(
        isinstance(value, (gast.Name, gast.Constant)) for value in values.elts
    )


def _is_pass(statement: gast.stmt) -> bool:
    return isinstance(statement, gast.Pass)


def _without_annotation(statement: Any, cells: set[str]) -> Any:
    """`x: int = 1` as `x = 1` where `x` is a cell: Python allows no annotation beside `nonlocal`."""
    if (
        isinstance(statement, gast.AnnAssign)
        and isinstance(statement.target, gast.Name)
        and statement.target.id in cells
    ):
        return at(gast.Assign([statement.target], statement.value, None), statement)
    return statement
