"""Functions, generators, coroutines and classes inside of a program, and what is done with them."""

from __future__ import annotations

from .expressions import Expressions

Lines = list[str]


class Definitions(Expressions):
    """Grows definitions. What `block` grows is up to the class that has statements, too."""

    def block(self, depth: int, loop: bool, final: bool = False) -> Lines:
        raise NotImplementedError

    def body(self, depth: int, kind: str, parameters: str = "") -> Lines:
        """The body of a function of that kind."""
        before, self.kind = self.kind, kind
        pad = "    " * depth
        walrus, self.walrus = self.walrus, True
        options = [name for name in ("a", "c", "d") if name not in parameters.replace("depth", "")]
        outer = f"nonlocal {self.pick(*options)}" if options else "pass"
        head = self.pick(outer, outer, "global g", "c = a", "pass", "'''Says so.'''", "c = d = 1")
        lines = [pad + head, *self.block(depth, loop=False)]
        if kind == "generator":
            lines.append(f"{pad}yield {self.value(1)}")
        if self.choose(2):
            lines.append(f"{pad}return {self.value(1)}")
        self.kind, self.walrus = before, walrus
        return lines

    def function(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        parameters, arguments = [
            ("u", "1"),
            (f"u, /, v=t({n}, 0), *w, k={self.atom()}, **z", "1, 2, 3, k=0, y=b"),
            ("u=a, *, k: int = 2", f"k={self.atom()}"),
            ("a, c=0", f"{self.atom()}, c={self.atom()}"),
            ("*w, **z", "*xs, **m"),
            ("a, depth=2", "b"),
        ][self.choose(6)]
        decorators = [[], [], [f"@noted({n})"], [f"@noted({n})", "@functools.cache"]][self.choose(4)]
        lines = [f"{pad}{line}" for line in decorators]
        lines += [f"{pad}def f{n}({parameters}){self.pick('', ' -> int')}:"]
        if "depth" in parameters:
            lines += [f"{pad}    if depth > 0:", f"{pad}        t({n}, f{n}(a, depth - 1))"]
        lines += self.body(depth + 1, "plain", parameters)
        call = f"{self.pick('a', 'c', '_')} = t({n}, f{n}({arguments}))"
        return [*lines, *self.tried(depth, call)]

    def tried(self, depth: int, call: str) -> Lines:
        """A statement, perhaps so that the program goes on after an error."""
        pad = "    " * depth
        if self.choose(3) == 0:
            return [pad + call]
        error = self.pick("Exception", "(Stop, NameError, TypeError)")
        return [
            f"{pad}try:",
            f"{pad}    {call}",
            f"{pad}except {error} as e:",
            f"{pad}    t({self.mark()}, e)",
        ]

    def generator(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        lines = [f"{pad}def h{n}(u=1):", *self.body(depth + 1, "generator")]
        drive = [
            [f"for q in h{n}():", f"    t({n}, q)"],
            [f"a = t({n}, list(h{n}(a)))"],
            [f"q = h{n}()", f"t({n}, next(q))", f"t({n}, q.send(2))", f"t({n}, q.throw(Stop(1)))"],
            [f"q = h{n}()", f"t({n}, next(q))", f"t({n}, q.close())"],
            [f"t({n}, [*itertools.islice(h{n}(), 3)])"],
        ][self.choose(5)]
        if self.choose(4) == 0:
            return [*lines, *(pad + line for line in drive)]
        driven = [f"{pad}    {line}" for line in drive]
        return [*lines, f"{pad}try:", *driven, f"{pad}except Exception as e:", f"{pad}    t({n}, e)"]

    def coroutine(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        lines = [f"{pad}async def s{n}(u=1):", *self.body(depth + 1, "async")]
        return [*lines, *self.tried(depth, f"{self.pick('a', 'c')} = t({n}, drive(s{n}()))")]

    def closures(self, depth: int, loop: bool, final: bool) -> Lines:
        """Functions that are made in a loop and called after it."""
        pad, n = "    " * depth, self.mark()
        kind, self.kind = self.kind, "plain"
        walrus, self.walrus = self.walrus, False
        made = self.pick(
            f"lambda: (i, {self.value(1)})",
            f"lambda i=i: (i, {self.atom()})",
            f"lambda: [{self.value(1)} for _ in (i,)]",
        )
        self.kind, self.walrus = kind, walrus
        lines = [f"{pad}fs = []", f"{pad}for i in {self.pick('(0, 1)', 'xs', 'range(2)')}:"]
        lines += [f"{pad}    t({n})", *self.block(depth + 1, True, final), f"{pad}    fs.append({made})"]
        return [*lines, f"{pad}t({n}, [f() for f in fs])"]

    def class_(self, depth: int, loop: bool, final: bool) -> Lines:
        pad, n = "    " * depth, self.mark()
        base = self.pick("", "(Box)", "(Box)", "(Base, mark=3)")
        lines = [f"{pad}class K{n}{base}:"]
        for _ in range(1 + self.choose(3)):
            lines += self.member(depth + 1, bool(base))
        use = self.pick(
            f"K{n}(2).method(a)", f"K{n}(1).p", f"K{n}(a) + b", f"K{n}(a)[c]", f"K{n}(a)(b)",
            f"len(K{n}(a))", f"K{n}(a) == 1",
            f"K{n}.own(a)", f"K{n}.made(a)", f"[*K{n}(3)]", f"K{n}.__name__", f"K{n}(0).hidden()",
            f"K{n}.z",
        )  # fmt: skip
        return [*lines, *self.tried(depth, f"t({n}, {use})")]

    def member(self, depth: int, derived: bool) -> Lines:
        pad = "    " * depth
        above = "super().__init__(n)" if derived else "self.n = n"
        head, first = [
            ("def __init__(self, n=0):", above),
            ("def method(self, c=0, k=1):", "self.n = c"),
            ("@property\n{pad}def p(self):", "t(0, self.n)"),
            ("def __add__(self, c):", "self.__x = c"),
            ("def __getitem__(self, c):", "t(0, c)"),
            ("def __call__(self, c):", f"c = {'super().method(c)' if derived else 'c'}"),
            ("def __len__(self):", "c = 1"),
            ("def __eq__(self, c):", "c = __class__.__name__"),
            ("@staticmethod\n{pad}def own(c):", "d = c"),
            ("@classmethod\n{pad}def made(cls, c):", "d = cls.__name__"),
            ("def hidden(self):", "c = self.__x = 3"),
            ("", ""),
        ][self.choose(12)]
        if not head:
            kind, self.kind = self.kind, "plain"
            lines = [f"{pad}z = {self.value(1)}", *self.block(depth, loop=False, final=True)]
            self.kind = kind
            return lines
        return [f"{pad}{head.format(pad=pad)}", f"{pad}    {first}", *self.body(depth + 1, "plain", head)]
