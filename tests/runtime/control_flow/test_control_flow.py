"""cond, while_loop, switch_case and case: eager, interpreted and planned give the same."""

import agc.runtime as tf
import numpy as np
import pytest

EXECUTORS = ("plan", "interpret")


def everywhere(f, *args):
    """The result of `f` on tensors, once eager and once by each executor; all must agree."""
    tensors = [tf.constant(arg) for arg in args]
    eager = f(*tensors)
    for executor in EXECUTORS:
        traced = tf.function(f, autograph=False, experimental_executor=executor)(*tensors)
        tf.nest.map_structure(same, eager, traced)
    return tf.nest.map_structure(lambda leaf: tf.convert_to_tensor(leaf).numpy().tolist(), eager)


def same(one, other):
    one, other = tf.convert_to_tensor(one), tf.convert_to_tensor(other)
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one.numpy(), other.numpy())


def graph_of(f, *args):
    return tf.function(f, autograph=False).get_concrete_function(*args).graph


SCALAR = tf.TensorSpec([], tf.float32)


class TestCond:
    def test_cond_runs_one_branch(self):
        def f(x):
            return tf.cond(x > 0, lambda: x * 2, lambda: x - 1)

        assert everywhere(f, 3.0) == 6.0
        assert everywhere(f, -3.0) == -4.0

    def test_effects_of_the_other_branch_do_not_happen(self):
        v = tf.Variable(0)

        def f(x):
            return tf.cond(x > 0, lambda: v.assign_add(1).value(), lambda: v.assign_add(10).value())

        g = tf.function(f, autograph=False)
        g(tf.constant(1))
        g(tf.constant(-1))
        assert v.numpy() == 11

    def test_structures_are_kept(self):
        def f(x):
            return tf.cond(x > 0, lambda: {"a": x, "b": (x, 1)}, lambda: {"a": -x, "b": (x * 2, 2)})

        assert everywhere(f, -2.0) == {"a": 2.0, "b": (-4.0, 2)}

    def test_python_numbers_take_the_tensors_dtype(self):
        assert everywhere(lambda x: tf.cond(x > 0, lambda: x, lambda: tf.cast(x, tf.float32) * 0), 2.0) == 2.0
        result = tf.function(lambda x: tf.cond(x > 0, lambda: x, lambda: 0), autograph=False)(
            tf.constant(-1.0)
        )
        assert result.dtype == tf.float32

    def test_an_identical_object_in_both_branches_stays_python(self):
        token = object()
        seen = []

        def f(x):
            seen.append(tf.cond(x > 0, lambda: (token, None, "s"), lambda: (token, None, "s")))
            return x

        tf.function(f, autograph=False)(tf.constant(1.0))
        assert seen == [(token, None, "s")]

    def test_shapes_that_differ_become_unknown(self):
        graph = graph_of(lambda x: tf.cond(x > 0, lambda: tf.zeros([2, 3]), lambda: tf.zeros([4, 3])), SCALAR)
        assert str(graph.outputs[0].spec) == "float32[?, 3]"

    def test_nested(self):
        def f(x):
            return tf.cond(x > 0, lambda: tf.cond(x > 10, lambda: x, lambda: x * 2), lambda: -x)

        assert [everywhere(f, value) for value in (20.0, 5.0, -1.0)] == [20.0, 10.0, 1.0]

    def test_a_nonzero_number_is_a_true_condition(self):
        f = tf.function(lambda x: tf.cond(x, lambda: 1, lambda: 0), autograph=False)
        assert [f(tf.constant(value)).numpy() for value in (0, 3)] == [0, 1]

    @pytest.mark.parametrize(
        "code, then, orelse",
        [
            ("AGC201", lambda x: x, lambda x: tf.cast(x, tf.int32)),
            ("AGC202", lambda x: (x, x), lambda x: x),
            ("AGC203", lambda x: x, lambda x: None),
        ],
    )
    def test_branches_of_different_structure_are_refused(self, code, then, orelse):
        with pytest.raises((TypeError, ValueError), match=code) as caught:
            graph_of(lambda x: tf.cond(x > 0, lambda: then(x), lambda: orelse(x)), SCALAR)
        assert "test_control_flow.py" in str(caught.value)

    def test_a_condition_with_many_elements_is_refused(self):
        with pytest.raises(TypeError, match=r"tf\.reduce_all"):
            graph_of(lambda x: tf.cond(x > 0, lambda: x, lambda: x), tf.TensorSpec([3], tf.float32))

    def test_functions_are_required(self):
        with pytest.raises(TypeError, match="'true_fn' must be callable"):
            tf.cond(tf.constant(True), 1, 2)


class TestWhileLoop:
    def test_while_loop_counts(self):
        assert everywhere(
            lambda n: tf.while_loop(lambda i, k: i < n, lambda i, k: (i + 1, k * 2), (0, 1)), 10
        ) == (10, 1024)

    def test_zero_iterations(self):
        assert everywhere(lambda n: tf.while_loop(lambda i: i < n, lambda i: (i + 1,), (5,)), 0) == (5,)

    @pytest.mark.parametrize(
        ("variables", "body", "said"),
        [
            ((1,), lambda i: (i, i), "returns 2 values, but there are 1 `loop_vars`"),
            ((1, 2), lambda i, k: i, "returns 1 values, but there are 2 `loop_vars`"),
        ],
    )
    def test_the_body_returns_a_value_for_each_variable(self, variables, body, said):
        def f():
            return tf.while_loop(lambda *state: tf.reduce_sum(state[0]) < 9, body, variables)

        for run in (f, tf.function(f, autograph=False)):
            with pytest.raises(ValueError, match=said):
                run()

    def test_the_body_may_return_the_only_variable(self):
        found = tf.while_loop(
            lambda p: p[0] < 5, lambda p: (p[0] + 1, p[1]), [(tf.constant(1), tf.constant(7))]
        )
        assert [x.numpy() for x in found[0]] == [5, 7]

    def test_nested_loops_capture_outer_values(self):
        def f(n):
            def outer(i, total):
                _, total = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i * j + n), (0, total))
                return i + 1, total

            return tf.while_loop(lambda i, total: i < n, outer, (0, 0))[1]

        expected = sum(i * j + 5 for i in range(5) for j in range(i))
        assert everywhere(f, 5) == expected

    def test_python_numbers_take_the_dtype_of_the_body(self):
        f = tf.function(lambda x: tf.while_loop(lambda s: s < 10, lambda s: (s + x,), (0,)), autograph=False)
        (result,) = f(tf.constant(2.5))
        assert (result.dtype, result.numpy()) == (tf.float32, 10.0)

    def test_shapes_that_grow_become_unknown(self):
        def f(n):
            return tf.while_loop(
                lambda i, x: i < n,
                lambda i, x: (i + 1, tf.concat([x, [tf.cast(i, tf.float32)]], 0)),
                (0, tf.zeros([1])),
            )[1]

        assert everywhere(f, 3) == [0.0, 0.0, 1.0, 2.0]
        assert str(graph_of(f, tf.TensorSpec([], tf.int32)).outputs[0].spec) == "float32[?]"

    def test_shape_invariants_that_are_broken_are_an_error(self):
        def f(n):
            return tf.while_loop(
                lambda i, x: i < n,
                lambda i, x: (i + 1, tf.concat([x, x], 0)),
                (0, tf.zeros([1])),
                shape_invariants=(tf.TensorShape([]), tf.TensorShape([1])),
            )

        with pytest.raises(TypeError, match=r"AGC204.*`x`"):
            graph_of(f, tf.TensorSpec([], tf.int32))

    def test_maximum_iterations(self):
        def f(n):
            return tf.while_loop(lambda i: i < n, lambda i: (i + 1,), (0,), maximum_iterations=3)

        assert everywhere(f, 10) == (3,)
        assert everywhere(f, 2) == (2,)

    def test_a_single_loop_variable_needs_no_tuple(self):
        assert everywhere(lambda n: tf.while_loop(lambda i: i < n, lambda i: i + 2, [0]), 5) == [6]

    def test_nests_as_state(self):
        def f(n):
            start = {"i": 0, "pair": (1.0, 2.0)}
            return tf.while_loop(
                lambda s: s["i"] < n, lambda s: ({"i": s["i"] + 1, "pair": s["pair"][::-1]},), (start,)
            )

        assert everywhere(f, 3) == ({"i": 3, "pair": (2.0, 1.0)},)

    @pytest.mark.parametrize(
        "code, start, step",
        [
            ("AGC204", lambda: tf.constant(0), lambda s: tf.cast(s, tf.float32)),
            ("AGC205", lambda: (tf.constant(0), tf.constant(0)), lambda s: tf.constant(0)),
            ("AGC204", lambda: None, lambda s: tf.constant(0)),
        ],
    )
    def test_state_with_a_changing_dtype_is_refused(self, code, start, step):
        def f(n):
            return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, step(s)), (0, start()))

        with pytest.raises(TypeError, match=rf"{code}.*`s`"):
            graph_of(f, tf.TensorSpec([], tf.int32))

    def test_effects_happen_in_every_iteration(self):
        v = tf.Variable(0)
        f = tf.function(
            lambda n: tf.while_loop(lambda i: i < n, lambda i: (v.assign_add(i).value() * 0 + i + 1,), (0,)),
            autograph=False,
        )
        f(tf.constant(5))
        assert v.numpy() == 10


class TestSwitchAndCase:
    def test_switch_runs_the_last_branch_for_unknown_numbers(self):
        def f(i):
            return tf.switch_case(i, [lambda: 10, lambda: 20, lambda: 30])

        graph = tf.function(f, autograph=False)
        for index, expected in ((0, 10), (1, 20), (2, 30), (7, 30), (-1, 30)):
            assert graph(tf.constant(index)).numpy() == f(tf.constant(index)) == expected

    def test_switch_runs_the_default_for_unknown_numbers(self):
        def f(i):
            return tf.switch_case(i, {0: lambda: 10, 1: lambda: 20}, default=lambda: -1)

        assert [everywhere(f, index) for index in (0, 1, 2, -7)] == [10, 20, -1, -1]
        with pytest.raises(TypeError, match="'default' must be callable"):
            tf.switch_case(0, [lambda: 1], default=2)

    def test_switch_requires_contiguous_branch_numbers(self):
        with pytest.raises(ValueError, match="contiguous range"):
            tf.switch_case(tf.constant(0), {0: lambda: 1, 2: lambda: 2})

    def test_case_takes_the_first_true_predicate(self):
        def f(x):
            return tf.case([(x < 3, lambda: x), (x < 9, lambda: x * 10)], default=lambda: x * 100)

        assert [everywhere(f, value) for value in (1, 5, 10)] == [1, 50, 1000]


def test_a_tensor_leaked_from_its_block_is_refused_at_its_use():
    leaked = []

    def f(x):
        tf.cond(x > 0, lambda: leaked.append(x * 2) or x, lambda: x)
        return leaked[0] + 1

    with pytest.raises(tf.errors.InaccessibleTensorError, match="which has a value only in its own graph"):
        graph_of(f, SCALAR)


def double(x):
    return 2 * x


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1, tf.function(double), float, bool, lambda x: [1, 2][x],
        tf.Variable, lambda x: tf.Variable(1.0).assign(x),
    ],
    ids=["operator", "function", "float", "bool", "index", "variable", "assign"],
)  # fmt: skip
def test_a_traced_tensor_outside_of_its_function_is_refused(use):
    leaked = []
    graph_of(lambda x: leaked.append(x + 1) or x, SCALAR)
    with pytest.raises(tf.errors.InaccessibleTensorError, match="AGC283") as caught:
        use(leaked[0])
    diagnostic = caught.value.diagnostic
    assert diagnostic.title == "`add` (float32[]) is used outside of `lambda_`, whose graph computes it"
    assert [note.where.file for note in diagnostic.notes] == [__file__]


def test_a_traced_tensor_outside_of_its_loop_is_refused_by_the_name_of_the_function():
    leaked = []

    def total(n):
        for i in tf.range(n):
            leaked.append(i * 2)
        return n

    tf.function(total)(tf.constant(3))
    with pytest.raises(tf.errors.InaccessibleTensorError) as caught:
        tf.identity(leaked[0])
    assert "outside of a branch or loop of `total`, whose graph computes it" in caught.value.diagnostic.title
    assert caught.value.diagnostic.fix.startswith("return it from `total`")


def test_only_tensors_with_a_value_have_numpy():
    """Provide it as TensorFlow does: programs test it in order to distinguish the two kinds."""
    seen = []

    def f(x):
        seen.extend([x, hasattr(x, "numpy")])
        return x

    graph_of(f, SCALAR)
    assert seen[1] is False
    assert hasattr(tf.constant(1.0), "numpy")
    with pytest.raises(AttributeError, match=r"`x` .* has no attribute .* the graph of `f` computes it"):
        seen[0].numpy()
    with pytest.raises(
        AttributeError, match=r"`x` .* gets its value when the graph runs\. Use functions of tf"
    ):
        graph_of(lambda x: x.numpy(), SCALAR)


def test_eager_loops_give_tensors_for_numbers_of_numpy():
    i, s = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, np.sqrt(s)), [np.int64(0), np.float64(16)])
    assert (i.dtype, int(i), s.dtype, float(s)) == (tf.int64, 3, tf.float64, 2**0.5)


def test_none_is_refused_as_a_condition():
    with pytest.raises(ValueError, match="None values not supported: 'pred'"):
        tf.cond(None, lambda: 1, lambda: 2)


def test_a_string_condition_is_true_unless_empty():
    def value(words):
        """Of an expression in postfix notation."""
        stack = []
        for word in words:
            if word == b"":
                continue
            if word in (b"+", b"-", b"*"):
                y, x = stack.pop(), stack.pop()
                match word:
                    case b"*":
                        stack.append(x * y)
                    case b"-":
                        stack.append(x - y)
                    case _:
                        stack.append(x + y)
            else:
                stack.append(tf.strings.to_number(word, tf.int32))
        return stack[-1]

    signature = [tf.TensorSpec([None], tf.string)]
    for text in ("2 3 + 4 * 5 -", "7", "1 2 3 - -"):
        found = tf.function(value, input_signature=signature)(tf.strings.split(text))
        assert found.numpy() == value(text.encode().split()).numpy()


@pytest.mark.parametrize("way", [lambda f: f, tf.function])
def test_a_variable_enters_a_functional_loop_by_its_value(way):
    class Holder:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant(2.0)

    variable = tf.Variable(1.0)

    def run(count):
        return tf.while_loop(
            lambda i, x, y: i < count, lambda i, x, y: (i + 1, x * 2.0, y + x), (0, variable, Holder())
        )

    assert [float(x) for x in way(run)(tf.constant(2))] == [2.0, 4.0, 5.0]
    assert tf.is_tensor(run(tf.constant(0))[1]) and not isinstance(run(tf.constant(0))[1], tf.Variable)
    assert variable.numpy() == 1.0


def test_equal_static_shapes_are_one_value():
    class Layer:
        shape = None

        def __call__(self, x):
            self.shape = x.shape
            for _ in tf.range(3):
                x = x + 1.0
                self.shape = x.shape
            if tf.reduce_sum(x) > 0:
                self.shape = (x * 2.0).shape
            return x + tf.zeros(self.shape)

    layer = Layer()
    assert tf.function(layer)(tf.zeros([2])).numpy().tolist() == [3.0, 3.0]
    assert layer.shape == [2]
