"""`tf.Module`: what belongs to it, in which order, and under which names. Orders are those of TensorFlow 2.21."""

from __future__ import annotations

import collections

import agc.runtime as tf
import pytest


def names(items):
    return [item.name.removesuffix(":0") for item in items]


class Everything(tf.Module):
    def __init__(self):
        super().__init__()
        self.z = tf.Variable(1, name="z")
        self.a = [tf.Variable(2, name="a0"), {"k": tf.Variable(3, name="k", trainable=False)}]
        self.m = tf.Module()
        self.m.q = tf.Variable(4, name="q")
        self.t = (tf.Variable(5, name="t0"),)
        self.same = self.z


class TestVariables:
    def test_variables_are_ordered_by_attribute_own_variables_first(self):
        module = Everything()
        assert names(module.variables) == ["a0", "k", "z", "t0", "q"]
        assert names(module.trainable_variables) == ["a0", "z", "t0", "q"]
        assert names(module.non_trainable_variables) == ["k"]

    def test_variables_in_dicts_and_lists_are_in_order(self):
        module = tf.Module()
        module.x = {1: tf.Variable(1.0, name="one"), 0: tf.Variable(1.0, name="zero")}
        assert names(module.variables) == ["zero", "one"]
        module.x = [tf.Variable(i, name=f"l{i}") for i in range(12)]
        assert names(module.variables) == [f"l{i}" for i in range(12)]
        point = collections.namedtuple("Point", "y x")
        module.x = point(tf.Variable(1, name="y"), tf.Variable(2, name="x"))
        assert names(module.variables) == ["y", "x"]
        module.x = []
        module.x.append(tf.Variable(1, name="late"))
        assert names(module.variables) == ["late"]

    def test_some_attributes_are_ignored(self):
        class Partly(tf.Module):
            _TF_MODULE_IGNORED_PROPERTIES = frozenset(["hidden"])

        module = Partly()
        module.hidden, module.shown = tf.Variable(1, name="h"), tf.Variable(2, name="s")
        assert names(module.variables) == ["s"]

    def test_made_on_the_first_call(self):
        class Dense(tf.Module):
            def __init__(self, size):
                super().__init__()
                self.size, self.w = size, None

            def build(self, x):
                self.w = tf.Variable(tf.ones([x.shape[-1], self.size]), name="w")

            @tf.function
            def __call__(self, x):
                if self.w is None:
                    self.build(x)
                return x @ self.w

        layer = Dense(2)
        assert layer.variables == ()
        assert layer(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
        assert layer(tf.ones([4, 3])).shape == [4, 2]
        assert [tuple(v.shape) for v in layer.variables] == [(3, 2)]


class TestSubmodules:
    def test_submodules_are_listed_breadth_first(self):
        module = tf.Module()
        module.m2, module.m1 = tf.Module("m2"), tf.Module("m1")
        module.m1.n = tf.Module("deep")
        module.l = [tf.Module("listed")]
        module.d = {"b": tf.Module("db"), "a": tf.Module("da")}
        assert names(module.submodules) == ["da", "db", "listed", "m1", "m2", "deep"]

    def test_circles(self):
        one, two = tf.Module("one"), tf.Module("two")
        one.other, two.other = two, one
        one.v, two.v = tf.Variable(1, name="v1"), tf.Variable(2, name="v2")
        assert names(one.submodules) == ["two"]
        assert names(one.variables) == ["v1", "v2"]


class TestFlatten:
    def test_with_paths(self):
        module = tf.Module()
        module.b, module.a = tf.Variable(1.0, name="b"), tf.Variable(2.0, name="a")
        module.l = [tf.Module(), {"k": tf.constant(1)}]
        module.l[0].x = tf.Variable(3.0, name="x")
        found = module._flatten(lambda leaf: isinstance(leaf, tf.Variable), with_path=True)
        assert [(path, leaf.name) for path, leaf in found] == [
            (("a",), "a:0"), (("b",), "b:0"), (("l", 0, "x"), "x:0"),
        ]  # fmt: skip
        tensors = module._flatten(lambda leaf: isinstance(leaf, tf.Tensor), recursive=False, with_path=True)
        assert [path for path, _ in tensors] == [("l", 1, "k")]

    def test_composites_and_another_order(self):
        module = tf.Module()
        module.a, module.b = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), tf.constant(1)

        def is_tensor(leaf):
            return isinstance(leaf, tf.Tensor)

        assert len(list(module._flatten(is_tensor))) == 1
        assert len(list(module._flatten(is_tensor, expand_composites=True))) == 3
        backwards = module._flatten(attribute_traversal_key=lambda name: -ord(name[0]), with_path=True)
        assert [path[0] for path, _ in backwards][:2] == ["b", "a"]


class TestNames:
    @pytest.mark.parametrize(
        ("kind", "name"), [("MyDense2D", "my_dense2_d"), ("D", "d"), ("HTTPServer", "http_server")]
    )
    def test_the_default_name_is_the_class_in_snake_case(self, kind, name):
        assert type(kind, (tf.Module,), {})().name == name

    @pytest.mark.parametrize("name", ["a b", "1a", ""])
    def test_an_invalid_module_name_is_refused(self, name):
        with pytest.raises(ValueError, match="is not a valid module name"):
            tf.Module(name=name)

    def test_scopes_of_a_graph_are_unique(self):
        with tf.Graph().as_default():
            assert [tf.Module(name="m").name_scope.name for _ in range(2)] == ["m/", "m_1/"]

    def test_a_scope_needs_the_initializer(self):
        module = type("Bare", (tf.Module,), {"__init__": lambda self: None})()
        with pytest.raises(AttributeError, match="Bare has no name scope before"):
            _ = module.name_scope

    def test_scopes(self):
        class Outer(tf.Module):
            def __init__(self):
                super().__init__(name="outer")
                with self.name_scope:
                    self.v = tf.Variable(1.0, name="v")
                    self.inner = tf.Module(name="inner")

            @tf.Module.with_name_scope
            def made(self):
                return tf.Variable(1.0).name

        module = Outer()
        assert (module.v.name, module.name_scope.name, module.inner.name_scope.name) == (
            "outer/v:0", "outer/", "outer/inner/",
        )  # fmt: skip
        assert module.made() == module.made() == "outer/Variable:0"

    def test_methods_of_a_name_scope_are_converted_with_what_they_call(self):
        def halved(x):
            if tf.reduce_sum(x) > 4.0:
                x = x / 2.0
            return x

        class Shrinking(tf.Module):
            @tf.Module.with_name_scope
            def __call__(self, x, rounds):
                if rounds == 0:
                    return x
                x = halved(x) if x > 0 else -x
                return self(x, rounds - 1)

        module = Shrinking()
        run = tf.function(lambda x: module(x, 2))
        assert [float(run(tf.constant(x))) for x in (16.0, 6.0, -2.0)] == [4.0, 3.0, 2.0]
