"""Lower a `match` that may depend on a tensor to a chain of `if` statements.

    match x:                          if x == 0:
        case 0:                           A
            A                         elif ag__.has_length(x, 2):
        case [first, second]:             first, second = x
            B                 ==>         B
        case n if n < 9:              elif x < 9:
            C                             n = x
        case _:                           C
            D                         else:
                                          D

A `match` of strings, classes and mappings stays, because no tensor matches those. Where such cases are mixed with
others, they form a `match` whose last case holds the rest of the chain. A case that needs several tests in order
becomes nested tests, with a flag for whether the case was chosen:

    match x:                          matched = False
        case (0, y) if y > z:         if ag__.has_length(x, 2):
            A                             item, y_1 = x
        case _:               ==>         if item == 0:
            B                                 y = y_1
                                              if y > z:
                                                  matched = True
                                                  A
                                      if not matched:
                                          B

The subject is evaluated once, and all tests run in the order of Python's `match`."""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import reads_own_frame
from ..analysis.reachability import Reachability
from ..analysis.scopes import bound
from ..syntax.node_builders import load
from ..syntax.tree_queries import (
    COMPREHENSIONS,
    FUNCTIONS,
    SUSPENSIONS,
    Statements,
    at,
    contains,
    evolve,
    inside,
    is_compound,
    parameters,
    stored_names,
)
from .base import FunctionPass, TreePass
from .pattern_destructuring import RESET, SET, UNLESS, WHEN, Destructuring
from .pattern_tests import (
    ASSIGN,
    PatternTest,
    PatternTests,
    Subject,
    all_of,
    captures,
    flat,
    is_irrefutable,
    may_stage,
)


class LowerMatch(FunctionPass):
    name = "lower_match"
    concerns = frozenset({gast.Match})
    emits = frozenset({gast.If, gast.UnaryOp, gast.BoolOp, gast.Compare})

    def function(self, node: Any) -> Any:
        if not contains(node.body, gast.Match) or (not self.names.plain and reads_own_frame(node.body)):
            return node
        return evolve(node, body=self.walk(node.body, node))

    def statement(self, statement: Any, function: Any) -> Statements:
        if not is_compound(statement):
            return [statement]
        new = self.with_walked_blocks(statement, function)
        if not isinstance(new, gast.Match) or contains(statement, SUSPENSIONS):
            return [new]
        if not any(map(may_stage, new.cases)):
            return [new]
        return _Chain(self, new, function).statements()


class _Chain:
    """The generator of the chain for one `match`."""

    def __init__(self, owner: LowerMatch, match: Any, function: Any) -> None:
        self.owner = owner
        self.match = match
        self.names = owner.names
        self.function = function
        self.questions = PatternTests(owner.context, owner.names)
        self.opening = Destructuring(self.questions, owner.names)
        self.endings = Reachability()
        self.before: Statements = []
        self.subject = self.stable(match.subject)

    def statements(self) -> Statements:
        chain = self.rest(self.match.cases)
        return [*self.before, *chain]

    # The subject

    def stable(self, node: Any) -> Subject:
        """Return the subject, in a fresh variable if anything may change it while patterns are tested."""
        if isinstance(node, gast.Tuple) and all(map(_destructures, self.match.cases)):
            return Subject(evolve(node, elts=[self.kept_item(element, node) for element in node.elts]))
        return Subject(self.kept(node, "subject"))

    def kept_item(self, node: Any, items: Any) -> Any:
        """Return an item of the subject. A name that may be unbound is read here, as in Python, since no
        pattern may read it."""
        if isinstance(node, gast.Name) and (contains(items, gast.NamedExpr) or not self.has_value(node.id)):
            return self.put(node, "item")
        return self.kept(node, "item")

    def has_value(self, name: str) -> bool:
        """Return whether a name is a parameter or assigned earlier at the top level, and never deleted."""
        for node in inside(self.function.body):
            handled = node.name if isinstance(node, gast.ExceptHandler) else None
            deleted = isinstance(node, gast.Name) and isinstance(node.ctx, gast.Del)
            if (handled is not None and handled.id == name) or (deleted and node.id == name):
                return False
        given = {taken.id for taken in parameters(self.function)}
        for statement in self.function.body:
            if isinstance(statement, gast.Assign) and statement.lineno < self.match.lineno:
                given |= {stored.id for target in statement.targets for stored in stored_names(target)}
        return name in given

    def kept(self, node: Any, base: str) -> Any:
        if isinstance(node, gast.Name) and self.is_safe(node.id):
            return node
        return self.put(node, base)

    def put(self, node: Any, base: str) -> Any:
        """Assign the value of an expression to a fresh variable."""
        name = self.names.fresh(base)
        self.before += ASSIGN(node, name=name, value=node)
        return at(load(name), node)

    def is_safe(self, name: str) -> bool:
        """Return whether a name keeps its value while the patterns are tested."""
        shared = any(
            name in node.names
            for node in gast.walk(self.function)
            if isinstance(node, (gast.Global, gast.Nonlocal))
        )
        if shared or name not in bound(self.function):
            return False
        captured = [case for case in self.match.cases if name in captures(case.pattern)]
        if captured == self.match.cases[-1:] and is_irrefutable(captured[0].pattern):
            # `case x` at the end of `match x` rebinds nothing, unless it alone makes `x` a local name.
            captured = [] if self.has_value(name) else captured
        guards = [case.guard for case in self.match.cases if case.guard is not None]
        return not captured and not any(contains(guard, gast.NamedExpr) for guard in guards)

    # The cases

    def rest(self, cases: list[Any]) -> Statements:
        """Return the code for these cases, which runs if no earlier case was chosen."""
        if not cases:
            return []
        case, *later = cases
        if _is_native(case):
            return self.native(cases)
        found = self.questions.asked(case.pattern, self.subject)
        if found is None:
            self.subject.forget()
        elif case.guard is None:
            return self.arm(case, found, found.tests, later)
        elif not found.binds:
            return self.arm(case, found, [*found.tests, case.guard], later)
        elif not found.unpacking and self.is_private(case, found):
            guard = _Substitution(self.owner, found.names).visit(case.guard)
            return self.arm(case, found, [*found.tests, guard], later)
        elif not found.tests:
            return [*self.bindings(case, found), *self.choice(case, case.guard, case.body, self.rest(later))]
        else:
            self.subject.forget()
        return self.nested(case, later)

    def arm(self, case: Any, found: PatternTest, tests: list[gast.expr], later: list[Any]) -> Statements:
        """Return one `if` of the chain, or its end."""
        body = [*self.bindings(case, found), *case.body]
        if not tests:
            return body
        return self.choice(case, all_of(flat(tests), case.pattern), body, self.rest(later))

    def choice(self, case: Any, test: gast.expr, body: Statements, rest: Statements) -> Statements:
        return [at(gast.If(test, body, rest), case.pattern)]

    def bindings(self, case: Any, found: PatternTest) -> Statements:
        assignments = [
            new
            for name, value in found.names.items()
            for new in ASSIGN(case.pattern, name=name, value=value.at(case.pattern))
            if not (isinstance(value.node, gast.Name) and value.node.id == name)
        ]
        return [*found.unpacking, *assignments]

    def is_private(self, case: Any, found: PatternTest) -> bool:
        """Return whether only cases that bind the captures read them, so that the guard can test the subject
        instead."""
        if contains(case.guard, (*FUNCTIONS, *COMPREHENSIONS, gast.NamedExpr)):
            return False
        return all(
            isinstance(value.node, gast.Name) and not _is_read_outside(name, self.function)
            for name, value in found.names.items()
        )

    def native(self, cases: list[Any]) -> Statements:
        """Keep cases that no tensor matches as a `match`; its last case contains the others."""
        count = next((i for i, case in enumerate(cases) if not _is_native(case)), len(cases))
        subject = self.subject.at(self.match)
        rest = self.rest(cases[count:])
        last = [gast.match_case(at(gast.MatchAs(None, None), self.match), None, rest)] if rest else []
        return [at(gast.Match(subject, [*cases[:count], *last]), self.match)]

    # A case that needs several tests in order

    def nested(self, case: Any, later: list[Any]) -> Statements:
        ends = self.endings.of_list(case.body)
        flag = self.names.fresh("matched") if later and not ends else ""
        names: dict[str, str] = {}

        def chosen() -> Statements:
            body = [*(SET(case.pattern, name=flag) if flag else []), *case.body]
            if case.guard is not None:
                body = WHEN(case.guard, test=case.guard, body=body)
            return [*self.opening.renamed(case.pattern, names), *body]

        tried = self.opening.opened(case.pattern, self.subject, names, chosen)
        rest = self.rest(later)
        if not flag:
            return [*tried, *rest]
        return [*RESET(case.pattern, name=flag), *tried, *UNLESS(later[0].pattern, name=flag, body=rest)]


def _is_native(case: Any) -> bool:
    """Return whether a case contains class or mapping patterns and does not depend on a tensor."""
    return not may_stage(case) and any(
        isinstance(node, (gast.MatchClass, gast.MatchMapping)) for node in gast.walk(case.pattern)
    )


def _destructures(case: Any) -> bool:
    """Return whether a case never uses the subject as a whole."""
    pattern = case.pattern
    parts = pattern.patterns if isinstance(pattern, gast.MatchOr) else [pattern]
    return all(
        isinstance(part, gast.MatchSequence) or (isinstance(part, gast.MatchAs) and part.pattern is None)
        for part in parts
    )


def _is_read_outside(name: str, function: Any) -> bool:
    """Return whether a name occurs outside of the cases that bind it."""
    pending: list[Any] = [function]
    while pending:
        node = pending.pop()
        if isinstance(node, gast.match_case) and name in captures(node.pattern):
            continue
        if isinstance(node, gast.Name) and node.id == name:
            return True
        if isinstance(node, (gast.Global, gast.Nonlocal)) and name in node.names:
            return True
        pending.extend(gast.iter_child_nodes(node))
    return False


class _Substitution(TreePass):
    """A pass that replaces reads of captured names by reads of the subject."""

    name = "substitution"

    def __init__(self, owner: TreePass, names: dict[str, Subject]) -> None:
        super().__init__(owner.context, owner.registry)
        self.found = names

    def visit_Name(self, node: Any) -> Any:
        return self.found[node.id].at(node) if node.id in self.found else node
