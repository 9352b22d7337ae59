"""Scope analysis: the names that an expression or a function reads, binds and hides.

    scan(node)          the names that `node` reads and binds in its function, in order
    bound(function)     the local names of a function

Comprehension targets, parameters and names of a class body are local to these. A generator expression and a lambda are
evaluated later, so the names that they read are *captured*. The exception is a generator expression or lambda that a
builtin such as `any` or `sorted` consumes at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

from ..syntax.tree_queries import COMPREHENSIONS, FUNCTIONS, INNER, inside, parameters

# Builtins that have consumed a generator expression (or a `key` function) when they return.
CONSUMERS = frozenset(
    {"any", "all", "sum", "min", "max", "list", "tuple", "set", "frozenset", "dict", "sorted", "join"}
)


class Reading(NamedTuple):
    """One name in the code at which a variable is read or deleted."""

    node: gast.Name
    inner: bool  # read by a comprehension or class body, which Python runs in a frame of its own
    lazy: bool  # read only if the operands before it do not decide the result


class Found:
    """The result of `scan` so far."""

    __slots__ = ("captured", "conditional", "deleted", "functions", "reads", "rebound", "stores", "walrus")

    def __init__(self) -> None:
        self.reads: list[Reading] = []
        self.stores: list[str] = []
        self.conditional: list[str] = []  # conditionally bound, such as by a walrus inside of a comprehension
        self.deleted: list[gast.Name] = []
        self.captured: set[str] = set()
        self.rebound: set[str] = set()  # captured names that the capturing function assigns
        self.functions: list[gast.AST] = []
        self.walrus = False


_NONE: frozenset[str] = frozenset()


def scan(
    node: Any, found: Found, hidden: frozenset[str] = _NONE, inner: bool = False, lazy: bool = False
) -> None:
    """Add to `found` the names that evaluating `node` reads and binds; `hidden` names belong to inner scopes."""
    kind = type(node)
    if kind is gast.Name:
        context = type(node.ctx)
        if node.id in hidden:
            return
        if context is gast.Load:
            found.reads.append(Reading(node, inner, lazy))
        elif context is gast.Store:
            found.stores.append(node.id)
        elif context is gast.Del:
            found.deleted.append(node)
        return
    special = _SPECIAL.get(kind)
    if special is not None:
        special(node, found, hidden, inner, lazy)
        return
    values = node.__dict__
    for field in INNER[kind]:
        value = values.get(field)
        if type(value) is list:
            for child in value:
                if child is not None:
                    scan(child, found, hidden, inner, lazy)
        elif value is not None:
            scan(value, found, hidden, inner, lazy)


def _later_operands(node: Any, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    """Scan operands; the first one (of a comparison, the first two) is always evaluated, later ones are lazy."""
    if isinstance(node, gast.Compare):
        scan(node.left, found, hidden, inner, lazy)
        operands = node.comparators
    else:
        operands = node.values
    for position, operand in enumerate(operands):
        scan(operand, found, hidden, inner, lazy or position > 0)


def _choice(node: gast.IfExp, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    scan(node.test, found, hidden, inner, lazy)
    scan(node.body, found, hidden, inner, True)
    scan(node.orelse, found, hidden, inner, True)


def _walrus(node: gast.NamedExpr, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    scan(node.value, found, hidden, inner, lazy)
    found.walrus = True
    (found.conditional if inner or lazy else found.stores).append(node.target.id)


def _call(node: gast.Call, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    scan(node.func, found, hidden, inner, lazy)
    name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
    consumes = name in CONSUMERS
    for argument in node.args:
        if name == "put_updated" and type(argument) is gast.Lambda:
            scan(argument.body, found, hidden, True, lazy)
        elif consumes and type(argument) is gast.GeneratorExp:
            _comprehension(argument, found, hidden, inner, lazy, lasting=False)
        else:
            scan(argument, found, hidden, inner, lazy)
    for keyword in node.keywords:
        if consumes and keyword.arg == "key" and type(keyword.value) is gast.Lambda:
            _lambda_used_up(keyword.value, found, hidden, lazy)
        else:
            scan(keyword.value, found, hidden, inner, lazy)


def _lambda_used_up(node: gast.Lambda, found: Found, hidden: frozenset[str], lazy: bool) -> None:
    _signature(node, found, hidden, True, lazy)
    scan(node.body, found, hidden | {name.id for name in parameters(node)}, True, lazy)


def _comprehension(
    node: Any, found: Found, hidden: frozenset[str], inner: bool, lazy: bool, lasting: bool = True
) -> None:
    first = node.generators[0]
    scan(first.iter, found, hidden, inner, lazy)
    before = len(found.reads)
    own = Found()
    for generator in node.generators:
        scan(generator.target, own)
    below = hidden | set(own.stores)
    for position, generator in enumerate(node.generators):
        found.reads.extend(read for read in own.reads if position == 0)
        if position:
            scan(generator.iter, found, below, True, lazy)
        for test in generator.ifs:
            scan(test, found, below, True, lazy)
    for part in (node.key, node.value) if isinstance(node, gast.DictComp) else (node.elt,):
        scan(part, found, below, True, lazy)
    if lasting and isinstance(node, gast.GeneratorExp):
        found.captured.update(read.node.id for read in found.reads[before:])


def _signature(node: Any, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    """Scan defaults and annotations, which the enclosing function evaluates."""
    args = node.args
    for default in (*args.defaults, *args.kw_defaults):
        if default is not None:
            scan(default, found, hidden, inner, lazy)
    for name in parameters(node):
        if name.annotation is not None:
            scan(name.annotation, found, hidden, inner, lazy)


def _function(node: Any, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    for decorator in getattr(node, "decorator_list", ()):
        scan(decorator, found, hidden, inner, lazy)
    _signature(node, found, hidden, inner, lazy)
    if getattr(node, "returns", None) is not None:
        scan(node.returns, found, hidden, inner, lazy)
    names, rebound = _free(node)
    found.captured |= names - hidden
    found.rebound |= rebound - hidden
    found.functions.append(node)
    if not isinstance(node, gast.Lambda) and node.name not in hidden:
        found.stores.append(node.name)


def _class(node: gast.ClassDef, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    for part in (*node.decorator_list, *node.bases, *node.keywords):
        scan(part, found, hidden, inner, lazy)
    own = Found()
    for statement in node.body:
        scan(statement, own)
    bound = set(own.stores) | set(own.conditional)
    found.reads += [
        Reading(read.node, True, lazy) for read in own.reads if read.node.id not in bound | hidden
    ]
    found.captured |= own.captured - hidden
    found.rebound |= own.rebound - hidden
    found.functions += own.functions
    if node.name not in hidden:
        found.stores.append(node.name)


def _alias(node: gast.alias, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    found.stores.append(node.asname or node.name.partition(".")[0])


def _handler(node: gast.ExceptHandler, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    if node.type is not None:
        scan(node.type, found, hidden, inner, lazy)
    if node.name is not None:
        found.stores.append(node.name.id)
    for statement in node.body:
        scan(statement, found, hidden, inner, lazy)


def _pattern(node: Any, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    name = node.rest if isinstance(node, gast.MatchMapping) else node.name
    if name is not None:
        found.stores.append(name)
    for child in gast.iter_child_nodes(node):
        scan(child, found, hidden, inner, lazy)


def _annotated(node: gast.AnnAssign, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    if node.value is not None:
        scan(node.value, found, hidden, inner, lazy)
    if not node.simple:
        scan(node.annotation, found, hidden, inner, lazy)
    scan(node.target, found, hidden, inner, lazy)


def _augmented(node: gast.AugAssign, found: Found, hidden: frozenset[str], inner: bool, lazy: bool) -> None:
    if isinstance(node.target, gast.Name) and node.target.id not in hidden:
        found.reads.append(Reading(node.target, inner, lazy))
    scan(node.value, found, hidden, inner, lazy)
    scan(node.target, found, hidden, inner, lazy)


_SPECIAL: dict[type, Any] = {
    gast.BoolOp: _later_operands,
    gast.Compare: _later_operands,
    gast.IfExp: _choice,
    gast.NamedExpr: _walrus,
    gast.Call: _call,
    **dict.fromkeys(COMPREHENSIONS, _comprehension),
    **dict.fromkeys(FUNCTIONS, _function),
    gast.ClassDef: _class,
    gast.alias: _alias,
    gast.ExceptHandler: _handler,
    gast.MatchAs: _pattern,
    gast.MatchStar: _pattern,
    gast.MatchMapping: _pattern,
    gast.AnnAssign: _annotated,
    gast.AugAssign: _augmented,
}


def bound(function: gast.AST) -> frozenset[str]:
    """Return the local names of a function."""
    return _own(function)[1]


def _free(function: gast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """Return the free variables of a function, which it uses and does not bind, and those that it assigns."""
    found, local, declared = _own(function)
    reads = {read.node.id for read in found.reads} | {node.id for node in found.deleted}
    outer = frozenset(reads | found.captured | declared) - local
    return outer, frozenset((declared | found.rebound) - local)


def _own(function: Any) -> tuple[Found, frozenset[str], frozenset[str]]:
    """Return the names that a function's own code uses, its locals, and the names that it declares
    `nonlocal`."""
    found = Found()
    body = [function.body] if isinstance(function, gast.Lambda) else function.body
    outer: set[str] = set()
    glob: set[str] = set()
    for statement in body:
        scan(statement, found)
    if not isinstance(function, gast.Lambda):
        _declarations(body, glob, outer)
    local = {*found.stores, *found.conditional, *(node.id for node in found.deleted)}
    local |= {name.id for name in parameters(function)}
    return found, frozenset(local - glob - outer), frozenset(outer)


def _declarations(body: list[gast.stmt], glob: set[str], outer: set[str]) -> None:
    """Collect the names of `global` and `nonlocal` statements, which may be nested in any block."""
    for node in inside(body):
        if isinstance(node, gast.Global):
            glob.update(node.names)
        elif isinstance(node, gast.Nonlocal):
            outer.update(node.names)


def mentions_choice(function: Any) -> bool:
    """Return whether some operand is conditional: of `and`, `or`, a ternary, a chained comparison or an
    `assert`."""
    kinds = (gast.BoolOp, gast.IfExp, gast.Assert)
    return any(
        isinstance(node, kinds) or (isinstance(node, gast.Compare) and len(node.ops) > 1)
        for node in inside(function.body)
    )
