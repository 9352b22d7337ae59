"""`tf.nest`: results and error texts are TensorFlow's."""

import collections
import re

import agc.runtime as tf
import pytest

Point = collections.namedtuple("Point", "x y")
Pair = collections.namedtuple("Pair", "x y")


class Mass:
    """A class that says how it is taken apart."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def __tf_flatten__(self):
        return (self.unit,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(components[0], metadata[0])


def test_leaves_from_left_to_right_and_by_sorted_keys():
    assert tf.nest.flatten({"b": [1, 2], "a": 3}) == [3, 1, 2]
    assert tf.nest.flatten("abc") == ["abc"] and tf.nest.flatten([None, []]) == [None]
    assert tf.nest.flatten({"a": 1}.values()) == [1]
    assert tf.nest.flatten(collections.deque([1, 2])) == [1, 2]


@pytest.mark.parametrize("nest", [[1], (1,), {"a": 1}, Point(1, 2), Mass(1, "kg"), {}.keys()])
def test_is_nested_accepts_containers(nest):
    assert tf.nest.is_nested(nest)


@pytest.mark.parametrize("leaf", [{1, 2}, "ab", None, 3, tf.TensorShape([1])])
def test_is_nested_rejects_leaves(leaf):
    assert not tf.nest.is_nested(leaf)


def test_classes_are_kept():
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    assert repr(tf.nest.map_structure(lambda x: x + 1, ordered)) == repr(
        collections.OrderedDict([("b", 2), ("a", 3)])
    )
    default = tf.nest.map_structure(lambda x: x + 1, collections.defaultdict(list, {"b": 1}))
    assert default == {"b": 2} and default["new"] == []
    assert tf.nest.map_structure(lambda x, y: x + y, Point(1, 2), Point(3, 4)) == Point(4, 6)
    mass = tf.nest.map_structure(lambda x: x * 2, Mass(3, "kg"))
    assert (mass.value, mass.unit) == (6, "kg")
    assert tf.nest.pack_sequence_as(ordered, [10, 20]) == {"b": 20, "a": 10}


def test_types_may_be_left_unchecked():
    assert tf.nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4), check_types=False) == [4, 6]
    tf.nest.assert_same_structure(collections.OrderedDict(a=1), {"a": 1})


@pytest.mark.parametrize(
    ("one", "other", "error", "reason"),
    [
        ([1, 2], (1, 2), TypeError, "The two namedtuples don't have the same sequence type."),
        (Point(1, 2), Pair(1, 2), TypeError, "has type Point, while second structure"),
        (
            [1, 2],
            [1],
            ValueError,
            "don't have the same number of elements. First structure: type=list str=[1, 2].",
        ),
        ({"a": 1}, {"b": 1}, ValueError, "First structure has keys type=list str=['a'], while"),
        ([1, [2]], [1, 2], ValueError, 'Substructure "type=list str=[2]" is a sequence, while substructure'),
    ],
)
def test_assert_same_structure_names_the_difference(one, other, error, reason):
    with pytest.raises(error) as caught:
        tf.nest.assert_same_structure(one, other)
    text = str(caught.value)
    assert text.startswith(
        "The two structures don't have the same nested structure.\n\nFirst structure: type="
    )
    assert reason in text and "Entire first structure:\n" in text


@pytest.mark.parametrize(
    ("structure", "flat", "error", "reason"),
    [
        ([1, [2, 3]], [1, 2], ValueError, "Structure had 3 atoms, but flat_sequence had 2 items."),
        (1, [2, 3], ValueError, "nest cannot guarantee that it is safe to map one to the other."),
        ([1], 2, TypeError, "found incompatible type `<class 'int'>` instead."),
    ],
)
def test_pack_sequence_as_refuses_mismatches(structure, flat, error, reason):
    with pytest.raises(error, match=re.escape(reason)):
        tf.nest.pack_sequence_as(structure, flat)


def test_bad_calls():
    with pytest.raises(TypeError, match="func must be callable, got: 3"):
        tf.nest.map_structure(3, [1])
    with pytest.raises(ValueError, match="Must provide at least one structure"):
        tf.nest.map_structure(len)
    with pytest.raises(ValueError, match="Only valid keyword arguments are"):
        tf.nest.map_structure(len, [1], depth=2)


def test_composites_are_leaves_unless_expanded():
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3]))
    assert tf.nest.flatten([slices]) == [slices] and not tf.nest.is_nested(slices)
    assert len(tf.nest.flatten([slices], expand_composites=True)) == 3
    doubled = tf.nest.map_structure(lambda x: x * 2, slices, expand_composites=True)
    assert doubled.values.numpy().tolist() == [2.0] and doubled.dense_shape.numpy().tolist() == [6]
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        other = tf.IndexedSlices(tf.constant([1]), tf.constant([0]))
        tf.nest.assert_same_structure(slices, other, expand_composites=True)


def test_the_spec_of_a_composite_is_expanded_into_its_components():
    spec = tf.RaggedTensorSpec([2, None], tf.float32)
    assert tf.nest.flatten(spec) == [spec]
    assert tf.nest.flatten([spec, tf.TensorSpec([])], expand_composites=True) == [
        tf.TensorSpec([None]), tf.TensorSpec([3], tf.int64), tf.TensorSpec([])
    ]  # fmt: skip
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    packed = tf.nest.pack_sequence_as({"a": spec}, [ragged.values, ragged.row_splits], expand_composites=True)
    assert packed["a"].to_list() == ragged.to_list()


def test_an_operation_is_a_leaf():
    assert tf.nest.flatten([tf.sin, {"f": tf.add}]) == [tf.sin, tf.add]
    apply = tf.function(lambda f, x: f(x))
    assert apply(tf.square, tf.constant(3)).numpy() == 9
    assert apply(tf.negative, tf.constant(3)).numpy() == -3
