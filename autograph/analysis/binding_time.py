"""Binding-time analysis: find the blocks that are provably static and therefore stay Python.

    if x is None: return 0        static: the test is a bool for any `x`
    if mode == "train": …         staged, because `mode` may be a tensor of strings
    if __name__ == "…": …         static
    for k in (1, 2, 3): …         static, unless a test on data decides when the loop ends
    while True:                   staged, because `x > 0` may be a tensor and decides when the loop ends
        if x > 0: break
    for x in xs: yield x          static: a block that suspends the function cannot become a function

`static(expression)` returns whether an expression is never a tensor. `BindingTimes` classifies the blocks of one
function."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from ..syntax.tree_queries import (
    ASYNC,
    COMPOUND,
    COMPREHENSIONS,
    LOOPS,
    SUSPENSIONS,
    TRIES,
    Statements,
    blocks,
    inside,
)

# Calls that return a Python bool for any argument.
PREDICATES = frozenset({"isinstance", "issubclass", "callable", "hasattr"})

# A function that reads its own frame, or is traced by a debugger from here on, cannot be outlined in parts.
FRAME_READERS = frozenset({"locals", "vars", "dir", "eval", "exec"})
FRAME_ATTRIBUTES = frozenset({"f_locals", "settrace", "setprofile"})

DISPLAYS = (gast.List, gast.Tuple, gast.Set, gast.Dict, gast.JoinedStr, gast.Lambda, *COMPREHENSIONS)
IDENTITY = (gast.Is, gast.IsNot, gast.In, gast.NotIn)
EQUALITY = (gast.Eq, gast.NotEq)


def static(node: gast.expr) -> bool:
    """Return whether Python alone decides the truth value of an expression.

    >>> [static(gast.parse(text).body[0].value) for text in ("x is None", "not 1", "x > 0", "1 and y")]
    [True, True, False, False]
    """
    match node:
        case gast.Constant():
            return True
        case gast.Compare(left=gast.Name(id=name), ops=[op]) if type(op) in EQUALITY:
            return bool(name.startswith("__"))  # `__name__ == "__main__"`
        case gast.Compare(ops=ops):
            return all(isinstance(op, IDENTITY) for op in ops) and not among_numbers(node)
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            return static(operand)
        case gast.BoolOp(values=values):
            return all(static(value) for value in values)
        case gast.Call(func=gast.Name(id=name)):
            return name in PREDICATES
        case gast.Call(func=gast.Attribute(value=gast.Name(id=module), attr="has_length")):
            return bool(module.startswith("ag__"))  # the length test of a sequence pattern
        case gast.Name(id=name):
            return name in ("TYPE_CHECKING", "__debug__")
        case gast.Attribute(attr=name):
            return bool(name == "TYPE_CHECKING")
    return isinstance(node, DISPLAYS)


def is_text(node: gast.expr) -> bool:
    """Return whether an expression is a literal str or bytes."""
    return isinstance(node, gast.JoinedStr) or (
        isinstance(node, gast.Constant) and isinstance(node.value, (str, bytes))
    )


def _is_str(node: gast.expr) -> bool:
    """Return whether an expression is a literal str, but not bytes."""
    return isinstance(node, gast.JoinedStr) or (
        isinstance(node, gast.Constant) and isinstance(node.value, str)
    )


def among_numbers(node: gast.Compare) -> bool:
    """Return whether a comparison tests membership in a range or in a display with values that are not
    strings."""
    return any(
        isinstance(op, (gast.In, gast.NotIn)) and holds_numbers(right)
        for op, right in zip(node.ops, node.comparators, strict=True)
    )


def holds_numbers(container: gast.expr) -> bool:
    """Return whether a container is a range, or a display with a value that is not a string."""
    if isinstance(container, (gast.Tuple, gast.List, gast.Set)):
        return any(
            not _is_str(part) and not (isinstance(part, gast.Constant) and part.value is None)
            for part in container.elts
        )
    return isinstance(container, gast.Call) and getattr(container.func, "id", None) == "range"


def decided_early(node: gast.BoolOp) -> bool:
    """Return whether `and`/`or` tests Python values only. It never tests its last operand."""
    return all(static(value) for value in node.values[:-1])


def _literal(items: gast.expr) -> bool:
    """Return whether a `for` loop iterates over a literal, such as `(1, 2, 3)` or a string."""
    return isinstance(items, (gast.Tuple, gast.List, gast.Set, gast.Dict)) or is_text(items)


class BindingTimes:
    """The staged blocks of one function, and the jumps that leave a staged block.

    `block in staging` holds for an `if`, `while` or `for` that is staged. `crossing` holds the ids of the
    `return`, `break` and `continue` statements that leave a staged block, and of the statements that contain
    such a jump."""

    def __init__(self, function: gast.AST, plain: bool = False) -> None:
        """Classify the blocks of `function`. With `plain`, nothing in it suspends it or reads its frame."""
        self._plain = plain
        self.staged: set[int] = set()
        self.crossing: set[int] = set()
        self.jumps: list[gast.stmt] = []  # the jumps themselves
        self.astray: list[tuple[gast.stmt, gast.stmt]] = []  # such a jump, and the `finally` that it leaves
        self._escapes: dict[int, frozenset[str]] = {}
        self._suspends: set[int] = set()
        if not isinstance(function, gast.Lambda) and (plain or not reads_own_frame(function.body)):
            self._survey(function.body)
            suspended = not self._suspends.isdisjoint(map(id, function.body))
            self._decide(function.body, frozenset({"return"}) if suspended else _NOTHING)
            if self.staged and not self._escapes.keys() <= set(map(id, function.body)):
                self._cross(function.body, (False, None), (False, None))

    def __contains__(self, block: gast.AST) -> bool:
        return id(block) in self.staged

    def _survey(self, body: Statements) -> frozenset[str]:
        """Record which jumps leave each statement and whether it suspends the function; return all these
        jumps."""
        escapes = _NOTHING
        for statement in body:
            kind = type(statement)
            own = _JUMPS.get(kind, _NOTHING)
            if kind in COMPOUND:
                for part in blocks(statement):
                    inner = self._survey(part)
                    own |= inner - _OF_LOOPS if kind in _LOOPS and part is statement.body else inner
            if not self._plain and self._is_suspended(statement):
                self._suspends.add(id(statement))
            if own:
                self._escapes[id(statement)] = own
                escapes |= own
        return escapes

    def _is_suspended(self, statement: gast.stmt) -> bool:
        """Return whether a statement suspends the function, directly or by an inner statement recorded
        before."""
        inner = (child for part in blocks(statement) for child in part) if type(statement) in COMPOUND else ()
        return (
            isinstance(statement, ASYNC)
            or any(id(child) in self._suspends for child in inner)
            or _suspends_itself(statement)
        )

    def _decide(self, body: Statements, forced: frozenset[str]) -> frozenset[str]:
        """Classify each block in `body`, and return the jumps that depend on data.

        `forced` holds the jumps to constructs that stay static."""
        dependent = _NOTHING
        for statement in body:
            if type(statement) in COMPOUND:
                dependent |= self._decide_one(statement, forced)
        return dependent

    def _decide_one(self, statement: gast.stmt, forced: frozenset[str]) -> frozenset[str]:
        escapes = self._escapes.get(id(statement), _NOTHING)
        bound = id(statement) in self._suspends or bool(escapes & forced)
        if type(statement) in _LOOPS:
            inner = self._decide(statement.body, forced | _OF_LOOPS if bound else forced - _OF_LOOPS)
            outer = self._decide(statement.orelse, forced)
            free = (
                _literal(statement.iter) if not isinstance(statement, gast.While) else static(statement.test)
            )
            # Statements after a `continue` that depends on data, such as a `break`, depend on data as well.
            leaves = any(self._escapes.get(id(child), _NOTHING) & _LEAVING for child in statement.body)
            if not bound and (not free or inner & _LEAVING or ("continue" in inner and leaves)):
                self.staged.add(id(statement))
                return escapes
            return (inner - _OF_LOOPS) | outer
        dependent = _NOTHING
        final = statement.finalbody if isinstance(statement, TRIES) else None
        for part in blocks(statement):
            dependent |= self._decide(part, _LEAVING | _OF_LOOPS if part is final else forced)
        if isinstance(statement, gast.If) and not bound and not static(statement.test):
            self.staged.add(id(statement))
            return escapes
        return dependent

    def _cross(self, body: Statements, function: Way, loop: Way) -> bool:
        """Fill `crossing`. `function` and `loop` describe the way out of the function and of the enclosing
        loop."""
        crosses = False
        for statement in body:
            kind = type(statement)
            if kind in _JUMPS:
                here, final = function if kind is gast.Return else loop
                if here:
                    self.jumps.append(statement)
                if here and final is not None:
                    self.astray.append((statement, final))
            elif kind in COMPOUND:
                here = self._cross_one(statement, function, loop)
            else:
                continue
            if here:
                self.crossing.add(id(statement))
                crosses = True
        return crosses

    def _cross_one(self, statement: gast.stmt, function: Way, loop: Way) -> bool:
        staged = id(statement) in self.staged
        below = ((True, function[1]), (True, loop[1])) if staged else (function, loop)
        if type(statement) in _LOOPS:
            # `break` and `continue` of a staged loop leave the function that its body becomes.
            crosses = self._cross(statement.body, below[0], (staged, None))
            return self._cross(statement.orelse, function, loop) or crosses
        crosses = False
        final = statement.finalbody if isinstance(statement, TRIES) else None
        for part in blocks(statement):
            paths = [(here, statement) for here, _ in below] if part is final else below
            crosses |= self._cross(part, *paths)
        return crosses


# A jump's way out: does it leave a staged block, and the `try` whose `finally` block it leaves, if any.
Way = tuple[bool, gast.stmt | None]
_OF_LOOPS = frozenset({"break", "continue"})
_LEAVING = frozenset({"break", "return"})
_NOTHING: frozenset[str] = frozenset()
_JUMPS: dict[type, frozenset[str]] = {
    gast.Return: frozenset({"return"}),
    gast.Break: frozenset({"break"}),
    gast.Continue: frozenset({"continue"}),
}
_LOOPS = frozenset(LOOPS)


def _own_expressions(statement: gast.stmt) -> Iterable[gast.AST]:
    """Yield the parts of a statement that are not statement lists."""
    for child in gast.iter_child_nodes(statement):
        if not isinstance(child, (gast.stmt, gast.ExceptHandler, gast.match_case)):
            yield child
        elif isinstance(child, gast.ExceptHandler) and child.type is not None:
            yield child.type
        elif isinstance(child, gast.match_case) and child.guard is not None:
            yield child.guard


def _suspends_itself(statement: gast.stmt) -> bool:
    return any(
        isinstance(node, SUSPENSIONS) or (isinstance(node, gast.comprehension) and node.is_async)
        for node in inside(_own_expressions(statement))
    )


def reads_own_frame(body: Statements) -> bool:
    return any(
        node.attr in FRAME_ATTRIBUTES
        if isinstance(node, gast.Attribute)
        else isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id in FRAME_READERS
        for node in inside(body)
    )
