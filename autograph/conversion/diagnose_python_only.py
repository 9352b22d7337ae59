"""Diagnostic AGC282: converted code that Python runs unstaged, and that needs the value of a traced tensor.

if x in table:              error[AGC282]: `in` needs the value of a traced tensor
                     ==>      --> words.py:3, in known
                             3 |     if x in table:
                            fix: …
"""

from __future__ import annotations

import dis
import inspect

from ..errors import Diagnostic
from ..introspection.calls import StackCall

_GENERATOR_EXPRESSION = (
    "a generator expression",
    "Python runs it lazily, so its condition is not staged",
    "write a list comprehension instead, [... for ... in ... if ...], which is staged",
)
_IN = (
    "`in`",
    "`in` compares one element after another; it is staged for literal numbers and ranges only",
    "write tf.reduce_any(xs == x) for `x in xs`",
)


def undecided(call: StackCall, label: str) -> Diagnostic | None:
    """Return the error for a call of a converted function, or None if none applies. `label` names the value."""
    code = call.code
    if dis.opname[code.co_code[call.offset]] == "CONTAINS_OP":
        what, why, fix = _IN
    elif code.co_name == "<genexpr>":
        what, why, fix = _GENERATOR_EXPRESSION
    elif code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        what = f"the generator `{code.co_name}`"
        why = "Python suspends and resumes a generator, so its control flow is not staged"
        fix = "append the values to a list in an ordinary function, or decide with tf.where"
    elif code.co_flags & inspect.CO_COROUTINE:
        what = f"the coroutine `{code.co_name}`"
        why = "Python suspends and resumes a coroutine, so its control flow is not staged"
        fix = "compute in an ordinary function without `await`, and await before or after the call"
    else:
        return None
    title = f"{what} needs the value of a traced tensor"
    return Diagnostic("AGC282", title, call.where(), why=f"{label}; {why}", fix=fix)
