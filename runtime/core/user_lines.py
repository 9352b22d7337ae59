"""The line of the user's code that is traced, for messages of errors.

seen[x]      placed("…")            …
                                      --> search.py:4:8, in search
                                     4 |     if seen[x]:
                                       |        ^^^^^^^
             running_expression()   the syntax tree of `seen[x]`
"""

from __future__ import annotations

import ast

from agc.autograph import api


def placed(message: str) -> str:
    """Return a message, followed by the line of the user's code that is running."""
    where = api.running()
    return f"{message}\n{where.excerpt()}" if where.line else message


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
