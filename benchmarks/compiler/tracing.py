"""Programs whose first call is measured: conversion, tracing, and one run.

    staged ifs, in a row      10 blocks, one after another        per block
    staged ifs, nested        10 blocks, one in the other         per block
    …

Sizes are such that a peer gets through them; what agc takes for a part must not grow with their number.
"""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    name: str
    part: str
    parts: int
    text: str  # defines `f`, a function of one float


def _in_a_row(count: int) -> str:
    blocks = [
        f"    if x > {i}.0:\n        x = x * 2.0\n    else:\n        x = x + {i}.0\n" for i in range(count)
    ]
    return "def f(x):\n" + "".join(blocks) + "    return x\n"


def _nested(count: int) -> str:
    blocks = [" " * (i + 1) + f"if x > {i}.0:\n" for i in range(count)]
    return "def f(x):\n" + "".join(blocks) + " " * (count + 1) + "x = x + 1.0\n return x\n"


def _chain(count: int) -> str:
    arms = [f"    elif x > {i}.0:\n        y = x + {i}.0\n" for i in range(count)]
    return (
        "def f(x):\n    if x > 99.0:\n        y = x\n"
        + "".join(arms)
        + "    else:\n        y = -x\n    return y\n"
    )


def _straight(count: int) -> str:
    return "def f(x):\n" + "".join(f"    x = x * 0.5 + {i}.0\n" for i in range(count)) + "    return x\n"


def _calls(count: int) -> str:
    helpers = [f"def g{i}(x):\n    y = x * {i}.0\n    return y + 1.0\n\n\n" for i in range(count)]
    body = "".join(f"        x = g{i}(x)\n" for i in range(count))
    loop = f"def f(x):\n    i = tf.constant(0)\n    while i < 3:\n{body}        i += 1\n    return x\n"
    return "".join(helpers) + loop


_LAYERS = """
class Layer:
    def __init__(self, number):
        self.least = float(number)
        self.config = {"units": number, "names": ["a", "b"]}

    def __call__(self, x):
        if x > self.least:
            return x * 0.5
        return x + 1.0


class Model:
    def __init__(self):
        self.layers = [Layer(i) for i in range(20)]
        self.table = {i: str(i) for i in range(10_000)}

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


model = Model()


def f(x):
    return model(x)
"""

_OBJECTS = """
class Node:
    def __init__(self, number):
        self.number = float(number)
        self.tags = {"seen": [number]}


class Frame:
    def __init__(self):
        self.nodes = [Node(i) for i in range(2_000)]

    def first(self):
        return self.nodes[0].number


frame = Frame()


def f(x):
    for _ in range(20):
        if x > 1.0:
            x = x * frame.first()
        else:
            x = x + 1.0
    return x
"""

PROGRAMS = (
    Program("first call: ifs in a row", "block", 10, _in_a_row(10)),
    Program("first call: nested ifs", "block", 10, _nested(10)),
    Program("first call: elif", "arm", 10, _chain(10)),
    Program("first call: straight", "statement", 200, _straight(200)),
    Program("first call: calls in a loop", "function", 20, _calls(20)),
    Program("first call: layers", "layer", 20, _LAYERS),
    Program("first call: many objects", "block", 20, _OBJECTS),
)
