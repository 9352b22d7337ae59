"""Print a tree as code. This is the only file that does.

Statements are written here, on top of astunparse; expressions by expressions.py, which supports every
expression of the running Python. `unparse(tree, source=text)` puts the user's line above the code that
is printed for it:

    # 3 | while n != 1:
    def loop_body(n):
        # 4 |     n = n // 2
        n = n // 2
        return (n,)

`text_of(tree, Layout(text, …))` prints statements that are as they were word for word: see layout.py.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import astunparse
import gast

from .expressions import expression
from .layout import Layout
from .positions import lines_of
from .tree_queries import deep_trees

WIDTH = 110
INDENT = "    "


def unparse(tree: gast.AST, source: str | None = None) -> str:
    """Return the code of a module, statement or expression. With `source`, the text that it came from, as
    comments.

    >>> unparse(gast.parse("x[:, 0] = (yield)"))
    'x[:, 0] = (yield)\\n'
    """
    with deep_trees():
        plain = gast.gast_to_ast(tree)
        return expression(plain) if isinstance(plain, ast.expr) else text_of(plain, source=source or "")


def text_of(tree: ast.AST, layout: Layout | None = None, *, source: str = "") -> str:
    """Return the code of a tree of `ast`, with the user's own text where `layout` has it."""
    out = io.StringIO()
    _Printer(tree, out, [line.rstrip("\r\n") for line in lines_of(source)], layout)
    return out.getvalue().lstrip("\n")


class _Printer(astunparse.Unparser):  # type: ignore[misc]
    def __init__(
        self, tree: ast.AST, out: io.StringIO, source: Sequence[str], layout: Layout | None = None
    ) -> None:
        self.source = source
        self.layout = layout
        self.comment = ""  # that of the header which is being printed
        self.own_head = self.own_block = (
            False  # whether that header, and the one of this block, are the user's
        )
        self.shown: set[int] = set()  # the lines of the source that have been shown
        self.levels: list[type] = []  # the definitions that are being printed, outermost first
        super().__init__(tree, out)

    # Layout

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, ast.expr):
            self.write(expression(tree))
        else:
            super().dispatch(tree)

    def fill(self, text: str = "") -> None:
        self.write("\n" + INDENT * self._indent + text)

    def block(self, body: list[Any]) -> None:
        self.enter()
        self.body(body)
        self.leave()

    def body(self, body: list[Any]) -> None:
        gap = 2 if not self.levels else 1
        after_definition, lines_before = False, None
        for position, statement in enumerate(body):
            definition = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            inner = bool(self.levels) and self.levels[-1] is not ast.ClassDef
            lines, own = self.laid_out(statement, position, lines_before is None)
            spaced = "" in lines or (own is not None and lines_before is not None)
            if position and not spaced and (definition or (after_definition and not inner)):
                self.write("\n" * gap)
            self.write("".join(f"\n{line}" for line in lines))
            self.annotate(statement)
            ends = self.layout is not None and not self.layout.goes_on(
                statement, body[position + 1 : position + 2]
            )
            self.one(statement, own, ends)
            if self.layout is not None and ends:
                rest = self.layout.after(statement, INDENT * self._indent)
                self.write("".join(f"\n{line}" for line in rest))
            after_definition, lines_before = definition, own

    def laid_out(self, statement: Any, position: int, is_apart: bool) -> tuple[list[str], str | None]:
        """Return the comments and blank lines before a statement, and its own text, as far as the layout has them.

        `is_apart` says that the statement before it is not the user's, whose last comments may come here."""
        if self.layout is None:
            return [], None
        indent = INDENT * self._indent
        above, comment = self.layout.of_clause([statement], indent)
        lines = [*above, *([indent + comment] if comment else []), *self.layout.before(statement, indent)]
        while not position and not self.own_block and lines and not lines[0]:
            del lines[0]
        if position == 1 and not self.levels and not self.layout.has(statement):
            lines = [""]  # the import of the operators, below the docstring
        if is_apart:
            lines = [line and indent + line.lstrip() for line in lines]
        return lines, self.layout.text_of(statement, indent)

    def one(self, statement: Any, own: str | None, ends: bool) -> None:
        """Print a statement by its `own` text, or anew with its inner comments before or after it.

        `ends` says that it is the last of what was made of a statement of the user's."""
        if own is not None:
            self.write(f"\n{own}")
            return
        has_head = hasattr(statement, "body") or hasattr(statement, "cases")
        comments = self.layout.within(statement, ends) if self.layout and not has_head else []
        after = comments.pop() if len(comments) == 1 and statement.lineno == statement.end_lineno else ""
        for comment in comments:
            self.fill(comment)
        self.dispatch(statement)
        self.write(f"  {after}" if after else "")

    def head(self, tree: Any, word: str, text: Callable[[], str]) -> None:
        """Print the first line of a block: the user's own, if it is as it was; otherwise that of `text`."""
        own, comments = None, []
        if self.layout is not None:
            own = self.layout.header_of(tree, word, INDENT * self._indent)
            comments = self.layout.within(tree, False)
        if own is not None:
            self.write(f"\n{own}")
            self.comment, self.own_head = "".join(comments), True
            return
        for comment in comments:
            self.fill(comment)
        for decorator in getattr(tree, "decorator_list", ()):
            self.fill(f"@{expression(decorator)}")
        self.fill(text())

    def enter(self) -> None:
        super().enter()
        self.write(f"  {self.comment}" if self.comment else "")
        self.comment, self.own_block, self.own_head = "", self.own_head, False

    def annotate(self, statement: Any) -> None:
        decorators = getattr(statement, "decorator_list", ())
        line = decorators[0].lineno if decorators else getattr(statement, "lineno", 0)
        if 0 < line <= len(self.source) and line not in self.shown:
            self.shown.add(line)
            self.fill(f"# {line} | {self.source[line - 1].rstrip()}")

    def suite(self, word: str, body: list[Any]) -> None:
        if body:
            self.clause(word, body)
            self.block(body)

    def clause(self, text: str, body: list[Any]) -> None:
        """Return the first line of a part of a block, with the comments above and on it."""
        comments: list[str] = []
        comment = ""
        if self.layout is not None:
            comments, comment = self.layout.of_clause(body, INDENT * self._indent)
        self.write("".join(f"\n{line}" for line in comments))
        self.fill(text)
        self.comment = comment

    def statement(self, head: str, value: Any) -> None:
        """Return a line that ends in an expression; of a call that is too long, the arguments get lines of their
        own."""
        text = expression(value)
        self.fill(head)
        if len(INDENT) * self._indent + len(head) + len(text) <= WIDTH or not isinstance(value, ast.Call):
            self.write(text)
            return
        self.write(expression(value.func) + "(")
        self._indent += 1
        room = WIDTH - len(INDENT) * self._indent
        line = ""
        for argument in (*value.args, *value.keywords):
            part = expression(argument) + ","
            if line and len(line) + len(part) >= room:
                self.fill(line)
                line = ""
            line += f" {part}" if line else part
        self.fill(line.removesuffix(","))
        self._indent -= 1
        self.fill(")")

    # Modules and simple statements

    def _Module(self, tree: Any) -> None:
        layout = self.layout
        if layout is not None and layout.whole:
            self.write("".join(f"\n{line}" for line in layout.heading(tree.body)))
        self.documented(tree.body)
        if layout is not None and layout.whole:
            self.write("".join(f"\n{line}" for line in layout.ending()))

    def documented(self, body: list[Any]) -> None:
        """Return a list of statements which may start with a docstring."""
        first = body[0] if body else None
        text = (
            first.value.value
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            else None
        )
        if self.layout is None and isinstance(text, str) and _spelled_out(text):
            self.fill('"""{}"""'.format(text.replace("\\", "\\\\")))
            if len(body) > 1 and (not self.levels or isinstance(body[1], (ast.FunctionDef, ast.ClassDef))):
                self.write("\n")
            body = body[1:]
        self.body(body)

    def _Expr(self, tree: Any) -> None:
        if isinstance(tree.value, (ast.Yield, ast.YieldFrom)):
            self.fill(expression(tree.value)[1:-1])  # as a statement of its own it needs no parentheses
        else:
            self.statement("", tree.value)

    def _Assign(self, tree: Any) -> None:
        self.statement("".join(f"{expression(target)} = " for target in tree.targets), tree.value)

    def _Return(self, tree: Any) -> None:
        if tree.value is None:
            self.fill("return")
        else:
            self.statement("return ", tree.value)

    def _AugAssign(self, tree: Any) -> None:
        operator = self.binop[type(tree.op).__name__]
        self.statement(f"{expression(tree.target)} {operator}= ", tree.value)

    def _AnnAssign(self, tree: Any) -> None:
        target = expression(tree.target)
        if not tree.simple and isinstance(tree.target, ast.Name):
            target = f"({target})"
        annotation = expression(tree.annotation)
        if tree.value is None:
            self.fill(f"{target}: {annotation}")
        else:
            self.statement(f"{target}: {annotation} = ", tree.value)

    def _ImportFrom(self, tree: Any) -> None:
        names = ", ".join(_alias(alias) for alias in tree.names)
        self.fill(f"from {'.' * (tree.level or 0)}{tree.module or ''} import {names}")

    def _TypeAlias(self, tree: Any) -> None:
        self.statement(f"type {expression(tree.name)}{_type_parameters(tree)} = ", tree.value)

    # Definitions

    def _FunctionDef(self, tree: Any, word: str = "def") -> None:
        def text() -> str:
            returns = f" -> {expression(tree.returns)}" if tree.returns is not None else ""
            return f"{word} {tree.name}{_type_parameters(tree)}({expression(tree.args)}){returns}"

        self.head(tree, word, text)
        self.definition(tree)

    def _AsyncFunctionDef(self, tree: Any) -> None:
        self._FunctionDef(tree, "async def")

    def _ClassDef(self, tree: Any) -> None:
        def text() -> str:
            arguments = ", ".join(expression(argument) for argument in (*tree.bases, *tree.keywords))
            return f"class {tree.name}{_type_parameters(tree)}" + (f"({arguments})" if arguments else "")

        self.head(tree, "class", text)
        self.definition(tree)

    def definition(self, tree: Any) -> None:
        self.levels.append(type(tree))
        self.enter()
        self.documented(tree.body)
        if self.layout is not None:
            rest = self.layout.after_definition(tree, INDENT * self._indent)
            self.write("".join(f"\n{line}" for line in rest))
        self.leave()
        self.levels.pop()

    # Compound statements

    def _If(self, tree: Any) -> None:
        word = "if"
        while True:
            self.head(tree, word, partial(_head, word, tree.test))
            self.block(tree.body)
            if len(tree.orelse) != 1 or not isinstance(tree.orelse[0], ast.If):
                break
            tree, word = tree.orelse[0], "elif"
            comments = self.layout.before(tree, INDENT * self._indent) if self.layout else []
            self.write("".join(f"\n{line}" for line in comments if line))
            self.annotate(tree)
        self.suite("else", tree.orelse)

    def _While(self, tree: Any) -> None:
        self.head(tree, "while", partial(_head, "while", tree.test))
        self.block(tree.body)
        self.suite("else", tree.orelse)

    def _For(self, tree: Any, word: str = "for") -> None:
        self.head(tree, word, lambda: f"{word} {_bare(tree.target)} in {expression(tree.iter)}")
        self.block(tree.body)
        self.suite("else", tree.orelse)

    def _AsyncFor(self, tree: Any) -> None:
        self._For(tree, "async for")

    def _With(self, tree: Any, word: str = "with") -> None:
        self.head(tree, word, lambda: f"{word} {', '.join(map(_with_item, tree.items))}")
        self.block(tree.body)

    def _AsyncWith(self, tree: Any) -> None:
        self._With(tree, "async with")

    def _Try(self, tree: Any, word: str = "except") -> None:
        self.clause("try", tree.body)
        self.block(tree.body)
        for handler in tree.handlers:
            kind = f" {expression(handler.type)}" if handler.type is not None else ""
            name = f" as {handler.name}" if handler.name else ""
            self.annotate(handler)
            self.clause(f"{word}{kind}{name}", handler.body)
            self.block(handler.body)
        self.suite("else", tree.orelse)
        self.suite("finally", tree.finalbody)

    def _TryStar(self, tree: Any) -> None:
        self._Try(tree, "except*")

    def _Match(self, tree: Any) -> None:
        self.head(tree, "match", partial(_head, "match", tree.subject))
        self.enter()
        for case in tree.cases:
            guard = f" if {expression(case.guard)}" if case.guard is not None else ""
            self.clause(f"case {expression(case.pattern)}{guard}", case.body)
            self.block(case.body)
        self.leave()


def _head(word: str, value: ast.expr) -> str:
    return f"{word} {expression(value)}"


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _type_parameters(tree: Any) -> str:
    parts = [expression(part) for part in getattr(tree, "type_params", None) or ()]
    return f"[{', '.join(parts)}]" if parts else ""


def _bare(target: ast.expr) -> str:
    """Return a loop's target, without parentheses round a tuple."""
    text = expression(target)
    return text[1:-1] if isinstance(target, ast.Tuple) and len(target.elts) > 1 else text


def _with_item(item: ast.withitem) -> str:
    text = expression(item.context_expr)
    if item.optional_vars is not None:
        return f"{text} as {expression(item.optional_vars)}"
    # In `with (a, b):` the parentheses would hold two items instead of one tuple.
    return f"({text})" if isinstance(item.context_expr, ast.Tuple) else text


def _spelled_out(text: str) -> bool:
    """Return whether a docstring can be printed as it is, between triple quotes."""
    plain = all(character.isprintable() or character == "\n" for character in text)
    return plain and '"""' not in text and not text.endswith('"')
