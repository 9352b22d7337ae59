"""Translate a `match` pattern into tests of its subject and the names it binds.

    pattern               tests                                 binds
    0                     x == 0
    Color.RED | 7         x == Color.RED or x == 7
    True                  ag__.is_(x, True)
    other                                                       other = x
    [first, *rest]        ag__.has_length(x, 1, more=True)      first, *rest = x
    (0, b) of `y, z`      y == 0                                b = z

Python tests in this order, left to right, and binds after all tests have passed. `asked` returns None for a pattern
that one expression cannot test: one with a class or a mapping, or with parts that must be extracted first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gast

from ..analysis.binding_time import static
from ..syntax.node_builders import group, load, store
from ..syntax.template import Template
from ..syntax.tree_queries import Statements, at, copied
from .base import Context, FreshNames

HAS_LENGTH = Template("$ag.has_length($subject, $count)")
HAS_MORE = Template("$ag.has_length($subject, $count, more=True)")
IS = Template("$ag.is_($subject, $value)")
ASSIGN = Template("$name = $value")
ITEM = Template("$subject[$index]")
ITEM_FROM_END = Template("$subject[$length - $index]")
LENGTH = Template("len($subject)")
OWN_LENGTH = Template("$subject.__len__()")  # used where `len` is not the builtin


class Subject:
    """An expression without side effects that can be repeated: a name, or a tuple of names."""

    def __init__(self, node: gast.expr) -> None:
        self.node = node
        self.items = [Subject(element) for element in node.elts] if isinstance(node, gast.Tuple) else None
        self.unread = True

    def at(self, origin: gast.AST) -> Any:
        """Return the expression. Its first use has the location of the `match`, later ones that of `origin`."""
        if self.items is not None:
            return at(group([item.at(origin) for item in self.items]), origin)
        if self.unread:
            self.unread = False
            return self.node
        return at(load(self.node.id), origin) if isinstance(self.node, gast.Name) else copied(self.node)

    def forget(self) -> None:
        """Discard the tests generated so far: the next use is the first again."""
        self.unread = True
        for item in self.items or ():
            item.forget()


class PatternTest(NamedTuple):
    """The tests of a pattern, and the bindings after they pass."""

    tests: list[gast.expr]
    names: dict[str, Subject]
    unpacking: Statements  # binds names as well

    @property
    def binds(self) -> bool:
        return bool(self.names or self.unpacking)


class PatternTests:
    """The generator of the tests of patterns."""

    def __init__(self, context: Context, names: FreshNames) -> None:
        self.context = context
        self.ag = context.ag
        self.names = names
        self.unused = ""  # a variable for items that the pattern ignores

    def asked(self, pattern: Any, subject: Subject) -> PatternTest | None:
        match pattern:
            case gast.MatchValue(value=value):
                return PatternTest(
                    [at(gast.Compare(subject.at(pattern), [gast.Eq()], [value]), pattern)], {}, []
                )
            case gast.MatchSingleton():
                return PatternTest([self.identity(pattern, subject)], {}, [])
            case gast.MatchAs(pattern=None, name=name):
                return PatternTest([], {name: subject} if name else {}, [])
            case gast.MatchAs(pattern=inner, name=name):
                found = self.asked(inner, subject)
                return found and found._replace(names={**found.names, name: subject})
            case gast.MatchOr(patterns=patterns):
                return self.alternatives(pattern, [self.asked(part, subject) for part in patterns])
            case gast.MatchSequence() if subject.items is not None:
                return self.known_items(pattern, subject.items)
            case gast.MatchSequence(patterns=patterns) if all(map(is_irrefutable, patterns)):
                return self.sequence(pattern, subject)
        return None

    def identity(self, pattern: Any, subject: Subject) -> gast.expr:
        value = at(gast.Constant(pattern.value, None), pattern)
        if pattern.value is None:
            return at(gast.Compare(subject.at(pattern), [gast.Is()], [value]), pattern)
        return IS.expression(pattern, ag=self.ag, subject=subject.at(pattern), value=value)

    def alternatives(self, pattern: Any, parts: list[PatternTest | None]) -> PatternTest | None:
        known = [part for part in parts if part is not None and not part.binds]
        if len(known) < len(parts):
            return None
        return PatternTest(
            [at(gast.BoolOp(gast.Or(), [all_of(part.tests, pattern) for part in known]), pattern)], {}, []
        )

    def known_items(self, pattern: Any, items: list[Subject]) -> PatternTest | None:
        pairs = self.paired(pattern, items)
        if pairs is None:
            return PatternTest([at(gast.Constant(False, None), pattern)], {}, [])
        tests: list[gast.expr] = []
        names: dict[str, Subject] = {}
        for part, item in pairs:
            found = self.asked(part, item)
            if found is None or found.unpacking:
                return None
            tests += found.tests
            names.update(found.names)
        return PatternTest(tests, names, [])

    def paired(self, pattern: Any, items: list[Subject]) -> list[tuple[Any, Subject]] | None:
        """Return pairs of a sequence pattern's parts and the items they match; None if the lengths differ."""
        star = star_of(pattern)
        parts = list(pattern.patterns)
        if star is not None and len(parts) - 1 <= len(items):
            end = len(items) - (len(parts) - star - 1)
            between = gast.List([item.at(pattern) for item in items[star:end]], gast.Load())
            parts[star] = at(gast.MatchAs(None, parts[star].name), pattern)
            items = [*items[:star], Subject(at(between, pattern)), *items[end:]]
        return list(zip(parts, items, strict=True)) if len(parts) == len(items) else None

    def sequence(self, pattern: Any, subject: Subject) -> PatternTest:
        """Return the test of a sequence pattern with irrefutable parts."""
        test = self.length(pattern, subject)
        targets = {index: part.name for index, part in enumerate(pattern.patterns) if part.name}
        return PatternTest([test], {}, self.unpacking(pattern, subject, targets))

    def length(self, pattern: Any, subject: Subject) -> gast.expr:
        star = star_of(pattern)
        shape = HAS_LENGTH if star is None else HAS_MORE
        count = gast.Constant(len(pattern.patterns) - (star is not None), None)
        return shape.expression(pattern, ag=self.ag, subject=subject.at(pattern), count=count)

    def unpacking(self, pattern: Any, subject: Subject, targets: dict[int, str]) -> Statements:
        """Assign the items at these positions to variables, in the order of Python's `match`."""
        star = star_of(pattern)
        if not targets:
            return []
        if star is not None and star not in targets:
            return [
                new
                for index, name in targets.items()
                for new in ASSIGN(pattern, name=name, value=self.item(pattern, subject, index, star))
            ]
        if len(targets) < len(pattern.patterns) and not self.unused:
            self.unused = self.names.fresh("_")
        names = [store(targets.get(index, self.unused)) for index in range(len(pattern.patterns))]
        elements: list[gast.expr] = [
            gast.Starred(name, gast.Store()) if index == star else name for index, name in enumerate(names)
        ]
        target = at(gast.Tuple(elements, gast.Store()), pattern)
        return [at(gast.Assign([target], subject.at(pattern), None), pattern)]

    def item(self, pattern: Any, subject: Subject, index: int, star: int) -> gast.expr:
        after = len(pattern.patterns) - index
        if index < star:
            position = gast.Constant(index, None)
            return ITEM.expression(pattern, subject=subject.at(pattern), index=position)
        shape = LENGTH if self.context.is_builtin("len") and "len" not in self.names.bound else OWN_LENGTH
        length = shape.expression(pattern, subject=subject.at(pattern))
        return ITEM_FROM_END.expression(
            pattern, subject=subject.at(pattern), length=length, index=gast.Constant(after, None)
        )


def all_of(tests: Sequence[gast.expr], origin: gast.AST) -> gast.expr:
    """Return the conjunction of the tests; `True` if there are none."""
    if not tests:
        return at(gast.Constant(True, None), origin)
    return tests[0] if len(tests) == 1 else at(gast.BoolOp(gast.And(), list(tests)), origin)


def flat(tests: list[gast.expr]) -> list[gast.expr]:
    """Return the tests with nested `and` flattened."""
    return [
        part
        for test in tests
        for part in (
            test.values if isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And) else [test]
        )
    ]


def star_of(pattern: Any) -> int | None:
    """Return the index of the starred part of a sequence pattern."""
    return next((i for i, part in enumerate(pattern.patterns) if isinstance(part, gast.MatchStar)), None)


def is_irrefutable(pattern: Any) -> bool:
    return isinstance(pattern, gast.MatchStar) or (
        isinstance(pattern, gast.MatchAs) and pattern.pattern is None
    )


def captures(pattern: gast.AST) -> Iterator[str]:
    """Yield the names that a pattern binds."""
    for node in gast.walk(pattern):
        name = node.rest if isinstance(node, gast.MatchMapping) else getattr(node, "name", None)
        if name is not None and isinstance(node, (gast.MatchAs, gast.MatchStar, gast.MatchMapping)):
            yield name


def may_stage(case: Any) -> bool:
    """Return whether a case may depend on a tensor. No tensor matches strings, None, or classes and mappings
    of these."""
    if case.guard is not None and not static(case.guard):
        return True
    return any(map(_may_match_tensors, gast.walk(case.pattern)))


def _may_match_tensors(pattern: Any) -> bool:
    match pattern:
        case gast.MatchValue(value=gast.Constant(value=value)):
            return not isinstance(value, str)
        case gast.MatchSingleton(value=value):
            return value is not None
    return isinstance(pattern, (gast.MatchValue, gast.MatchSequence))
