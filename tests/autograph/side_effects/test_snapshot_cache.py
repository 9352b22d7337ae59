"""Surveys share what they find while a function is traced; what has changed since is never missed."""

import functools
import types

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph.side_effects import heap_snapshot as surveys
from agc.autograph.side_effects.heap_snapshot import HeapSnapshot, remembering


class Node:
    unit = None

    def __init__(self, value):
        self.value = value

    def touch(self):
        return self.value

    def bump(self):
        self.value += 1


class Other(Node):
    def touch(self):
        HIDDEN.value += 1


class Net:
    """Large enough to be remembered."""

    def __init__(self):
        self.nodes = [Node(i) for i in range(100)]
        self.spare = []
        self.log = []
        self.helper = Node(0)
        self.use = None
        self.array = None


HIDDEN = Node(0)


def changes(net):
    """What a block of this code changes, as a survey sees it: it calls what the net has, and names some attributes."""

    def block():
        for node in net.nodes:
            node.touch()
        if net.use is not None:
            net.use(net.helper, net.spare, net.array)

    survey = HeapSnapshot([("block", block)])
    block()
    changed = [change for record in survey.changed() for change in record.changes()]
    survey.restore()
    return sorted(getattr(change, "name", None) or str(change.record.trail) for change in changed)


def bump(helper, *rest):
    helper.bump()


def bump_hidden(*rest):
    HIDDEN.bump()


def with_default(helper, spare, array, more=None):
    if more is not None:
        more.bump()


def library(f):
    """A wrapper as libraries have them."""

    def call(*arguments):
        return f(*arguments)

    return types.FunctionType(
        call.__code__.replace(co_filename=functools.__file__),
        {"__name__": "functools"},
        "call",
        None,
        call.__closure__,
    )


@pytest.fixture
def net():
    """A net whose extent is remembered."""
    net = Net()
    with remembering():
        assert changes(net) == []
        (extent,) = surveys._memory.extents
        assert changes(net) == []
        assert surveys._memory.extents == [extent], "it is taken again"
        yield net


class TestWhatHasChangedSince:
    def test_an_attribute(self, net):
        net.use = bump
        assert changes(net) == ["net.helper.value"]
        net.helper = Node(5)
        assert changes(net) == ["net.helper.value"]
        assert net.helper.value == 5

    def test_an_item(self, net):
        net.nodes[50] = Other(0)
        assert changes(net) == ["HIDDEN.value"]

    def test_the_class_of_an_object(self, net):
        net.nodes[50].__class__ = Other
        assert changes(net) == ["HIDDEN.value"]

    def test_a_method(self, net, monkeypatch):
        monkeypatch.setattr(Node, "touch", Other.touch)
        assert changes(net) == ["HIDDEN.value"]

    def test_the_dictionary_of_an_object(self, net):
        net.use = bump
        assert changes(net) == ["net.helper.value"]
        net.helper.__dict__ = {"value": 7}
        assert changes(net) == ["net.helper.value"]
        assert net.helper.value == 7

    def test_the_code_and_the_defaults_of_a_function(self, net):
        f = types.FunctionType(with_default.__code__, globals(), "f", (None,))
        net.use = f
        assert changes(net) == []
        f.__defaults__ = (HIDDEN,)
        assert changes(net) in (["HIDDEN.value"], ["f.value"])
        f.__code__ = bump.__code__
        assert changes(net) == ["net.helper.value"]

    def test_a_changed_closure_in_a_library_wrapper_is_found(self, net):
        net.use = library(bump)
        assert changes(net) == ["net.helper.value"]
        net.use.__closure__[0].cell_contents = bump_hidden
        assert changes(net) == ["HIDDEN.value"]

    def test_a_variable_that_the_module_gets_later(self, net, monkeypatch):
        def later(*rest):
            if ready:
                LATER.bump()  # noqa: F821

        ready = False
        net.use = later
        assert changes(net) == []
        ready = True
        monkeypatch.setitem(globals(), "LATER", Node(3))
        assert changes(net) == ["LATER.value"]

    def test_an_array(self, net):
        def fill(helper, spare, array):
            array[0] += 1

        net.array = np.zeros(3)
        assert changes(net) == []
        net.use = fill
        assert changes(net) == ["net.array"]
        assert net.array.tolist() == [0, 0, 0]

    def test_an_array_that_may_be_written_to_now(self, net):
        def fill(helper, spare, array):
            if array.flags.writeable:
                array[0] += 1

        net.array = np.zeros(3)
        net.array.flags.writeable = False
        net.use = fill
        assert changes(net) == []
        net.array.flags.writeable = True
        assert changes(net) == ["net.array"]

    def test_names_in_other_code_are_followed(self, net):
        HeapSnapshot([("block", lambda: net.nodes[0].touch())])
        net.log = Node(0)
        survey = HeapSnapshot([("block", lambda: net.nodes[0].touch() and net.log.bump())])
        net.log.bump()
        assert [spot.name for record in survey.changed() for spot in record.changes()] == ["net.log.value"]


def test_the_value_of_a_backend_does_not_count():
    net = Net()
    net.spare = tf.constant(0)

    @tf.function
    def f(x):
        for _ in range(5):
            if x > 0:
                net.spare = x
                x = x + net.nodes[7].touch()
            seen.append(list(surveys._memory.extents))
        return x

    seen = []
    assert f(tf.constant(1)) == 36
    walks = {id(extent.walk) for extents in seen[1:] for extent in extents}
    assert len(walks) == 1
    assert not surveys._memory.extents, "nothing is remembered longer than a trace"


def test_an_object_with_two_names_has_both_labels():
    net = Net()
    with remembering():
        HeapSnapshot([("block", lambda: net.nodes)])
        again = net
        nodes = net.nodes
        survey = HeapSnapshot([("block", lambda: (again.nodes, nodes))])
        nodes.append(1)
        (record,) = survey.changed()
        assert record.labels == {"nodes"}
        survey.restore()
        assert len(nodes) == 100
