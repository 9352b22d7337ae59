"""After the outermost trace, functions that were converted in place have their own code again."""

from __future__ import annotations

import dis
import marshal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import pytest
from agc.autograph import do_not_convert
from agc.autograph.introspection.recursion_limit import raised_recursion_limit


class Angle:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, other: Any) -> Angle:
        x = self.x
        if other.x > 0:
            x = x + other.x
        return Angle(x)

    @property
    def size(self) -> Any:
        return self.x if self.x > 0 else -self.x


PARTS = {
    "__init__": Angle.__init__,
    "__add__": Angle.__add__,
    "size": Angle.__dict__["size"].fget,
}
OWN = {name: part.__code__ for name, part in PARTS.items()}
BYTES = {name: marshal.dumps(code) for name, code in OWN.items()}


def exchanged() -> set[str]:
    """Return the names of the methods that do not have their own code."""
    return {name for name, part in PARTS.items() if part.__code__ is not OWN[name]}


@pytest.fixture(autouse=True)
def everything_is_put_back() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    yield
    assert exchanged() == set()
    assert sys.getrecursionlimit() == limit


def total(x: Any, y: Any) -> Any:
    return (Angle(x) + Angle(y)).size


def constants(*values: float) -> list[Any]:
    return [tf.constant(value) for value in values]


def test_methods_have_their_own_code_after_a_trace() -> None:
    before = list(dis.get_instructions(Angle.__add__))
    f = tf.function(total)
    for dtype in (tf.int32, tf.float32, tf.float64):  # a trace each
        results = [
            int(f(tf.constant(x, dtype), tf.constant(y, dtype))) for x, y in [(1, 2), (-5, 1), (-5, -1)]
        ]
        assert results == [3, 4, 5]
        assert exchanged() == set()
    assert {name: marshal.dumps(part.__code__) for name, part in PARTS.items()} == BYTES
    assert list(dis.get_instructions(Angle.__add__)) == before


def test_callbacks_of_methods_whose_name_is_computed() -> None:
    def doubled(x: Any) -> Any:
        return 2 * x if x > 0 else -x

    class Visitor:
        def visit(self, kind: str, x: Any) -> Any:
            return getattr(self, f"visit_{kind}")(x)

        def visit_doubled(self, x: Any) -> Any:
            return next(map(doubled, [x]))

    f = tf.function(lambda x: Visitor().visit("doubled", x))
    assert [int(f(tf.constant(x))) for x in (3, -4)] == [6, 4]


def test_functions_stay_converted_until_the_outermost_trace_ends() -> None:
    found = []

    def inner(x: Any) -> Any:
        found.append(exchanged())
        return total(x, x)

    def outer(x: Any) -> Any:
        result = tf.function(inner)(x) + total(x, x)
        found.append(exchanged())
        return result

    assert int(tf.function(outer)(tf.constant(2))) == 8
    assert found == [{"__add__", "size"}] * 2


def test_a_failed_trace_restores_the_code() -> None:
    def failing(x: Any) -> Any:
        total(x, x)
        assert exchanged()
        raise LookupError("stop")

    for _ in range(2):
        with pytest.raises(LookupError, match="stop"):
            tf.function(failing)(tf.constant(2))
        assert exchanged() == set()
    assert int(tf.function(total)(*constants(2, 3))) == 5


def test_traces_of_several_threads() -> None:
    """The code stays converted as long as any thread traces."""
    inside, leave, seen = threading.Event(), threading.Event(), []

    def slow(x: Any) -> Any:
        inside.set()
        leave.wait(60)
        seen.append(exchanged())
        return total(x, x)

    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(int(tf.function(slow)(tf.constant(-4)))))
    thread.start()
    assert inside.wait(60)
    assert exchanged()
    assert (Angle(1) + Angle(2)).size == 3  # plain Python, with the code of the other thread's trace
    leave.set()
    thread.join()
    assert results == [4]
    assert seen == [{"__add__", "size"}]


def test_many_threads_trace_and_run_at_once() -> None:
    results: list[int] = []

    def work(number: int) -> None:
        check(number, -1.0)
        check(number, 2.0)

    def check(number: int, y: float) -> None:
        staged = tf.function(lambda x: total(x, y))(tf.constant(float(number)))
        results.extend(int(found) - int(max(y, 0)) for found in (staged, (Angle(number) + Angle(y)).size))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(number for number in range(8) for _ in range(4))


class Steps:
    """An object whose iterator Python itself calls, at each step."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __iter__(self) -> Iterator[Any]:
        for i in range(4):
            if i > 1:
                yield self.x + i
            else:
                yield self.x - i


@pytest.mark.parametrize("begun_in_trace", [True, False])
def test_generators_suspended_while_code_is_exchanged(begun_in_trace: bool) -> None:
    """A suspended generator keeps the code that it began with."""
    code = Steps.__iter__.__code__
    kept: list[Iterator[Any]] = []
    steps = Steps(10)
    if not begun_in_trace:
        kept.append(iter(steps))
        assert next(kept[0]) == 10

    def f(x: Any) -> Any:
        if begun_in_trace:
            kept.append(iter(steps))
            return x + next(kept[0]) - 1 + len([*steps])
        return x + next(kept[0]) + len([*steps])

    assert int(tf.function(f)(tf.constant(1))) == 14
    assert Steps.__iter__.__code__ is code
    assert [*kept[0]] == ([9, 12, 13] if begun_in_trace else [12, 13])
    assert [*steps] == [10, 9, 12, 13]


class Least:
    def __init__(self, least: int) -> None:
        self.least = least

    def __and__(self, x: Any) -> Any:
        return x if x > self.least else tf.cast(self.least, x.dtype)


def test_a_function_made_of_a_method_during_a_trace_stays_staged() -> None:
    """The traced function that is made meanwhile is converted whenever it is traced."""
    kept: list[Any] = []
    least, code = Least(3), Least.__and__.__code__

    def f(x: Any) -> Any:
        assert Least.__and__.__code__ is not code
        kept.append(tf.function(least.__and__))
        return kept[-1](x) + (least & x)

    assert int(tf.function(f)(tf.constant(5))) == 10
    assert Least.__and__.__code__ is code
    assert [float(kept[0](tf.constant(x))) for x in (1.0, 9.0)] == [3, 9]
    assert [int(kept[0](tf.constant(x))) for x in (1, 9)] == [3, 9]
    graph = str(kept[0].get_concrete_function(tf.TensorSpec([], tf.float64)).graph)
    assert "cond" in graph or "where" in graph


def test_a_conversion_during_a_trace_outlives_it() -> None:
    """`to_graph` gives converted code for good, not a function whose code is put back."""
    kept: list[Any] = []
    least = Least(3)

    def f(x: Any) -> Any:
        kept.append(tf.autograph.to_graph(least.__and__))
        return kept[-1](x) + (least & x)

    assert int(tf.function(f)(tf.constant(5))) == 10
    staged = tf.function(kept[0], autograph=False)
    assert [int(staged(tf.constant(x))) for x in (1, 9)] == [3, 9]


def test_code_that_the_program_replaces_meanwhile_stays() -> None:
    def plain(self: Any) -> int:
        return 7

    class Own:
        def __abs__(self) -> int:
            return len([self])

    own = Own()
    method: Any = Own.__abs__

    def f(x: Any) -> Any:
        before = abs(own)
        method.__code__ = plain.__code__
        return x + before * 10 + abs(own)

    assert int(tf.function(f)(tf.constant(0))) == 17
    assert method.__code__ is plain.__code__


def test_do_not_convert_during_a_trace_restores_the_code() -> None:
    class Own:
        def __abs__(self) -> int:
            return 1 if self.x > 0 else 0  # type: ignore[attr-defined]

    own, method = Own(), Own.__abs__
    code = method.__code__

    def f(x: Any) -> Any:
        if method.__code__ is not code:
            do_not_convert(method)
        own.x = x  # type: ignore[attr-defined]
        return abs(own)

    for _ in range(2):
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="was not converted"):
            tf.function(f)(tf.constant(1))
        assert method.__code__ is code


def trace_with(during: Callable[[], object]) -> None:
    def f(x: Any) -> Any:
        during()
        return total(x, x)

    tf.function(f)(tf.constant(1))


def test_a_recursion_limit_that_the_program_sets_during_a_trace_stays() -> None:
    before = sys.getrecursionlimit()
    try:
        trace_with(lambda: sys.setrecursionlimit(before + 77))
        assert sys.getrecursionlimit() == before + 77
        trace_with(lambda: trace_with(lambda: sys.setrecursionlimit(before + 33)))
        assert sys.getrecursionlimit() == before + 33
        trace_with(lambda: None)
        assert sys.getrecursionlimit() == before + 33
    finally:
        sys.setrecursionlimit(before)


def test_recursion_limits_of_contexts_that_overlap() -> None:
    before = sys.getrecursionlimit()
    first, second = (raised_recursion_limit(lambda limit, by=by: limit + by) for by in (100, 200))
    first.__enter__()
    second.__enter__()
    assert sys.getrecursionlimit() == before + 200
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before + 100
    with raised_recursion_limit(lambda limit: limit + 300):
        assert sys.getrecursionlimit() == before + 300
        first.__exit__(None, None, None)
        assert sys.getrecursionlimit() == before + 300
    assert sys.getrecursionlimit() == before
    with raised_recursion_limit(lambda limit: 5):  # never lower than the program's own
        assert sys.getrecursionlimit() == before
