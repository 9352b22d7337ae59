"""Calls that find their graph at once: what they look at, and what they must not confuse."""

import collections
import gc

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.tracing import cache_entry, cache_key, dispatch, traced_arguments
from agc.runtime.tracing.flat_arguments import FlatArguments


@pytest.fixture
def long_way(monkeypatch):
    """Counts the steps of the long way of a call."""
    counts = collections.Counter()

    def counted(holder, name):
        original = getattr(holder, name)

        def step(*args, **kwargs):
            counts[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(holder, name, step)

    counted(dispatch.Dispatcher, "_called")
    counted(cache_key.Parameters, "bind")
    counted(traced_arguments.TracedArguments, "checked")
    return counts


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(2.0)

    @tf.function
    def __call__(self, x, twice=False):
        return self.w * x * 2 if twice else self.w * x


ONE = tf.constant(1.0)
CALLS = {
    "tensor": (lambda f: f(ONE), lambda x: x + 1),
    "no arguments": (lambda f: f(), lambda: tf.constant(3)),
    "number": (lambda f: f(ONE, 3), lambda x, n: x + n),
    "text and None": (lambda f: f(ONE, "add", None), lambda x, how, rest: x + 1),
    "keyword": (lambda f: f(ONE, y=2.0), lambda x, y: x + y),
    "default": (lambda f: f(ONE), lambda x, y=2.0: x + y),
    "list": (lambda f: f([ONE, ONE]), lambda pair: pair[0] + pair[1]),
    "dict": (lambda f: f({"b": ONE, "a": 1}), lambda d: d["a"] + d["b"]),
    "array": (lambda f: f(np.ones(2, np.float32)), lambda x: x + 1),
    "NumPy's scalar": (lambda f: f(np.float32(1)), lambda x: x + 1),
    "object": (lambda f: f(ONE, CALLS), lambda x, o: x + 1),
    "many": (lambda f: f(*[ONE] * 300), lambda *xs: sum(xs[1:], xs[0])),
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_cached_call_looks_up_one_key(kind, long_way):
    call, python_function = CALLS[kind]
    function = tf.function(python_function)
    call(function), call(function)
    long_way.clear()
    call(function)
    assert not long_way


def test_methods_and_concrete_functions_too(long_way):
    model = Model()
    known = tf.function(lambda x: x + 1).get_concrete_function(ONE)
    for _ in range(2):
        model(ONE, twice=True), model(ONE), known(ONE)
    long_way.clear()
    assert [float(model(ONE, twice=True)), float(model(ONE)), float(known(ONE))] == [4.0, 2.0, 2.0]
    assert not long_way


def called_thrice(function, *args, **kwargs):
    """The results of the call that traces, of the one that remembers, and of the one that is remembered."""
    return [np.asarray(function(*args, **kwargs).numpy()).tolist() for _ in range(3)]


class TestWhatIsNotTheSameCall:
    def test_a_tensor_and_an_array(self):
        f = tf.function(lambda x: x + 1)
        assert called_thrice(f, tf.constant(1.0)) == [2.0] * 3
        assert called_thrice(f, np.float32(2)) == [3.0] * 3
        assert called_thrice(f, np.array(3, np.float32)) == [4.0] * 3

    def test_equal_numbers_of_different_types_and_signs(self):
        f = tf.function(lambda n: tf.constant(str(n)))
        for number in (1, 1.0, True, 0, 0.0, -0.0, False):
            assert called_thrice(f, number) == [str(number).encode()] * 3

    def test_keywords_in_any_order_and_with_the_same_tensor_twice(self):
        f = tf.function(lambda x, y, *, z: x - 2 * y + 3 * z)
        a, b, c = map(tf.constant, (1.0, 10.0, 100.0))
        assert called_thrice(f, z=a, y=a, x=a) == [2.0] * 3
        assert float(f(z=c, y=b, x=a)) == 281.0
        assert float(f(a, z=c, y=b)) == 281.0

    def test_a_list_and_several_arguments_are_distinguished(self):
        f = tf.function(lambda x, *rest: tf.constant(len(rest)))
        assert called_thrice(f, ONE, (ONE, ONE)) == [1] * 3
        assert called_thrice(f, ONE, ONE, ONE) == [2] * 3
        assert called_thrice(f, x=ONE) == [0] * 3

    def test_dicts_with_keys_in_another_order(self):
        f = tf.function(lambda d: d["a"] - d["b"])
        assert called_thrice(f, {"a": ONE, "b": 2 * ONE}) == [-1.0] * 3
        assert called_thrice(f, {"b": ONE, "a": 2 * ONE}) == [1.0] * 3

    def test_an_object_at_the_address_of_a_freed_one(self):
        class Box:
            def __init__(self, content):
                self.content = content

        f = tf.function(lambda box: tf.constant(box.content))
        for content in range(12):  # sooner or later one is put where one of those before was
            box = Box(content)
            assert called_thrice(f, box) == [content] * 3
            del box
            gc.collect(1)  # the objects are young

    def test_elements_of_an_object_array_are_compared(self):
        f = tf.function(lambda x: x)
        assert called_thrice(f, np.array(["a", "b"], object)) == [[b"a", b"b"]] * 3
        assert called_thrice(f, np.array(["c", "d"], object)) == [[b"c", b"d"]] * 3

    def test_shapes_and_dtypes_after_cache_eviction(self, monkeypatch):
        monkeypatch.setattr("agc.runtime.core.abstract_value.MOST", 2)
        f = tf.function(lambda x: tf.size(x))
        for _ in range(3):
            assert [int(f(tf.zeros(n))) for n in range(6)] == list(range(6))
        assert f.experimental_get_tracing_count() == 6


def test_a_result_does_not_alias_the_callers_array():
    f = tf.function(lambda x: x)
    given = np.ones(2, np.float32)
    f(given), f(given)
    result = f(given)
    given[:] = 7
    assert result.numpy().tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "result",
    [
        lambda x: (x, x + 1),
        lambda x: [x, {"b": x + 1, "a": None}, (x + 2,)],
        lambda x: {"n": tf.constant(3), "x": x},
        lambda x: (),
        lambda x: None,
        lambda x: collections.namedtuple("Pair", "left right")(x, [x]),
    ],
)
def test_results_have_their_python_structure(result):
    f = tf.function(result)
    expected = tf.nest.map_structure(str, result(ONE))
    for _ in range(3):
        assert tf.nest.map_structure(str, f(ONE)) == expected


def test_cache_entries_miss_for_another_object():
    f = tf.function(lambda x, o: x + 1)
    one, other = object(), object()
    known = f.get_concrete_function(ONE, one)
    found = cache_entry.build_entry(known, FlatArguments((ONE, one)), [ONE])
    assert float(found((ONE, one))) == 2.0
    assert found((ONE, other)) is cache_entry.MISSED
