"""Which part of converted code is Python's own, and asked for the value of a traced tensor: AGC282.

if x in table:              error[AGC282]: `in` needs the value of a traced tensor
                     ==>      --> words.py:3, in known
                             3 |     if x in table:
                            fix: …
"""

from __future__ import annotations

import dis
import inspect
from types import FrameType

from .errors import Diagnostic, Where

_PARTS = {
    "<genexpr>": (
        "a generator expression",
        "the condition of a generator expression is Python's own",
        "write a list comprehension in its place, [... for ... in ... if ...], which is staged",
    ),
    "<setcomp>": (
        "a set comprehension",
        "Python puts the elements into the set while tracing",
        "collect them with a list comprehension, or in a loop",
    ),
    "<dictcomp>": (
        "a dict comprehension",
        "Python puts the items into the dict while tracing",
        "collect the values with a list comprehension, or in a loop",
    ),
}
_IN = (
    "`in`",
    "`in` asks one element after the other; only numbers that are spelled out, and ranges, go into the graph",
    "write tf.reduce_any(xs == x) for `x in xs`",
)


def undecided(frame: FrameType, label: str) -> Diagnostic | None:
    """The error for a converted function's frame, or None if it shows nothing special. `label` names the value."""
    code = frame.f_code
    found = _PARTS.get(code.co_name)
    if dis.opname[code.co_code[frame.f_lasti]] == "CONTAINS_OP":
        found = _IN
    elif found is None and code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        found = (
            f"the generator `{code.co_name}`",
            "Python runs a generator piece by piece, so its control flow is not staged",
            "append the values to a list in an ordinary function, or decide with tf.where",
        )
    if found is None:
        return None
    what, why, fix = found
    place = Where(code.co_filename, frame.f_lineno, function=code.co_name)
    title = f"{what} needs the value of a traced tensor"
    return Diagnostic("AGC282", title, place, why=f"{label}; {why}", fix=fix)
