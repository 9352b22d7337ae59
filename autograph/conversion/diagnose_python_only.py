"""Diagnostic AGC282: converted code that Python runs unstaged, and that needs the value of a traced tensor.

if x in table:              error[AGC282]: `in` needs the value of a traced tensor
                     ==>      --> words.py:3, in known
                             3 |     if x in table:
                            fix: …
"""

from __future__ import annotations

import dis
import inspect
import sys
from types import CodeType

from ..analysis.binding_time import FRAME_READERS
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
    "write tf.reduce_any(xs == x) for `x in xs`, or xs.__contains__(x) if the class of `xs` defines `__contains__`",
)
_COMPARISON = (
    "a comparison of containers",
    "Python compares one element after another, which is not staged",
    "compare the elements, as in `a[0] == b[0] and a[1] == b[1]`, or write tf.reduce_all(tf.stack(a) == tf.stack(b))",
)

_TESTS_RESULT = 16 if sys.version_info >= (3, 13) else 0
"""The bit in the argument of a COMPARE_OP that also tests its result."""


def _instruction(code: CodeType, offset: int) -> tuple[str, bool]:
    """Return the name of an instruction, and whether it tests the truth of a value."""
    number, argument = code.co_code[offset : offset + 2]
    name = dis.opname[number]
    is_test = "JUMP" in name or name in ("TO_BOOL", "UNARY_NOT")
    return name, is_test or (name == "COMPARE_OP" and bool(argument & _TESTS_RESULT))


def _frame_reader(code: CodeType) -> str | None:
    """Return the name of a built-in function that reads the frame of this code, if the code calls one."""
    names = (
        step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    )
    return next((name for name in names if name in FRAME_READERS), None)


def undecided(call: StackCall, label: str) -> Diagnostic | None:
    """Return the error for a call of a converted function, or None if none applies. `label` names the value."""
    code = call.code
    instruction, is_test = _instruction(code, call.offset)
    if instruction == "CONTAINS_OP":
        what, why, fix = _IN
    elif instruction == "COMPARE_OP" and not is_test:
        what, why, fix = _COMPARISON
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
    elif is_test and not code.co_flags & inspect.CO_OPTIMIZED:
        what = f"the body of the class `{code.co_name}`"
        why = "Python runs the body of a class, so its control flow is not staged"
        fix = "decide before the class statement, and use the result in the body"
    elif is_test and ":=" in (call.where().text() or ""):
        what = "an expression with `:=`"
        why = "`:=` assigns on one path only, and blocks that a graph runs assign in statements of their own"
        fix = "write an `if` with the assignment as a statement before the expression"
    elif reader := _frame_reader(code):
        what = f"`{code.co_name}`, which calls `{reader}`,"
        why = f"`{reader}` reads the variables of the function's frame, so Python runs the blocks of the function"
        fix = f"call `{reader}` in a separate function, and pass its operands as arguments"
    else:
        return None
    title = f"{what} needs the value of a traced tensor"
    return Diagnostic("AGC282", title, call.where(), why=f"{label}; {why}", fix=fix)
