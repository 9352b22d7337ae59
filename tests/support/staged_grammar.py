"""Random numeric programs about more of Python: items, lists, `match`, `raise`, comprehensions, mutation out of sight.

They grow on those of `staged_programs.py`, and are judged in the same way.
"""

from __future__ import annotations

from support import staged_programs
from support.staged_programs import Lines

GROWING = ("ls.append(", "ls.extend(", "ls.insert(", "ls +=")
"""Parts of statements that must not be in a loop over `ls`, which would never end."""

PRELUDE = """
import dataclasses
import functools


@dataclasses.dataclass
class Point:
    n: int
    r: int = 1

    @property
    def far(self):
        if self.n > self.r:
            return self.n - self.r
        return self.r

    def __add__(self, u):
        if u > 2:
            return Point(self.n + u, self.r)
        return Point(self.n, u)

    def __call__(self, u):
        for v in (1, 2):
            if u > v:
                self.r = v
        return self.r


class Counted(Box):
    def bump(self, u):
        if u > 2:
            self.n = u % 5
        else:
            self.n += 1
        return self.n

    def twice(self, u):
        return self.bump(u) + self.bump(u + 1)

    def reset(self):
        self.n = 0

    @classmethod
    def least(cls, u, v):
        return u if u < v else v


class Later(Counted):
    def bump(self, u):
        if u == 1:
            return -1
        return super().bump(u)


def count_down(u):
    if u <= 0:
        return 0
    return 1 + count_down(u - 1)


def checked(u):
    if u > 9:
        raise ValueError(f"{u} is too much")
    return u


def first_above(us, u):
    for i, v in enumerate(us):
        if v > u:
            return i
    return None


def around(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        result = f(*args, **kwargs)
        return result + 1 if result > 3 else result

    return wrapper


@around
def folded(u, /, *vs, start=1, **more):
    for v in vs:
        if v > u:
            start += v
        else:
            continue
        if start > 12:
            break
    return start + len(more)

"""


class Grower(staged_programs.Grower):
    """Grows a function `program(a, b, x, xs, zs)` as its base does, of more kinds of statements and values."""

    def program(self) -> str:
        text = super().program()
        text = text.replace("\n\ndef program(", PRELUDE + "\n\ndef program(", 1)
        start = [
            "    us = xs[:]",
            "    ls = [a]",
            "    z = None",
            "    pt = Point(1, 2)",
            "    it = Counted(1)",
        ]
        start += ["    later = Later(2)", "    group = {'it': it, 'far': (1, 2)}"]
        used = [line for line in start if line.split()[0] in text.partition("p = (1, 2)")[2]]
        return text.replace("    p = (1, 2)\n", "\n".join(["    p = (1, 2)", *used]) + "\n", 1)

    def statement(self, depth: int, jumps: str) -> Lines:
        if self.left <= 1 or depth > 5 or self.choose(5) < 3:
            return super().statement(depth, jumps)
        self.left -= 1
        kinds = [
            self.items,
            self.lists,
            self.matched,
            self.raising,
            self.hidden,
            self.comprehension,
            self.optional,
        ]
        kinds += [
            self.objects,
            self.iteration,
            self.closure,
            self.unpacked,
            self.called,
            self.matched,
            self.items,
        ]
        return kinds[self.choose(len(kinds))](depth, jumps)

    def one(self, depth: int, *options: str) -> Lines:
        return ["    " * depth + self.pick(*options)]

    def target(self) -> str:
        return self.pick(*self.assigned)

    def index(self) -> str:
        return self.pick("0", "1", "-1", f"{self.atom()} % 2", f"-1 - {self.atom()} % 2")

    def items(self, depth: int, jumps: str) -> Lines:
        one, value = self.index(), self.reduced()
        return self.one(
            depth, f"us[{one}] = {value}", f"us[{one}] {self.pick('+=', '-=', '*=')} {self.atom()}",
            "us[:2] = zs",
            f"us[{one}], {self.target()} = {self.target()}, us[{self.index()}]", "us[-2:] = [a, c]",
            "us[1:] = us[:-1]",
            f"{self.target()} = us[{one}]", f"log({self.mark()}, sum(us))", "us = us[::-1]",
            "memo['n'], us[0] = us[0], memo['n']",
            f"us[{one}] = us[{self.index()}] = {value}", "us[::2] = us[::-2]",
        )  # fmt: skip

    def lists(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        shape = self.choose(11)
        if shape == 0:
            target, body = self.target(), self.block(depth + 1, self.looping(jumps))
            grows = any(part in line for line in body for part in GROWING)
            return [f"{pad}for {target} in {'ls[:]' if grows else 'ls'}:", *body]
        if shape == 1:
            pop = self.pick(
                "ls.pop()", f"{self.target()} = ls.pop()", "del ls[-1]", f"log({self.mark()}, ls.pop())"
            )
            return [f"{pad}if len(ls) > 1:", f"{pad}    {pop}"]
        if shape < 6:
            return [f"{pad}ls.append({self.reduced()})"]
        read = self.pick("ls[-1]", "len(ls)", "sum(ls) % 9", "ls[0]", "max(ls)")
        return self.one(
            depth, f"ls[{self.pick('0', '-1')}] = {self.reduced()}", f"{self.target()} = {read}",
            f"ls = [{self.atom()}]", f"ls += [{self.atom()}]", f"ls = [*ls, {self.atom()}]",
            f"ls.extend([{self.atom()}, 1])", f"ls.insert(0, {self.atom()})",
        )  # fmt: skip

    def matched(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        subject = self.pick(self.atom(), self.reduced(), f"({self.atom()}, {self.atom()})", "p", "pt", "z")
        pair = (subject.startswith("(") and "," in subject) or subject == "p"
        lines = [f"{pad}match {subject}:"]
        for _ in range(1 + self.choose(3)):
            pattern = self.pick("0", "1 | 2", "-1", "3 as c", "0 | None")
            if pair:
                pattern = self.pick(
                    "[0, c]", "(1 | 2, _)", "[0, *_]", "[_, 2] | [2, _]", "(0, 0)", "[_, 1 as b]"
                )
            if subject == "pt":
                pattern = self.pick("Point(n=0)", "Point(1, c)", "Point(r=2 | 3)", "Point(n=c, r=1)")
            guard = self.pick("", "", f" if {self.condition()}")
            lines += [f"{pad}    case {pattern}{guard}:", *self.block(depth + 2, jumps)]
        if self.choose(2) and subject != "z":
            lines += [f"{pad}    case {self.pick('_', 'q') if pair else '_'}:", *self.block(depth + 2, jumps)]
        return lines

    def raising(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        error = self.pick(
            "ValueError('no')", "KeyError(1)", f"ValueError(f'{{{self.atom()}}} of it')", "IndexError"
        )
        jump = [f"{pad}if {self.condition()} and {self.condition()}:", f"{pad}    raise {error}"]
        shape = self.choose(6)
        if shape < 2:
            return jump
        if shape == 2:
            return [f"{pad}assert {self.condition()} or {self.condition()}, f'{{{self.atom()}}}'"]
        if shape == 3:
            return [f"{pad}{self.target()} = checked({self.atom()})"]
        inside = [f"    {line}" for line in jump]
        body = [f"{pad}try:", *self.block(depth + 1, jumps), *inside]
        if shape == 4:
            return [
                *body,
                f"{pad}finally:",
                *self.one(depth + 1, f"{self.target()} = 1", f"log({self.mark()}, 3)"),
            ]
        caught = self.pick("ValueError", "TypeError", "LookupError")
        return [*body, f"{pad}except {caught}:", *self.assign(depth + 1, jumps)]

    def hidden(self, depth: int, jumps: str) -> Lines:
        u, target = self.atom(), self.target()
        return self.one(
            depth, f"it.bump({u})", f"{target} = it.bump({u})", f"it.twice({u})", "it.reset()",
            f"{target} = it.n", f"later.bump({u})",
            f"{target} = later.twice({u}) % 7", f"memo.update(n={u})", f"setattr(it, 'n', {u})",
            f"it.n {self.pick('+=', '-=')} {u}",
            f"{target} = group['it'].bump({u})", f"group['it'].n = {u}", "[it.bump(q) for q in (1, 3)]",
            f"pt.n = {u}", f"{target} = pt({u})",
            "memo |= {'n': 3}", f"memo.setdefault('q', {u})", f"it.__dict__['n'] = {u}",
            "it, later = later, it", "memo['n'] = it.n",
        )  # fmt: skip

    def comprehension(self, depth: int, jumps: str) -> Lines:
        source = self.pick("xs", "us", "zs", "range(3)", "(1, 2)", "range(b % 4)", "ls", "reversed(xs)")
        before, self.ints = self.ints, ["q", "a", "c"]
        text = f"{self.value('int', 1)} for q in {source}"
        text += self.pick("", "", f" if {self.condition()}", f" for r in {self.pick('zs', '(1, 2)')}")
        test = f"{self.condition()} for q in {source}"
        self.ints = before
        return self.one(
            depth, f"{self.target()} = sum([{text}]) % 9", f"{self.target()} = sum({text}) % 9",
            f"{self.target()} = len([{text}])",
            f"flag = any({test})", f"flag = all({test})",
            f"for {self.target()} in [{text}]: log({self.mark()}, {self.target()})",
            f"{self.target()} = max(max(ls), {self.atom()})",
            f"ls = [{text}] + [1]", f"{self.target()} = {{q: {self.atom()} for q in (1, 2)}}[1]",
            f"us = [{self.atom()} + q for q in us]",
        )  # fmt: skip

    def optional(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        shape = self.choose(8)
        if shape == 0:
            return [f"{pad}if {self.condition()}:", f"{pad}    z = {self.atom()}"]
        if shape == 1:
            lines = [f"{pad}if z is None:", *self.block(depth + 1, jumps)]
            return [*lines, f"{pad}else:", f"{pad}    {self.target()} = z"]
        if shape == 2:
            return [f"{pad}if z is not None and z > {self.atom()}:", *self.block(depth + 1, jumps)]
        return self.one(
            depth, f"z = {self.reduced()}", "z = None", f"{self.target()} = 3 if z is None else z",
            f"z = first_above(xs, {self.atom()})", f"{self.target()} = z or 2",
        )  # fmt: skip

    def objects(self, depth: int, jumps: str) -> Lines:
        u, target = self.atom(), self.target()
        return self.one(
            depth, f"pt = Point({u}, {self.atom()})", f"pt = dataclasses.replace(pt, n={u})",
            f"{target} = pt.far", f"pt = pt + {u}",
            f"{target} = pt.n + pt.r", f"pt.r, {target} = {target}, pt.r",
            f"group = {{**group, 'far': ({u}, 1)}}", f"{target} = group['far'][0]",
            f"{target} = getattr(pt, {self.pick(repr('n'), repr('r'))})", f"pt, q = Point({u}), pt",
            f"{target} = Counted.least({u}, {self.atom()})",
        )  # fmt: skip

    def iteration(self, depth: int, jumps: str) -> Lines:
        pad = "    " * depth
        self.loops += 1
        i, u, v = (f"{name}{self.loops}" for name in "iuv")
        head, inside = [
            (f"{i}, ({u}, {v}) in enumerate(zip(xs, zs))", [i, u, v]),
            (f"{i} in reversed(range(b % 5))", [i]),
            (f"{i} in us[1:]", [i]),
            (f"{i} in xs[::-1]", [i]),
            (f"{i} in map(lambda q: q + 1, xs)", [i]),
            (f"{i} in filter(lambda q: q > 1, xs)", [i]),
            (f"{i} in sorted(xs)", [i]),
            (f"{u}, {i} in memo.items()", [i]),
            (f"{u}, {i} in [(1, a), (2, b)]", [u, i]),
            (f"{i}, {u}, {v} in zip(xs, range(1, 9, 2), zs)", [i, u, v]),
            (f"{i} in range({self.atom()} % 5, -1, -2)", [i]),
            (f"{i} in range(len(us))", [i]),
            ("pt.n in range(c % 3)", []),
            (f"{i} in iter(xs)", [i]),
            (f"{i}, ({u}, {v}) in enumerate([(a, b), p])", [i, u, v]),
        ][self.choose(15)]
        if "memo.items" in head:
            head, inside = f"{i} in (memo['n'], 2)", [i]
        before = self.ints
        self.ints = before + inside * 2
        lines = [f"{pad}for {head}:", *self.block(depth + 1, self.looping(jumps))]
        self.ints = before
        if self.choose(3) == 0:
            lines += [f"{pad}else:", *self.block(depth + 1, jumps)]
        return lines

    def closure(self, depth: int, jumps: str) -> Lines:
        pad, n = "    " * depth, self.mark()
        target = self.target()
        before, self.ints = self.ints, ["a", "b", "c"]
        changed = self.pick(f"c = {self.atom()}", "c += 1", f"c = u if u > {self.atom()} else 2")
        value = self.value("int", 1)
        self.ints = before
        outer = "nonlocal c" if self.assigned == ["a", "b", "c"] else "c = 1"
        call = f"f{n}({self.atom()})"
        call = self.pick(call, f"{target} = {call} % 9", f"f{n}(1) if {self.condition()} else None")
        body = [f"{pad}def f{n}(u):", f"{pad}    {outer}", f"{pad}    if u > 1:", f"{pad}        {changed}"]
        return [*body, f"{pad}    return ({value})", pad + call]

    def unpacked(self, depth: int, jumps: str) -> Lines:
        return self.one(
            depth, "c, *rest = xs", "b, c = zs", "a, (b, c) = 1, zs", "[a, *_] = us", "(c, pt.n) = p",
            f"p = (*p[:1], {self.atom()})",
            "c, box.n = box.n, c", f"b = c = {self.atom()}", "a, b, c = us",
        )  # fmt: skip

    def called(self, depth: int, jumps: str) -> Lines:
        u, v, target = self.atom(), self.atom(), self.target()
        return self.one(
            depth, f"{target} = folded({u}, {v}, 2, start={self.atom()})",
            f"{target} = folded({u}, *xs, k=1)", f"{target} = count_down(3)",
            f"{target}, c = divmod({u}, 3)", f"{target} = pow({u} % 3, 2)",
            f"{target} = (lambda q, r=2: q if q > r else r)({u})",
            f"{target} = functools.partial(folded, {u})(3, start={v})",
            f"flag = {u} in {self.pick('xs', '(1, 2)', 'us', 'ls')}",
            f"flag = {u} not in (0, 1)", f"{target} = int({u} in xs)",
            f"{target} = round({self.pick('x', 'y')}) % 9", f"{target} = sorted(us)[0]",
            f"{target} = (lambda: {u})()",
            f"{target} = functools.reduce(lambda q, r: q + r if r > 1 else q, (1, {u}, 3))",
            f"{target} = len(us)",
            f"{target} = {u} if (q := {v}) > 1 else q", f"{target} = max(us) - min(*xs)",
            f"{target} = (1, {u}, {v})[{self.atom()} % 2]",
        )  # fmt: skip
