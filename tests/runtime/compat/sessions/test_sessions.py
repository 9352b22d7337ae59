"""Graphs and sessions, in TensorFlow 1's way; the values and classes of errors are those of TensorFlow 2.21."""

from __future__ import annotations

import subprocess
import sys
import threading

import agc.runtime as tf
import numpy as np
import pytest

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


class TestGraphs:
    def test_operations_become_parts_of_the_default_graph(self):
        assert tf.executing_eagerly()
        graph = tf.Graph()
        with graph.as_default():
            assert not tf.executing_eagerly()
            assert v1.get_default_graph() is graph
            c = tf.constant(5.0)
            d = c + 1
        assert tf.executing_eagerly()
        assert repr(c) == "<tf.Tensor 'Const:0' shape=() dtype=float32>"
        assert c.graph is d.graph is graph
        assert [op.name for op in graph.get_operations()] == ["Const", "add"]
        assert graph.get_tensor_by_name("add:0") == d
        assert graph.get_operation_by_name("add") is d.op
        assert c.op.node_def.op == "const"

    def test_names_are_unique(self, graph):
        x = v1.placeholder(tf.float32, name="x")
        names = [v1.placeholder(tf.float32, name="x").name, (x + 1).name, (x + 1).name, tf.constant(1).name]
        assert names == ["x_1:0", "add:0", "add_1:0", "Const:0"]
        assert graph.unique_name("x", mark_as_used=False) == "x_2"
        assert [graph.unique_name("x"), graph.unique_name("x")] == ["x_2", "x_3"]
        with tf.name_scope("scope"):
            assert graph.unique_name("x") == "scope/x"
        assert [v1.placeholder(tf.float32, name="x").name, graph.unique_name("x")] == ["x_4:0", "x_5"]

    def test_names_that_do_not_exist(self, graph):
        tf.constant(1, name="one")
        with pytest.raises(KeyError, match="'two:0' refers to a Tensor which does not exist"):
            graph.get_tensor_by_name("two:0")
        with pytest.raises(ValueError, match="Tensor names must be of the form"):
            graph.get_tensor_by_name("one")
        with pytest.raises(KeyError, match="refers to an Operation not in the graph"):
            graph.get_operation_by_name("two")

    def test_elements_of_a_graph_by_name_or_by_themselves(self, graph):
        one = tf.constant(1, name="one")
        assert graph.as_graph_element("one:0") == graph.as_graph_element(one) == one
        assert graph.as_graph_element("one") is graph.as_graph_element(one.op) is one.op
        with pytest.raises(ValueError, match="'one' refers to an Operation, not a Tensor"):
            graph.as_graph_element("one", allow_operation=False)
        with pytest.raises(ValueError, match="'one:0' refers to a Tensor, not an Operation"):
            graph.as_graph_element(one, allow_tensor=False)
        with pytest.raises(TypeError, match="Can not convert a int into a Tensor or Operation"):
            graph.as_graph_element(3)

    def test_a_graph_can_be_entered_again_and_finished(self):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.constant(1)
        with graph.as_default(), graph.as_default():
            y = x + 1
        assert v1.Session(graph=graph).run(y) == 2
        graph.finalize()
        assert graph.finalized
        with graph.as_default(), pytest.raises(RuntimeError, match="finalized and cannot be modified"):
            tf.constant(2)

    def test_the_graph_of_a_function_is_complete(self):
        complete = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1)).graph
        with pytest.raises(RuntimeError, match="is complete"), complete.as_default():
            pass

    def test_tensors_are_keys_and_equal_themselves_only(self, graph):
        x, y = tf.zeros([2]), tf.zeros([2])
        assert {x: 1, y: 2}[y] == 2
        assert x == x
        assert x != y

    def test_tensors_of_other_graphs_are_refused(self, graph):
        with tf.Graph().as_default():
            other = v1.placeholder(tf.float32)
        with pytest.raises(ValueError, match="must be from the same graph"):
            other + 1
        tf.constant(1)
        with pytest.raises(ValueError, match="not an element of this graph"):
            v1.Session().run(other)

    def test_static_shapes_follow_constant_arguments(self, graph):
        assert tf.reshape(tf.zeros([2]), tf.constant([1, 2])).shape == [1, 2]
        assert tf.reduce_sum([[1, 2]], axis=tf.constant(0)).shape == [2]

    def test_collections(self, graph):
        v1.add_to_collection("mine", 3)
        assert v1.get_collection("mine") == graph.get_collection("mine") == [3]
        v = v1.get_variable("layer/w", [2])
        assert v1.trainable_variables("layer") == [v] == v1.global_variables()
        assert v1.trainable_variables("other") == []

    def test_the_definition_of_a_graph(self, graph):
        x = v1.placeholder(tf.float32, [None], name="x")
        y = tf.identity(x * 2, name="y")
        assert [(node.name, node.op) for node in graph.as_graph_def().node] == [
            ("x", "placeholder"), ("multiply", "multiply"), ("y", "identity"),
        ]  # fmt: skip
        assert [op.type for op in x.consumers()] == ["multiply"]
        assert y.op.inputs[0] is graph.get_operation_by_name("multiply").outputs[0]


class TestRun:
    def test_fetches_and_feeds(self, graph):
        x = v1.placeholder(tf.float32, [None], name="x")
        y = x * 2
        session = v1.Session()
        assert session.run(y, {x: [1, 2]}).tolist() == [2.0, 4.0]
        result = session.run({"a": y, "b": (x, [y])}, feed_dict={x: np.array([1.0])})
        assert result["a"].tolist() == result["b"][1][0].tolist() == [2.0]
        assert session.run("multiply:0", {"x:0": [4.0]}).tolist() == [8.0]
        assert session.run(y, {x.ref(): [1.0]}).tolist() == [2.0]
        assert session.run(x.op, {x: [1.0]}) is None
        assert session.run([], {x: [1.0]}) == []

    def test_scalars_and_texts(self, graph):
        session = v1.Session()
        value = session.run(tf.constant(1.5) * 2)
        assert (type(value), value) == (np.float32, 3.0)
        text = v1.placeholder(tf.string)
        assert session.run(text + "!", {text: "abc"}) == b"abc!"

    def test_any_tensor_can_be_fed(self, graph):
        a = v1.placeholder(tf.int32)
        b = a + 1
        assert v1.Session().run(b * 10, {b: 5}) == 50
        rows = tf.unstack(v1.placeholder(tf.int32, [2]))
        assert v1.Session().run(rows[0] + rows[1], {rows[0]: 1, rows[1]: 2}) == 3
        with pytest.raises(ValueError, match="feed all of them"):
            v1.Session().run(rows[0] + rows[1], {rows[0]: 1})

    def test_placeholder_with_default_can_be_fed(self, graph):
        x = v1.placeholder_with_default([1, 2], [None])
        session = v1.Session()
        assert session.run(x + 1).tolist() == [2, 3]
        assert session.run(x + 1, {x: [5]}).tolist() == [6]

    def test_only_operations_needed_by_the_fetch_run(self, graph):
        x = v1.placeholder(tf.float32)
        tf.gather([1], 7)
        assert v1.Session().run(tf.constant(3)) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for a placeholder"):
            v1.Session().run(x + 1)

    def test_control_flow_and_functions(self, graph):
        x = v1.placeholder(tf.int32)
        double = tf.function(lambda q: q * 2 if q > 0 else q)
        fetches = [
            tf.cond(x > 0, lambda: x + 1, lambda: x - 1),
            tf.while_loop(lambda i: i < x, lambda i: i + 1, [0]),
            double(x),
        ]
        session = v1.Session()
        assert session.run(fetches, {x: 5}) == [6, [5], 10]
        assert session.run(fetches, {x: -5}) == [-6, [0], -5]

    def test_composite_tensors(self, graph):
        x = v1.placeholder(tf.float32, [2])
        slices = tf.IndexedSlices(x, tf.constant([0, 3]))
        result = v1.Session().run(slices, {x: [1.0, 2.0]})
        assert result.values.tolist() == [1.0, 2.0]
        assert result.indices.tolist() == [0, 3]

    @pytest.mark.parametrize(
        ("value", "error", "message"),
        [
            (
                [1.0, 2.0, 3.0],
                ValueError,
                r"Cannot feed value of shape \(3,\) for Tensor x:0, which has shape \(2,\)",
            ),
            ("tensor", TypeError, "The value of a feed cannot be a tf.Tensor object"),
        ],
    )
    def test_feeds_of_the_wrong_shape_are_refused(self, graph, value, error, message):
        x = v1.placeholder(tf.float32, [2], name="x")
        with pytest.raises(error, match=message):
            v1.Session().run(x, {x: x if value == "tensor" else value})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
            v1.Session().run(x, {3: 1})
        with pytest.raises(ValueError, match="is a constant, and cannot be fed"):
            v1.Session().run(x, {tf.constant(1): 1})

    @pytest.mark.parametrize("fetch", [None, 3, object()])
    def test_invalid_fetches_are_refused(self, graph, fetch):
        tf.constant(1)
        with pytest.raises(TypeError, match="has invalid type"):
            v1.Session().run(fetch)

    def test_closed_and_empty_sessions_are_refused(self, graph):
        with pytest.raises(RuntimeError, match="The Session graph is empty"):
            v1.Session().run([])
        x = tf.constant(1)
        session = v1.Session()
        session.close()
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            session.run(x)
        with pytest.raises(ValueError, match="cannot connect to other machines"):
            v1.Session("grpc://elsewhere")

    def test_callables(self, graph):
        a, b = v1.placeholder(tf.float32), v1.placeholder(tf.float32)
        assert v1.Session().make_callable(a + b, [a, b])(1.0, 2.0) == 3.0

    def test_an_error_names_the_line(self, graph):
        i = v1.placeholder(tf.int32)
        element = tf.gather([1, 2], i)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"is not in \[0, 2\)(.|\n)*test_sessions\.py"
        ) as caught:
            v1.Session().run(element, {i: 7})
        assert caught.value.op is element.op


class TestOrder:
    def test_control_dependencies_run_with_their_operation(self, graph):
        v = tf.Variable(0)
        with tf.control_dependencies([v.assign_add(1)]):
            x = tf.identity(v)
            with tf.control_dependencies(None):
                y = tf.identity(v)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert [session.run(x), session.run(x), session.run(y), session.run(v)] == [1, 2, 2, 2]
            assert session.run(tf.group(v.assign_add(5), v.assign_add(7))) is None
            assert session.run(v) == 14


class TestVariables:
    def test_variable_values_belong_to_sessions(self, graph):
        v, w = tf.Variable(1.0, name="v"), v1.Variable([1.0, 2.0])
        add = v.assign_add(2.0)
        init = v1.global_variables_initializer()
        one, two = v1.Session(), v1.Session()
        one.run(init)
        two.run(init)
        assert [one.run(v), one.run(add), one.run(v), two.run(v)] == [1.0, 3.0, 3.0, 1.0]
        assert one.run(w[0]) == 1.0
        assert one.run(w.scatter_nd_update([[1]], [7.0])).tolist() == [1.0, 7.0]
        assert one.run(w[0].assign(9.0)).tolist() == [9.0, 7.0]
        assert (v.name, w.name, v.graph) == ("v:0", "Variable:0", graph)
        assert repr(v) == "<tf.Variable 'v:0' shape=() dtype=float32>"
        assert v1.global_variables() == [v, w] or len(v1.global_variables()) == 2

    def test_uninitialized_variables_are_refused(self, graph):
        v = tf.Variable(1.0, name="v")
        session = v1.Session()
        for fetch in (v, v + 1):
            with pytest.raises(
                tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value v:0"
            ):
                session.run(fetch)
        assert not session.run(v1.is_variable_initialized(v))
        session.run(v.initializer)
        assert session.run([v1.is_variable_initialized(v), v.initialized_value()]) == [True, 1.0]
        with pytest.raises(NotImplementedError, match="numpy\\(\\) is only available"):
            v.numpy()

    def test_evaluating(self, graph):
        v = tf.Variable(2.0)
        with pytest.raises(ValueError, match="No default session is registered"):
            (v + 1).eval()
        with v1.Session().as_default() as session:
            v.initializer.run()
            assert [v.eval(), (v + 1).eval(), v.eval(session)] == [2.0, 3.0, 2.0]
            v.load(7.0)
            assert v.eval() == 7.0

    def test_initial_values_may_depend_on_other_variables(self, graph):
        v = tf.Variable(tf.random.uniform([]), name="v")
        w = tf.Variable(v.initialized_value() * 2)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert session.run(v.initial_value).shape == ()
            assert session.run(w).shape == ()

    def test_eager_variables_keep_their_own_value(self):
        v = tf.Variable(3)
        with tf.Graph().as_default() as graph:
            y = v + 1
        session = v1.Session(graph=graph)
        assert session.run(y) == 4
        v.assign(10)
        assert session.run(y) == 11

    def test_training(self, graph):
        x, t = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32, [None])
        w, b = tf.Variable(0.0), tf.Variable(0.0)
        loss = tf.reduce_mean((x * w + b - t) ** 2)
        step = tf.group(
            *[v.assign_sub(0.1 * g) for v, g in zip((w, b), tf.gradients(loss, [w, b]), strict=True)]
        )
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(300):
                session.run(step, {x: [0.0, 1.0, 2.0], t: [1.0, 3.0, 5.0]})
            np.testing.assert_allclose(session.run([w, b]), [2.0, 1.0], atol=1e-2)


class TestScopes:
    def test_get_variable_reuses_variables(self, graph):
        with v1.variable_scope("a"):
            v = v1.get_variable("w", [2], initializer=v1.zeros_initializer())
            with v1.variable_scope("b"):
                u = v1.get_variable("w", initializer=tf.constant(3))
        with v1.variable_scope("a", reuse=True):
            assert v1.get_variable("w", [2]) is v
            with pytest.raises(ValueError, match="does not exist"):
                v1.get_variable("x", [2])
            with pytest.raises(ValueError, match="specified shape"):
                v1.get_variable("w", [3])
        with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
            assert v1.get_variable("w", [2]) is v
            assert v1.get_variable("fresh", [1]).name == "a/fresh:0"
        with v1.variable_scope("a"), pytest.raises(ValueError, match="already exists, disallowed"):
            v1.get_variable("w", [2])
        assert (v.name, u.name) == ("a/w:0", "a/b/w:0")
        assert v1.get_variable_scope().name == ""

    def test_a_variable_scope_opens_a_name_scope(self, graph):
        def name():
            return tf.constant(1.0).name.rpartition("/")[0]

        with v1.variable_scope("a"):
            assert name() == "a"
            with v1.variable_scope("b") as inner:
                assert (name(), inner.original_name_scope) == ("a/b", "a/b/")
        with v1.variable_scope("a", reuse=True):
            assert name() == "a_1"
        with v1.variable_scope(inner) as again:
            assert (name(), again.name, again.original_name_scope) == ("b", "a/b", "a/b/")
        with v1.variable_scope(inner, auxiliary_name_scope=False):
            assert name() == ""
        with v1.variable_scope(None, default_name="d"):
            assert name() == "d"
        with tf.name_scope("n"), v1.variable_scope("z") as scope:
            assert (name(), scope.name, scope.original_name_scope) == ("n/z", "z", "n/z/")
        with v1.variable_scope(v1.get_variable_scope(), reuse=True):
            assert name() == ""

    def test_a_refused_name_leaves_the_outer_scope(self, graph):
        with v1.variable_scope("a"):
            with pytest.raises(ValueError, match="not a valid scope name"), v1.variable_scope("b c"):
                pass
            assert v1.get_variable_scope().name == "a"

    def test_defaults_of_a_scope(self, graph):
        with v1.variable_scope(None, "layer", initializer=v1.ones_initializer(), dtype=tf.float64) as scope:
            v = v1.get_variable("w", [2])
        with v1.variable_scope(None, "layer") as other:
            assert (scope.name, other.name) == ("layer", "layer_1")
        with v1.Session() as session:
            session.run(v.initializer)
            assert session.run(v).tolist() == [1.0, 1.0]
        assert v.dtype is tf.float64
        with pytest.raises(TypeError, match="name_or_scope is required"), v1.variable_scope(None):
            pass
        with pytest.raises(ValueError, match="must be fully defined"):
            v1.get_variable("open", [None])


class TestDefaults:
    def test_placeholders_need_a_graph(self):
        with pytest.raises(RuntimeError, match="not compatible with eager execution"):
            v1.placeholder(tf.float32)

    def test_an_interactive_session(self):
        session = v1.InteractiveSession(graph=tf.Graph())
        x = tf.constant(2) * 3
        assert x.eval() == 6
        session.close()
        assert tf.executing_eagerly()
        assert v1.get_default_session() is None

    def test_sessions_of_threads(self, graph):
        v = tf.Variable(0)
        add = v.assign_add(1)
        session = v1.Session()
        session.run(v.initializer)
        threads = [threading.Thread(target=lambda: [session.run(add) for _ in range(50)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(v) == 200

    def test_without_eager_execution(self):
        program = (
            "import agc.runtime as tf\n"
            "tf.compat.v1.disable_eager_execution()\n"
            "x, v = tf.constant(1), tf.Variable(3.0)\n"
            "assert not tf.executing_eagerly()\n"
            "with tf.compat.v1.Session() as session:\n"
            "    session.run(tf.compat.v1.global_variables_initializer())\n"
            "    print(x, session.run([x + 1, v]))\n"
            "tf.compat.v1.reset_default_graph()\n"
            "assert tf.constant(2).name == 'Const:0'\n"
        )
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert result.stderr == ""
        assert result.stdout == 'Tensor("Const:0", shape=(), dtype=int32) [np.int32(2), np.float32(3.0)]\n'


def test_text_and_bytes():
    assert (tf.compat.as_bytes("ä"), tf.compat.as_str(b"x"), tf.compat.as_text("x")) == (
        b"\xc3\xa4",
        "x",
        "x",
    )
    assert (tf.compat.as_str_any(3), tf.compat.path_to_str(b"a/b")) == ("3", "a/b")
    for convert in (tf.compat.as_bytes, tf.compat.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            convert(3)


def test_importing_compat_v1_under_other_names():
    assert tf.compat.v2.identity is v1.identity is tf.identity
    assert v1.random_uniform is tf.random.uniform
    with pytest.raises(AttributeError, match="no attribute 'nothing_like_it'"):
        _ = v1.nothing_like_it


@pytest.mark.parametrize("shape", [[2, 3], [2, None], [None, None]])
def test_sparse_placeholders_are_fed(shape):
    parts = ([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
    eager = tf.SparseTensor(*parts)
    with tf.Graph().as_default():
        x = tf.compat.v1.sparse_placeholder(tf.float32, shape, name="x")
        assert x.shape.as_list() == shape
        assert x.values.name == "x/values:0"
        dense = tf.sparse.to_dense(x)
        with tf.compat.v1.Session() as session:
            for value in (parts, eager):
                assert session.run(dense, {x: value}).tolist() == [[0, 1, 0], [0, 0, 2]]
        assert tf.compat.v1.sparse_placeholder(tf.int64).shape.rank is None
    with pytest.raises(RuntimeError, match="not compatible with eager"):
        tf.compat.v1.sparse_placeholder(tf.float32)


def test_a_converted_function_may_call_one_that_begins_a_graph():
    def absolute(x):
        return x if x > 0.0 else -x

    def run(value):
        with tf.Graph().as_default():
            x = v1.placeholder(tf.float32, [])
            result = absolute(x)
            with v1.Session() as session:
                return float(session.run(result, {x: value}))

    assert tf.autograph.to_graph(lambda value: run(value))(-2.5) == 2.5


CHECKS = {
    "greater": lambda x: tf.debugging.assert_greater(x, 1.0),
    "v1": lambda x: v1.assert_greater(x, 1.0),
    "positive": lambda x: tf.debugging.assert_positive(x - 1.0),
    "near": lambda x: tf.debugging.assert_near(x, 2.0),
    "none_equal": lambda x: tf.debugging.assert_none_equal(x, 0.0),
    "rank": lambda x: tf.debugging.assert_rank(x, 0),
    "shapes": lambda x: tf.debugging.assert_shapes([(x, ())]),
    "Assert": lambda x: tf.debugging.Assert(tf.reduce_all(x > 1.0), [x]),
}


class TestFunctionsWithEffects:
    @pytest.mark.parametrize("name", CHECKS)
    def test_assertions_run_before_what_depends_on_them(self, graph, name):
        x = v1.placeholder(tf.float32)
        check = CHECKS[name](x)
        with tf.control_dependencies([check]):
            dependent = x * 3.0
        free = x * 2.0
        with v1.Session() as session:
            assert session.run([dependent, check], {x: 2.0}) == [6.0, None]
            for fetched in (dependent, check, tf.group(check)):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(fetched, {x: [0.0, 0.0]})
            assert session.run(free, {x: [0.0, 0.0]}).tolist() == [0.0, 0.0]

    def test_facts_known_at_once_make_operations_too(self, graph):
        x = tf.constant([1, 2])
        made = [tf.debugging.assert_rank(x, 1), tf.debugging.assert_integer(x), v1.assert_type(x, tf.int32)]
        assert v1.Session().run(made) == [None] * 3

    def test_prints_are_operations(self, graph, capsys):
        x = v1.placeholder(tf.float32)
        with tf.control_dependencies([tf.print("x is", x, output_stream=sys.stdout)]):
            y = x + 1.0
        assert v1.Session().run(y, {x: 2.0}) == 3.0
        assert capsys.readouterr().out == "x is 2\n"

    def test_other_code_gets_none(self):
        @tf.function
        def checked(x):
            assert tf.debugging.assert_positive(x) is None
            return x

        assert checked(tf.constant(1)) == 1
        assert tf.debugging.assert_positive(1) is None
