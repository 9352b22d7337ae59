"""Random `match` statements, and subjects that write down what is asked of them.

Grower(choose).program()   the text of a function `program(x)` with one `match`
SURROUNDINGS               a module for it: classes, `g`, `log`, and `subjects()`
"""

from __future__ import annotations

from collections.abc import Callable

SURROUNDINGS = """
import collections
import collections.abc

log = []


class K:
    ONE = 1


class P:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"P({self.x!r}, {self.y!r})"


class Seen:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        log.append(f"{self.value} == {other!r}")
        return self.value == other

    def __getattr__(self, name):
        log.append(f"{self.value}.{name}")
        raise AttributeError(name)

    def __repr__(self):
        return f"Seen({self.value!r})"


class Listed(collections.abc.Sequence):
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        log.append("len")
        return len(self.items)

    def __getitem__(self, index):
        log.append(f"[{index}]")
        return self.items[index]

    def __iter__(self):
        log.append("iter")
        return iter(self.items)

    def __repr__(self):
        return f"Listed{self.items!r}"


def g(mark, answer):
    log.append(mark)
    return answer


def subjects():
    return [
    0, 1, 2, 1.0, True, False, None, "s", "", b"s", (), (0,), [1], (0, 1), [1, 0], (0, (1, 2)), [[0, 1], 2], (1, 2, 0),
    [0, 1, 2, 0], {}, {"k": 0}, {"k": 1, "m": 2}, {"k": [0, 1]}, P(0, 1), P(1, P(0, 2)), P([0, 1], 0), {0, 1},
    Seen(0), Seen(1), (Seen(0), Seen(1)), Listed(), Listed(0, 1), Listed(1, 2, 0), Listed(Seen(0), 1, (0,)),
    collections.deque([0, 1]), range(2), "ab", (None, True), P(Seen(1), "s"), {"k": Seen(0)},
    ]
"""

Choose = Callable[[int], int]


class Grower:
    """Grows the text of a function `program(x)` with one `match`."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose

    def pick(self, *options: str) -> str:
        return options[self.choose(len(options))]

    def program(self) -> str:
        subject = self.pick("x", "x", "x", "(x)", "g('s', x)", "x, 1", "(a, x)", "[x, x]", "(x, (x, 0))")
        lines = ["def program(x, a=None, b=None, c=None):", f"    match {subject}:"]
        if self.pick("bound", "free") == "free":
            lines[0] = "def program(x, a=3):"
        for number in range(1 + self.choose(4)):
            self.free = ["a", "b", "c"]
            pattern = self.pattern(3)
            guard = self.guard()
            lines += [f"        case {pattern}{guard}:", f"            {self.body(number)}"]
        names = "a, b, c" if "c=None" in lines[0] else "a"
        lines += ["    else_ = 1" if self.choose(9) == 0 else "    pass", f"    return 'end', {names}, log"]
        return "\n".join(lines) + "\n"

    def body(self, number: int) -> str:
        bound = [name for name in ("a", "b", "c") if name not in self.free]
        shown = ", ".join([str(number), *bound])
        return self.pick(
            f"return {shown}, log", f"log.append(({shown},))", "x = 5", "pass", "raise ValueError(x)"
        )

    def guard(self) -> str:
        bound = [name for name in ("a", "b", "c") if name not in self.free]
        kind = self.choose(6)
        if kind < 3:
            return ""
        if kind == 3 and bound:
            return f" if {bound[0]} == 0"
        if kind == 4 and bound:
            return f" if g({', '.join(bound[:1])}, {bound[-1]} != 1)"
        return self.pick(" if g('no', False)", " if g('yes', 1)", " if x is not None", " if (a := x)")

    def pattern(self, depth: int) -> str:
        kind = self.choose(9 if depth else 4)
        if kind < 2:
            return self.pick("0", "1", "2", "'s'", "None", "True", "False", "K.ONE", "-1", "1.0", "b's'")
        if kind == 2 and self.free:
            return self.free.pop()
        if kind == 3:
            return "_"
        if kind == 4:
            return self.alternatives(depth)
        if kind == 5:
            return self.mapping(depth)
        if kind == 6:
            part = self.pattern(depth - 1)
            return self.pick(
                f"P({part})", f"P(x={part})", f"P(y={part}, x=0)", f"int({part})", "str()", "list()", "P()"
            )
        if kind == 7 and self.free:
            name = self.free.pop()
            return f"({self.pattern(depth - 1)} as {name})"
        return self.sequence(depth)

    def alternatives(self, depth: int) -> str:
        if self.choose(2) and self.free:
            name = self.free.pop()
            return self.pick(
                f"(0 as {name}) | (1 as {name})", f"[0, {name}] | [{name}, 0]", f"P({name}) | {{'k': {name}}}",
                f"[{name}] | [_, *{name}]", f"[1, {name}, *_] | [{name}, *_]", f"(True as {name}) | [{name}, _]",
            ).join("()")  # fmt: skip
        free, self.free = self.free, []
        parts = [self.pattern(depth - 1) for _ in range(2 + self.choose(2))]
        self.free = free
        return f"({' | '.join(parts)})"

    def mapping(self, depth: int) -> str:
        parts = [f"{key}: {self.pattern(depth - 1)}" for key in ("'k'", "'m'")[: self.choose(3)]]
        if self.free and self.choose(3) == 0:
            parts.append(f"**{self.free.pop()}")
        return "{" + ", ".join(parts) + "}"

    def sequence(self, depth: int) -> str:
        parts = [self.pattern(depth - 1) for _ in range(self.choose(4))]
        if self.choose(2):
            star = self.free.pop() if self.free and self.choose(2) else "_"
            parts.insert(self.choose(len(parts) + 1), f"*{star}")
        return f"[{', '.join(parts)}]"
