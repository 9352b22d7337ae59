"""What a program calls. Every call leaves a mark in TRACE, so that order and number of evaluations can be compared."""

from __future__ import annotations

import re
from typing import Any

PRELUDE = """
import functools
import itertools


class Stop(Exception):
    pass


class Manager:
    def __init__(self, name, swallows, value):
        self.name, self.swallows, self.value = name, swallows, value

    def __enter__(self):
        TRACE.append(("enter", self.name))
        return self.value

    def __exit__(self, kind, value, traceback):
        TRACE.append(("exit", self.name, kind and kind.__name__))
        return self.swallows

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, *error):
        return self.__exit__(*error)


class Later:
    def __init__(self, mark, value):
        self.mark, self.value = mark, value

    def __await__(self):
        TRACE.append(("sent", (yield self.mark)))
        return self.value


class Stream:
    def __init__(self, mark, count):
        self.mark, self.left = mark, count

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.left -= 1
        if self.left < 0:
            raise StopAsyncIteration
        return await Later(self.mark, self.left)


class Base:
    def __init_subclass__(cls, mark):
        TRACE.append(("subclass", cls.__name__, mark))


class Box:
    __match_args__ = ("n",)
    top = 2

    def __init__(self, n):
        self.n = n

    @property
    def p(self):
        return t(-1, self.n)

    def method(self, u, k=0):
        if u > k:
            self.n = u
        return t(-2, k)

    def __getitem__(self, key):
        if isinstance(key, tuple):
            t(-3, key)
            return 1
        if key > 2:
            raise IndexError(key)
        return t(-3, key)

    def __setitem__(self, key, value):
        t(-4, (key, value))

    def __delitem__(self, key):
        t(-5, key)

    def __matmul__(self, u):
        return t(-6, u)

    def __iadd__(self, u):
        self.n = t(-7, u)
        return self

    def __lt__(self, u):
        return t(-8, 1) if u else t(-8, 0)

    def __contains__(self, u):
        return t(-9, u)

    def __bool__(self):
        return self.n != 3

    def __repr__(self):
        return f"Box({vars(self)})"


def noted(mark):
    t(mark, "noted")

    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            t(mark, "called")
            return f(*args, **kwargs)

        return wrapper

    return decorate


def gen(mark, count):
    for number in range(count):
        t(mark, (yield number))
    return count


def drive(coroutine):
    sent = None
    while True:
        try:
            sent = coroutine.send(sent)
        except StopIteration as end:
            return end.value


"""
AROUND = re.compile(r"(\w+\.<locals>\.)+")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def shown(value: Any) -> str:
    """What `repr` gives without addresses, and without the functions around a class."""
    return AROUND.sub("", ADDRESS.sub("", repr(value)))[:300]


class TooLong(BaseException):
    """A program has made too many marks."""


def surroundings(script: list[int]) -> dict[str, Any]:
    """`v` gives scripted values, `go` and `items` run out, `t` leaves a mark."""
    trace: list[Any] = []
    state = {"fuel": 60, "next": 0}

    def v(mark: int) -> int:
        state["next"] += 1
        value = script[state["next"] % len(script)]
        trace.append(("v", mark, value))
        return value

    def go(mark: int) -> bool:
        state["fuel"] -= 1
        trace.append(("go", mark))
        if len(trace) > 3000:
            raise TooLong
        return state["fuel"] > 0

    def items(mark: int, count: int) -> Any:
        for number in range(count):
            state["fuel"] -= 1
            if state["fuel"] < 0:
                return
            trace.append(("item", mark, number))
            yield number

    def t(mark: int, value: Any = None) -> Any:
        trace.append(("t", mark, shown(value)))
        if len(trace) > 2000:
            raise TooLong
        return value

    return {"v": v, "go": go, "items": items, "t": t, "TRACE": trace, "g": 3}
