"""The line of the user's code that is traced, for messages of errors.

seen[x]      name_line(error, …)    …
                                      --> search.py:4:8, in search
                                     4 |     if seen[x]:
                                       |        ^^^^^^^
             running_expression()   the syntax tree of `seen[x]`
"""

from __future__ import annotations

import ast
import re
from types import TracebackType

from agc.autograph import api

from ..ir.source_location import own_files


def name_line(error: BaseException, trace: TracebackType | None) -> None:
    """Add the line of the user's code to the message of an error that the library raised, unless it has a line.

    Errors of the program and of Python have none: the traceback ends in user code, and its filter has not marked them.
    """
    user, is_own = None, False
    while trace is not None:
        is_own = own_files[trace.tb_frame.f_code.co_filename] is not None
        user = user if is_own else trace
        trace = trace.tb_next
    if user is None or not (is_own or hasattr(error, "raised_in_agc")):
        return
    text = str(error)
    if error.args == (text,) and not _PLACES.search(text):
        where = api.at_instruction(user.tb_frame.f_code, user.tb_lineno, user.tb_lasti)
        error.args = (f"{text}\n{where.excerpt()}",)
        if hasattr(error, "message"):
            error.message = error.args[0]


def running_expression() -> ast.expr | None:
    """Return the user's expression that is running; None if it is unknown, or continues on another line."""
    where = api.running()
    text = where.text() if where.column else None
    try:
        return ast.parse((text or "")[where.column - 1 : where.end_column - 1], mode="eval").body
    except SyntaxError:
        return None


def index_advice(value: str) -> tuple[str, str, str]:
    """Return what needs a tensor as a Python integer, the fix, and the user's name of the tensor.

    `value` is the name of the tensor in the graph.
    """
    node = running_expression()
    if isinstance(node, ast.Subscript):
        items, index = ast.unparse(node.value), ast.unparse(node.slice)
        use = f"The Python index of `{items}[{index}]`"
        lists = "for a list or tuple of numbers, texts or tensors of one type"
        if isinstance(node.slice, ast.Slice):
            return use, f"Write tf.stack({items})[{index}] {lists}, and tf.strings.substr for a str.", value
        fix = (
            f"Write tf.gather(tf.stack({items}), {index}) {lists}, tf.switch_case({index}, {items}) for one of "
            f"functions, and tf.strings.substr for a str."
        )
        return use, fix, index
    use = f"The Python integer in `{ast.unparse(node)}`" if node else "A Python index or `range`"
    return use, "Use a function of tf instead: tf.range for `range`, tf.gather for an index.", value


_PLACES = re.compile(r"^  (-->|at) ", re.MULTILINE)
