"""Print a tree as code. This is the only file that does.

Statements are written here, on top of block_printer.py and astunparse; expressions by expressions.py, which supports
every expression of the running Python. `unparse(tree, source=text)` puts the user's line above the code that
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
from functools import partial
from typing import Any

import gast

from .block_printer import BlockPrinter
from .expressions import UPDATES, expression
from .layout import Layout
from .nesting import deep_trees
from .positions import lines_of


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
    printer = _Unparser([line.rstrip("\r\n") for line in lines_of(source)], layout)
    printer.dispatch(tree)
    return "".join([*printer.parts, "\n"]).lstrip("\n")


class _Unparser(BlockPrinter):
    # Modules and simple statements

    def _Module(self, tree: Any) -> None:
        layout = self.layout
        if layout is not None and layout.whole:
            self.lines(layout.heading(tree.body))
        self.documented(tree.body)
        if layout is not None and layout.whole:
            self.lines(layout.ending())

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
        self.statement(f"{expression(tree.target)} {UPDATES[type(tree.op).__name__]} ", tree.value)

    def _AnnAssign(self, tree: Any) -> None:
        target = expression(tree.target)
        if not tree.simple and isinstance(tree.target, ast.Name):
            target = f"({target})"
        annotation = expression(tree.annotation)
        if tree.value is None:
            self.fill(f"{target}: {annotation}")
        else:
            self.statement(f"{target}: {annotation} = ", tree.value)

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
            self.lines(self.layout.after_definition(tree, self.indent))
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
            comments = self.layout.before(tree, self.indent) if self.layout else []
            self.lines([line for line in comments if line])
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
