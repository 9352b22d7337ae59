"""`tf.train.TrackableView`: the objects of a checkpoint, by name and breadth first."""

import agc.runtime as tf


class Net(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(1.0)
        self.layers = [tf.Module(), self.scale]


def test_children_have_names():
    net = Net()
    view = tf.train.TrackableView(net)
    assert view.root is net and view.children(net)["scale"] is net.scale
    assert list(view.children(net.layers).values()) == net.layers


def test_descendants_are_listed_once():
    net = Net()
    found = tf.train.TrackableView(net).descendants()
    assert [id(x) for x in found].count(id(net.scale)) == 1 and found[0] is net and len(found) == 4


def test_a_subclass_decides_about_children():
    class Without(tf.train.TrackableView):
        @classmethod
        def children(cls, obj, save_type="checkpoint", **kwargs):
            return {name: child for name, child in super().children(obj).items() if name != "scale"}

    net = Net()
    del net.layers[1]
    assert all(x is not net.scale for x in Without(net).descendants())
