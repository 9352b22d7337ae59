"""Destructuring of nested patterns, whose parts must be extracted before they can be tested.

    [0, y]                if ag__.has_length(x, 2):
                              item, y_1 = x
                    ==>       if item == 0:
                                  …                          y is bound to `y_1` after all tests have passed

    Point(x=0, y=b)       match x:
                              case Point(x=item, y=b_1):
                    ==>           if item == 0:
                                      …

The code for a pattern encloses the code that follows, so the tests run in Python's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..syntax.node_builders import load
from ..syntax.template import Template
from ..syntax.tree_queries import Statements, at, evolve
from .base import FreshNames
from .pattern_tests import ASSIGN, PatternTests, Subject, all_of, captures, flat, is_irrefutable, star_of

SET = Template("$name = True")
RESET = Template("$name = False")
UNLESS = Template("""
    if not $name:
        $body
""")
WHEN = Template("""
    if $test:
        $body
""")

Inner = Callable[[], Statements]


class Destructuring:
    """The generator of nested tests; captures go to temporaries until all tests have passed."""

    def __init__(self, questions: PatternTests, names: FreshNames) -> None:
        self.questions = questions
        self.names = names

    def renamed(self, origin: Any, names: dict[str, str]) -> Statements:
        """Bind the captured names to their temporaries."""
        pairs = names.items()
        return [new for name, value in pairs for new in ASSIGN(origin, name=name, value=load(value))]

    def opened(self, pattern: Any, subject: Subject, names: dict[str, str], inner: Inner) -> Statements:
        """Return `inner()` nested in the tests of the pattern; `names` collects the temporary of each
        capture."""
        found = self.questions.asked(pattern, subject)
        if found is not None and not found.unpacking:
            aside = self.put_aside(pattern, found.names, names)
            return self.asking(pattern, found.tests, [*aside, *inner()])
        subject.forget()
        match pattern:
            case gast.MatchAs():

                def bind() -> Statements:
                    return [*self.put_aside(pattern, {pattern.name: subject}, names), *inner()]

                return self.opened(pattern.pattern, subject, names, bind)
            case gast.MatchOr():
                return self.alternatives(pattern, subject, names, inner)
            case gast.MatchSequence():
                return self.sequence(pattern, subject, names, inner)
        return self.parts(pattern, subject, names, inner)

    def put_aside(self, origin: Any, found: dict[str, Subject], names: dict[str, str]) -> Statements:
        """Record the variable of each capture, and return assignments for those that need a temporary."""
        result: Statements = []
        for name, subject in found.items():
            if isinstance(subject.node, gast.Name):
                names[name] = subject.node.id
            else:
                names[name] = self.names.fresh(name)
                result += ASSIGN(origin, name=names[name], value=subject.at(origin))
        return result

    def asking(self, pattern: Any, tests: list[gast.expr], body: Statements) -> Statements:
        """Return an `if` with the tests; a body that is a single `if` is merged into it."""
        if not tests:
            return body
        inner = body[0] if len(body) == 1 else None
        if isinstance(inner, gast.If) and not inner.orelse:
            tests, body = flat([*tests, inner.test]), inner.body
        return [at(gast.If(all_of(tests, pattern), body, []), pattern)]

    def alternatives(self, pattern: Any, subject: Subject, names: dict[str, str], inner: Inner) -> Statements:
        flag = self.names.fresh("either")
        shared = {name: self.names.fresh(name) for name in dict.fromkeys(captures(pattern))}
        result = RESET(pattern, name=flag)
        for position, part in enumerate(pattern.patterns):
            tried = self.alternative(part, subject, shared, flag)
            result += UNLESS(part, name=flag, body=tried) if position else tried
        names.update(shared)
        return [*result, *WHEN(pattern, test=load(flag), body=inner())]

    def alternative(self, pattern: Any, subject: Subject, shared: dict[str, str], flag: str) -> Statements:
        names: dict[str, str] = {}

        def found() -> Statements:
            values = {shared[name]: value for name, value in names.items()}
            return [*self.renamed(pattern, values), *SET(pattern, name=flag)]

        return self.opened(pattern, subject, names, found)

    def sequence(self, pattern: Any, subject: Subject, names: dict[str, str], inner: Inner) -> Statements:
        if subject.items is not None:
            known = self.questions.paired(pattern, subject.items)
            assert known is not None, "another number of items is decided before"
            return self.each(known, names, inner)
        test = self.questions.length(pattern, subject)
        star = star_of(pattern)
        holes = {index: self.hole(part) for index, part in enumerate(pattern.patterns)}
        targets = {index: name for index, name in holes.items() if name}
        pairs = [
            (_without_star(pattern.patterns[index]), Subject(at(load(name), pattern)))
            for index, name in targets.items()
        ]
        if star is not None and star not in targets:
            body = self.each_item(pattern, subject, targets, pairs, names, inner)
        else:
            taken = self.questions.unpacking(pattern, subject, targets)
            body = [*taken, *self.each(pairs, names, inner)]
        return [at(gast.If(test, body, []), pattern)]

    def each_item(
        self,
        pattern: Any,
        subject: Subject,
        targets: dict[int, str],
        pairs: list[tuple[Any, Subject]],
        names: dict[str, str],
        inner: Inner,
    ) -> Statements:
        """Extract each item just before its pattern is tested; the star has no name."""
        if not pairs:
            return inner()
        (part, item), *others = pairs
        (index, name), *more = targets.items()
        rest: Inner = lambda: self.each_item(pattern, subject, dict(more), others, names, inner)  # noqa: E731
        return [
            *self.questions.unpacking(pattern, subject, {index: name}),
            *self.opened(part, item, names, rest),
        ]

    def each(self, pairs: list[tuple[Any, Subject]], names: dict[str, str], inner: Inner) -> Statements:
        if not pairs:
            return inner()
        (part, subject), *others = pairs
        return self.opened(part, subject, names, lambda: self.each(others, names, inner))

    def parts(self, pattern: Any, subject: Subject, names: dict[str, str], inner: Inner) -> Statements:
        """Match a class or mapping by Python's `match`, and test its parts one after another."""
        pairs: list[tuple[Any, Subject]] = []
        fields: dict[str, Any] = {}
        for field in ("patterns", "kwd_patterns"):
            if hasattr(pattern, field):
                fields[field] = [self.part(part, pairs) for part in getattr(pattern, field)]
        if isinstance(pattern, gast.MatchMapping) and pattern.rest:
            fields["rest"] = names[pattern.rest] = self.names.fresh(pattern.rest)
        skeleton = evolve(pattern, **fields)
        taken = gast.match_case(skeleton, None, self.each(pairs, names, inner))
        return [at(gast.Match(subject.at(pattern), [taken]), pattern)]

    def part(self, pattern: Any, pairs: list[tuple[Any, Subject]]) -> Any:
        name = self.hole(pattern)
        if not name:
            return pattern
        pairs.append((pattern, Subject(at(load(name), pattern))))
        return at(gast.MatchAs(None, name), pattern)

    def hole(self, pattern: Any) -> str:
        """Return a variable for the value that a part of a pattern matches; "" for `_`."""
        if is_irrefutable(pattern):
            return self.names.fresh(pattern.name) if pattern.name else ""
        return self.names.fresh("item")


def _without_star(pattern: Any) -> Any:
    if isinstance(pattern, gast.MatchStar):
        return at(gast.MatchAs(None, pattern.name), pattern)
    return pattern
