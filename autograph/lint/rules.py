"""Lint rules for code that converts but will hardly be staged.

    @tf.function
    def clipped(x, formula):
        if x > 0:
            x = eval(formula)       ==>     warning[AGC191]: `eval` keeps the blocks of `clipped` Python
        return x

Each row of `DOUBTS` checks one function and reports only facts that the source proves. The source does not show
whether a tensor will decide there. So rows check functions that are certainly traced, unless the caller requests all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import gast

from ..analysis.binding_time import BindingTimes, reads_own_frame, static
from ..analysis.entry_points import EntryPoints
from ..analysis.process_state import use_of
from ..errors import Diagnostic, Note, Where
from ..passes.lower_finally import can_be_split
from ..syntax.positions import where_of
from ..syntax.tree_queries import DEFINITIONS, LOOPS, SUSPENSIONS, TRIES, Statements, blocks, contains, inside

WORDS: dict[type, str] = {
    gast.If: "if", gast.While: "while", gast.For: "for",
    gast.Return: "return", gast.Break: "break", gast.Continue: "continue",
}  # fmt: skip

JUMPS = (gast.Break, gast.Continue)
CONTAINERS = (gast.List, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp)
MAKERS = frozenset(
    {"list", "dict", "set", "collections.deque", "collections.defaultdict", "collections.Counter"}
)
# Methods that change the items of a container. (An assignment to an item can be staged.)
CHANGES = frozenset(
    {"append", "appendleft", "extend", "insert", "pop", "popleft", "remove", "clear", "add", "discard"}
)


class CheckedModule(NamedTuple):
    """The facts about the file that the rules use."""

    filename: str
    text: str
    entries: EntryPoints
    containers: frozenset[str]  # global names of lists, dicts and sets

    def where(self, node: gast.AST) -> Where:
        return where_of(node, self.filename, self.text)


class CheckedFunction(NamedTuple):
    """One function, and the facts about it."""

    node: Any
    traced: bool  # itself, and not only called by a traced function
    module: CheckedModule
    staging: BindingTimes  # actual binding times
    freely: BindingTimes  # binding times if nothing in the function suspended it or read its frame


def doubts(
    tree: gast.Module, text: str, filename: str, tracers: Collection[str], everywhere: bool = False
) -> Iterator[Diagnostic]:
    """Yield all warnings about a module; with `everywhere`, also about functions that are not seen to be
    traced."""
    if not everywhere and not any(name.partition(".")[0] in text for name in tracers):
        return
    entries = EntryPoints(tree, tracers)
    module = CheckedModule(filename, text, entries, frozenset(_containers(tree, entries)))
    for definition in entries.definitions:
        node = definition.node
        if id(node) in entries.entries and (kind := _kind_of_generator(node)):
            yield _never_a_graph(node, kind, module)
        elif everywhere or id(node) in entries.reached:
            traced = everywhere or id(node) in entries.within
            function = CheckedFunction(
                node, traced, module, BindingTimes(node), BindingTimes(node, plain=True)
            )
            for row in DOUBTS:
                yield from row(function)


def _kind_of_generator(node: Any) -> str:
    if isinstance(node, gast.AsyncFunctionDef):
        return "coroutine"
    return "generator" if contains(node.body, (gast.Yield, gast.YieldFrom)) else ""


def _never_a_graph(node: Any, kind: str, module: CheckedModule) -> Diagnostic:
    fix = "return all values together, for instance `stack()` of a `tf.TensorArray`"
    if kind == "coroutine":
        fix = "trace an ordinary function without `await`, and await before or after the call"
    return Diagnostic(
        "AGC190",
        f"the {kind} `{node.name}` cannot become a graph",
        module.where(node),
        why=f"a graph returns all its results at once; a {kind} suspends and resumes",
        fix=fix,
    )


def _reads_frame(function: CheckedFunction) -> Iterator[Diagnostic]:
    body = function.node.body
    if function.freely.staged and reads_own_frame(body):
        reader = _reader(body)
        name = reader.attr if isinstance(reader, gast.Attribute) else reader.func.id
        yield Diagnostic(
            "AGC191",
            f"`{name}` keeps the blocks of `{function.node.name}` Python",
            function.module.where(reader),
            notes=tuple(
                Note(function.module.where(block), "stays Python")
                for block in _outermost(body, function.freely.staged)
            ),
            why="it reads the variables of the function's frame, so the function cannot be split into blocks",
            fix="call it in a separate function, and pass its operands as arguments",
            level="warning",
        )


def _suspends(function: CheckedFunction) -> Iterator[Diagnostic]:
    if not function.traced or reads_own_frame(function.node.body):
        return
    for block in _outermost(function.node.body, function.freely.staged - function.staging.staged):
        holds = "it holds" if contains(block, SUSPENSIONS) else "a jump leads from it out of a block with"
        yield Diagnostic(
            "AGC192",
            f"this `{WORDS[type(block)]}` stays Python",
            function.module.where(block),
            why=f"{holds} `yield` or `await`; code that suspends and resumes cannot be part of a graph",
            fix="compute in a function without `yield` and `await`, and call it here",
            level="warning",
        )


def _leaves_finally(function: CheckedFunction) -> Iterator[Diagnostic]:
    for attempt in inside(function.node.body):
        stays = isinstance(attempt, TRIES) and not can_be_split(attempt)
        for jump, block in _leaving(attempt.finalbody) if stays else ():
            jumps, around = WORDS[type(jump)], WORDS[type(block)]
            yield Diagnostic(
                "AGC193",
                f"this `{jumps}` leaves `finally`, and so the `{around}` around it stays Python",
                function.module.where(jump),
                notes=(Note(function.module.where(block), "stays Python"),),
                why="it would cancel a jump out of the `try` part, which a staged block cannot do",
                fix="move the jump after the `try` statement",
                level="warning",
            )


def _changes_outside(function: CheckedFunction) -> Iterator[Diagnostic]:
    own = _bound(function.node)
    varying = function.staging.staged - {id(loop) for loop in _counting(function.node)}
    for block in _outermost(function.node.body, varying):
        for node in inside(block):
            holder = _changed(node)
            if holder in function.module.containers and holder not in own:
                yield Diagnostic(
                    "AGC194",
                    f"`{holder}` is changed inside a `{WORDS[type(block)]}` that may be staged",
                    function.module.where(node),
                    why="a graph holds no Python objects: this happens (or is refused) while tracing only",
                    fix="collect in a TensorArray, or count in a Variable",
                    level="warning",
                )


def _acts_once(function: CheckedFunction) -> Iterator[Diagnostic]:
    varying = function.staging.staged - {id(loop) for loop in _counting(function.node)}
    for block in _outermost(function.node.body, varying):
        for node in inside(block):
            name = _process_name(node, function.module.entries)
            use = None if name is None else use_of(name)
            if use is not None:
                yield Diagnostic(
                    "AGC195",
                    f"`{name}` is used inside a `{WORDS[type(block)]}` that may be staged",
                    function.module.where(node),
                    why="it happens once, while the function is traced, and not when the graph runs",
                    fix=use.fix,
                    level="warning",
                )


DOUBTS: tuple[Callable[[CheckedFunction], Iterator[Diagnostic]], ...] = (
    _reads_frame,      # AGC191
    _suspends,         # AGC192
    _leaves_finally,   # AGC193
    _changes_outside,  # AGC194
    _acts_once,        # AGC195
)  # fmt: skip


def _reader(body: Statements) -> Any:
    """Return the first expression that reads the frame."""
    found: list[Any] = [
        node
        for node in inside(body)
        if isinstance(node, (gast.Call, gast.Attribute)) and reads_own_frame([node])
    ]
    # Choose the innermost of nested expressions on one line.
    return min(found, key=lambda node: (node.lineno, node.end_col_offset - node.col_offset))


def _outermost(body: Statements, chosen: Collection[int]) -> Iterator[gast.stmt]:
    """Yield the chosen blocks that are not nested in another chosen block."""
    for statement in body:
        if id(statement) in chosen:
            yield statement
        elif not isinstance(statement, (*DEFINITIONS, gast.ClassDef)):
            for part in blocks(statement):
                yield from _outermost(part, chosen)


def _leaving(
    body: Statements, around: gast.stmt | None = None, in_loop: bool = False
) -> Iterator[tuple[gast.stmt, gast.stmt]]:
    """Yield the jumps out of a `finally` block that are nested in an `if` or loop, each with that statement."""
    for statement in body:
        if isinstance(statement, gast.Return) or (isinstance(statement, JUMPS) and not in_loop):
            if around is not None:
                yield statement, around
        elif not isinstance(statement, (*DEFINITIONS, gast.ClassDef)):
            decides = isinstance(statement, (gast.If, gast.While)) and not static(statement.test)
            inner = statement if decides or isinstance(statement, gast.For) else around
            for part in blocks(statement):
                loops = isinstance(statement, LOOPS) and part is statement.body
                yield from _leaving(part, inner, in_loop or loops)


def _counting(function: Any) -> Iterator[gast.For]:
    """Yield the loops over constants only, such as `range(3)`."""
    for node in inside(function.body):
        if isinstance(node, gast.For):
            names = {name.id for name in gast.walk(node.iter) if isinstance(name, gast.Name)}
            if names <= {"range", "enumerate", "zip", "reversed"}:
                yield node


def _changed(node: gast.AST) -> str | None:
    """Return the name of the object that a method call changes."""
    called = node.func if isinstance(node, gast.Call) else None
    if isinstance(called, gast.Attribute) and called.attr in CHANGES and isinstance(called.value, gast.Name):
        return str(called.value.id)
    return None


def _process_name(node: gast.AST, entries: EntryPoints) -> str | None:
    """Return the full name of the callee, or of the object with an assigned item."""
    if isinstance(node, gast.Call):
        return entries.full_name(node)
    if isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load):
        return entries.full_name(node.value)
    return None


def _bound(function: Any) -> set[str]:
    """Return the names that are local to the function."""
    shared = {name for node in inside(function.body) if isinstance(node, gast.Global) for name in node.names}
    names = (node for node in gast.walk(function) if isinstance(node, gast.Name))
    return {name.id for name in names if not isinstance(name.ctx, gast.Load)} - shared


def _containers(tree: gast.Module, entries: EntryPoints) -> Iterator[str]:
    """Yield the global names that the module binds to a list, dict or set."""
    for statement in tree.body:
        if isinstance(statement, (gast.Assign, gast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, gast.Assign) else [statement.target]
            made = isinstance(statement.value, gast.Call) and entries.full_name(statement.value) in MAKERS
            if made or isinstance(statement.value, CONTAINERS):
                yield from (target.id for target in targets if isinstance(target, gast.Name))
