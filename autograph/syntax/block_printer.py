"""Write the lines and blocks of a program, with the user's comments and blank lines around them.

    statement()      a line that ends in an expression
    head(), clause() the first line of a block or of a part of it, without the colon
    block()          the colon, and statements that are indented more

`unparse.py` has the methods that write each kind of statement, but for those of astunparse.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import astunparse

from .expressions import OPERANDS, expression
from .layout import Layout

WIDTH = 110
INDENT = "    "
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class BlockPrinter(astunparse.Unparser):  # type: ignore[misc]
    """The printer of blocks. A subclass has a method for each kind of statement that contains others.

    astunparse writes `import`, `raise` and other simple statements.
    """

    def __init__(self, source: Sequence[str] = (), layout: Layout | None = None) -> None:
        # That of astunparse would print a tree.
        self.source = source
        self.layout = layout
        self.parts: list[str] = []  # the text so far
        self.write = self.parts.append
        self.future_imports: list[str] = []  # astunparse collects them
        self.indent = ""
        self.comment = ""  # that of the header which is being printed
        self.own_head = self.own_block = (
            False  # whether that header, and the one of this block, are the user's
        )
        self.shown: set[int] = set()  # the lines of the source that have been shown
        self.levels: list[type] = []  # the definitions that are being printed, outermost first

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, ast.expr):
            self.write(expression(tree))
        else:
            super().dispatch(tree)

    # Lines

    def fill(self, text: str = "") -> None:
        self.write(f"\n{self.indent}{text}")

    def lines(self, lines: Sequence[str]) -> None:
        """Write lines that are indented already."""
        self.parts += [f"\n{line}" for line in lines]

    def statement(self, head: str, value: Any) -> None:
        """Write a line that ends in an expression; of a call that is too long, the arguments get lines of their
        own.

        If the callee needs parentheses, as in `(f or g)(x)`, the call stays on one line."""
        text = expression(value)
        fits = len(self.indent) + len(head) + len(text) <= WIDTH
        if fits or not isinstance(value, ast.Call) or type(value.func) not in OPERANDS:
            self.fill(head + text)
            return
        self.fill(f"{head}{expression(value.func)}(")
        outer, self.indent = self.indent, self.indent + INDENT
        room = WIDTH - len(self.indent)
        line = ""
        for argument in (*value.args, *value.keywords):
            part = expression(argument) + ","
            if line and len(line) + len(part) >= room:
                self.fill(line)
                line = ""
            line += f" {part}" if line else part
        self.fill(line.removesuffix(","))
        self.indent = outer
        self.fill(")")

    def annotate(self, statement: Any) -> None:
        """Write the line of the source that a statement came from, as a comment, if it is not there yet."""
        decorators = getattr(statement, "decorator_list", ())
        line = decorators[0].lineno if decorators else getattr(statement, "lineno", 0)
        if 0 < line <= len(self.source) and line not in self.shown:
            self.shown.add(line)
            self.fill(f"# {line} | {self.source[line - 1].rstrip()}")

    # Blocks

    def enter(self) -> None:
        """Write the colon of a header; what follows is indented more, up to `leave`."""
        self.write(f":  {self.comment}" if self.comment else ":")
        self.comment, self.own_block, self.own_head = "", self.own_head, False
        self.indent += INDENT

    def leave(self) -> None:
        self.indent = self.indent.removesuffix(INDENT)

    def block(self, body: list[Any]) -> None:
        self.enter()
        self.body(body)
        self.leave()

    def body(self, body: list[Any]) -> None:
        gap = "\n" if self.levels else "\n\n"
        inner = bool(self.levels) and self.levels[-1] is not ast.ClassDef
        after_definition, before = False, None
        for position, statement in enumerate(body):
            definition = isinstance(statement, _DEFINITIONS)
            lines, own = self.laid_out(statement, position, before is None)
            spaced = "" in lines or (own is not None and before is not None)
            if position and not spaced and (definition or (after_definition and not inner)):
                self.write(gap)
            if lines:
                self.lines(lines)
            if self.source:
                self.annotate(statement)
            following = body[position + 1] if position + 1 < len(body) else None
            self.one(statement, own, following)
            after_definition, before = definition, own

    def laid_out(self, statement: Any, position: int, is_apart: bool) -> tuple[list[str], str | None]:
        """Return the comments and blank lines before a statement, and its own text, as far as the layout has them.

        `is_apart` says that the statement before it is not the user's, whose last comments may come here."""
        if self.layout is None:
            return [], None
        lines = self.layout.above(statement, self.indent)
        while not position and not self.own_block and lines and not lines[0]:
            del lines[0]
        if position == 1 and not self.levels and not self.layout.has(statement):
            lines = [""]  # the import of the operators, below the docstring
        if is_apart:
            lines = [line and self.indent + line.lstrip() for line in lines]
        return lines, self.layout.text_of(statement, self.indent)

    def one(self, statement: Any, own: str | None, following: Any) -> None:
        """Print a statement by its `own` text, or anew with its inner comments before or after it.

        `following` is the statement after it, which may have been made of the same statement of the user's."""
        ends = self.layout is not None and not self.layout.goes_on(statement, following)
        if own is not None:
            self.write(f"\n{own}")
        elif self.layout is None or hasattr(statement, "body") or hasattr(statement, "cases"):
            self.dispatch(statement)
        else:
            comments = self.layout.within(statement, ends)
            after = comments.pop() if len(comments) == 1 and statement.lineno == statement.end_lineno else ""
            self.lines([self.indent + comment for comment in comments])
            self.dispatch(statement)
            self.write(f"  {after}" if after else "")
        if self.layout is not None and ends:
            self.lines(self.layout.after(statement, self.indent))

    def head(self, tree: Any, word: str, text: Callable[[], str]) -> None:
        """Print the first line of a block: the user's own, if it is as it was; otherwise that of `text`."""
        if self.layout is not None:
            own = self.layout.header_of(tree, word, self.indent)
            comments = self.layout.within(tree, False)
            if own is not None:
                self.write(f"\n{own}")
                self.comment, self.own_head = "".join(comments), True
                return
            self.lines([self.indent + comment for comment in comments])
        for decorator in getattr(tree, "decorator_list", ()):
            self.fill(f"@{expression(decorator)}")
        self.fill(text())

    def clause(self, text: str, body: list[Any]) -> None:
        """Write the first line of a part of a block, with the comments above and on it."""
        comments, self.comment = self.layout.of_clause(body, self.indent) if self.layout else ([], "")
        self.lines(comments)
        self.fill(text)

    def suite(self, word: str, body: list[Any]) -> None:
        """Write a part of a block that may be empty."""
        if body:
            self.clause(word, body)
            self.block(body)
