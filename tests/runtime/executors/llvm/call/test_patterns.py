"""What a call without Python takes: keywords, arrays and nests, besides tensors and objects (test_fast_path.py)."""

from __future__ import annotations

import gc
import sys
import threading
import time
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.shortest_calls import compiled, frames, goes_shortest, needs_extension

pytestmark = needs_extension

ONE, TWO, TEN = tf.constant(1.0), tf.constant(2.0), tf.constant(10.0)


def three(x: Any, y: Any = TEN, *, scale: Any = 1) -> Any:
    return (x - y) * scale


class TestKeywords:
    @pytest.mark.parametrize(
        ("args", "kwargs", "wanted"),
        [
            ((TWO,), {"y": ONE}, 1.0),
            ((), {"x": TWO, "y": ONE}, 1.0),
            ((), {"y": ONE, "x": TWO}, 1.0),
            ((TWO, ONE), {"scale": 3}, 3.0),
            ((TWO,), {"scale": TEN, "y": ONE}, 10.0),
        ],
        ids=["one", "two", "turned", "object", "tensor"],
    )
    def test_keywords_are_bound_to_their_parameters(self, args: Any, kwargs: Any, wanted: float) -> None:
        f = compiled(three, *args, **kwargs)
        result, seen = frames(f, *args, **kwargs)
        assert (float(result), seen) == (wanted, [])

    def test_every_spelling_of_one_call(self) -> None:
        f = tf.function(three, jit_compile=True)
        for _ in range(4):
            found = [f(TWO, ONE), f(TWO, y=ONE), f(x=TWO, y=ONE), f(y=ONE, x=TWO), f(y=TWO, x=ONE)]
            assert [float(each) for each in found] == [1.0, 1.0, 1.0, 1.0, -1.0]
        assert goes_shortest(f, y=TWO, x=ONE)
        assert f.experimental_get_tracing_count() == 1

    def test_a_default_that_is_a_tensor(self) -> None:
        f = compiled(three, ONE)
        assert [float(f(ONE)), float(f(ONE, ONE)), float(f(ONE))] == [-9.0, 0.0, -9.0]

    def test_any_parameter_name_is_accepted(self) -> None:
        f = compiled(lambda **parts: parts["b"] - parts["a"], b=TWO, a=ONE)
        assert frames(f, b=TEN, a=ONE) == (tf.constant(9.0), [])
        assert float(f(a=TEN, b=ONE)) == -9.0

    def test_computed_keyword_names(self) -> None:
        f = compiled(three, x=TWO, y=ONE)
        assert float(f(**{"".join(["x"]): TEN, "yy"[:1]: TWO})) == 8.0

    def test_keyword_names_of_a_str_subclass(self) -> None:
        class Name(str):
            __slots__ = ()

        f = tf.function(three, jit_compile=True)
        assert [float(f(TWO, **{Name("y"): ONE})) for _ in range(4)] == [1.0] * 4

    def test_wrong_keyword_names_are_refused(self) -> None:
        f = compiled(three, TWO, y=ONE)
        for args, kwargs in (((TWO,), {"z": ONE}), ((TWO, ONE), {"y": ONE}), ((), {"y": ONE})):
            with pytest.raises(TypeError, match="argument"):
                f(*args, **kwargs)
        assert goes_shortest(f, TWO, y=ONE)

    def test_a_check_that_fails(self) -> None:
        f = compiled(lambda a, b: a // b, b=tf.constant(2), a=tf.constant(6))
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            f(b=tf.constant(0), a=tf.constant(6))
        assert int(f(b=tf.constant(3), a=tf.constant(6))) == 2


class Own(np.ndarray):  # type: ignore[type-arg]
    """A user's subclass of NumPy arrays."""


class TestArrays:
    @pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex64"])
    def test_arrays_are_read_in_place(self, dtype: str) -> None:
        x = np.ones([2, 3], dtype)
        f = compiled(lambda x: tf.stack([x, x]), x)
        result, seen = frames(f, x)
        assert (result.dtype, result.numpy().tolist(), seen) == (tf.as_dtype(dtype), [x.tolist()] * 2, [])

    def test_a_result_is_never_the_array_itself(self) -> None:
        x = np.zeros(3)
        f = compiled(lambda x: (x, tf.reshape(x, [3, 1])), x)
        (same, turned), seen = frames(f, x)
        x[:] = 5.0
        assert not seen
        assert (same.numpy().tolist(), turned.numpy().tolist()) == ([0.0] * 3, [[0.0]] * 3)

    def test_a_read_only_array_is_accepted(self) -> None:
        x = np.arange(3.0)
        x.flags.writeable = False
        f = compiled(lambda x: x.assign(x) if isinstance(x, tf.Variable) else x + 1.0, x)
        assert frames(f, x)[0].numpy().tolist() == [1.0, 2.0, 3.0]

    @pytest.mark.parametrize(
        "other",
        [
            np.arange(6.0)[::2],
            np.array([0, 2, 4]),
            np.array([0.0, 2.0, 4.0], ">f8"),
            np.array([0.0, 2.0, 4.0]).view(Own),
        ],
        ids=["strided", "integers", "big-endian", "subclass"],
    )
    def test_other_arrays_use_the_slow_path(self, other: Any) -> None:
        f = compiled(lambda x: x * 2, np.arange(3.0))
        for _ in range(3):
            assert f(other).numpy().ravel().tolist() == [0.0, 4.0, 8.0]

    def test_a_tensor_is_not_taken_for_an_array(self) -> None:
        x = np.arange(3.0)
        f = compiled(lambda x: x * 2.0, x)
        assert f(tf.constant(x)).numpy().tolist() == [0.0, 2.0, 4.0]


class TestNests:
    @pytest.mark.parametrize(
        ("nest", "other"),
        [
            ([ONE, TWO], [TEN, ONE]),
            ((ONE, [TWO, ()]), (TEN, [ONE, ()])),
            ({"b": ONE, "a": (TWO, 3)}, {"b": TEN, "a": (ONE, 3)}),
            ([{"x": np.float64([1.0])}, {"x": np.float64([2.0])}], [{"x": np.float64([7.0])}] * 2),
        ],
        ids=["list", "tuple", "dict", "arrays"],
    )
    def test_the_leaves_of_a_nest_reach_their_parameters(self, nest: Any, other: Any) -> None:
        def weighted(nest: Any) -> Any:
            leaves = [leaf for leaf in tf.nest.flatten(nest) if tf.is_tensor(leaf)]
            return sum(float(i + 1) * tf.cast(leaf, tf.float32) for i, leaf in enumerate(leaves))

        f = compiled(weighted, nest)
        result, seen = frames(f, other)
        assert not seen
        assert np.array_equal(result, tf.function(weighted)(other))

    def test_a_nest_between_other_arguments(self) -> None:
        f = compiled(lambda x, pair, y: x - pair[0] * pair[1] - y, ONE, (ONE, ONE), y=ONE)
        result, seen = frames(f, TEN, (TWO, ONE), y=TWO)
        assert (float(result), seen) == (6.0, [])

    @pytest.mark.parametrize(
        "other",
        [
            [ONE],
            [ONE, TWO, TEN],
            (ONE, TWO),
            [ONE, [TWO]],
            {"x": ONE, "y": TWO},
            [ONE, tf.ones([3])],
            [ONE, 2.0],
        ],
        ids=str,
    )
    def test_other_nests_use_the_slow_path(self, other: Any) -> None:
        def total(nest: Any) -> Any:
            return tf.reduce_sum(tf.concat([tf.reshape(leaf, [-1]) for leaf in tf.nest.flatten(nest)], 0))

        f = compiled(total, [ONE, TWO])
        for _ in range(3):
            assert float(f(other)) == float(total(other))
            assert float(f([TEN, TWO])) == 12.0

    def test_dicts_of_another_order_and_other_keys(self) -> None:
        f = compiled(lambda d: d["a"] - d["b"], {"a": ONE, "b": TWO})
        assert frames(f, {"a": TEN, "b": TWO}) == (tf.constant(8.0), [])
        assert float(f({"b": TEN, "a": TWO})) == -8.0
        assert float(f({"".join(["a"]): TEN, "b": ONE})) == 9.0
        with pytest.raises(KeyError):
            f({"a": ONE, "c": ONE})

    def test_more_leaves_than_the_table_holds(self) -> None:
        nest = [[ONE] * 20 for _ in range(10)]
        f = compiled(lambda nest: sum(sum(row) for row in nest), nest)
        assert float(f(nest)) == 200.0

    def test_a_nest_that_is_emptied_while_the_kernel_runs(self) -> None:
        def slow(box: Any) -> Any:
            x = box[0]
            for _ in tf.range(60_000):
                x = tf.sin(x) + box[0]
            return x

        f = compiled(slow, [tf.fill([64], 0.5)])
        wanted, box = f([tf.fill([64], 0.5)]).numpy(), [tf.fill([64], 0.5)]
        array = box[0]._array
        before, found = sys.getrefcount(array), []
        thread = threading.Thread(target=lambda: found.append(f(box)))
        thread.start()
        while thread.is_alive() and sys.getrefcount(array) == before:
            time.sleep(0)
        del array
        box.clear()
        others = [np.full(64, 9.0, np.float32) for _ in range(50)]  # where the array was, if it were gone
        thread.join()
        np.testing.assert_array_equal(found[0].numpy(), wanted)
        del others

    def test_no_reference_is_leaked(self) -> None:
        x, y, array = tf.constant(7), tf.constant(0), np.int32(3) + np.zeros([], np.int32)
        box = {"x": (x, array), "n": [x, 5]}
        things = [x, x._array, y._array, array, box, box["x"]]
        f = compiled(lambda box, y: (box["x"][0] // y, box["x"][1]), box, y=x)

        def count() -> list[int]:
            return [sys.getrefcount(thing) for thing in things]

        gc.collect()
        before = count()
        for _ in range(50):
            f(box, y=x), f({"x": (x, 1), "n": [x, 5]}, y=x)
            with pytest.raises(tf.errors.InvalidArgumentError):
                f(box, y=y)
        gc.collect()
        assert count() == before
