"""Expressions of every kind. Integers (a b c d), a list `xs`, a dict `m` and an object `o` are what they are about."""

from __future__ import annotations

from collections.abc import Callable

Choose = Callable[[int], int]  # an int below the given one


class Expressions:
    """Grows expressions from choices. `kind` is that of the function around: plain, generator or async."""

    def __init__(self, choose: Choose, size: int) -> None:
        self.choose = choose
        self.left = size
        self.marks = 0
        self.kind = "plain"
        self.walrus = True

    def pick(self, *options: str) -> str:
        return options[self.choose(len(options))]

    def mark(self) -> int:
        self.marks += 1
        return self.marks

    def atom(self) -> str:
        return self.pick(
            "a",
            "b",
            "c",
            "a",
            "c",
            "d",
            "0",
            "1",
            "2",
            "g",
            "o.n",
            "o.p",
            "xs[0]",
            "m['k']",
            f"v({self.mark()})",
        )

    def value(self, depth: int = 2) -> str:
        """An integer, mostly."""
        if depth == 0 or self.choose(3) == 0:
            return self.atom()
        kinds = [
            self.arithmetic,
            self.arithmetic,
            self.choice,
            self.logic,
            self.called,
            self.chosen,
            self.reached,
        ]
        kinds += [self.counted, self.named, self.suspended]
        return kinds[self.choose(len(kinds))](depth - 1)

    def arithmetic(self, depth: int) -> str:
        if self.choose(6) == 0:
            return f"{self.pick('-', '+', '~', 'not ')}{self.value(depth)}".join("()")
        sign = self.pick("+", "-", "+", "-", "*", "//", "%", "&", "|", "^", "/", "@")
        return (
            f"({self.value(depth)} {sign} {self.value(depth)}) % 7"
            if sign != "@"
            else f"(o @ {self.value(depth)})"
        )

    def choice(self, depth: int) -> str:
        return f"({self.value(depth)} if {self.condition(depth)} else {self.value(depth)})"

    def logic(self, depth: int) -> str:
        return f"({self.value(depth)} {self.pick('and', 'or')} {self.value(depth)})"

    def called(self, depth: int) -> str:
        one, two, n = self.value(depth), self.value(depth), self.mark()
        return self.pick(
            f"t({n}, {one})",
            f"t({n}, value={one})",
            f"t(*({n}, {one}))",
            f"t({n}, **{{'value': {one}}})",
            f"(lambda u, *w, k={one}, **q: t({n}, (u, w, k, q)) and u)({two}, {one}, *xs[:1], z={two}, **m)",
            f"(lambda: {one})()",
            f"(lambda a, c=a: {one})({two})",
            f"o.method({one}, k={two})",
            f"max({one}, {two})",
            f"sum(xs, {one})",
            f"abs({one})",
            f"int(isinstance({one}, {self.pick('int', 'type(o)', '(str, list)')}))",
            f"getattr(o, 'n', {one})",
            f"pow({one}, 2)",
            f"next(iter(xs), {one})",
        )

    def chosen(self, depth: int) -> str:
        return self.pick(
            f"xs[{self.value(depth)}]",
            f"({self.value(depth)}, {self.value(depth)})[{self.pick('0', '-1')}]",
            f"{{0: {self.value(depth)}, **m}}[{self.pick('0', repr('k'))}]",
            f"[*xs, {self.value(depth)}][-1]",
            f"o[{self.value(depth)}]",
            f"o[{self.value(depth)}, 1:]",
            f"[*o[::{self.value(depth)}, ...]][0]",
        )

    def reached(self, depth: int) -> str:
        n = self.mark()
        return self.pick(
            f"t({n}, o).n", "o.p.real", f"t({n}, xs)[{self.atom()}]", f"t({n}, m).get('q', {self.atom()})"
        )

    def named(self, depth: int) -> str:
        if not self.walrus:
            return self.atom()
        return f"({self.pick('a', 'c', 'd', 'w')} := {self.value(depth)})"

    def suspended(self, depth: int) -> str:
        if self.kind == "generator":
            return self.pick(f"(yield {self.value(depth)})", "(yield)", f"(yield from gen({self.mark()}, 2))")
        if self.kind == "async":
            return f"(await Later({self.mark()}, {self.value(depth)}))"
        return self.atom()

    def counted(self, depth: int) -> str:
        """A comprehension, made a number."""
        kind, self.kind = self.kind, "plain"
        before, self.walrus = self.walrus, self.walrus and self.choose(3) == 0
        element, test = self.value(depth), self.condition(depth)
        second = self.condition(depth)
        self.kind, self.walrus = kind, before
        more = self.pick(
            "", f" if {test}", f" if {test} if {second}", f" for c in (1, q) if {test}", " for a in xs"
        )
        source = self.pick("xs", "(1, 2)", f"items({self.mark()}, 2)", "range(3)", f"[{self.atom()}]", "o")
        text = f"{element} for q in {source}{more}"
        return self.pick(
            f"len([{text}])", f"sum({text})", f"len({{{text}}})", f"len({{q: {text}}})", f"any({text})",
            f"max([{text}])",
            f"t({self.mark()}, [{text}])", f"t({self.mark()}, {{q: {text}}})",
            f"[[q, {element}] for q in [{text}]][0]",
        )  # fmt: skip

    def text(self) -> str:
        one = self.value(1)
        one = one.replace("'", '"')
        spec = self.pick("", "!r", ":3", ":>{a}", "!s:<4", "=")
        return f"f'x{{({one}){spec}}}y{{{{}}}}'"

    def condition(self, depth: int = 1) -> str:
        shape = self.choose(9)
        one, two, n = self.atom(), self.atom(), self.mark()
        if shape < 3:
            return f"v({n}) {self.pick('<', '>', '==', '!=', '<=', '>=')} {self.choose(4)}"
        if shape == 3:
            return f"{one} {self.pick('<', '<=', 'is not', '==')} v({n}) {self.pick('<', '!=', 'is')} {two}"
        if shape == 4:
            return f"not {self.condition(depth - 1)}" if depth > 0 else f"not {one}"
        if shape == 5:
            if depth <= 0:
                return self.pick(one, "t(0, 1)", "t(0, 0)")
            return f"({self.condition(depth - 1)} {self.pick('and', 'or')} {self.condition(depth - 1)})"
        if shape == 6:
            return f"{one} {self.pick('in', 'not in')} {self.pick('xs', 'm', '(0, 1)', 'o')}"
        if shape == 7:
            return f"{one} {self.pick('is None', 'is not None')}"
        return self.pick("o", "xs", "m", "o < v(0)", "o == o", "...", one)
