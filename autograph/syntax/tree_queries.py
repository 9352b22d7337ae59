"""Small questions about trees, and ways to make a changed copy. Nothing here changes a tree.

function_of(tree)        the definition that a conversion is about
inside(statements)       every node that belongs to this function, not to a function within it
evolve(node, body=[…])   the same node with another body
dotted(node)             'self.cells[0].h' for an expression that names a place, else None
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

import gast

from .versioned import VersionedBlock

# Older ones do not say which fields hold nodes.
if not hasattr(gast.Module, "_field_types"):
    raise ImportError(
        "agc.autograph needs gast 0.7 or newer, but an older one is installed: pip install --upgrade gast"
    )

Node = TypeVar("Node", bound=gast.AST)
Statements = list[gast.stmt]

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_SCOPES = frozenset({*FUNCTIONS, gast.ClassDef})
LOOPS = (gast.While, gast.For, gast.AsyncFor)
TRIES = (gast.Try, gast.TryStar)
WITHS = (gast.With, gast.AsyncWith)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
SUSPENSIONS = (gast.Yield, gast.YieldFrom, gast.Await)
ASYNC = (gast.AsyncFor, gast.AsyncWith)
COMPOUND = frozenset(
    {gast.If, *LOOPS, *WITHS, *TRIES, gast.Match, VersionedBlock}
)  # statement lists are in them

# The fields that hold statements, in the order in which they run.
BLOCK_FIELDS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((gast.If, *LOOPS), ("body", "orelse")),
    **dict.fromkeys((*WITHS, VersionedBlock), ("body",)),
    **dict.fromkeys(TRIES, ("body", "handlers", "orelse", "finalbody")),
    gast.Match: ("cases",),
    gast.match_case: ("body",),
    gast.ExceptHandler: ("body",),
    **dict.fromkeys((*DEFINITIONS, gast.ClassDef, gast.Module), ("body",)),
}


class _Inner(dict[type, tuple[str, ...]]):
    """kind → its fields that hold nodes which say something: no texts and numbers, no `Load` and its like.

    Kinds of gast's, and those of `ast` that gast has as well.
    """

    other = (str, int, bool, object, str | None, int | None, list[str])
    signs = (gast.expr_context, gast.operator, gast.boolop, gast.unaryop, list[gast.cmpop])

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        types = getattr(getattr(gast, kind.__name__, kind), "_field_types", {})
        skipped = (*self.other, *self.signs)
        self[kind] = tuple(name for name in kind._fields if types.get(name) not in skipped)
        return self[kind]


INNER = _Inner()

POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")
place_in: Callable[[dict[str, Any]], tuple[int, ...]] = operator.itemgetter(*POSITION)


def evolve(node: Node, **fields: Any) -> Node:
    """Return a copy of `node`, position included, with some fields replaced."""
    kind = type(node)
    new: Node = gast.AST.__new__(kind)
    new.__dict__.update(node.__dict__)
    new.__dict__.update(fields)
    return new


def copied(node: Node) -> Node:
    """Return a copy of a whole tree."""
    fields: dict[str, Any] = {}
    for field, value in gast.iter_fields(node):
        if isinstance(value, gast.AST):
            fields[field] = copied(value)
        elif isinstance(value, list):
            fields[field] = [copied(part) if isinstance(part, gast.AST) else part for part in value]
    return evolve(node, **fields)


def at(node: Node, origin: gast.AST) -> Node:
    """Give a new node the position of the node it was made for. What is new below it has none until the tree is
    translated back: then it gets that of the node around it."""
    if "lineno" not in node.__dict__:
        node.__dict__.update(position(origin))
    return node


def position(node: gast.AST) -> dict[str, int]:
    """Return the position of a node in the user's file, as attributes of a node."""
    values = node.__dict__
    if "end_col_offset" in values:  # as almost all nodes have
        line, column, end_line, end_column = place_in(values)
        return {"lineno": line, "col_offset": column, "end_lineno": end_line, "end_col_offset": end_column}
    return {key: values[key] for key in POSITION if key in values}


def children(node: gast.AST) -> list[gast.AST]:
    """Return the nodes directly below a node that say something; not `Load` and its like."""
    below: list[Any] = []
    values = node.__dict__
    for name in INNER[type(node)]:
        value = values.get(name)
        if type(value) is list:
            below += value
        elif value is not None:
            below.append(value)
    # There may be None among parts: `{**others}`, a parameter without a default.
    return [part for part in below if part is not None] if None in below else below


def with_children(node: Any, visit: Callable[[Any], Any]) -> Any:
    """Return the node with the results for the nodes directly below it; a list replaces a statement."""
    changes = {}
    for field in INNER[type(node)]:
        value = node.__dict__.get(field)
        if type(value) is list:
            new: list[Any] = []
            for part in value:
                result = part and visit(part)
                new += result if type(result) is list else [result]
            if len(new) != len(value) or any(map(operator.is_not, new, value)):
                changes[field] = new
        elif value is not None:
            result = visit(value)
            if result is not value:
                changes[field] = result
    return evolve(node, **changes) if changes else node


def walk(tree: gast.AST) -> list[gast.AST]:
    """Return a node and all below it, each before those below it."""
    return _below([tree], frozenset())


def inside(nodes: gast.AST | Iterable[gast.AST]) -> list[gast.AST]:
    """Return the nodes and all below them, but not the nodes inside a nested function, lambda or class."""
    return _below([nodes] if isinstance(nodes, gast.AST) else [*nodes], _SCOPES)


def _below(nodes: list[Any], closed: frozenset[type]) -> list[gast.AST]:
    """Return the list with all nodes below those in it; nodes of the `closed` kinds are not looked into."""
    for node in nodes:  # it grows meanwhile
        kind = type(node)
        if kind in closed:
            continue
        values = node.__dict__
        for name in INNER[kind]:
            value = values.get(name)
            if not value:
                continue
            if type(value) is list:
                # There is None in `{**d}`, and for a parameter without a default.
                nodes += value if None not in value else filter(None, value)
            else:
                nodes.append(value)
    return nodes


def contains(nodes: gast.AST | Iterable[gast.AST], kinds: type | tuple[type, ...]) -> bool:
    """Return whether some node of these kinds belongs to the same function as `nodes`.

    >>> contains(gast.parse("if a: return"), gast.Return), contains(gast.parse("lambda: (yield)"), gast.Yield)
    (True, False)
    """
    wanted = {kinds} if isinstance(kinds, type) else kinds
    return not {*map(type, inside(nodes))}.isdisjoint(wanted)


def blocks(statement: gast.AST) -> Sequence[Statements]:
    """Return the statement lists directly below a compound statement; handlers and cases are looked through."""
    kind = type(statement)
    if kind not in BLOCK_FIELDS:  # as most are
        return ()
    if kind in _CHOICES:
        return _body_and_orelse(statement)
    found: list[Statements] = []
    for field in BLOCK_FIELDS[kind]:
        value = getattr(statement, field)
        found += [part.body for part in value] if field in ("handlers", "cases") else [value]
    return found


_CHOICES = frozenset({gast.If, *LOOPS})
_body_and_orelse: Callable[[Any], tuple[Statements, Statements]] = operator.attrgetter("body", "orelse")


def with_blocks(statement: Node, new: Iterable[Statements]) -> Node:
    """Return the statement with its statement lists replaced, in the order of `blocks`; itself if they are the
    same."""
    supply = iter(new)
    changes: dict[str, Any] = {}
    for field in BLOCK_FIELDS.get(type(statement), ()):
        old = getattr(statement, field)
        if field in ("handlers", "cases"):
            parts = [with_blocks(part, [next(supply)]) for part in old]
            if any(part is not before for part, before in zip(parts, old, strict=True)):
                changes[field] = parts
        else:
            body = next(supply)
            if body is not old:
                changes[field] = body
    return evolve(statement, **changes) if changes else statement


def is_compound(statement: gast.AST) -> bool:
    """Return whether a statement has statement lists that belong to the same function."""
    return type(statement) in COMPOUND


def dotted(node: gast.AST) -> str | None:
    """Return the qualified name of a place: names, attributes, and items whose index is a name or a constant.

    >>> dotted(gast.parse("self.cells[0].h").body[0].value), dotted(gast.parse("f().x").body[0].value)
    ('self.cells[0].h', None)
    """
    if isinstance(node, gast.Name):
        return cast(str, node.id)
    if isinstance(node, gast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else None
    if isinstance(node, gast.Subscript):
        base, index = dotted(node.value), _index(node.slice)
        return f"{base}[{index}]" if base and index else None
    return None


def _index(node: gast.AST) -> str | None:
    if isinstance(node, gast.Constant):
        return repr(node.value)
    if isinstance(node, gast.Name):
        return cast(str, node.id)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _index(node.operand)
        return f"-{inner}" if inner else None
    if isinstance(node, gast.Tuple):
        parts = [_index(part) for part in node.elts]
        return ", ".join(cast(list[str], parts)) + "," if parts and all(parts) else None
    return None


def root(node: gast.AST) -> str | None:
    """Return the first name of a dotted expression: 'np' of `np.linalg.norm`."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return cast(str, node.id) if isinstance(node, gast.Name) else None


def parameters(function: gast.AST) -> list[gast.Name]:
    """Return the parameters of a function or lambda, in the order of the signature."""
    args = function.args
    extra = [name for name in (args.vararg, args.kwarg) if name is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def stored_names(target: gast.AST) -> Iterator[gast.Name]:
    """Yield the names that an assignment to `target` binds."""
    if isinstance(target, gast.Name):
        yield target
    elif isinstance(target, (gast.Tuple, gast.List)):
        for element in target.elts:
            yield from stored_names(element)
    elif isinstance(target, gast.Starred):
        yield from stored_names(target.value)


def is_call_of(node: gast.AST, module: str, *names: str) -> bool:
    """Return whether the node is a call such as `ag__.until(…)`, with `module` the name before the dot."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and isinstance(node.func.value, gast.Name)
        and node.func.value.id == module
        and (not names or node.func.attr in names)
    )


def docstring_end(body: Statements) -> int:
    """Return the number of leading statements that must stay first: the docstring, and declarations of names."""
    end = 0
    if body and isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant):
        end = int(isinstance(body[0].value.value, str))
    while end < len(body) and isinstance(body[end], (gast.Global, gast.Nonlocal)):
        end += 1
    return end
