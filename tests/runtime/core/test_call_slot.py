"""Functions with machine code are called as any other callables are."""

from __future__ import annotations

import copy
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.tracing.function import Function
from support.shortest_calls import compiled

ONE, TWO = tf.constant(1.0), tf.constant(2.0)


def doubled() -> Any:
    """A function with machine code."""
    return compiled(lambda x: x + x, ONE)


WAYS: dict[str, Callable[[Any], Any]] = {
    "positional": lambda f: f(TWO),
    "by name": lambda f: f(x=TWO),
    "from a tuple": lambda f: f(*(TWO,)),
    "from a dict": lambda f: f(x=TWO),
    "map": lambda f: next(map(f, [TWO])),
    "as an attribute": lambda f: f.__call__(TWO),
    "of another dtype": lambda f: f(tf.constant(2)),
    "of a number": lambda f: f(2.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_call(way: str) -> None:
    f = doubled()
    assert [float(WAYS[way](f)) for _ in range(3)] == [4.0] * 3


def test_calls_with_wrong_arguments_raise_type_error() -> None:
    f = doubled()
    with pytest.raises(TypeError, match=r"missing .*'x'"):
        f()
    with pytest.raises(TypeError, match=r"too many|positional"):
        f(ONE, TWO)
    with pytest.raises(TypeError, match="'y'"):
        f(ONE, y=TWO)
    assert float(f(TWO)) == 4.0


def test_many_arguments_and_names() -> None:
    def total(*args: Any, scale: Any, shift: Any) -> Any:
        return tf.add_n(args) * scale + shift

    few = [tf.constant(float(i)) for i in range(10)]
    f = tf.function(total, jit_compile=True)
    assert [float(f(*few, shift=ONE, scale=TWO)) for _ in range(3)] == [91.0] * 3
    assert [float(f(*few[:3], scale=TWO, shift=ONE)) for _ in range(3)] == [7.0] * 3


def test_methods() -> None:
    class Model(tf.Module):
        def __init__(self, w: float) -> None:
            super().__init__()
            self.w = tf.Variable(w)

        @tf.function(jit_compile=True)
        def __call__(self, x: Any) -> Any:
            return x * self.w

    models = [Model(3.0), Model(5.0)]
    for _ in range(3):
        assert [float(model(TWO)) for model in models] == [6.0, 10.0]


def test_the_callable_in_the_slot_is_called() -> None:
    f = doubled()
    before = f.__call__
    for other in (lambda x: "Python", len, before):
        f.__call__ = other
        assert f.__call__ is other
    assert float(f(TWO)) == 4.0
    f.__call__ = lambda *args, **kwargs: (args, kwargs)
    assert f(1, 2, n=3) == ((1, 2), {"n": 3})
    f.__call__ = len
    assert f("four") == 4
    with pytest.raises(TypeError):
        f(4)


def test_an_empty_slot_is_an_error() -> None:
    f = doubled()
    del f.__call__
    with pytest.raises(AttributeError, match="__call__"):
        f(TWO)


def test_a_function_that_replaces_itself_while_it_runs() -> None:
    def look(x: Any) -> Any:
        if x.dtype == tf.int32:
            f.__call__ = lambda x: "replaced"
            gc.collect()
        return x + x

    f = compiled(look, ONE)
    f(tf.constant(3))
    f.__call__ = f._calls.call
    assert int(f(tf.constant(3))) == 6


def test_functions_and_their_attributes_are_freed() -> None:
    f = doubled()
    f.itself = f  # a cycle, for the collector
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_copies_are_functions_of_their_own() -> None:
    f = doubled()
    for other in (copy.copy(f), copy.deepcopy(f)):
        assert [float(other(TWO)) for _ in range(3)] == [4.0] * 3
    assert float(f(TWO)) == 4.0


def test_several_threads() -> None:
    f, results = doubled(), []

    def work() -> None:
        results.extend(float(f(TWO)) for _ in range(500))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [4.0] * 2000


class TestClasses:
    def test_a_subclass_that_overrides_call_is_unchanged(self) -> None:
        class Counted(Function):  # type: ignore[type-arg]
            def __call__(self, *args: Any) -> Any:
                return "counted", super().__call__(*args)

        f = Counted(lambda x: x + x, "f", doubled()._calls.options)
        for _ in range(3):
            word, result = f(TWO)
            assert (word, float(result)) == ("counted", 4.0)

    def test_one_that_adds_something(self) -> None:
        class Named(Function):  # type: ignore[type-arg]
            title = "named"

        f = Named(lambda x: x + x, "f", doubled()._calls.options)
        assert [float(f(TWO)) for _ in range(3)] == [4.0] * 3
        f.note = "kept"
        assert (f.title, f.note) == ("named", "kept")
