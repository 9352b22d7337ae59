"""A list, dict or dataclass that blocks change and bind stays one object for all who know it, or there is an error."""

import collections
import dataclasses

import agc.runtime as tf
from support.each_case import each_case
from support.shared_objects import Slots, Total, agrees


class Items(list):
    def add(self, x):
        self[0] = self[0] + x
        return self


class Named(collections.OrderedDict):
    def add(self, x):
        self["value"] = self["value"] + x
        return self


class Recent(collections.deque):
    def add(self, x):
        self.append(self[-1] + x)
        return self


KINDS = {
    "dataclass": (Total, lambda total: total.value),
    "slots": (Slots, lambda total: total.value),
    "list": (lambda x: Items([x]), lambda items: items[0]),
    "dict": (lambda x: Named(value=x, other=x), lambda named: named["value"]),
    "deque": (lambda x: Recent([x, x], 2), lambda recent: recent[-1]),
}


PROGRAMS = []


def program(function):
    """Enter a function of a kind and a number."""
    PROGRAMS.append(function)
    return function


@program
def a_method_that_changes_and_returns_self(make, read, x):
    acc = kept = make(x)
    if x > 0:
        acc = acc.add(x)
    else:
        acc.add(-2 * x)
    for _ in tf.range(3):
        acc = acc.add(x)
    return read(acc), read(kept)


@program
def a_new_object_in_one_branch(make, read, x):
    acc = make(x)
    if x > 0:
        acc.add(x)
    else:
        acc = make(x * 3)
    return read(acc)


def bumped(acc, x):
    if x > 0:
        return acc.add(x)
    return acc


@program
def a_function_that_returns_its_argument(make, read, x):
    acc = make(x)
    same = bumped(acc, x)
    same.add(x)
    return read(acc), read(same)


@program
def one_new_object_in_two_variables(make, read, x):
    if x > 0:
        first = second = make(x)
    else:
        second = make(x + 1)
        first = second
    first.add(x * 10)
    return read(first), read(second), float(first is second)


@program
def one_new_object_in_containers(make, read, x):
    if x > 0:
        new = make(x)
        held = {"p": new, "q": (new, [new])}
    else:
        new = make(-x)
        held = {"p": new, "q": (new, [new])}
    held["q"][1][0].add(x * 10)
    return read(held["p"]), read(held["q"][0]), read(new)


def doubled_in_both(make, x):
    if x > 0:
        first = make(x)
        return first, first
    first = make(x + 1)
    return first, first


@program
def one_new_object_returned_twice(make, read, x):
    first, second = doubled_in_both(make, x)
    first.add(x * 10)
    return read(first), read(second)


@program
def objects_made_in_each_iteration(make, read, x):
    for _ in tf.range(3):
        first = second = make(x + 1)
        second.add(x)
    first.add(x * 10)
    return read(first), read(second)


@program
def objects_made_before_and_in_each_iteration(make, read, x):
    first = second = make(x)
    for _ in tf.range(3):
        first = second = make(x + 1)
        second.add(x)
    first.add(x * 10)
    return read(first), read(second)


@program
def an_old_object_inside_new_objects(make, read, x):
    inner = make(x)
    try:
        outer = [inner, x] if x > 0 else [inner, -x]
    finally:
        inner.add(x)
    outer[0].add(x * 10)
    return read(inner), outer[1]


@each_case("kind", KINDS)
@each_case("function", PROGRAMS)
def test_objects_stay_what_they_are(function, kind):
    agrees(lambda x: function(*KINDS[kind], x))


class TestDataclasses:
    def test_an_object_is_initialized_once(self):
        def f(x):
            total = Total(x)
            for _ in tf.range(3):
                total = total.add(x)
                total.steps += 1
            assert total.made
            return total.value, total.steps

        agrees(f)

    def test_a_module_that_is_a_dataclass_is_one_object(self):
        @dataclasses.dataclass(eq=False)
        class Scale(tf.Module):
            factor: float
            calls: int = 0

            def __post_init__(self):
                super().__init__()
                self.weight = tf.Variable(self.factor)

            def __call__(self, x):
                self.calls += 1
                return x * self.weight

        scale = Scale(3.0)
        apply = tf.function(lambda layer, x: layer(x))
        assert apply(scale, tf.constant(2.0)) == 6.0
        scale.weight.assign(5.0)
        assert apply(scale, tf.constant(2.0)) == 10.0
        assert scale.calls == 1  # once for the trace
        assert not tf.nest.is_nested(scale)

        def chosen(x):
            if x > 0:
                scale.weight.assign(7.0)
                layer = scale
                y = layer(x)
            else:
                layer = scale
                y = layer(-x)
            return y, layer.weight + 0.0

        agrees(chosen)

    def test_a_frozen_dataclass_keeps_its_fields(self):
        @dataclasses.dataclass(frozen=True)
        class Pair:
            one: object
            other: object

        def f(x):
            items = [x]
            pair = Pair(items, x) if x > 0 else Pair(items, -x)
            pair.one[0] = x * 10
            return items[0], pair.other

        agrees(f)
