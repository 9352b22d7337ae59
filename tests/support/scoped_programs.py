"""Random programs of nested scopes, in which functions, classes and generators share variables.

    def program(p, q):
        global c
        a = v(1)
        def f2(p, q=a):
            nonlocal a
            a += (b := v(3))
            yield b
        t(4, called(f2))

Programs are executed in the namespace of `grammar.surroundings`, and `called`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import GeneratorType
from typing import Any

Choose = Callable[[int], int]  # an int below the given one

NAMES = ("a", "b", "c")
PRELUDE = """
import contextlib
a = b = c = 0
"""


def called(function: Callable[..., Any]) -> str:
    """Call a function, and note its result or error, and at most five values of a generator."""
    try:
        result = function(1)
        if isinstance(result, GeneratorType):
            result = [value for value, _ in zip(result, range(5), strict=False)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return shown(result)


def shown(value: Any) -> str:
    """Return the text of a value, without addresses."""
    return re.sub(r" at 0x\w+", "", repr(value))


class ScopedGrower:
    """Grows the text of a program from a source of choices."""

    def __init__(self, choose: Choose, size: int) -> None:
        self.choose = choose
        self.left = size
        self.marks = 0

    def one(self, *things: Any) -> Any:
        return things[self.choose(len(things))]

    def mark(self) -> int:
        self.marks += 1
        return self.marks

    def program(self) -> str:
        return PRELUDE + "\n".join(self.function(0, "program", frozenset())) + "\n"

    def function(self, depth: int, name: str, around: frozenset[str]) -> list[str]:
        """Return a function; `around` are the variables of the functions around it."""
        pad = "    " * (depth + 1)
        parameters = self.one("p, q=2", "p, *q", "p, /, q=a", "p, *, q=b", "p, q=lambda: c")
        lines = ["    " * depth + f"def {name}({parameters}):"]
        own, first = set(), []
        for variable in NAMES:
            role = self.one("local", "local", "local", "unset", "global", "nonlocal", "nonlocal")
            if role == "local" or (role == "nonlocal" and variable not in around):
                own.add(variable)
                first.append(f"{pad}{variable} = v({self.mark()})")
            elif role != "unset":
                lines.append(f"{pad}{role} {variable}")
        is_generator = self.choose(4) == 0
        lines += first + self.block(depth + 1, around | own, "yield" if is_generator else "return")
        return [*lines, f"{pad}{'yield' if is_generator else 'return'} {self.value()}"]

    def block(self, depth: int, around: frozenset[str], leave: str, loop: bool = False) -> list[str]:
        lines: list[str] = []
        for _ in range(1 + self.choose(3)):
            lines += self.statement(depth, around, leave, loop)
        return lines

    def statement(self, depth: int, around: frozenset[str], leave: str, loop: bool) -> list[str]:
        self.left -= 1
        pad = "    " * depth
        if self.left <= 0 or depth > 5:
            return [f"{pad}t({self.mark()}, {self.one(*NAMES)})"]
        if self.choose(3) == 0:
            return self.definition(depth, around)
        if self.choose(2) == 0:
            return self.compound(depth, around, leave, loop)
        kinds = [f"{self.one(*NAMES)} {self.one('=', '=', '+=')} {self.value()}"] * 3
        kinds += [f"t({self.mark()}, {self.value()})", f"del {self.one(*NAMES)}"]
        kinds += [
            f"{self.one(*NAMES)} = lambda p=1: {self.value()}",
            f"t({self.mark()}, called({self.one(*NAMES)}))",
        ]
        kinds += [f"{leave} {self.value()}"] if leave else []
        return [pad + self.one(*kinds, *(["break", "continue"] if loop else []))]

    def definition(self, depth: int, around: frozenset[str]) -> list[str]:
        pad = "    " * depth
        number = self.mark()
        if self.choose(4):
            lines = self.function(depth, f"f{number}", around)
            return [*lines, f"{pad}t({self.mark()}, called(f{number}))"]
        lines = [f"{pad}class K{number}:", *self.block(depth + 1, around, leave="")]
        lines += self.function(depth + 1, "method", around)
        return [*lines, f"{pad}t({self.mark()}, called(K{number}.method))"]

    def compound(self, depth: int, around: frozenset[str], leave: str, loop: bool) -> list[str]:
        pad = "    " * depth
        name = self.one(*NAMES)
        heads = [
            f"if {self.value()}:",
            f"if v({self.mark()}) > 1:",
            f"with contextlib.nullcontext({self.value()}) as {name}:",
        ]
        head = self.one(
            *heads, f"for {name} in items({self.mark()}, 2):", f"while go({self.mark()}) and {name}:", "try:"
        )
        is_loop = head.startswith(("for", "while"))
        lines = [pad + head, *self.block(depth + 1, around, leave, loop or is_loop)]
        if head == "try:":
            lines += [f"{pad}except {self.one('NameError', 'TypeError', 'Exception')} as {name}:"]
            lines += self.block(depth + 1, around, leave, loop)
        elif head.startswith("if") and self.choose(2):
            lines += [f"{pad}else:", *self.block(depth + 1, around, leave, loop)]
        return lines

    def value(self) -> str:
        name, other = self.one(*NAMES), self.one(*NAMES, "p", "q")
        return str(
            self.one(
                name, f"v({self.mark()})", f"({name}, {other})", f"({name} if {other} else 1)", f"({name} or {other})",
                f"[{name} for p in items({self.mark()}, 2) if {other}]", f"[({name} := i) for i in (1, 2)]",
                f"({name} := {other})", f"{{1: {other}, ({name} := 2): {name}}}", f"{name} is {other}",
            )
        )  # fmt: skip
