"""What a `for` goes over: whatever Python goes over, with the same items in the same order."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import pytest
from agc import autograph
from agc.autograph import staging
from agc.runtime.autograph_backend import BACKEND
from agc.runtime.python_semantics.indexed_iterables import IndexedItems

EXECUTORS: tuple[dict[str, Any], ...] = ({}, {"experimental_executor": "interpret"})
V, EMPTY = [3, 1, -2, 7], [0][:0]


def values(result: Any) -> Any:
    return tf.nest.map_structure(lambda x: x.numpy().tolist() if tf.is_tensor(x) else x, result)


def agrees(f: Callable[..., Any], *inputs: Any, unknown: bool = True) -> None:
    """Python's numbers and both executors give the same, with known shapes and (`unknown`) without."""
    for args in inputs:
        args = args if isinstance(args, tuple) else (args,)
        tensors = [tf.constant(arg, tf.int32) for arg in args]
        signature = [tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in tensors]
        expected = f(*args)
        for options in (*EXECUTORS, *([{"input_signature": signature}] if unknown else [])):
            assert values(tf.function(f, **options)(*tensors)) == expected, (args, options)


def test_map() -> None:
    def f(xs):
        total = last = 0
        for x in map(lambda v: v * 2 if v > 0 else v - 1, xs):  # noqa: C417
            if x == 14:
                continue
            total, last = total * 3 + x, x
        else:
            total += 1000
        for x, y in map(lambda a, b: (a + b, a - b), xs, reversed(xs)):
            total = total * 2 + x * y
        return total, last

    agrees(f, V, EMPTY)


def test_filter() -> None:
    def positive(x):
        if x > 0:
            return True
        return x < -5

    def f(xs):
        total, count, last = 0, 0, -1
        for x in filter(positive, xs):
            count += 1
            total = total * 3 + x
            last = x
            if total > 30:
                break
        for x in map(lambda v: v * 10, filter(None, map(lambda v: v - 1, xs))):  # noqa: C417
            total += x
            if x < -1000:
                return -1, count, last
        return total, count, last

    agrees(f, V, [0, 0, 4], [-9, 2, 0, -1], EMPTY)


def test_enumerate_zip_and_reversed_in_each_other() -> None:
    def f(xs, ys):
        total = 0
        for i, (x, y) in enumerate(zip(xs, reversed(ys)), start=2):  # noqa: B905
            total += i * x * y
        for (i, x), y in zip(enumerate(xs), map(abs, ys), strict=False):
            total = total * 2 + i - x * y
        for i, (j, x) in enumerate(enumerate(reversed(xs), -1)):
            total += i * j * x
        return total

    agrees(f, (V, [1, 2, 3, 4]), (V, [5, 6]), (EMPTY, V))


def test_zip_with_python_iterables() -> None:
    def f(xs):
        total = 0
        for x, k in zip(xs, [1, 10, 100]):  # noqa: B905
            total += x * k
        for x, k in zip(xs, range(5)):  # noqa: B905
            total += x * k
        return total

    agrees(f, V, EMPTY)

    def g(xs):
        total = 0
        for x, letter in zip(xs, "abc"):  # noqa: B905
            total += x * ord(letter)
        for x, k in zip(xs, itertools.count()):
            total += x * k
        for x in itertools.chain(itertools.islice(xs, 1, 3), xs):
            total = total * 2 + x
        return total

    agrees(g, V, unknown=False)


def test_an_empty_range_holds_integers() -> None:
    def f(xs):
        i = 4
        for i, x in zip(range(0), xs):  # noqa: B007, B905
            pass
        return i + xs[0]

    agrees(f, V)


def test_zip_strict() -> None:
    def f(xs, ys):
        total = 0
        for x, y in zip(xs, ys, strict=True):
            total += x * y
        return total

    agrees(f, (V, V))
    for options in ({}, {"input_signature": [tf.TensorSpec([None], tf.int32)] * 2}):
        with pytest.raises(ValueError, match=r"zip\(\) arguments differ in length"):
            tf.function(f, **options)(tf.constant(V), tf.constant([1]))


def test_ranges() -> None:
    def f(a, b, s):
        total = 0
        for i in range(a, b, -2):
            total = total * 2 + i
        for i in reversed(range(a, b)):
            total = total * 2 + i
        for i in reversed(range(b, a, s)):
            total = total * 3 + i
        for i, j in zip(range(a), range(b, a, s)):  # noqa: B905
            total += i * j
        return total

    agrees(f, (5, -2, 1), (5, -2, 3), (-2, 5, -1), (0, 0, 1), (3, 9, -2))
    with pytest.raises(ValueError, match="must not be zero"):
        tf.function(lambda n: [i for i in range(0, n, 0)])(tf.constant(3))  # noqa: C416


def test_slices() -> None:
    def f(xs):
        total = 0
        for x in xs[1:]:
            total += x
        for x in xs[::2]:
            total = total * 2 + x
        for x in xs[::-1]:
            total = total * 2 + x
        for _ in xs[5:]:
            total += 100
        return total

    agrees(f, V, [9])


def test_targets_of_any_kind() -> None:
    class Box:
        v = 0

    def f(m):
        box, d, total = Box(), {"k": 0}, 0
        for a, *b in m:
            total = total * 2 + a - b[1]
        for box.v, d["k"], *_ in m:
            total = total * 3 + box.v * d["k"]
        return total, box.v, d["k"]

    agrees(f, [[1, 2, 3], [4, 5, 6]], unknown=False)


def test_dictionaries_of_tensors() -> None:
    @tf.function
    def f(a, b):
        total = 0
        for key, xs in {"a": a, "b": b}.items():
            for x in xs:
                total = total * 2 + x * len(key)
        return total

    assert int(f(tf.constant([1, 2]), tf.constant([3]))) == 11


def test_tensor_arrays() -> None:
    @tf.function
    def f(n):
        squares = tf.TensorArray(tf.int32, size=n)
        for i in range(n):
            squares = squares.write(i, i * i)
        total = 0
        for i, x in enumerate(squares):
            total += i * x
        for x, y in zip(squares, map(lambda v: v + 1, squares)):  # noqa: B905, C417
            total += x * y
        return total

    assert [int(f(tf.constant(n))) for n in (0, 4)] == [0, 148]


def test_iterators() -> None:
    def f(xs):
        it = iter(xs)
        first = next(it)
        rest = 0
        for x in it:
            rest = rest * 2 + x
        return first, rest

    agrees(f, V, [5])

    def g(xs):
        it = iter(reversed(xs))
        return next(it), next(it), next(it, 0), next(it, -1)

    assert values(tf.function(g)(tf.constant([1, 2, 3]))) == (3, 2, 1, -1)
    unknown = tf.function(lambda x: next(iter(x)), input_signature=[tf.TensorSpec([None], tf.int32)])
    assert int(unknown(tf.constant([8]))) == 8
    with pytest.raises(StopIteration, match="no more rows"):
        unknown(tf.constant(EMPTY, tf.int32))


def test_an_iterator_advanced_by_a_graph_cannot_be_reused() -> None:
    @tf.function
    def f(xs, n):
        it = iter(xs)
        total = 0
        while n > 0:
            total += next(it)
            n -= 1
        return total

    with pytest.raises(autograph.StagingError, match=r"AGC272.*the iterator was made outside of it"):
        f(tf.constant(V), tf.constant(2))

    @tf.function
    def g(xs):
        it = iter(xs)
        total = 0
        for x in it:
            if x < 0:
                break
            total += x
        return total + next(it)

    with pytest.raises(autograph.StagingError, match=r"AGC272.*a loop has consumed"):
        g(tf.constant(V))


def test_unsupported_uses_of_a_filter_are_refused() -> None:
    uses: dict[str, Callable[[Any], Any]] = {
        "enumerate": lambda x: [i for i, _ in enumerate(filter(None, x))],
        "zip": lambda x: list(zip(filter(None, x), x)),  # noqa: B905
        "sum": lambda x: sum(filter(None, x)),
        "max": lambda x: max(filter(None, x)),
    }
    for name, use in uses.items():
        with pytest.raises(autograph.StagingError, match=f"AGC271.*`{name}` of a `filter`"):
            tf.function(use)(tf.constant(V))


class Deck:
    """Cards of a backend: all of a kind, as many as a tensor says."""

    def __init__(self, count: Any, step: Any) -> None:
        self.count, self.step = count, step

    def __rows__(self) -> IndexedItems:
        return IndexedItems(self.count, lambda index: (index, index * self.step))


staging.register(BACKEND, Deck, always=False)


def test_objects_with_an_iter_method() -> None:
    @tf.function
    def f(n):
        deck = Deck(n, 3)
        total = len(deck)
        for i, card in deck:
            if card > 9:
                break
            total += card * i
        for k, (_, card) in enumerate(reversed(deck)):
            total = total * 2 + k * card
        for (_, a), b in zip(deck, range(2, 9)):  # noqa: B905
            total += a * b
        return total

    def expected(n: int) -> int:
        deck = [(i, 3 * i) for i in range(n)]
        total = n + sum(c * i for i, c in deck if c <= 9)
        for k, (_, card) in enumerate(reversed(deck)):
            total = total * 2 + k * card
        return total + sum(a * b for (_, a), b in zip(deck, range(2, 9), strict=False))

    for n in (0, 1, 3, 6):
        assert int(f(tf.constant(n))) == expected(n)


def test_a_loop_variable_after_the_loop() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def f(xs):
        for i, x in enumerate(map(abs, xs)):  # noqa: B007
            pass
        return i, x

    assert values(f(tf.constant([4, -5]))) == (1, 5)
    with pytest.raises(UnboundLocalError, match="'i'"):
        f(tf.constant(EMPTY, tf.int32))


def test_a_scalar_has_no_items() -> None:
    @tf.function
    def f(x):
        for _ in x:
            pass
        return x

    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        f(tf.constant(3))
    for use in (sum, any, sorted, list, iter, enumerate, reversed, lambda x: zip(x, x, strict=True)):
        with pytest.raises(TypeError, match="scalar"):
            tf.function(lambda x, use=use: use(x))(tf.constant(3))


def test_rows_of_unknown_rank() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)])
    def f(x):
        total = 0
        for row in x:
            total += tf.reduce_sum(row)
        return total

    assert [int(f(tf.constant(x))) for x in ([1, 2], [[1, 2], [3, 4]])] == [3, 10]
