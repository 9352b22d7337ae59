"""Print a tree as code. This is the only file that does.

Statements are written here, on top of astunparse; expressions by `ast.unparse`, which knows every
expression of the running Python. `unparse(tree, source=text)` puts the user's line above the code that
stands for it:

    # 3 | while n != 1:
    def loop_body(n):
        # 4 |     n = n // 2
        n = n // 2
        return (n,)
"""

from __future__ import annotations

import ast
import io
from collections.abc import Sequence
from typing import Any

import astunparse
import gast

from .origin import lines_of
from .quotes import expression
from .tree import deep_trees

WIDTH = 110
INDENT = "    "


def unparse(tree: gast.AST, source: str | None = None) -> str:
    """The code of a module, statement or expression. With `source`, the text that it came from, as
    comments.

    >>> unparse(gast.parse("x[:, 0] = (yield)"))
    'x[:, 0] = (yield)\\n'
    """
    with deep_trees():
        plain = gast.gast_to_ast(tree)
        if isinstance(plain, ast.expr):
            return expression(plain)
        out = io.StringIO()
        _Printer(plain, out, [line.rstrip("\r\n") for line in lines_of(source or "")])
        return out.getvalue().lstrip("\n")


class _Printer(astunparse.Unparser):  # type: ignore[misc]
    def __init__(self, tree: ast.AST, out: io.StringIO, source: Sequence[str]) -> None:
        self.source = source
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
        after_definition = False
        for position, statement in enumerate(body):
            definition = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            inner = bool(self.levels) and self.levels[-1] is not ast.ClassDef
            if position and (definition or (after_definition and not inner)):
                self.write("\n" * gap)
            self.annotate(statement)
            self.dispatch(statement)
            after_definition = definition

    def annotate(self, statement: Any) -> None:
        decorators = getattr(statement, "decorator_list", ())
        line = decorators[0].lineno if decorators else getattr(statement, "lineno", 0)
        if 0 < line <= len(self.source) and line not in self.shown:
            self.shown.add(line)
            self.fill(f"# {line} | {self.source[line - 1].rstrip()}")

    def suite(self, word: str, body: list[Any]) -> None:
        if body:
            self.fill(word)
            self.block(body)

    def statement(self, head: str, value: Any) -> None:
        """A line that ends in an expression; of a call that is too long, the arguments get lines of their
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
        self.documented(tree.body)

    def documented(self, body: list[Any]) -> None:
        """A list of statements which may start with a docstring."""
        first = body[0] if body else None
        text = (
            first.value.value
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            else None
        )
        if first is not None and isinstance(text, str) and _spelled_out(text):
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
        self.decorators(tree)
        returns = f" -> {expression(tree.returns)}" if tree.returns is not None else ""
        self.fill(f"{word} {tree.name}{_type_parameters(tree)}({expression(tree.args)}){returns}")
        self.definition(tree)

    def _AsyncFunctionDef(self, tree: Any) -> None:
        self._FunctionDef(tree, "async def")

    def _ClassDef(self, tree: Any) -> None:
        self.decorators(tree)
        arguments = ", ".join(expression(argument) for argument in (*tree.bases, *tree.keywords))
        self.fill(f"class {tree.name}{_type_parameters(tree)}" + (f"({arguments})" if arguments else ""))
        self.definition(tree)

    def decorators(self, tree: Any) -> None:
        for decorator in tree.decorator_list:
            self.fill(f"@{expression(decorator)}")

    def definition(self, tree: Any) -> None:
        self.levels.append(type(tree))
        self.enter()
        self.documented(tree.body)
        self.leave()
        self.levels.pop()

    # Compound statements

    def _If(self, tree: Any) -> None:
        word = "if"
        while True:
            self.fill(f"{word} {expression(tree.test)}")
            self.block(tree.body)
            if len(tree.orelse) != 1 or not isinstance(tree.orelse[0], ast.If):
                break
            tree, word = tree.orelse[0], "elif"
            self.annotate(tree)
        self.suite("else", tree.orelse)

    def _While(self, tree: Any) -> None:
        self.fill(f"while {expression(tree.test)}")
        self.block(tree.body)
        self.suite("else", tree.orelse)

    def _For(self, tree: Any, word: str = "for") -> None:
        self.fill(f"{word} {_bare(tree.target)} in {expression(tree.iter)}")
        self.block(tree.body)
        self.suite("else", tree.orelse)

    def _AsyncFor(self, tree: Any) -> None:
        self._For(tree, "async for")

    def _With(self, tree: Any, word: str = "with") -> None:
        items = ", ".join(_with_item(item) for item in tree.items)
        self.fill(f"{word} {items}")
        self.block(tree.body)

    def _AsyncWith(self, tree: Any) -> None:
        self._With(tree, "async with")

    def _Try(self, tree: Any, word: str = "except") -> None:
        self.fill("try")
        self.block(tree.body)
        for handler in tree.handlers:
            kind = f" {expression(handler.type)}" if handler.type is not None else ""
            name = f" as {handler.name}" if handler.name else ""
            self.annotate(handler)
            self.fill(f"{word}{kind}{name}")
            self.block(handler.body)
        self.suite("else", tree.orelse)
        self.suite("finally", tree.finalbody)

    def _TryStar(self, tree: Any) -> None:
        self._Try(tree, "except*")

    def _Match(self, tree: Any) -> None:
        self.fill(f"match {expression(tree.subject)}")
        self.enter()
        for case in tree.cases:
            guard = f" if {expression(case.guard)}" if case.guard is not None else ""
            self.fill(f"case {expression(case.pattern)}{guard}")
            self.block(case.body)
        self.leave()


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _type_parameters(tree: Any) -> str:
    parts = [expression(part) for part in getattr(tree, "type_params", None) or ()]
    return f"[{', '.join(parts)}]" if parts else ""


def _bare(target: ast.expr) -> str:
    """A loop's target, without parentheses round a tuple."""
    text = expression(target)
    return text[1:-1] if isinstance(target, ast.Tuple) and len(target.elts) > 1 else text


def _with_item(item: ast.withitem) -> str:
    text = expression(item.context_expr)
    if item.optional_vars is not None:
        return f"{text} as {expression(item.optional_vars)}"
    # In `with (a, b):` the parentheses would hold two items instead of one tuple.
    return f"({text})" if isinstance(item.context_expr, ast.Tuple) else text


def _spelled_out(text: str) -> bool:
    """Whether a docstring can be printed as it is, between triple quotes."""
    plain = all(character.isprintable() or character == "\n" for character in text)
    return plain and '"""' not in text and not text.endswith('"')
