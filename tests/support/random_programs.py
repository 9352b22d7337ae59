"""Random programs that end: nested loops with `else`, jumps, `try`, `with`, `del`, closures, walrus.

Every step leaves a mark in a trace, so that order and number of evaluations are compared as well as the end.
The program text is grown by `Grower` from a source of choices; hypothesis shrinks those choices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PRELUDE = """
class Stop(Exception):
    pass


class Manager:
    def __init__(self, name, swallows):
        self.name, self.swallows = name, swallows

    def __enter__(self):
        TRACE.append(("enter", self.name))
        return 1

    def __exit__(self, kind, value, traceback):
        TRACE.append(("exit", self.name, kind and kind.__name__))
        return self.swallows


class Box:
    value = 0
"""

Choose = Callable[[int], int]  # an int below the given one


def environment(script: list[int]) -> dict[str, Any]:
    """What a program calls: `v` gives scripted values, `go` and `items` run out, `t` leaves a mark."""
    trace: list[Any] = []
    state = {"fuel": 60, "next": 0}

    def v(mark: int) -> int:
        state["next"] += 1
        value = script[state["next"] % len(script)] if script else 0
        trace.append(("v", mark, value))
        return value

    def go(mark: int) -> bool:
        state["fuel"] -= 1
        trace.append(("go", mark, state["fuel"] > 0))
        return state["fuel"] > 0

    def items(mark: int, count: int) -> Any:
        for number in range(count):
            state["fuel"] -= 1
            if state["fuel"] < 0:
                trace.append(("dry", mark))
                return
            trace.append(("item", mark, number))
            yield number

    def t(mark: int, value: Any = None) -> Any:
        trace.append(("t", mark, repr(value)))
        if len(trace) > 3000:
            raise RuntimeError("too long")
        return value

    return {"v": v, "go": go, "items": items, "t": t, "TRACE": trace}


class Grower:
    """Grows the text of one function `program()`."""

    def __init__(self, choose: Choose, size: int = 40) -> None:
        self.choose = choose
        self.left = size
        self.marks = 0

    def program(self) -> str:
        lines = ["def program(a, b):"]
        if self.choose(6) == 0:
            lines.append("    global g")
        if self.choose(3) == 0:
            lines += ["    def inner():", "        return c", ""]
        elif self.choose(4) == 0:
            lines += ["    def inner():", "        nonlocal c", "        c = t(0, 5)", "        return c"]
        lines += self.block(1, loop=False)
        lines += ["    t(999, a)", f"    return {self.atom()}"] if self.choose(2) else []
        text = "\n".join(lines)
        if "nonlocal c" in text and not any(line.strip().startswith("c = ") for line in lines[4:]):
            text += "\n    c = 0"
        return PRELUDE + "\n\n" + text.replace("inner()", "inner()") + "\n"

    def mark(self) -> int:
        self.marks += 1
        return self.marks

    def block(self, depth: int, loop: bool, final: bool = False) -> list[str]:
        lines: list[str] = []
        for _ in range(1 + self.choose(3)):
            lines += self.statement(depth, loop, final)
        return lines

    def statement(self, depth: int, loop: bool, final: bool) -> list[str]:
        self.left -= 1
        pad = "    " * depth
        if self.left <= 0 or depth > 6:
            return [f"{pad}t({self.mark()}, {self.atom()})"]
        kinds = [self.assign, self.use, self.test, self.test, self.while_loop, self.for_loop]
        kinds += [self.attempt, self.manager, self.delete, self.jump, self.jump, self.odd]
        kind = kinds[self.choose(len(kinds))]
        return kind(depth, loop, final)

    def assign(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        target = ["a", "b", "c", "d", "g", "Box.value"][self.choose(6)]
        return [f"{pad}{target} {['=', '=', '=', '+='][self.choose(4)]} {self.value()}"]

    def use(self, depth: int, loop: bool, final: bool) -> list[str]:
        return [f"{'    ' * depth}t({self.mark()}, {self.value()})"]

    def test(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        lines = [f"{pad}if {self.condition()}:", *self.block(depth + 1, loop, final)]
        if self.choose(3) == 0:
            lines += [f"{pad}elif {self.condition()}:", *self.block(depth + 1, loop, final)]
        if self.choose(2):
            lines += [f"{pad}else:", *self.block(depth + 1, loop, final)]
        return lines

    def while_loop(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        test = [f"go({self.mark()})", f"go({self.mark()}) and {self.condition()}"][self.choose(2)]
        if self.choose(5) == 0:
            test = f"go({self.mark()}) and (w := {self.value()}) < 3"
        lines = [f"{pad}while {test}:", *self.block(depth + 1, True, final)]
        return lines + self.perhaps_else(depth, loop, final)

    def for_loop(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        target = ["a", "c", "i", "j", "(i, d)"][self.choose(5)]
        items = f"items({self.mark()}, {self.choose(4)})"
        if target.startswith("("):
            items = f"enumerate({items})"
        if self.choose(6) == 0 and not target.startswith("("):
            items = "(0, 1, 2)"
        lines = [f"{pad}for {target} in {items}:", *self.block(depth + 1, True, final)]
        return lines + self.perhaps_else(depth, loop, final)

    def perhaps_else(self, depth: int, loop: bool, final: bool) -> list[str]:
        return [f"{'    ' * depth}else:", *self.block(depth + 1, loop, final)] if self.choose(3) == 0 else []

    def attempt(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        lines = [f"{pad}try:", *self.block(depth + 1, loop, final)]
        shape = self.choose(4)
        if shape < 3:
            name = ["", " as e", " as c"][self.choose(3)]
            kind = ["Stop", "(Stop, NameError)", "Exception"][self.choose(3)]
            lines += [f"{pad}except {kind}{name}:", *self.block(depth + 1, loop, final)]
            lines += self.perhaps_else(depth, loop, final)
        if shape >= 2:
            lines += [f"{pad}finally:", *self.block(depth + 1, False, final=True)]
        return lines

    def manager(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        name = ["", " as d"][self.choose(2)]
        head = f"{pad}with Manager({self.mark()}, {bool(self.choose(2))}){name}:"
        return [head, *self.block(depth + 1, loop, final)]

    def delete(self, depth: int, loop: bool, final: bool) -> list[str]:
        return [f"{'    ' * depth}del {['b', 'c', 'd'][self.choose(3)]}"]

    def jump(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        kinds = ["raise Stop()", "pass"] if final else [f"return {self.value()}", "return", "raise Stop()"]
        if loop:
            kinds += ["break", "continue", "break", "continue"]
        return [pad + kinds[self.choose(len(kinds))]]

    def odd(self, depth: int, loop: bool, final: bool) -> list[str]:
        pad = "    " * depth
        shape = self.choose(6)
        if shape == 0:
            return [f"{pad}f = lambda: {self.atom()}", f"{pad}t({self.mark()}, f())"]
        if shape == 1:
            return [f"{pad}k = [q * q for q in (1, 2) if v({self.mark()}) > q]", f"{pad}t({self.mark()}, k)"]
        if shape == 2:
            return [f"{pad}assert {self.condition()}, t({self.mark()}, {self.atom()})"]
        if shape == 3:
            lines = [f"{pad}if (w := {self.value()}) > 1:", *self.block(depth + 1, loop, final)]
            return [*lines, f"{pad}elif w > {self.atom()}:", *self.block(depth + 1, loop, final)]
        if shape == 4:
            cases = [f"{pad}match {self.atom()}:"]
            for pattern in ("0 | 1", "d"):
                cases += [f"{pad}    case {pattern}:", *self.block(depth + 2, loop, final)]
            return cases
        return [f"{pad}def h(x):", *self.block(depth + 1, False), f"{pad}t({self.mark()}, h(1))"]

    def atom(self) -> str:
        return ["a", "b", "c", "d", "1", "0", "2", "i", "g"][self.choose(9)]

    def value(self) -> str:
        shape = self.choose(8)
        if shape < 3:
            return self.atom()
        if shape < 5:
            return f"v({self.mark()})"
        if shape == 5:
            return f"({self.atom()} + v({self.mark()})) % 5"
        if shape == 6:
            return f"({self.atom()} if {self.condition()} else {self.atom()})"
        return f"({self.condition()} and {self.atom()})"

    def condition(self) -> str:
        shape = self.choose(8)
        if shape < 3:
            return f"v({self.mark()}) > {self.choose(4)}"
        if shape == 3:
            return f"{self.atom()} < {self.atom()}"
        if shape == 4:
            return f"not {self.atom()}"
        if shape == 5:
            return f"0 < v({self.mark()}) < {self.atom()}"
        if shape == 6:
            return f"({self.atom()} or v({self.mark()}))"
        return f"{self.atom()} is None"
