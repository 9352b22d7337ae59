"""Errors of staged code, in the common format, at the line of user code: for backends.

error[AGC201]: the branches give `step` different types: int32[] and float32[]
  --> train.py:12:5, in fit
 12 |     if loss < best:
    |     ^^^^^^^^^^^^^^^ the graph decides
 13 |         step = tf.constant(1)         int32[]
 15 |         step = tf.constant(0.5)       float32[]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .api import (
    Diagnostic,
    Note,
    StagingError,
    Where,
    altered_in,
    assigned_before,
    assigned_in,
    is_user_class,
    running,
)


def staging_error(
    code: str, title: str, why: str, fix: str, label: str = "", notes: Sequence[Note | None] = ()
) -> StagingError:
    """Return the error for the innermost line of user code that is running.

    The known lines of `notes` are shown in program order.
    """
    shown = tuple(sorted(note for note in notes if note is not None))
    if _is_about_return(title, shown):
        title, why, fix = map(_of_return, (title, why, fix))
        shown = tuple(_of_end(note) for note in shown)
    where = running()
    if _is_about_expression(title, where, shown):
        title, fix = map(_of_expression, (title, fix))
    return StagingError(Diagnostic(code, title, where, label=label, notes=shown, why=why, fix=fix))


_RESULT = r"`(result(?:_\d+)?)\b([^`]*)`"
"""The converted code's variable for a function's result, or a part of it; user code may use the name, too."""


def _is_about_return(title: str, notes: Sequence[Note]) -> bool:
    """Return whether `title` names the converted code's variable: no line of the notes has its name."""
    named = re.search(_RESULT, title)
    if named is None:
        return False
    return not any(re.search(rf"\b{named[1]}\b", note.where.text() or "") for note in notes)


def _of_return(text: str) -> str:
    """Reword a text about the converted code's variable for what is returned.

    >>> _of_return("the branches give `result` different types"), _of_return("make `result_1` the same")
    ('the branches return different types', 'make the returned value the same')
    >>> _of_return("the branches give `result[0]` different types")
    'the branches give `[0]` of the returned value different types'
    """
    text = re.sub(r"give `result(_\d+)?`", "return", text)
    return re.sub(
        _RESULT,
        lambda found: f"`{found[2]}` of the returned value" if found[2] else "the returned value",
        text,
    )


def _is_about_expression(title: str, where: Where | None, notes: Sequence[Note]) -> bool:
    """Return whether `title` names the value of a conditional expression, for which user code has no name."""
    if where is None or "`value" not in title:
        return False
    lines = [where.text() or "", *(note.where.text() or "" for note in notes)]
    return bool(re.search(r"\bif\b.*\belse\b", lines[0])) and not re.search(r"\bvalue\b", "\n".join(lines))


def _of_expression(text: str) -> str:
    """Reword a text about the value of a conditional expression.

    >>> _of_expression("the branches give `value` different types"), _of_expression("with tf.cast(value, ...)")
    ('the branches give different types', 'with tf.cast')
    """
    return text.replace("give `value` ", "give ").replace("tf.cast(value, ...)", "tf.cast")


def _of_end(note: Note) -> Note:
    """Reword a note about the returned value; on a line without `return`, None is the implicit result."""
    label = note.label.removesuffix(", as before")
    ends = label == "None" and not re.search(r"\breturn\b", note.where.text() or "")
    return note._replace(label="None, if no `return` follows" if ends else label)


def assigned(block: Callable[..., Any], path: str, said: str, made: Where | None = None) -> Note | None:
    """Return a note on the line where a branch or a loop's body assigns a variable; None if it is unknown.

    `made` is where the backend made the value, in case the block does not assign the variable.
    """
    name = variable_of(path)
    where = assigned_in(block, name) or altered_in(block, name)
    if where is not None:
        return Note(where, said)
    before = assigned_before(name) or made
    return None if before is None else Note(before, f"{said}, as before")


def assigned_outside(path: str, said: str, made: Where | None = None) -> Note | None:
    """Return a note on the line that assigned a variable before a loop; None if it is unknown."""
    where = assigned_before(variable_of(path)) or made
    return None if where is None else Note(where, said)


def variable_of(path: str) -> str:
    """Return the variable that a path begins with.

    >>> variable_of("state['h'][0]"), variable_of("self.step")
    ('state', 'self.step')
    """
    found = re.match(r"[\w.]+", path)
    return path if found is None else found[0]


def advice_for_objects(values: Sequence[Any]) -> str | None:
    """Return advice for a block that chooses between functions, or makes instances of a user's class; else None."""
    if all(callable(value) and not isinstance(value, type) for value in values):
        return "call each function in its own branch, so that the branches give tensors"
    for kind in map(type, values):
        if all(base is object or is_user_class(base) for base in kind.__mro__):
            return (
                f"make `{kind.__name__}` a dataclass, whose fields a graph carries, "
                f"or make the objects before the block and use each by its own name, in an `if`"
            )
    return None
