"""A check that Python's backtracking `re` cannot take exponential time for a pattern.

    (a|b)*c     bounded: in each position the next character determines the next position
    .*=.*       bounded: one loop can end at several positions, so time grows with the square of the text
    (a+)+b      not bounded: a second "a" is read by the inner loop or by the outer one, at each iteration

The pattern becomes an automaton of its characters (Glushkov's construction): an edge leads from each character to
those that may follow. A position is ambiguous if two of its edges lead to characters that can be equal. An ambiguous
position with both edges in one loop causes exponential time. Several in a row cause polynomials of a high degree.

The check is conservative: it may refuse a harmless pattern.
"""

from __future__ import annotations

import itertools
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Ranges = tuple[tuple[int, int], ...]

_LAST = 0x10FFFF
_MOST_POSITIONS = 300
_MOST_WAYS = 1000  # product of the ambiguous choices outside of loops


class _Part(NamedTuple):
    """A part of a pattern: its first and last positions, and whether it can be empty."""

    first: list[int]
    last: list[int]
    is_nullable: bool


class _Automaton:
    """The characters of a pattern, and the positions that may follow each, once for each way to get there."""

    def __init__(self) -> None:
        self.is_ambiguous = False  # a loop can match the empty string, or do so in two ways
        self.empty_ways = 1
        self.characters: list[Ranges] = []
        self.following: list[list[int]] = []

    def part(self, nodes: Iterable[Any]) -> _Part:
        """Build the parts of a sequence and return them as one part."""
        whole = _Part([], [], True)
        for code, argument in nodes:
            whole = self.joined(whole, self.single(code, argument))
        return whole

    def joined(self, left: _Part, right: _Part) -> _Part:
        self.connect(left.last, right.first)
        first = left.first + right.first if left.is_nullable else left.first
        last = left.last + right.last if right.is_nullable else right.last
        return _Part(first, last, left.is_nullable and right.is_nullable)

    def connect(self, sources: list[int], targets: list[int]) -> None:
        for source in sources:
            self.following[source] += targets

    def single(self, code: Any, argument: Any) -> _Part:
        if code is sre.SUBPATTERN:
            return self.part(argument[-1])
        if code is sre.BRANCH:
            arms = [self.part(arm) for arm in argument[1]]
            self.empty_ways *= max(sum(arm.is_nullable for arm in arms), 1)
            first = [position for arm in arms for position in arm.first]
            last = [position for arm in arms for position in arm.last]
            return _Part(first, last, any(arm.is_nullable for arm in arms))
        if code in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, body = argument
            path_count = self.empty_ways
            part = self.part(body)
            if most > 1:
                self.connect(part.last, part.first)
                self.is_ambiguous |= part.is_nullable or self.empty_ways > path_count
            return part._replace(is_nullable=part.is_nullable or least == 0)
        if code is sre.AT:
            return _Part([], [], True)
        self.characters.append(_ranges(code, argument))
        self.following.append([])
        position = len(self.characters) - 1
        return _Part([position], [position], False)


def width(pattern: str) -> tuple[int, int]:
    """Return the lengths of the shortest and of the longest match; the latter may be too high.

    >>> width("ab?")
    (1, 2)
    """
    return parser.parse(pattern).getwidth()  # type: ignore[no-any-return]


def is_bounded(pattern: str, most_loops: int = 1, most_ways: int = _MOST_WAYS) -> bool:
    """Return whether matching from one position takes quadratic time at most; the pattern is in Python's syntax.

    The time is linear with `most_loops` of 0, which is the number of loops that can end at several positions.

    >>> [is_bounded(pattern) for pattern in ("(a|b)*c", ".*=.*", "(a+)+b", "(a|a)*b", "a*a*a*b", "(a*)*")]
    [True, True, False, False, False, False]
    """
    automaton = _Automaton()
    whole = automaton.part(parser.parse(pattern))
    if automaton.is_ambiguous or len(automaton.characters) > _MOST_POSITIONS:
        return False
    reachable = _reachable(automaton.following)
    path_count = automaton.empty_ways * max(_rivals(automaton.characters, whole.first).values(), default=1)
    loops = set()
    for position, following in enumerate(automaton.following):
        rivals = _rivals(automaton.characters, following)
        if max(rivals.values(), default=1) == 1:
            continue
        loop = frozenset(state for state in reachable[position] if position in reachable[state])
        if sum(count > 1 and target in loop for target, count in rivals.items()) > 1 or len(rivals) < len(
            following
        ):
            return False
        if loop:
            loops.add(loop)
        else:
            path_count *= max(rivals.values())
    return len(loops) <= most_loops and path_count <= most_ways


def _rivals(characters: Sequence[Ranges], positions: list[int]) -> dict[int, int]:
    """Return for each of `positions` how many of them, including itself, can read a character that it reads."""
    return {
        position: sum(_overlap(characters[position], characters[other]) for other in positions)
        for position in positions
    }


def _overlap(left: Ranges, right: Ranges) -> bool:
    return any(low <= end and start <= high for low, high in left for start, end in right)


def _reachable(following: list[list[int]]) -> list[set[int]]:
    """Return for each position the positions reachable from it by one edge or more."""
    found = []
    for targets in following:
        seen: set[int] = set()
        pending = list(targets)
        while pending:
            position = pending.pop()
            if position not in seen:
                seen.add(position)
                pending += following[position]
        found.append(seen)
    return found


def _ranges(code: Any, argument: Any) -> Ranges:
    """Return the characters that a node can read, with both cases of letters; all characters for a negated set."""
    if code is sre.LITERAL:
        return tuple(
            (ord(case), ord(case)) for case in {chr(argument).lower()[:1], chr(argument).upper()[:1]}
        )
    if code is sre.IN and argument[0][0] is not sre.NEGATE:
        return tuple(itertools.chain.from_iterable(_ranges(*item) for item in argument))
    if code is sre.RANGE:
        low, high = argument
        letters = ((65, 90), (97, 122)) if low <= 122 and high >= 65 else ()
        return ((low, high), *letters)
    return ((0, _LAST),)
