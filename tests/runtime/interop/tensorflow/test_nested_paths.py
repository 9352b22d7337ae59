"""`tensorflow.python.util.nest` beyond `tf.nest`: partial nests, and the paths of leaves, as in TensorFlow 2.21."""

import collections

import pytest
from agc.runtime.interop.tensorflow import nested_paths

Point = collections.namedtuple("Point", ["x", "y"])

FULL = {"b": [1, (2, 3)], "a": Point(4, [5])}


@pytest.mark.parametrize(
    ("shallow", "expected"),
    [
        (0, [FULL]),
        ({"a": 0, "b": 0}, [Point(4, [5]), [1, (2, 3)]]),
        ({"b": [0, 0], "a": 0}, [Point(4, [5]), 1, (2, 3)]),
        ({"b": [0, (0, 0)], "a": Point(0, 0)}, [4, [5], 1, 2, 3]),
    ],
)
def test_flatten_up_to_stops_where_the_first_nest_has_leaves(shallow, expected):
    assert nested_paths.flatten_up_to(shallow, FULL) == expected


def test_map_structure_up_to_returns_a_nest_like_the_first_one():
    def join(*parts):
        return parts

    assert nested_paths.map_structure_up_to([0, 0], join, [1, (2, 3)], [{"k": 4}, 5]) == [
        (1, {"k": 4}),
        ((2, 3), 5),
    ]
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        nested_paths.map_structure_up_to([0], join)


def test_paths_consist_of_keys_positions_and_names_of_fields():
    paths = [("a", "x"), ("a", "y", 0), ("b", 0), ("b", 1, 0), ("b", 1, 1)]
    assert nested_paths.flatten_with_tuple_paths(FULL) == list(zip(paths, [4, 5, 1, 2, 3], strict=True))
    assert list(nested_paths.yield_flat_paths(FULL)) == paths
    assert nested_paths.flatten_with_joined_string_paths([{"k": 7}], "-") == [("0-k", 7)]
    assert nested_paths.flatten_with_tuple_paths_up_to({"a": 0, "b": [0, 0]}, FULL)[1:] == [
        (("b", 0), 1),
        (("b", 1), (2, 3)),
    ]
    assert list(nested_paths.yield_flat_paths(1)) == [()]


def test_map_structure_with_tuple_paths_passes_the_path_first():
    assert nested_paths.map_structure_with_tuple_paths(
        lambda path, a, b: (path, a + b), {"k": [1]}, {"k": [2]}
    ) == {"k": [(("k", 0), 3)]}
    with pytest.raises(ValueError, match="same sequence length"):
        nested_paths.map_structure_with_tuple_paths(lambda path, a, b: a, [1], [2, 3])


@pytest.mark.parametrize(
    ("shallow", "full", "error", "message"),
    [
        ([0], 1, TypeError, "input must also be a sequence"),
        ([0], (1,), TypeError, "don't have the same sequence type"),
        ([0, 0], [1], ValueError, "Input structure has length 1, while shallow structure has length 2"),
        ({"a": 0}, {"b": 1}, ValueError, "not in the input_tree: ['a']"),
        ({"k": [0]}, {"k": 1}, TypeError, "input must also be a sequence"),
    ],
)
def test_nests_that_do_not_fit_are_refused(shallow, full, error, message):
    with pytest.raises(error) as caught:
        nested_paths.assert_shallow_structure(shallow, full)
    assert message in str(caught.value)


def test_types_of_sequences_count_only_on_request():
    assert nested_paths.flatten_up_to([0], (1,), check_types=False) == [1]
    assert nested_paths.flatten_up_to(Point(0, 0), Point(1, 2)) == [1, 2]
    assert nested_paths.flatten_up_to({"k": 0}, collections.OrderedDict(k=1)) == [1]


class TestTraverse:
    def test_descends_where_the_function_returns_true(self):
        found = nested_paths.get_traverse_shallow_structure(lambda part: not isinstance(part, tuple), FULL)
        assert found == {"a": False, "b": [True, False]}

    def test_a_nest_of_booleans_decides_for_each_child(self):
        def descend(part):
            return [True, False] if part == [[1], [2]] else True

        assert nested_paths.get_traverse_shallow_structure(descend, [[1], [2]]) == [[True], False]

    @pytest.mark.parametrize("wrong", [[1, True], None])
    def test_other_results_are_refused(self, wrong):
        with pytest.raises(TypeError, match="traverse_fn returned"):
            nested_paths.get_traverse_shallow_structure(lambda part: wrong, [1, 2])


def test_children_come_with_their_keys():
    assert list(nested_paths.yield_sorted_items({"b": 1, "a": 2})) == [("a", 2), ("b", 1)]
    assert list(nested_paths.yield_sorted_items(Point(1, 2))) == [("x", 1), ("y", 2)]
    assert list(nested_paths.yield_value((1, [2]))) == [1, [2]]
    assert nested_paths.is_namedtuple(Point(1, 2))
    assert not nested_paths.is_namedtuple((1, 2))
