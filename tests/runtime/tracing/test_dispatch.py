"""Repeated calls of functions that run a plan: they find their graph again, and nothing else changes."""

import gc
import traceback
import weakref

import agc.runtime as tf
import numpy as np
import pytest

ONE, TWO = tf.constant(1.0), tf.constant(2.0)


def called(python_function, *args):
    """Return a function that is traced for such arguments and has its fast path."""
    function = tf.function(python_function, jit_compile=False)
    function(*args), function(*args)
    return function


@pytest.mark.parametrize(
    ("python_function", "args", "result"),
    [
        (lambda: tf.constant(3.0), (), 3.0),
        (lambda x: x + 1, (ONE,), 2.0),
        (lambda x, how, n: x * n if how == "times" else x, (TWO, "times", 3), 6.0),
        (lambda x, rest, o: x + 1, (ONE, None, np), 2.0),
        (lambda *xs: xs[0] - xs[9], (TWO, *[ONE] * 9), 1.0),
    ],
    ids=["nothing", "a tensor", "numbers and texts", "objects", "ten"],
)
def test_a_repeated_call_uses_the_cached_graph(python_function, args, result):
    function = called(python_function, *args)
    assert float(function(*args)) == result


def test_a_fresh_tensor_is_recognized_by_its_type():
    function = called(lambda x: x + 1, ONE)
    assert float(function(tf.constant(5.0))) == 6.0


def test_a_function_that_is_called_in_many_ways():
    function = called(lambda x: x + 1, ONE)
    kinds = [tf.constant(1), tf.constant([1.0, 2.0]), tf.constant([1]), tf.constant([[1]])]
    for x in kinds:
        assert [np.asarray(function(x)).tolist() for _ in range(3)] == [(x + 1).numpy().tolist()] * 3
        assert float(function(ONE)) == 2.0


class TestNests:
    def test_tensors_arrays_and_objects_in_them(self):
        def total(parts, more):
            return parts["x"] + parts["two"][0] * parts["two"][1] + more[0]

        array = np.float32([1.0])
        function = called(total, {"x": ONE, "two": [TWO, 3]}, (array,))
        result = function({"x": TWO, "two": [ONE, 3]}, (np.float32([4.0]),))
        assert result.numpy().tolist() == [9.0]

    @pytest.mark.parametrize(
        "other",
        [{"y": ONE}, {"x": ONE, "y": ONE}, {}, [ONE], {"x": [ONE]}, {"x": tf.constant([5.0])}, ONE, 7, None],
        ids=[
            "another key",
            "more",
            "nothing",
            "a list",
            "deeper",
            "another kind",
            "a tensor",
            "a number",
            "None",
        ],
    )
    def test_others(self, other):
        def described(nest):
            leaves = tf.nest.flatten(nest)
            return tf.constant(f"{isinstance(nest, dict)} {[str(getattr(x, 'shape', x)) for x in leaves]}")

        function = called(described, {"x": ONE})
        assert function(other).numpy() == described(other).numpy()

    def test_an_array_may_be_written_to_once_the_call_is_over(self):
        array = np.float32([1.0, 2.0])
        function = called(lambda x: x, array)
        result = function(array)
        array[0] = 7.0
        assert result.numpy().tolist() == [1.0, 2.0]

    def test_nests_of_results(self):
        def parts(x):
            y = x + 1
            return {"pair": (y, [x * 2, None]), "again": y, "name": "n", "empty": ()}

        function = called(parts, ONE)
        result = function(TWO)
        assert list(result) == ["pair", "again", "name", "empty"]
        assert [float(each) for each in tf.nest.flatten([result["pair"][0], result["pair"][1][0]])] == [
            3.0,
            4.0,
        ]
        assert float(result["again"]) == 3.0
        assert (result["pair"][1][1], result["name"], result["empty"]) == (None, "n", ())


class TestKeywords:
    def test_names_of_parameters(self):
        function = tf.function(lambda x, y=1.0, *, end=0.0: x * 100 + y * 10 + end, jit_compile=False)
        function(ONE, end=TWO), function(ONE, end=TWO)
        assert float(function(TWO, end=ONE)) == 211.0
        assert float(function(TWO, ONE)) == 210.0
        assert float(function(end=ONE, x=TWO, y=TWO)) == 221.0
        assert float(function(TWO, end=3.0)) == 213.0
        with pytest.raises(TypeError, match="unexpected keyword argument 'final'"):
            function(TWO, final=ONE)
        with pytest.raises(TypeError, match="missing a required argument: 'x'"):
            function(end=ONE)

    def test_names_of_python_s_own(self):
        def chosen(x, type, len=0, tuple=None):
            return {"x": x * len[0], "type": x + type}

        function = tf.function(chosen, jit_compile=False)
        results = [function(ONE, type=7, len=[TWO], tuple=3) for _ in range(4)]
        assert [(float(each["x"]), float(each["type"])) for each in results] == [(2.0, 8.0)] * 4
        assert float(function(ONE, type=8, len=[TWO], tuple=3)["type"]) == 9.0

    def test_names_that_no_parameter_has(self):
        function = tf.function(lambda _0, **more: (_0, *more, *more.values()), jit_compile=False)
        for _ in range(3):
            result = function(_0="a", f="b", _more="c")
            assert [x.numpy() for x in result] == [b"a", b"f", b"_more", b"b", b"c"]


class TestOtherCalls:
    @pytest.mark.parametrize("other", [5, tf.constant([1, 2]), [ONE], None])
    def test_an_error_has_the_frames_of_one_call_only(self, other):
        tried = []

        def of_scalars(x):
            tried.append(x)
            if not (tf.is_tensor(x) and x.shape.rank == 0):
                raise ValueError("no scalar")
            return x

        function = called(of_scalars, ONE)
        tried.clear()
        with pytest.raises(ValueError, match="no scalar") as caught:
            function(other)
        assert len(tried) == 1
        assert caught.value.__context__ is None
        frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert frames == ["test_an_error_has_the_frames_of_one_call_only", "of_scalars"]

    def test_other_kinds_keywords_and_counts(self):
        function = called(lambda x, y=2.0: x - y, ONE)
        assert float(function(tf.constant(5.0), 3.0)) == 2.0
        assert float(function(y=TWO, x=ONE)) == -1.0
        assert function(tf.constant([5.0])).numpy().tolist() == [3.0]
        assert float(function(ONE)) == -1.0

    def test_other_numbers_texts_and_signs_of_zero(self):
        function = called(lambda n: tf.constant(str(n)), 0.0)
        assert [function(n).numpy() for n in (-0.0, 0, False, 0.0)] == [b"-0.0", b"0", b"False", b"0.0"]

    def test_an_object_at_the_address_of_a_freed_one(self):
        class Box:
            def __init__(self, content):
                self.content = content

        function = tf.function(lambda box: tf.constant(box.content), jit_compile=False)
        for content in range(12):
            box = Box(content)
            assert [int(function(box)) for _ in range(3)] == [content] * 3
            del box
            gc.collect(1)  # the objects are young

    def test_none_does_not_match_a_freed_object(self):
        function = tf.function(lambda box: tf.constant(box is None), jit_compile=False)
        box = type("Box", (), {})()
        assert [bool(function(box)) for _ in range(3)] == [False] * 3
        del box
        gc.collect()
        assert bool(function(None))

    def test_equal_numbers_of_other_identity(self):
        function = called(lambda x, n, how: x * n, ONE, 1000.5, "times by")
        assert float(function(ONE, float("1000.5"), " ".join(["times", "by"]))) == 1000.5
        assert float(function(ONE, 1000, "times by")) == 1000.0

    def test_arguments_that_refuse_comparison(self):
        class Proxy:
            def __getattr__(self, name):
                raise RuntimeError(f"nothing is behind it: {name}")

        function = called(lambda x: tf.constant(type(x).__name__), ONE)
        assert function(Proxy()).numpy() == b"Proxy"

    def test_the_function_is_not_kept_alive(self):
        function = called(lambda x: x + 1, ONE)
        reference = weakref.ref(function)
        del function
        gc.collect()
        assert reference() is None


class TestWhoWantsToKnow:
    def test_tapes(self):
        function = called(lambda x: x * x, TWO)
        with tf.GradientTape() as tape:
            tape.watch(TWO)
            y = function(TWO)
        assert float(tape.gradient(y, TWO)) == 4.0

    def test_graphs_around(self):
        function = called(lambda x: x * 3, TWO)
        assert float(tf.function(lambda x: function(x) + 1)(TWO)) == 7.0

    def test_running_eagerly(self):
        calls = []
        function = called(lambda x: calls.append(x) or x, ONE)
        calls.clear()
        tf.config.run_functions_eagerly(True)
        try:
            function(ONE)
        finally:
            tf.config.run_functions_eagerly(False)
        assert calls == [ONE]

    def test_profiles(self):
        function = called(lambda x: x * 3, TWO)
        report = tf.profiler.profile(function, TWO)
        assert {"multiply": 1}.items() <= {row.name: row.calls for row in report.rows}.items()
        assert float(function(TWO)) == 6.0


def test_variables_are_those_of_the_function():
    v = tf.Variable(0.0)
    function = called(lambda x: v.assign_add(x), ONE)
    assert [float(function(TWO)), float(v)] == [4.0, 4.0]


def test_a_failure_shows_the_lines_of_the_user():
    def picked(x, i):
        return tf.gather(x, i)

    function = called(picked, tf.constant([1.0, 2.0]), tf.constant(1))
    shown = []
    for call in (function, tf.function(picked, jit_compile=False)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            call(tf.constant([1.0, 2.0]), tf.constant(7))
        shown.append([entry.name for entry in traceback.extract_tb(caught.value.__traceback__)])
        assert "picked" in str(caught.value)
    assert shown[0] == shown[1]
    assert float(function(tf.constant([1.0, 2.0]), tf.constant(0))) == 1.0
