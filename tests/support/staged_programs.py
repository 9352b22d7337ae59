"""Random numeric programs that end: what Python does with numbers, a graph must do with tensors.

A program is one function of two integers, a float and two short vectors. It prints with `log` and counts with a
variable as it goes, so that order and number of effects show. It is well typed: integers (a b c e), floats (x y w),
a pair of integers, an attribute and a dict's item keep their types; `e` and `w` may have no value yet.

    Grower(choose).program()   the text
    load(text, surroundings)   the function `program` in it
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

PRELUDE = """
class Box:
    def __init__(self, n):
        self.n = n
        self.r = 0.5

    def above(self, u):
        if u > self.n:
            return u - self.n
        return self.n + 1


class Noted:
    def __init__(self, mark):
        self.mark = mark

    def __enter__(self):
        log(self.mark, 1)
        return 3

    def __exit__(self, kind, value, traceback):
        log(self.mark, 2)
        return False


def halved(u, times):
    while u > 1 and times > 0:
        u = u // 2
        times -= 1
        if u == 3:
            return -u
    return u


def nearest(u, us):
    best = us[0]
    for v in us:
        if abs(v - u) < abs(best - u):
            best = v
        if v == u:
            break
    else:
        best += 1
    return best

"""
COUNT, RATE = 'memo["n"]', 'memo["r"]'
Choose = Callable[[int], int]  # an int below the given one
Lines = list[str]
_numbers = itertools.count()


def load(text: str, surroundings: dict[str, Any]) -> Callable[..., Any]:
    """The function `program` of a module that has this text."""
    name = f"<staged program {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = {"__name__": "staged_program", **surroundings}
    exec(compile(text, name, "exec", dont_inherit=True), module)
    program: Callable[..., Any] = module["program"]
    return program


class Grower:
    """Grows the text of one function `program(a, b, x, xs, zs)`."""

    def __init__(self, choose: Choose, size: int = 25) -> None:
        self.choose = choose
        self.left = size
        self.marks = 0
        self.ints = ["a", "b", "c"]
        self.floats = ["x", "y"]
        self.assigned = ["a", "b", "c"]
        self.result = ""
        self.loops = 0

    def program(self) -> str:
        self.result = self.pick("int", "int", "float", "pair", "both", "number")
        body: Lines = []
        for name, start in (("c", "int"), ("y", "float")):
            constant = self.constant(start)
            body.append(f"    {name} = {constant}")
        body += ["    p = (1, 2)", "    flag = False", "    box = Box(2)", '    memo = {"n": 1, "r": 1.5}']
        body += self.block(1, "")
        body += [f"    log({self.mark()}, a + b + c)", f"    return {self.returned()}"]
        return PRELUDE + "\n\ndef program(a, b, x, xs, zs):\n" + "\n".join(body) + "\n"

    # What to choose from

    def pick(self, *options: str) -> str:
        return options[self.choose(len(options))]

    def mark(self) -> int:
        self.marks += 1
        return self.marks

    def constant(self, kind: str) -> str:
        return (
            self.pick("0", "1", "2", "3", "5", "-1")
            if kind == "int"
            else self.pick("0.0", "1.0", "0.5", "-2.0")
        )

    # Statements

    def block(self, depth: int, jumps: str) -> Lines:
        """Some statements. Of `jumps`, b allows break and continue, f (in a `finally`) forbids to return."""
        lines: Lines = []
        for _ in range(1 + self.choose(3)):
            lines += self.statement(depth, jumps)
        return lines

    def statement(self, depth: int, jumps: str) -> Lines:
        self.left -= 1
        if self.left <= 0 or depth > 5:
            return self.effect(depth, jumps)
        kinds = (
            [self.assign] * 3 + [self.test] * 4 + [self.while_loop, self.for_loop, self.for_loop, self.jump]
        )
        kinds += [self.jump, self.effect, self.inner, self.guarded, self.odd]
        kind = kinds[self.choose(len(kinds))]
        return kind(depth, jumps)

    def effect(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        if self.choose(4) == 0:
            return [f"{pad}total.assign_add({self.value('int', 0)})"]
        return [f"{pad}log({self.mark()}, {self.value('int', 0)})"]

    def assign(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        shape = self.choose(14)
        if shape < 5:
            name = self.pick(*self.assigned, *self.assigned, "e")
            if name == "e" and "e" not in self.ints:
                value = self.reduced()
                self.ints.append("e")
                return [f"{pad}e = {value}"]
            return [f"{pad}{name} = {self.reduced()}"]
        if shape < 7:
            name = self.pick("x", "y", "y", "w")
            value = self.value("float", 2)
            if name == "w" and "w" not in self.floats:
                self.floats.append("w")
            return [f"{pad}{name} = {value}"]
        if shape == 7:
            return [
                f"{pad}{self.pick(*self.assigned, 'box.n')} {self.pick('+=', '-=')} {self.constant('int')}"
            ]
        if shape == 8:
            return [f"{pad}{self.pick('x', 'y', 'box.r')} {self.pick('+=', '-=')} {self.constant('float')}"]
        if shape == 9:
            return [f"{pad}p = ({self.reduced()}, {self.pick('p[0]', 'p[1]', 'a', 'c')})"]
        if shape == 10:
            return [
                f"{pad}{self.pick('(a, c) = (c, a)', '(x, y) = (y, x)', '(b, c) = p', 'xs = zs', 'xs, zs = zs, xs')}"
            ]
        if shape == 11:
            return [f"{pad}flag = {self.condition()}"]
        if shape == 12:
            return [f"{pad}{self.pick('box.n', COUNT)} = {self.reduced()}"]
        return [f"{pad}{self.pick('box.r', RATE)} = {self.value('float', 1)}"]

    def test(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        lines = [f"{pad}if {self.condition()}:", *self.block(depth + 1, jumps)]
        for _ in range(self.choose(3) // 2 * (1 + self.choose(2))):
            lines += [f"{pad}elif {self.condition()}:", *self.block(depth + 1, jumps)]
        if self.choose(2):
            lines += [f"{pad}else:", *self.block(depth + 1, jumps)]
        return lines

    def while_loop(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        self.loops += 1
        k = f"k{self.loops}"
        limit = self.pick("3", "min(a, 4)", "b % 4", "5", "len(xs)")
        shape = self.choose(5)
        if shape == 0:
            head = [f"{pad}while True:"]
            first = [
                f"{pad}    {k} += 1",
                f"{pad}    if {k} > {limit} {self.pick('or', 'or', 'or not')} {self.condition()}:",
            ]
            first += [f"{pad}        break", f"{pad}    if {k} > 6:", f"{pad}        break"]
        elif shape == 1:
            head = [
                f"{pad}while ({k} := {k} + 1) <= {limit} {self.pick('', 'and ' + self.condition())}:".replace(
                    " :", ":"
                )
            ]
            first = []
        else:
            tests = [
                f"{k} < {limit}",
                f"{k} < {limit} and {self.condition()}",
                f"{self.condition()} and {k} < {limit}",
            ]
            head = [f"{pad}while {tests[self.choose(3)]}:"]
            first = [f"{pad}    {k} += 1"]
        self.ints.append(k)
        lines = [f"{pad}{k} = 0", *head, *first, *self.block(depth + 1, self.looping(jumps))]
        if self.choose(3) == 0:
            lines += [f"{pad}else:", *self.block(depth + 1, jumps)]
        return lines

    def looping(self, jumps: str) -> str:
        """The jumps in the body of a loop."""
        return "bf" if "f" in jumps else "b"

    def for_loop(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        self.loops += 1
        i, v = f"i{self.loops}", f"v{self.loops}"
        single = [
            "range(b % 5)", "range(a % 4, -2, -1)", "range(a % 3, 6, b % 3 + 1)", "range(3, a % 7 - 3, -2)", "range(3)",
            "(1, 2, 3)", "[a, b]", "xs", "reversed(xs)", "zs", "range(c % 3)", "range(len(xs))", "range(4, 0, -2)",
        ]  # fmt: skip
        double = [
            "enumerate(xs)",
            "zip(xs, zs)",
            "enumerate(xs, 2)",
            "zip(range(b % 4), xs)",
            "enumerate((4, 5))",
        ]
        if self.choose(4):
            head = f"{pad}for {i} in {single[self.choose(len(single))]}:"
            inside = [i]
        else:
            head = f"{pad}for {i}, {v} in {double[self.choose(len(double))]}:"
            inside = [i, v]
        if self.choose(8) == 0:
            head = head.replace(f"for {i} ", "for c ")
            inside = []
        before = self.ints
        self.ints = before + inside * 2
        lines = [head, *self.block(depth + 1, self.looping(jumps))]
        self.ints = [n for n in self.ints if n not in inside] if self.choose(6) else self.ints
        if self.choose(3) == 0:
            lines += [f"{pad}else:", *self.block(depth + 1, jumps)]
        return lines

    def jump(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        kinds = [] if "f" in jumps else [f"return {self.returned()}"]
        if "b" in jumps:
            kinds += ["break", "continue"]
        if not kinds or depth == 1:
            return self.effect(depth, jumps)
        jump = kinds[self.choose(len(kinds))]
        if self.choose(3):
            return [f"{pad}if {self.condition()}:", f"{pad}    {jump}"]
        return [pad + jump]

    def returned(self) -> str:
        if self.result == "pair":
            return f"{self.value('int', 1)}, {self.value('int', 1)}"
        if self.result == "both":
            return f"({self.value('int', 1)}, {{'r': {self.value('float', 1)}}})"
        if self.result == "number":
            return self.pick(self.value("int", 1), self.constant("int"))
        return self.value(self.result, 2)

    def inner(self, depth: int, jumps: str) -> Lines:
        """A nested function or lambda, called at once. What it reads of the function around it has a value."""
        pad = "    " * depth
        n = self.mark()
        shape = self.choose(4)
        target = self.pick(*self.assigned)
        own, result, assigned, floats = self.ints, self.result, self.assigned, self.floats
        argument = self.atom()
        self.ints, self.floats = ["a", "b", "c"], ["x", "y"]
        if shape == 0:
            value = self.value("int", 2, "u")
            self.ints, self.floats = own, floats
            return [f"{pad}f{n} = lambda u: {value}", f"{pad}{target} = f{n}({argument}) % 13"]
        lines = [f"{pad}def f{n}(u, v=2):"]
        self.result, self.assigned = "int", ["u", "v"]
        if shape == 1:
            lines.append(f"{pad}    m = 0")
            self.assigned = ["u", "m"]
        self.ints += self.assigned
        body = self.private(depth + 1)
        lines += [*body, f"{pad}    return {self.value('int', 1)}"]
        self.ints, self.result, self.assigned, self.floats = own, result, assigned, floats
        call = self.pick(f"f{n}({argument})", f"f{n}({argument}, v={self.atom()})")
        return [*lines, f"{pad}{target} = {call} % 13"]

    def private(self, depth: int) -> Lines:
        """The body of a nested function, which assigns its own variables only."""
        pad = "    " * depth
        shape = self.choose(4)
        one, two = self.assigned
        if shape == 0:
            return [f"{pad}if {self.condition()}:", f"{pad}    return {self.value('int', 1)}"]
        if shape == 1:
            return [
                f"{pad}for {two} in {self.pick('range(u % 4)', 'xs', 'range(3)')}:",
                f"{pad}    if {self.condition()}:",
                f"{pad}        {self.pick('break', 'continue', 'return ' + self.value('int', 1))}",
                f"{pad}    {one} = ({one} + {self.atom()}) % 7",
            ]
        if shape == 2:
            return [
                f"{pad}if {self.condition()}:",
                f"{pad}    {one} = {self.value('int', 1)}",
                f"{pad}    log({self.mark()}, {one})",
                f"{pad}elif {self.condition()}:",
                f"{pad}    return {self.value('int', 1)}",
            ]
        return [f"{pad}{two} = {self.reduced()}"]

    def guarded(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        if self.choose(2):
            head = self.pick(f"with Noted({self.mark()}):", f"with Noted({self.mark()}) as c:")
            return [pad + head, *self.block(depth + 1, jumps)]
        lines = [f"{pad}try:", *self.block(depth + 1, jumps)]
        if self.choose(3) == 0:
            lines += [f"{pad}except KeyError:", f"{pad}    log({self.mark()}, 0)"]
            if self.choose(2):
                return lines
        return [*lines, f"{pad}finally:", *self.block(depth + 1, "f")]

    def odd(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        shape = self.choose(7)
        if shape == 0:
            return [f"{pad}assert {self.condition()} or {self.condition()}, 'no'"]
        if shape == 1:
            return [
                f"{pad}if ({self.pick('c', 'b')} := {self.reduced()}) > 1:",
                *self.block(depth + 1, jumps),
            ]
        if shape == 2:
            return [f"{pad}{self.pick('c', 'b')} = {self.atom()} {self.pick('//', '%')} {self.atom()}"]
        if shape == 3:
            return [f"{pad}c = halved({self.atom()}, {self.atom()} % 4)"]
        if shape == 4:
            return [f"{pad}b = nearest({self.atom()}, {self.pick('xs', 'zs', '(1, 4)')})"]
        if shape == 5:
            return [f"{pad}a = box.above({self.atom()}) % 11"]
        return [f"{pad}del p", f"{pad}p = ({self.atom()}, 0)"] if depth > 1 else [f"{pad}c = sum(xs) % 9"]

    # Expressions

    def atom(self, *more: str) -> str:
        return self.pick(*self.ints, *self.ints, *more, "1", "2", "0", "p[0]", "box.n", COUNT, "xs[1]")

    def reduced(self) -> str:
        return f"({self.value('int', 2)}) % {self.pick('7', '11', '5')}{self.pick('', ' - 2')}"

    def value(self, kind: str, depth: int, *more: str) -> str:
        return self.integer(depth, *more) if kind == "int" else self.real(depth)

    def integer(self, depth: int, *more: str) -> str:
        if depth == 0 or self.choose(3) == 0:
            return self.atom(*more)
        one, two = self.integer(depth - 1, *more), self.integer(depth - 1, *more)
        shape = self.choose(13)
        if shape < 5:
            return f"({one} {self.pick('+', '-', '*', '+', '-')} {two})"
        if shape == 5:
            return f"({one} if {self.condition()} else {two})"
        if shape == 6:
            return f"{self.pick('min', 'max')}({one}, {two})"
        if shape == 7:
            return f"abs({one})"
        if shape == 8:
            return f"({one} {self.pick('//', '%')} {self.pick('2', '3', '-2', '4')})"
        if shape == 9:
            return f"xs[{one} % 2]"
        if shape == 10:
            return f"({one} {self.pick('and', 'or')} {two})"
        if shape == 11:
            return f"int({self.real(0)})"
        return self.pick(
            "total.read_value()", "len(xs)", "max(xs)", "sum(zs)", "min(zs)", f"-{one}", f"int({one} > {two})"
        )

    def real(self, depth: int) -> str:
        if depth == 0 or self.choose(3) == 0:
            return self.pick(*self.floats, *self.floats, "1.5", "box.r", RATE)
        one, two = self.real(depth - 1), self.real(depth - 1)
        shape = self.choose(6)
        if shape == 0:
            return f"({one} + {two}) * 0.5"
        if shape == 1:
            return f"({one} {self.pick('+', '-')} {self.constant('float')})"
        if shape == 2:
            return f"({one} if {self.condition()} else {two})"
        if shape == 3:
            return f"{self.pick('min', 'max')}({one}, {two})"
        if shape == 4:
            return f"float({self.integer(1)})"
        return f"({one} % 4.0)"

    def condition(self) -> str:
        shape = self.choose(13)
        if shape < 4:
            return f"{self.atom()} {self.pick('<', '<=', '==', '!=', '>', '>=')} {self.atom()}"
        if shape < 6:
            return f"{self.atom()} {self.pick('<', '>')} {self.pick('0', '1', '2', '3')}"
        if shape == 6:
            return f"{self.real(0)} {self.pick('<', '>')} {self.real(0)}"
        if shape == 7:
            return f"{self.pick('0', '1', '-1')} < {self.atom()} {self.pick('<', '<=', '!=')} {self.atom()}"
        if shape == 8:
            return f"not {self.atom()} > {self.atom()}"
        if shape == 9:
            return f"({self.condition()} {self.pick('and', 'or')} {self.condition()})"
        if shape == 10:
            return f"({self.atom()} {self.pick('and', 'or')} {self.atom()})"
        if shape == 11:
            return self.pick("flag", "not flag")
        return f"(flag or {self.atom()} < 2)"
