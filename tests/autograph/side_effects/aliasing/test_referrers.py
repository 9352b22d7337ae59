"""The search for the referrers of an object, at any depth, through every kind of container."""

import collections
import functools
import types
import weakref

import numpy as np
import pytest
from agc.autograph import staging
from agc.autograph.side_effects.aliasing.referrers import ReferrerSearch
from support.registered_backend import registered_backend


class Slots:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held


class Open:
    def __init__(self, held):
        self.held = held

    def method(self):
        return self.held


class Hashed(list):
    __hash__ = object.__hash__


def closure(held):
    return lambda: held


def default(held):
    def function(given=held):
        return given

    return function


def generator(held):
    yield 1
    yield held


def begun(held):
    items = generator(held)
    next(items)
    return items


def class_with(held):
    return type("Base", (), {"held": held})


def module_with(held):
    module = types.ModuleType("somebody")
    module.__file__ = "/home/somebody/somebody.py"
    module.held = held
    return module


def function_of_module(held):
    """A function that another module has, where the object is a global variable."""
    return types.FunctionType((lambda: 1).__code__, {"__name__": "somebody", "held": held})


WAYS = {
    "itself": lambda held: held,
    "tuple": lambda held: (1, (held,)),
    "deep": lambda held: [[[{"a": [[[[held]]]]}]]],
    "dict": lambda held: {"a": held},
    "deque": lambda held: collections.deque([held]),
    "user dict": lambda held: collections.UserDict(a=held),
    "set": lambda held: {held},
    "view": lambda held: {"a": held}.values(),
    "iterator": lambda held: iter([held]),
    "map": lambda held: map(len, [held]),
    "generator": begun,
    "attribute": Open,
    "slot": Slots,
    "bound method": lambda held: Open(held).method,
    "built-in method": lambda held: held.append,
    "partial": lambda held: functools.partial(len, held),
    "closure": closure,
    "default": default,
    "class": class_with,
    "base class": lambda held: type("Derived", (class_with(held),), {}),
    "instance of the class": lambda held: class_with(held)(),
    "module": module_with,
    "function of a module": lambda held: function_of_module(held),
    "exception": ValueError,
    "weak reference": weakref.ref,
    "array of objects": lambda held: np.array([held, None], dtype=object)[:1],
}


@pytest.mark.parametrize("way", WAYS)
def test_every_kind_of_holder_is_found(way):
    held = Hashed()
    other = Hashed()
    variables = {"number": 1, "text": "a", "other": WAYS[way](other), "holder": WAYS[way](held)}
    found = [name for name in ReferrerSearch(held).names(variables) if "." not in name]
    assert found == ["holder"]
    del other


def test_paths_include_attributes():
    held = []
    box = Open(Open(held))
    box.more = [1]
    assert list(ReferrerSearch(held).names({"box": box})) == ["box", "box.held"]


def test_a_dict_untracked_by_the_garbage_collector_is_found():
    held = {"a": 1}
    everything = ReferrerSearch()
    everything.meet({"x": [held]})
    assert everything.has_met(held)
    assert list(ReferrerSearch(held).names({"x": [held], "y": [{"a": 1}]})) == ["x"]


def test_frames_libraries_and_backend_values_are_not_searched():
    """Frames and libraries lead to the whole of a program; a value of a backend holds no objects."""
    held = []

    class Value:
        def __init__(self):
            self.held = held

    try:
        raise ValueError
    except ValueError as error:
        traceback = error.__traceback__
    with registered_backend(staging.PythonBackend(), Value):
        assert list(ReferrerSearch(held).names({"traceback": traceback, "np": np, "value": Value()})) == []


def test_reference_cycles_end_the_search():
    ring = []
    ring.append(ring)
    assert list(ReferrerSearch([]).names({"ring": ring})) == []
    assert list(ReferrerSearch(ring).names({"a": [1], "b": [ring]})) == ["b"]


def test_objects_of_an_earlier_search_are_not_searched_again():
    shared, held = [1], []
    earlier = ReferrerSearch()
    earlier.meet({"shared": shared, "one": [shared]})
    assert earlier.has_met(shared)
    assert not earlier.has_met(held)
    shared.append(held)  # these references are excluded from the search
    assert list(ReferrerSearch(held, earlier).names({"one": shared, "two": [held]})) == ["two"]
