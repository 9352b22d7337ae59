"""The tables of raw operations, and the functions that are compiled from them.

Unique(x, out_idx=tf.int32) -> y, idx = tf.unique(x, out_idx)

==>     def Unique(*, x, out_idx=tf.int32, name=None):
            return UniqueResult(*tf.unique(x, out_idx))
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = Path(__file__).parent / "tables"
_LINE = re.compile(r"(\w+)\((.*?)\)(?: -> ([\w, ]+))? = (.*)")
_MISSING = "missing.txt"


class RawOperation(NamedTuple):
    """One line of a table: the parameters, the names of several results, and the expression."""

    parameters: str
    results: str | None
    expression: str


@functools.cache
def definitions() -> dict[str, RawOperation]:
    """Return the operations of all tables by name."""
    found = {}
    for path in sorted(_FOLDER.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            match = _LINE.fullmatch(line) if path.name != _MISSING else None
            if match is not None:
                name, *parts = match.groups()
                found[name] = RawOperation(*parts)
    return found


@functools.cache
def reasons() -> list[tuple[str, str, list[str]]]:
    """Return the blocks of missing operations: the reason, what to use instead, and names."""
    text = (_FOLDER / _MISSING).read_text(encoding="utf-8")
    blocks = [block.strip().splitlines() for block in text.split("\n\n")[1:]]
    return [(why[2:], instead[2:], " ".join(names).split()) for why, instead, *names in blocks]


def why_missing(name: str) -> str | None:
    """Return the error for an operation of TensorFlow that is not here; None for a name that TensorFlow lacks."""
    for why, instead, names in reasons():
        if name in names:
            return f"tf.raw_ops.{name} is not in agc ({why}). Use {instead}."
    return None


def function(name: str) -> Callable[..., Any]:
    """Return an operation as a function of keyword arguments."""
    import agc.runtime as tf

    from . import adapters

    definition = definitions()[name]
    defaults = f"*, {definition.parameters}, name=None" if definition.parameters else "*, name=None"
    source = ast.parse(f"def {name}({defaults}):\n    return {definition.expression}")
    space: dict[str, Any] = {"tf": tf, "own": adapters}
    exec(compile(source, f"<tf.raw_ops.{name}>", "exec"), space)
    made = space[name]
    names = [part.strip() for part in (definition.results or "").split(",") if part.strip()]
    result = collections.namedtuple(name, names) if names else None
    tensors = _operands(source) & inspect.signature(made).parameters.keys()
    needed = [
        p.name for p in inspect.signature(made).parameters.values() if p.default is inspect.Parameter.empty
    ]

    @functools.wraps(made)
    def called(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{name} only takes keyword args (possible keys: {list(made.__kwdefaults__ or {}) + needed}). "
                "Please pass these args as kwargs instead."
            )
        kwargs |= {key: tf.convert_to_tensor(kwargs[key]) for key in tensors & kwargs.keys()}
        found = made(**kwargs)
        return found if result is None else result(*tuple(found)[: len(names)])

    called.__doc__ = f"Compute `{definition.expression}`."
    called.__module__ = "agc.runtime.raw_ops"
    return called


def _operands(tree: ast.AST) -> set[str]:
    """Return the names that Python's operators combine, or whose attributes an expression uses."""
    parts: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=left, right=right):
                parts += left, right
            case ast.Compare(left=left, comparators=others):
                parts += left, *others
            case ast.UnaryOp(operand=value) | ast.Attribute(value=value):
                parts.append(value)
    return {part.id for part in parts if isinstance(part, ast.Name)} - _OBJECTS


_OBJECTS = {"table_handle", "input_handle"}
"""Parameters that are objects, not tensors."""
