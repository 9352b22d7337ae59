"""Random programs whose blocks change objects out of sight: a graph gives what Python gives."""

import itertools
import linecache
import random

import agc.runtime as tf
import pytest

PRELUDE = """
TALLY = 0


class Box:
    total = 0

    def __init__(self):
        self.n = 0
        self.d = {"k": 1, "m": 2}
        self.l = [1, 2, 3]
        self.t = (0, 1)
        self.other = self

    def count(self):
        self.n += 1

    def items(self):
        self.d["k"] += self.n
        self.d.update(m=self.d["k"] % 7)

    def turn(self):
        self.l[:] = self.l[1:] + self.l[:1]
        self.l[0] += 1

    def pair(self):
        self.t = (self.t[1], (self.t[0] + self.t[1]) % 11)

    def of_class(self):
        Box.total += 1

    def of_module(self):
        global TALLY
        TALLY = (TALLY + self.n) % 13

    def further(self):
        self.other.count()

    def choose(self):
        if self.n % 2 == 0:
            self.items()
        else:
            self.turn()

    def repeat(self):
        k = 0
        while k < self.n % 3:
            self.count()
            self.l[1] += 1
            k += 1


def exchange(x, y):
    x.n, y.n = (y.n + 1) % 17, x.n


def program(n):
    global TALLY
    TALLY = Box.total = 0
    a, b = Box(), Box()
    a.other = b
    alias = {alias}
    d = {d}
    t, c, calls = 0, 0, 0

    def called():
        nonlocal calls
        calls = (calls + 1) % 29
        return calls

{body}
    numbers = t, c, calls, TALLY, Box.total, a.n, b.n, alias.n, d["k"]
    result = *numbers, *a.d.values(), *b.d.values(), *a.l, *b.l, *a.t, *b.t
    TALLY = Box.total = 0
    return result
"""
VALUES = ["a.n", "b.n", "a.d['k']", "b.d['m']", "a.l[0]", "b.l[2]", "a.t[0]", "c", "TALLY", "Box.total"]
VALUES += ["alias.n", "d['k']", "called()"]
METHODS = ["count", "items", "turn", "pair", "of_class", "of_module", "further", "choose", "repeat"]


class Grower:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counters = (f"j{i}" for i in itertools.count())

    def text(self):
        choose = self.random.choice
        body = [line for _ in range(3) for line in self.block("    ", 0)]
        parts = {"alias": choose(["a", "b", "a.other"]), "d": choose(["a.d", "b.d", '{"k": 0}'])}
        text = PRELUDE.replace("{body}", "\n".join(body))
        return text.replace("{alias}", parts["alias"]).replace("{d}", parts["d"])

    def block(self, indent, depth):
        return [line for _ in range(self.random.randint(1, 3)) for line in self.statement(indent, depth)]

    def statement(self, indent, depth):
        kind = self.random.random()
        if depth < 2 and kind < 0.2:
            j = next(self.counters)
            yield f"{indent}{j} = 0"
            yield f"{indent}while {j} < n % 4:"
            yield from self.block(indent + "    ", depth + 1)
            yield f"{indent}    {j} += 1"
        elif depth < 3 and kind < 0.4:
            yield f"{indent}if {self.value()} % 2 == {self.random.randint(0, 1)}:"
            yield from self.block(indent + "    ", depth + 1)
            yield f"{indent}else:"
            yield from self.block(indent + "    ", depth + 1)
        else:
            yield indent + self.simple()

    def simple(self):
        choose = self.random.choice
        box = choose(["a", "b", "alias"])
        return choose(
            [
                f"{box}.{choose(METHODS)}()",
                f"{box}.{choose(METHODS)}()",
                f"exchange({box}, {choose('ab')})",
                f"t = (t * 3 + {self.value()}) % 1009",
                f"c = {self.value()} % 5",
                f"{box}.n = ({self.value()} + 1) % 19",
                f'd["k"] = (d["k"] + {self.value()}) % 23',
                f"{box}.l[{choose('012')}] += 1",
                f"setattr({box}, 'n', {self.value()} % 7)",
            ]
        )

    def value(self):
        return self.random.choice(VALUES)


@pytest.mark.parametrize("seed", range(25))
def test_random_programs_with_mutation_agree_with_python(seed):
    text, name = Grower(seed).text(), f"<hidden mutation {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = {"__name__": "hidden_mutation"}
    exec(compile(text, name, "exec", dont_inherit=True), module)
    program = module["program"]
    traced = tf.function(program)
    for n in (2, 0, 1, 3):
        expected = program(n)
        found = tuple(int(x) for x in traced(tf.constant(n)))
        assert found == expected, text
