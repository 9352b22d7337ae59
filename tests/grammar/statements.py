"""Statements of every kind that Python has, and the program that they make."""

from __future__ import annotations

from .definitions import Definitions, Lines


class Grower(Definitions):
    """Grows the text of one function `program(a, b)`."""

    def program(self) -> str:
        lines = ["def program(a, b, *, k=5):"]
        lines += ["    c = 0"] if self.choose(5) else ["    if k is None:", "        c = 0"]
        lines += ["    d = a"] if self.choose(4) else ["    if k is None:", "        d = 0"]
        lines += ["    xs, m, o = [3, 1, 2], {'k': 1, 1: 0}, Box(2)"]
        for _ in range(3):
            lines += self.block(1, loop=False)
        lines += ["    t(999, (a, xs, m, o))", f"    return {self.value()}"]
        return "\n".join(lines) + "\n"

    def block(self, depth: int, loop: bool, final: bool = False) -> Lines:
        lines: Lines = []
        for _ in range(1 + self.choose(3)):
            lines += self.statement(depth, loop, final)
        return lines

    def statement(self, depth: int, loop: bool, final: bool) -> Lines:
        self.left -= 1
        if self.left <= 0 or depth > 7:
            return ["    " * depth + f"t({self.mark()}, {self.atom()})"]
        kinds = [self.assign] * 4 + [self.test] * 4 + [self.while_loop, self.for_loop] * 2 + [self.jump] * 3
        kinds += [
            self.attempt,
            self.attempt,
            self.manager,
            self.matched,
            self.delete,
            self.function,
            self.closures,
        ]
        kinds += [self.generator, self.coroutine, self.class_, self.odd, self.odd]
        return kinds[self.choose(len(kinds))](depth, loop, final)

    def assign(self, depth: int, loop: bool, final: bool) -> Lines:
        pad = "    " * depth
        if self.choose(3):
            return [f"{pad}{self.pick('a', 'b', 'c', 'd', 'c', 'g')} = {self.value()}"]
        one, two, n = self.value(1), self.value(1), self.mark()
        return [pad + self.pick(
            "a, c = c, a", f"a, (b, *d) = {one}, xs", f"*xs, c = [{one}, {two}, 1]",
            f"[a, *_] = t({n}, xs)", f"a = c = d = {one}",
            f"a = xs[0] = o.n = {one}", f"o.n = {one}", f"xs[{self.pick('0', '-1', 'a', '5')}] = {one}",
            f"xs[1:2] = {one}, {two}",
            f"xs[::2] = [{one}]", f"m[{one}] = {two}", f"t({n}, xs)[v({n})] = {two}",
            f"t({n}, o).n = {one}", f"o[{one}] = {two}",
            f"a {self.sign()} {one}", f"c {self.sign()} {one}", f"d += {one}", f"g -= {one}",
            f"o.n {self.sign()} {one}",
            f"xs[0] {self.sign()} {one}", f"xs[v({n})] += {one}", f"m['k'] {self.sign()} {one}",
            f"xs += [{one}]", f"o += {one}",
            f"t({n}, o).n += {one}", f"t({n}, xs)[t({n}, 0)] += {one}", f"xs[:1] += [{one}]",
            f"o[{one}, 1:] -= {two}",
            f"y: int = {one}", f"a: 'int' = {one}", f"o.n: t({n}, int) = {one}", "y: int",
            f"(c): int = {one}", f"m['q'], o.n = {one}, {two}",
            f"o.n, o.n = {one}, o.n", f"xs[0], xs[1:] = {one}, [{two}]", f"a, b = t({n}, ({one}, {two}))",
            f"a, b = {one}",
        )]  # fmt: skip

    def sign(self) -> str:
        return self.pick("+=", "-=", "//=", "%=", "&=", "|=", "^=")

    def test(self, depth: int, loop: bool, final: bool) -> Lines:
        pad = "    " * depth
        head = self.condition()
        if self.choose(5) == 0:
            head = f"({self.pick('w', 'c', 'a')} := {self.value(1)}) > {self.atom()}"
        lines = [f"{pad}if {head}:", *self.block(depth + 1, loop, final)]
        for _ in range(self.choose(3) // 2 * (1 + self.choose(2))):
            lines += [f"{pad}elif {self.condition()}:", *self.block(depth + 1, loop, final)]
        return lines + self.perhaps_else(depth, loop, final)

    def perhaps_else(self, depth: int, loop: bool, final: bool) -> Lines:
        return [f"{'    ' * depth}else:", *self.block(depth + 1, loop, final)] if self.choose(2) else []

    def while_loop(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        test = self.pick(f"go({n})", f"go({n}) and {self.condition()}", f"{self.condition()} and go({n})",
                         f"go({n}) and (w := {self.value(1)}) < 3", "True")  # fmt: skip
        first = [f"{pad}    if not go({n}):", f"{pad}        break"] if test == "True" else []
        lines = [f"{pad}while {test}:", *first, *self.block(depth + 1, True, final)]
        return lines + self.perhaps_else(depth, loop, final)

    def for_loop(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        if self.kind == "async" and self.choose(2):
            head = f"async for {self.pick('a', 'i')} in Stream({n}, {self.choose(4)}):"
        elif self.choose(3) == 0:
            items = f"items({n}, 3)"
            target = self.pick("(i, d)", "i, (c)", "[i, a]", "i, *d")
            pairs = self.pick(f"enumerate({items})", f"zip(xs, {items})", "((1, 2), (3, 4))", "m.items()")
            head = f"for {target} in {pairs}:"
        else:
            items = self.pick(
                f"items({n}, 3)", f"items({n}, 2)", "xs", "xs[:]", "(0, 1, 2)", "range(b)", "range(3, 0, -1)", "m",
                "o", "reversed(xs)", f"({self.value(1)}, *xs)", "map(abs, xs)", f"gen({n}, 2)", "'ab'",
            )  # fmt: skip
            head = f"for {self.pick('a', 'c', 'i', 'j', 'i', 'o.n', 'xs[0]', 'd')} in {items}:"
        # A list that grows meanwhile must run out of marks.
        first = [f"{pad}    t({n})"] if " xs:" in head else []
        lines = [pad + head, *first, *self.block(depth + 1, True, final)]
        return lines + self.perhaps_else(depth, loop, final)

    def attempt(self, depth: int, loop: bool, final: bool) -> Lines:
        pad = "    " * depth
        star = self.choose(6) == 0
        lines = [f"{pad}try:", *self.block(depth + 1, loop, final)]
        if self.choose(3):
            if self.choose(2):
                lines.append(
                    f"{pad}    raise {self.pick('Stop(1)', 'Stop', 'ValueError(a)', 'KeyError(a, c)')}"
                )
            for _ in range(1 + self.choose(2)):
                name = self.pick("", "", " as e", " as c")
                kind = self.pick(
                    "Stop", "(Stop, NameError)", "Exception", "ValueError", f"t({self.mark()}, TypeError)"
                )
                inside = loop and not star
                body = self.block(depth + 1, inside, final or star)
                lines += [f"{pad}except{'*' if star else ''} {kind}{name}:", *body]
                if self.choose(4) == 0 and not star:
                    lines.append(f"{pad}    raise")
            lines += self.perhaps_else(depth, loop, final)
            if self.choose(2):
                return lines
        # A jump out of `finally` is refused where it would be staged, so it is rare.
        free = self.choose(12) == 0
        return [*lines, f"{pad}finally:", *self.block(depth + 1, loop and free, final=not free)]

    def manager(self, depth: int, loop: bool, final: bool) -> Lines:
        pad = "    " * depth
        items = []
        for _ in range(1 + self.choose(2)):
            name = self.pick("", " as d", " as (i, c)", " as o.n", " as xs[0]")
            value = "(1, 2)" if "(" in name else self.atom()
            items.append(f"Manager({self.mark()}, {bool(self.choose(2))}, {value}){name}")
        word = "async with" if self.kind == "async" and self.choose(2) else "with"
        return [f"{pad}{word} {', '.join(items)}:", *self.block(depth + 1, loop, final)]

    def matched(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        subject = self.pick(
            "a", "xs", "m", "o", f"(a, {self.value(1)})", f"v({n})", f"t({n}, [a, c])", "'s'",
            f"[{self.value(1)}, xs]", f"c, t({n}, a)",
        )  # fmt: skip
        lines = [f"{pad}match {subject}:"]
        left = 1 + self.choose(3)
        while left:
            left -= 1
            guard = self.pick("", "", f" if {self.condition()}")
            lines += [f"{pad}    case {self.pattern(left == 0)}{guard}:", *self.block(depth + 2, loop, final)]
        return lines

    def pattern(self, last: bool) -> str:
        return self.pick(
            "0", "0 | 1", "-1 | None", "d" if last else "4 as d", "2 as c", "[a, c]", "(a, *d)", "[*_, c]",
            "[0, (1 | 2) as i, *_]", "{'k': c}", "{'k': 1, **d}",
            "{}", "Box(n=c)", "Box(c)", "Box()", "int(a)", "str() | list()", "Box.top", "[[a], _]",
            "(int(), [c, *_])", "True", "'s'", "_ as c" if last else "3 as c",
        )  # fmt: skip

    def delete(self, depth: int, loop: bool, final: bool) -> Lines:
        places = ("b", "c", "d", "a", "xs[0]", "xs[1:]", "m['k']", "o.n", "c, (d)", "o[a, :]")
        return ["    " * depth + "del " + self.pick(*places)]

    def jump(self, depth: int, loop: bool, final: bool) -> Lines:
        cause = self.pick("None", "ValueError(a)", "e")
        kinds = [f"raise Stop({self.atom()})", f"raise Stop from {cause}", "raise", "pass"]
        if not final:
            kinds += [f"return {self.value(1)}", "return", f"return {self.atom()}"] * 2
        if loop:
            kinds += ["break", "continue"] * 4
        return ["    " * depth + kinds[self.choose(len(kinds))]]

    def odd(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        if self.kind == "async" and self.choose(3) == 0:
            return [f"{pad}a = t({n}, [{self.atom()} async for q in Stream({n}, 3) if q > {self.atom()}])"]
        if self.kind == "generator" and self.choose(2):
            delegated = f"d = yield from gen({n}, 2)"
            return [
                pad + self.pick(f"yield {self.value(1)}", "c = yield", delegated, f"yield {self.atom()}, 1")
            ]
        return [pad + self.pick(
            f"assert {self.condition()}, t({n}, {self.value(1)})", f"assert {self.condition()}",
            f"t({n}, {self.text()})", "import math as c",
            "from os import sep as d", f"print({self.value(1)}, sep='')", f"{self.value()}",
            f"t({n}, [c, *xs])",
            f"t({n}, {{**m, 'z': {self.value(1)}}})", f"t({n}, {{*xs, {self.atom()}}})",
            f"t({n}, o < {self.atom()} < v({n}))", "...",
            f"xs.append({self.value(1)})", f"t({n}, xs.pop())", "xs.sort()", f"m.update(z={self.atom()})",
            f"setattr(o, 'n', {self.atom()})",
            f"c = lambda: {self.pick('c', 'a', 'd')}", f"t({n}, type(a).__name__)", f"t({n}, e)",
        )]  # fmt: skip
