"""What is in sight of a function, and functions that are converted where they are."""

import functools
import sys
import types

import pytest
from agc.autograph import operators
from agc.autograph.conversion import stored_code
from agc.autograph.conversion.in_place_code import code_in_place
from agc.autograph.conversion.reachable_callables import ReachableCallables, names_of


def seen(*roots):
    return {f.__qualname__.rpartition("<locals>.")[2] for f in ReachableCallables().look(roots)}


def key(x):
    return x if x > 0 else -x


def other(x):
    return key(x)


def in_place(f):
    return code_in_place(f, stored_code.load(f, operators).code, operators)


class Base:
    def __init__(self, x):
        self.x = x

    def plain(self):
        return self.x

    def __repr__(self):
        return "Base"


class Special(Base):
    @property
    def size(self):
        return abs(self)

    @functools.cached_property
    def once(self):
        return 1

    def __abs__(self):
        return 1 if self.x else 0


def test_callbacks_are_listed_and_direct_calls_are_not():
    assert seen(lambda xs: [key(x) for x in xs]) == set()
    assert seen(lambda xs: sorted(xs, key=key)) == {"key"}
    assert seen(lambda xs: [*map(other, xs)]) == {"other"}
    assert seen(lambda xs: [*map(functools.partial(other), xs)]) == {"other"}


def test_special_methods_and_functions_of_descriptors_are_listed():
    expected = {"Base.__init__", "Special.__abs__", "Special.size", "Special.once"}
    assert seen(lambda x: Special(x).plain()) == expected
    assert seen([{"deep": (Special(1),)}]) == expected
    assert seen(lambda special: sorted([], key=special.plain), Special(1)) == {*expected, "Base.plain"}


class Sorter(Base):
    def first(self, xs):
        return sorted(xs, key=self.rank)[0]

    def rank(self, x):
        return x if x > self.x else self.x

    def show(self, xs):
        return sorted(xs, key=other)


def test_methods_that_no_function_names_are_not_followed():
    assert seen(lambda xs: Sorter(1).first(xs)) == {"Base.__init__", "Sorter.rank"}
    assert seen(lambda xs: Sorter(1).show(xs)) == {"Base.__init__", "other"}
    found = ReachableCallables()
    assert found.look([lambda xs: Sorter(1)]) == [Base.__init__]
    assert found.look([Sorter.first]) == [Sorter.rank]


def test_wrappers_of_libraries():
    @functools.lru_cache
    def cached(x):
        return x

    @functools.singledispatch
    def dispatched(x):
        return x

    @dispatched.register
    def on_text(x: str):
        return x

    assert seen(lambda x: cached(x)) == {"cached"}
    assert seen(lambda x: dispatched(x)) == {"dispatched", "on_text"}


def test_the_search_runs_no_user_code():
    asked = []

    class Secretive:
        def __getattribute__(self, name):
            asked.append(name)
            raise RuntimeError(name)

        @property
        def value(self):
            asked.append("value")

    module = types.ModuleType("lazy")
    module.__getattr__ = lambda name: asked.append(name)
    secretive = Secretive()
    assert seen(lambda: (module, secretive)) == {"Secretive.__getattribute__", "Secretive.value"}
    assert asked == []


def test_classes_that_cannot_be_compared_and_circles():
    class Meta(type):
        __hash__ = None

        def __eq__(cls, other):
            raise RuntimeError

    class Odd(metaclass=Meta):
        def __init__(self):
            self.me = self

    assert seen(Odd()) == {"Odd.__init__", "Meta.__eq__"}


def test_names():
    def f(x, y, h, k):
        return [g(h.i) for g in x] + y.j(k)

    names = names_of(f)
    assert names.passed_on(f) >= {"i", "k", "x"}
    assert "j" not in names.passed_on(f)
    assert names.all >= {"i", "j"}


def test_the_code_of_a_function_is_replaced():
    n = 3

    def f(x, *, by=2):
        """What it does."""
        if x > n:
            x = x - by
        return x

    old = f.__code__
    f.__code__ = in_place(f)
    assert f.__code__ is not old
    assert [f(3), f(4), f(4, by=1)] == [3, 2, 3]
    assert (f.__doc__, f.__code__.co_firstlineno) == ("What it does.", old.co_firstlineno)
    assert f.__code__.co_freevars == old.co_freevars
    n = 100
    assert f(50) == 50


def test_a_closure_needed_only_by_an_annotation():
    kind = int

    def f(x):
        """Documented."""
        y: kind = x
        return y if y > 0 else 0

    assert f.__code__.co_freevars == (("kind",) if sys.version_info < (3, 14) else ())
    f.__code__ = in_place(f)
    assert [f(2), f(-2), f.__doc__] == [2, 0, "Documented."]


@pytest.mark.parametrize("x", [2, -2])
def test_generators(x):
    def f(x):
        for i in range(3):
            yield i if x > 0 else -i

    expected = list(f(x))
    f.__code__ = in_place(f)
    assert list(f(x)) == expected
