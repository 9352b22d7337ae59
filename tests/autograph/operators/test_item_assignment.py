"""Assigning items: in plain Python exactly the statement, on what never changes a new value for the variable."""

from __future__ import annotations

import collections
from typing import Any

import pytest
from agc import autograph
from agc.autograph import operators as ag__
from support.recording import written


class Noted(dict):
    """A dict that writes down what is done to it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.log: list[Any] = []

    def __getitem__(self, key: Any) -> Any:
        self.log.append(("get", key))
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.log.append(("set", key, value))
        super().__setitem__(key, value)


def say(log: list[Any], value: Any) -> Any:
    log.append(value)
    return value


def plain(log, x):
    x[say(log, "i")] = say(log, "v")
    x[say(log, "i")] += say(log, "w")
    a, x[say(log, "j")], (x[a], *rest) = say(log, (0, 1, (2, 3, 4)))
    b = x[say(log, "k")] = c = say(log, 5)
    x[say(log, "m")] = [0, 0, 0, 0, 0, 0]
    m = "m"
    x[m][b] = 6
    x[1:2, ...] = 7
    return x, a, b, c, rest


def test_values_and_order_of_effects_are_pythons() -> None:
    class Anything(Noted):
        __hash__ = None  # type: ignore[assignment]

        def __setitem__(self, key: Any, value: Any) -> None:
            super().__setitem__(repr(key), value)

        def __getitem__(self, key: Any) -> Any:
            self.log.append(("get", key))
            return self.setdefault(repr(key), Anything())

    def run(f: Any) -> Any:
        x, log = Anything(), []
        x["i"] = "u"
        f(log, x)
        return log, x.log, list(x)

    assert run(autograph.convert(plain)) == run(plain)


def test_the_object_stays_the_same() -> None:
    @autograph.convert
    def f(xs):
        ys = xs
        xs[0] = 1
        xs[1] += 5
        xs[0], xs[1] = xs[1], xs[0]
        return xs is ys, xs

    assert f([0, 0]) == (True, [5, 1])


def test_an_augmented_assignment_reads_changes_and_stores_the_item() -> None:
    @autograph.convert
    def f(table):
        table["a" + "b"] += [1]
        return table

    row: list[int] = []
    table = Noted({"ab": row})
    f(table)
    assert row == [1]
    assert table.log == [("get", "ab"), ("set", "ab", [1])]


def test_an_item_of_an_item_is_not_stored_again() -> None:
    @autograph.convert
    def f(pair, i):
        pair[i][0] = 7
        pair[i][0] += 1
        return pair

    assert f(([0], [0]), 1) == ([0], [8])  # a tuple takes no items


def test_errors_are_pythons_and_show_the_users_frames_only() -> None:
    @autograph.convert
    def f(x, i):
        x[i] = 1
        return x

    @autograph.convert
    def g(x, i):
        x[i] += 1
        return x

    @autograph.convert
    def h(x, i):
        x.real[i] = 1

    for function, x, kind in (
        (f, (1,), TypeError),
        (g, [1], IndexError),
        (h, 3, TypeError),
        (f, [], IndexError),
    ):
        with pytest.raises(kind) as caught:
            function(x, 7)
        assert [frame.name for frame in caught.traceback] == [
            "test_errors_are_pythons_and_show_the_users_frames_only", function.__name__
        ]  # fmt: skip


def test_attributes_are_read_once_and_never_stored() -> None:
    class Box:
        def __init__(self) -> None:
            self.reads = 0
            self.items = [1, 2]

        @property
        def w(self) -> list[int]:
            self.reads += 1
            return self.items

    @autograph.convert
    def f(box, i):
        box.w[i] = 5
        box.w[i] += 1
        return box.reads

    box = Box()
    assert f(box, 1) == 2
    assert box.items == [1, 6]


def test_a_closure_may_rebind_the_variable_meanwhile() -> None:
    def f(x):
        old = x

        def other():
            nonlocal x
            x = ["new"]
            return 0

        x[other()] = 1
        return x, old

    assert autograph.convert(f)([0]) == f([0]) == (["new"], [1])


def test_a_backend_gives_the_variable_its_new_value() -> None:
    def f(x, i):
        x[i] = 1
        while x[i] > 0:
            x[i] -= i
        return x

    text = written(autograph.convert(f), "x", "i")
    assert "x[i] = 1" in text
    assert "while True:" in text


def test_slices_are_keys_and_put_stores_an_item() -> None:
    assert ag__.at[1:2, ...] == (slice(1, 2), ...)
    assert ag__.put(1, {}, "k") == {"k": 1}


def test_the_attribute_whose_item_is_assigned_is_read_once() -> None:
    class Box:
        reads = 0

        @property
        def items(self):
            self.reads += 1
            return self.held

    def fill(box):
        box.items[0] = 1
        box.items[0] += 1

    for held in ([0], {}, collections.defaultdict(int)):
        box = Box()
        box.held = held
        autograph.convert(fill)(box)
        assert (box.reads, held[0]) == (2, 2)
    with pytest.raises(AttributeError, match="held"):
        autograph.convert(fill)(Box())
