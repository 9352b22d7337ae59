"""Objects of classes that the package attrs defines are nests, as in TensorFlow."""

import dataclasses
import gc
import weakref

import agc.runtime as tf
import attr
import attrs
import numpy as np
import pytest


@attr.s(auto_attribs=True)
class Bracket:
    low: object
    high: object

    @property
    def middle(self):
        return (self.low + self.high) / 2


@attrs.frozen
class Step:
    count: object
    size: object = 1.0

    def halved(self):
        return attrs.evolve(self, count=self.count + 1, size=self.size / 2)


@attrs.define
class Slots:
    total: object
    hidden: object = attrs.field(init=False, default=3)


def test_fields_are_leaves_in_the_order_of_their_definition():
    assert tf.nest.flatten(Bracket([1, 2], {"b": 4, "a": 3})) == [1, 2, 3, 4]
    assert tf.nest.is_nested(Step(1)) and not tf.nest.is_nested(Step)
    assert tf.nest.map_structure(lambda x, y: x + y, Bracket(1, 2), Bracket(3, 4)) == Bracket(4, 6)
    assert tf.nest.pack_sequence_as(Step(0), [5, 6]) == Step(5, 6)
    with pytest.raises(TypeError, match="sequence type"):
        tf.nest.assert_same_structure(Bracket(1, 2), Step(1, 2))


def test_fields_outside_of_init_are_kept():
    changed = tf.nest.map_structure(lambda x: x * 2, Slots(5))
    assert (changed.total, changed.hidden) == (10, 6)


def test_a_bisection_carries_its_bracket():
    def root(bracket):
        while bracket.high - bracket.low > 1e-12:
            middle = bracket.middle
            is_high = middle**3 > 2.0
            bracket = Bracket(bracket.low, middle) if is_high else Bracket(middle, bracket.high)
        return bracket

    start = Bracket(tf.constant(0.0, tf.float64), tf.constant(2.0, tf.float64))
    for function in (root, tf.function(root)):
        found = function(start)
        assert type(found) is Bracket
        np.testing.assert_allclose(found.middle, 2 ** (1 / 3), rtol=1e-11)


def test_frozen_objects_are_state_of_loops_and_results_of_branches():
    @tf.function
    def stepped(n):
        step = Step(tf.constant(0), tf.constant(8.0))
        for _ in tf.range(n):
            step = step.halved()
        return tf.cond(n > 2, step.halved, lambda: step)

    assert [float(stepped(n).size) for n in tf.range(4)] == [8.0, 4.0, 2.0, 0.5]


def test_while_loop_and_scan_pack_objects():
    count, bracket = tf.function(
        lambda b: tf.while_loop(
            lambda i, _: i < 3, lambda i, b: (i + 1, Bracket(b.low + 1, b.high * 2)), (0, b)
        )
    )(Bracket(tf.constant(0), tf.constant(1)))
    assert (int(count), int(bracket.low), int(bracket.high)) == (3, 3, 8)
    sums = tf.scan(
        lambda a, b: Bracket(a.low + b.low, b.high), Bracket(tf.constant([1, 2]), tf.constant([3, 4]))
    )
    assert sums.low.numpy().tolist() == [1, 3]


@attr.s(auto_attribs=True)
class Countdown:
    left: object
    product: object

    def __iter__(self):
        return iter((self.left, self.product))


def test_an_object_that_is_iterated_may_be_all_variables_of_while_loop():
    def factorial(n, most=None):
        start = Countdown(n, tf.constant(1))
        return tf.while_loop(
            lambda left, product: left > 0,
            lambda left, product: Countdown(left - 1, product * left),
            start,
            maximum_iterations=most,
        )

    for function in (factorial, tf.function(factorial)):
        found = function(tf.constant(5))
        assert (type(found), int(found.left), int(found.product)) == (Countdown, 0, 120)
        assert int(function(tf.constant(5), most=2).product) == 20


def test_a_block_that_the_graph_decides_may_assign_to_fields():
    @tf.function
    def summed(n):
        slots = Slots(tf.constant(0))
        for i in tf.range(n):
            slots.total += i
        if n > 3:
            slots.hidden = 10
        return slots.total + slots.hidden

    assert int(summed(tf.constant(3))) == 6 and int(summed(tf.constant(5))) == 20


def test_gradients_have_the_structure_of_the_sources():
    bracket = Bracket(tf.constant(3.0), tf.constant(5.0))
    with tf.GradientTape() as tape:
        tape.watch([bracket.low, bracket.high])
        product = bracket.low * bracket.high
    gradient = tape.gradient(product, bracket)
    assert (type(gradient), float(gradient.low), float(gradient.high)) == (Bracket, 5.0, 3.0)


def test_a_dataclass_below_an_attrs_class_has_the_fields_of_both():
    @dataclasses.dataclass
    class Named(Bracket):
        name: object = 7

    named = Named()
    named.low, named.high = 1, 2
    assert tf.nest.flatten(named) == [1, 2, 7]


def kinds_compared_by_identity():
    @dataclasses.dataclass(eq=False)
    class OfDataclasses(Counts):
        count: object

    @attr.s(auto_attribs=True, eq=False)
    class OfAttrs(Counts):
        count: object

    return [OfDataclasses, OfAttrs]


class Counts:
    traces = 0

    @tf.function
    def step(self):
        self.count += 1
        return self.count

    @tf.function(reduce_retracing=True)
    def plus(self, x):
        self.traces += 1
        return self.count + x

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def total(self, x):
        return self.count + tf.reduce_sum(x)


@pytest.mark.parametrize("kind", kinds_compared_by_identity())
class TestReceiversComparedByIdentity:
    def test_a_method_changes_its_instance_while_it_is_traced(self, kind):
        counter = kind(1)
        assert counter.step() == 2
        assert (counter.count, int(counter.step()), counter.count) == (2, 2, 2)

    def test_each_instance_has_its_traces(self, kind):
        one, two = kind(1), kind(tf.constant(2))
        assert [int(one.plus(1)), int(two.plus(1)), int(one.plus(1)), int(one.plus(1))] == [2, 3, 2, 2]
        assert (one.traces, two.traces) == (1, 1)
        assert [one.plus(tf.ones([n], tf.int32)).numpy().tolist() for n in (1, 2, 3)] == [
            [2],
            [2, 2],
            [2, 2, 2],
        ]
        assert one.traces < 4
        assert (int(one.total([1, 2])), int(two.total([1, 2]))) == (4, 5)

    def test_concrete_functions_and_calls_in_other_functions(self, kind):
        one = kind(1)
        assert one.plus.get_concrete_function(tf.TensorSpec([], tf.int32))(tf.constant(5)) == 6
        whole = kind.plus.get_concrete_function(one, tf.TensorSpec([], tf.int32))
        assert whole(one, tf.constant(5)) == 6
        assert whole(tf.constant(5)) == 6
        with pytest.raises(TypeError):
            whole(kind(2), tf.constant(5))
        assert tf.function(lambda x: one.plus(x) * 2)(tf.constant(5)) == 12

    def test_traces_do_not_keep_instances_alive(self, kind):
        one = kind(1)
        seen = weakref.ref(one)
        for _ in range(3):
            one.plus(tf.constant(1))
        del one
        gc.collect()
        assert seen() is None


def test_a_receiver_that_compares_by_value_is_taken_apart():
    @attr.s(auto_attribs=True)
    class Values(Counts):
        count: object

    assert [int(Values(tf.constant(n)).plus(1)) for n in (1, 2)] == [2, 3]
    values = Values(1)
    assert values.plus(1) == 2
    values.count = 2
    assert values.plus(1) == 3
    with pytest.raises(ValueError, match="AGC292"):
        values.step()
