"""Outline `if`, `while` and `for` into functions of their state, called through an operator that stages.

    if x > 0:                     def if_true(y):
        y = y + x                     y = y + x
    else:               ==>           return (y,)
        y = 0
                                  def if_false(y):
                                      y = 0
                                      return (y,)
                                  (y,) = ag__.cond(x > 0, if_true, if_false, (y,))

`analysis/live_in_out.py` determines the state. Blocks that are provably static stay (`analysis/binding_time.py`).
`outlining.py` generates the functions. `block_locations.py` describes the locations that they assign in place, such as
`self.y`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from ..analysis.escape import UnescapedLists
from ..analysis.live_in_out import BlockPlan, FunctionPlan, plan
from ..analysis.scopes import mentions_choice
from ..syntax.generated_positions import on_first_line
from ..syntax.node_builders import STORE, assign, attribute, call, group, lambda_of, load, store, text
from ..syntax.template import Template
from ..syntax.tree_queries import (
    LOOPS,
    Statements,
    at,
    blocks,
    contains,
    docstring_end,
    dotted,
    evolve,
    is_call_of,
    is_compound,
    with_blocks,
)
from .base import FunctionPass
from .block_locations import BlockLocations
from .check_loop_directives import directive, options_of
from .outlining import BlockFunctions, only_gives
from .unbound_guards import Guard

DECLARED = Template("$name: object")


class StageBlocks(FunctionPass):
    name = "stage_blocks"
    erases = None
    concerns = frozenset({gast.If, *LOOPS, gast.BoolOp, gast.IfExp, gast.Assert, gast.Compare})

    def function(self, node: Any) -> Any:
        staging = self.staging(node)
        if not staging.staged and not mentions_choice(node):
            return node
        context, generated, lists = self.context, self.names.generated, None
        if self.names.makes_lists:
            lists = UnescapedLists(node, context.ag, generated, context.is_builtin, context.is_library)
            self.names.lists.update((id(name), name) for name in lists.reads)
        found = plan(node, staging, generated, context.ag, lists)
        if not found.blocks and not found.unproven:
            return node
        return _Writer(self, node, found).function()


class _Writer:
    """The generator of the new body of one function."""

    def __init__(self, owner: StageBlocks, node: Any, found: FunctionPlan) -> None:
        self.node = node
        self.plan = found
        self.names = owner.names
        self.context = owner.context
        self.ag = owner.context.ag
        self.guard = Guard(owner.context, owner.registry, found.unproven, found.guarded)
        self.guard.names = owner.names
        self.locations = BlockLocations(found, owner.names, self.ag)
        self.functions = BlockFunctions(owner, node, self.locations)
        self.hoisted = {id(statement) for statement in found.hoisted}

    def function(self) -> Any:
        body = self.body(self.node.body)
        start = docstring_end(body)
        head = list(self.plan.hoisted)
        for name in self.plan.unbound_cells:
            head += DECLARED(self.node, name=name)
        for name in self.plan.undefined:
            head += self.guard.undefined(name, self.node)
        head += self.locations.shared_setters(self.node)
        return evolve(self.node, body=body[:start] + head + body[start:])

    def body(self, body: Statements) -> Statements:
        return [new for statement in body for new in self.statement(statement)]

    def statement(self, statement: Any) -> Statements:
        if id(statement) in self.hoisted or self.decides_nothing(statement):
            return []
        found = self.plan.blocks.get(id(statement))
        if found is None:
            return self.native(statement)
        before = [new for name in found.undefined for new in self.guard.undefined(name, statement)]
        around = self.locations.enter(found)
        if isinstance(statement, gast.If):
            staged = self.choice(statement, found)
        elif isinstance(statement, gast.While):
            staged = self.while_loop(statement, found)
        else:
            staged = self.for_loop(statement, found)
        before += self.locations.leave(around, statement)
        line = on_first_line(statement, self.context.source)
        return before + [at(new, line) for new in staged]

    def decides_nothing(self, statement: Any) -> bool:
        """Return whether a lowered jump left only `if not returned: pass`."""
        if not isinstance(statement, gast.If):
            return False
        test = statement.test.operand if isinstance(statement.test, gast.UnaryOp) else statement.test
        return (
            isinstance(test, gast.Name)
            and test.id in self.names.generated
            and all(isinstance(child, gast.Pass) for child in (*statement.body, *statement.orelse))
        )

    def native(self, statement: Any) -> Statements:
        """Return a statement that stays Python, with inner blocks staged and unproven reads checked."""
        checks = self.plan.unproven or self.plan.guarded
        if not is_compound(statement):
            new = self.guard.visit(statement) if checks else statement
            return new if isinstance(new, list) else [new]
        new = with_blocks(statement, [self.native_part(part, statement) for part in blocks(statement)])
        if not checks:
            return [new]
        new = self.guard.outside_blocks(new)
        if getattr(new, "handlers", None):
            handlers = [self.guard.handler(handler, handler.body) for handler in new.handlers]
            new = evolve(new, handlers=handlers)
        return [new]

    def native_part(self, part: Statements, origin: gast.stmt) -> Statements:
        return (self.body(part) or [at(gast.Pass(), origin)]) if part else part

    # The three kinds of blocks

    def choice(self, statement: Any, found: BlockPlan) -> Statements:
        functions: Statements = []
        arms, otherwise = self.arms(statement, found)
        branches = [self.branch("if_true", arm.body, found, functions, arm) for arm in arms]
        orelse = self.branch("if_false", otherwise, found, functions, arms[-1])
        keywords: dict[str, gast.expr] = {}
        if found.parameters != found.results:
            keywords["names"] = group([text(name) for name in found.results])
        state = {"state": _loaded(found.parameters)} if found.parameters else {}
        if len(arms) == 1:
            arguments = [self.expression(statement.test), *branches, orelse, *state.values()]
            return [*functions, *self.call("cond", arguments, keywords, found, statement)]
        tests = [lambda_of([], self.functions.moved(self.expression(arm.test))) for arm in arms]
        pairs = [group(pair) for pair in zip(tests, branches, strict=True)]
        keywords = {"orelse": orelse, **state, **keywords}
        return [*functions, *self.call("cases", pairs, keywords, found, statement)]

    def arms(self, statement: Any, found: BlockPlan) -> tuple[list[Any], Statements]:
        """Return the `if` and the `elif`s that can be branches of one call, and the last `else` block."""
        arms, otherwise = [statement], statement.orelse
        locations = {dotted(target) for target in found.locations}
        if self.binds(statement.test):
            return arms, otherwise  # tests become lambdas, which cannot bind variables of the function
        while len(otherwise) == 1 and isinstance(otherwise[0], gast.If):
            following = self.plan.blocks.get(id(otherwise[0]))
            if (
                following is None
                or following.undefined
                or self.binds(otherwise[0].test)
                or not {dotted(target) for target in following.locations} <= locations
            ):
                break
            arms.append(otherwise[0])
            otherwise = otherwise[0].orelse
        return arms, otherwise

    def binds(self, test: gast.expr) -> bool:
        """Return whether a test binds a variable of the function."""
        return self.names.walrus and contains(test, gast.NamedExpr)

    def branch(
        self, base: str, part: Statements, found: BlockPlan, functions: Statements, origin: gast.stmt
    ) -> gast.expr:
        """Return the argument for one branch; append the function that it may need to `functions`."""
        takes, gives = found.parameters, found.results
        name = self.names.fresh(base)
        body = self.body(part)
        if all(isinstance(child, gast.Pass) for child in body):
            self.names.release(name)
            return self.operator("keep") if takes == gives else lambda_of(takes, _loaded(gives))
        body = self.functions.giving(body, gives)
        if not found.cells and only_gives(body):
            self.names.release(name)
            return lambda_of(takes, body[0].value)
        functions.append(self.functions.function(name, takes, body, found.cells, origin))
        return load(name)

    def while_loop(self, statement: Any, found: BlockPlan) -> Statements:
        state = found.parameters
        name = self.names.fresh("loop_body")
        options, body = self.options(statement, state)
        body = self.functions.giving(self.body(body), state)
        test = self.functions.moved(self.expression(statement.test))
        arguments = [lambda_of(state, test), load(name), _loaded(state)]
        return [
            self.functions.function(name, state, body, found.cells, statement),
            *self.call("while_loop", arguments, options, found, statement),
        ]

    def for_loop(self, statement: Any, found: BlockPlan) -> Statements:
        state, items, target = found.parameters, statement.iter, statement.target
        keywords: dict[str, gast.expr] = {}
        if is_call_of(items, self.ag, "until"):
            items, flag = items.args[0], items.args[1].body
            if flag.id in state:  # otherwise the loop never sets the flag
                keywords["until"] = text(flag.id)
        name = self.names.fresh("loop_body")
        options, body = self.options(statement, state)
        keywords |= options
        body = self.body(body)
        plain = isinstance(target, gast.Name) and target.id not in (*state, *found.cells)
        item = target.id if plain else self.names.fresh("item")
        if not plain:
            targets = [self.expression(target)]
            body = [at(gast.Assign(targets, load(item), None), target), *body]
        body = self.functions.giving(body, state)
        arguments = [self.expression(items), load(name), _loaded(state)]
        return [
            self.functions.function(name, [item, *state], body, found.cells, statement),
            *self.call("for_loop", arguments, keywords, found, statement),
        ]

    # Pieces

    def options(self, loop: Any, state: list[str]) -> tuple[dict[str, gast.expr], Statements]:
        """Return the options in `set_loop_options` at the start of a loop, for the call, and the rest of the
        body."""
        call = directive(loop.body[0], self.context)
        said = None if call is None else options_of(call)
        if said is None:
            return {}, loop.body
        rest = loop.body[1:] or [at(gast.Pass(), loop.body[0])]
        return {"options": lambda_of(state, self.functions.moved(self.expression(said)))}, rest

    def call(
        self,
        operator: str,
        arguments: Sequence[gast.expr],
        keywords: dict[str, gast.expr],
        found: BlockPlan,
        origin: Any,
    ) -> Statements:
        """Return the call of an operator, with its results assigned, after the setters that it needs."""
        before: Statements = []
        places = self.locations.of(found, before, origin)
        if places is not None:
            keywords = {**keywords, "places": places}
        made = call(self.operator(operator), arguments, keywords)
        if not found.results:
            return [*before, gast.Expr(made)]
        targets = gast.Tuple([store(name) for name in found.results], STORE)
        return [*before, assign(targets, made)]

    def operator(self, name: str) -> gast.expr:
        return attribute(load(self.ag), name)

    def expression(self, node: Any) -> Any:
        return self.guard.visit(node) if self.plan.unproven else node


def _loaded(names: Sequence[str]) -> gast.Tuple:
    return group([load(name) for name in names])
