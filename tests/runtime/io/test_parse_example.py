"""`tf.io.parse_example` and kin: the values of TensorFlow 2.21, eager, traced and in datasets; invalid records."""

import contextlib

import agc.runtime as tf
import numpy as np
import pytest

io, train = tf.io, tf.train
RAGGED = io.RaggedFeature


def feature(values):
    if not values:
        return train.Feature()
    if isinstance(values[0], bytes):
        return train.Feature(bytes_list={"value": values})
    kind = "float_list" if isinstance(values[0], float) else "int64_list"
    return train.Feature(**{kind: {"value": values}})


def record(**features):
    made = {key: feature(values) for key, values in features.items()}
    return train.Example(features={"feature": made}).SerializeToString()


def sequence(context, **lists):
    made = train.SequenceExample()
    for key, values in context.items():
        made.context.feature[key].CopyFrom(feature(values))
    for key, steps in lists.items():
        made.feature_lists.feature_list[key].feature.extend(map(feature, steps))
    return made.SerializeToString()


def shown(value):
    if isinstance(value, (dict, tuple)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        made = {key: shown(item) for key, item in items}
        return made if isinstance(value, dict) else tuple(made.values())
    if isinstance(value, tf.SparseTensor):
        parts = value.indices, value.values, value.dense_shape
        return tuple(part.numpy().tolist() for part in parts)
    return value.to_list() if isinstance(value, tf.RaggedTensor) else np.asarray(value.numpy()).tolist()


def parsed(function, records, *features):
    """Return what a function gives, after a comparison with its trace."""
    eager = shown(function(records, *features))
    traced = tf.function(lambda texts: function(texts, *features))
    assert shown(traced(tf.constant(records))) == eager
    return eager


RECORDS = [record(x=[1, 2], f=[0.5], s=[b"a"], e=[]), record(x=[3, 4], f=[1.5], s=[b"b"], v=[7, -8, 300])]
FEATURES = {
    "x": io.FixedLenFeature([1, 2], tf.int64),
    "f": io.FixedLenFeature([], tf.float32),
    "s": io.FixedLenFeature([], tf.string),
    "v": io.VarLenFeature(tf.int64),
    "e": io.FixedLenFeature([2], tf.int64, [5, 6]),
    "w": io.FixedLenFeature([], tf.string, "w"),
}


def test_batches():
    assert parsed(io.parse_example, RECORDS, FEATURES) == {
        "x": [[[1, 2]], [[3, 4]]],
        "f": [0.5, 1.5],
        "s": [b"a", b"b"],
        "v": ([[1, 0], [1, 1], [1, 2]], [7, -8, 300], [2, 3]),
        "e": [[5, 6], [5, 6]],
        "w": [b"w", b"w"],
    }
    sequences = {
        "v": io.FixedLenSequenceFeature([], tf.int64, True, -1),
        "x": io.FixedLenSequenceFeature([2], tf.int64, True),
        "n": io.FixedLenSequenceFeature([3], tf.string, True),
    }
    assert parsed(io.parse_example, RECORDS, sequences) == {
        "v": [[-1, -1, -1], [7, -8, 300]],
        "x": [[[1, 2]], [[3, 4]]],
        "n": [[], []],
    }


def test_single_records():
    found = parsed(io.parse_single_example, RECORDS[1], FEATURES)
    assert found["x"] == [[3, 4]] and found["f"] == 1.5 and found["v"] == ([[0], [1], [2]], [7, -8, 300], [3])
    dataset = tf.data.Dataset.from_tensor_slices(RECORDS).map(
        lambda one: io.parse_single_example(one, FEATURES)
    )
    assert [shown(one)["s"] for one in dataset] == [b"a", b"b"]
    assert dataset.element_spec["x"].shape == (1, 2) and dataset.element_spec["v"].shape.as_list() == [None]


SPREAD = [
    record(v=[3.0, 1.0, 4.0], i=[5, 0, 2], j=[1, 1, 0], RowSplits=[0, 2, 3], RowLengths=[2, 1], RowStarts=[0, 2],
           RowLimits=[2, 3], ValueRowIds=[0, 0, 1], outer=[0, 2]),
    record(v=[9.0], i=[7], j=[0], RowSplits=[0, 1], RowLengths=[1], RowStarts=[0], RowLimits=[1], ValueRowIds=[0],
           outer=[0, 1]),
]  # fmt: skip


def test_sparse_features():
    one = {"q": io.SparseFeature("i", "v", tf.float32, 10)}
    assert parsed(io.parse_example, SPREAD, one)["q"] == (
        [[0, 0], [0, 2], [0, 5], [1, 7]], [1.0, 4.0, 3.0, 9.0], [2, 10],
    )  # fmt: skip
    two = {"q": io.SparseFeature(["i", "j"], "v", tf.float32, [10, 3], already_sorted=True)}
    assert parsed(io.parse_single_example, SPREAD[0], two)["q"] == (
        [[5, 1], [0, 1], [2, 0]], [3.0, 1.0, 4.0], [10, 3],
    )  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError):
        io.parse_example(SPREAD, {"q": io.SparseFeature("outer", "v", tf.float32, 10)})


@pytest.mark.parametrize("kind", ["RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds"])
def test_ragged_features(kind):
    inner = getattr(RAGGED, kind)(kind)
    features = {
        "q": RAGGED(tf.float32, "v", [inner]),
        "v": RAGGED(tf.float32),
        "no": RAGGED(tf.int64, None, [inner]),
    }
    del features["no"]
    assert parsed(io.parse_example, SPREAD, features) == {
        "q": [[[3.0, 1.0], [4.0]], [[9.0]]],
        "v": [[3.0, 1.0, 4.0], [9.0]],
    }
    assert parsed(io.parse_single_example, SPREAD[0], features)["q"] == [[3.0, 1.0], [4.0]]
    twice = {"q": RAGGED(tf.float32, "v", [RAGGED.RowSplits("outer"), inner])}
    assert parsed(io.parse_example, SPREAD, twice)["q"] == [[[[3.0, 1.0], [4.0]]], [[[9.0]]]]
    absent = {"q": RAGGED(tf.int64, "absent", [getattr(RAGGED, kind)("absent")])}
    assert parsed(io.parse_example, SPREAD, absent)["q"] == [[], []]
    wrong = {"q": RAGGED(tf.float32, "v", [getattr(RAGGED, kind)("i")])}
    with pytest.raises(tf.errors.InvalidArgumentError, match="valid partition"):
        io.parse_example(SPREAD, wrong)


def test_uniform_rows():
    features = {"q": RAGGED(tf.float32, "v", [RAGGED.UniformRowLength(1)])}
    assert parsed(io.parse_example, SPREAD, features)["q"] == [[[3.0], [1.0], [4.0]], [[9.0]]]
    twice = {"q": RAGGED(tf.float32, "v", [RAGGED.UniformRowLength(2), RAGGED.RowSplits("RowSplits")])}
    assert parsed(io.parse_example, SPREAD[:1], twice)["q"] == [[[[3.0, 1.0], [4.0]]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="length"):
        io.parse_example(SPREAD, {"q": RAGGED(tf.float32, "v", [RAGGED.UniformRowLength(2)])})


SEQUENCES = [
    sequence({"c": [1], "v": [b"x", b"y"]}, a=[[1], [2], [3]], b=[[1.0, 2.0]], w=[[b"p"], [], [b"q", b"r"]]),
    sequence({"c": [2]}, a=[[4]], b=[], w=[]),
]
CONTEXT = {"c": io.FixedLenFeature([], tf.int64), "v": io.VarLenFeature(tf.string)}
LISTS = {
    "a": io.FixedLenSequenceFeature([], tf.int64),
    "b": io.FixedLenSequenceFeature([2], tf.float32),
    "w": io.VarLenFeature(tf.string),
    "z": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}


def test_sequences():
    context, lists, lengths = parsed(io.parse_sequence_example, SEQUENCES, CONTEXT, LISTS)
    assert context == {"c": [1, 2], "v": ([[0, 0], [0, 1]], [b"x", b"y"], [2, 2])}
    assert lists["a"] == [[1, 2, 3], [4, 0, 0]] and lists["b"] == [[[1.0, 2.0]], [[0.0, 0.0]]]
    assert lists["w"] == ([[0, 0, 0], [0, 2, 0], [0, 2, 1]], [b"p", b"q", b"r"], [2, 3, 2])
    assert lists["z"] == [[], []] and lengths == {"a": [3, 1], "b": [1, 0], "z": [0, 0]}
    context, lists = parsed(io.parse_single_sequence_example, SEQUENCES[0], CONTEXT, LISTS)
    assert context["c"] == 1 and lists["w"] == ([[0, 0], [2, 0], [2, 1]], [b"p", b"q", b"r"], [3, 2])
    assert parsed(io.parse_sequence_example, SEQUENCES, None, {"w": RAGGED(tf.string)})[1] == {
        "w": [[[b"p"], [], [b"q", b"r"]], []]
    }


def test_partitions_of_steps():
    records = [sequence({}, l=[[2, 1], [1]], u=[[0.5, 1.5, 3.5], [2.5]]), sequence({}, l=[[1]], u=[[7.0]])]
    features = {"q": RAGGED(tf.float32, "u", [RAGGED.RowLengths("l")])}
    found = parsed(io.parse_sequence_example, records, None, features)[1]["q"]
    assert found == [[[[0.5, 1.5], [3.5]], [[2.5]]], [[[7.0]]]]


@pytest.mark.parametrize(
    ("features", "error"),
    [
        ({"v": io.FixedLenFeature([3], tf.int64)}, "required but could not be found"),
        ({"x": io.FixedLenFeature([2], tf.float32)}, "Data types don't match"),
        ({"x": io.VarLenFeature(tf.string)}, "Data types don't match"),
        ({"x": io.FixedLenFeature([3], tf.int64)}, "Number of int64 values != expected"),
        ({"v": io.FixedLenSequenceFeature([2], tf.int64, True)}, "multiple of stride"),
        ({"x": io.FixedLenFeature([2], tf.int32)}, "not in the list of allowed values"),
    ],
)
def test_records_that_do_not_fit(features, error):
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        io.parse_example(RECORDS, features)
    traced = tf.function(lambda texts: io.parse_example(texts, features))
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        traced(tf.constant(RECORDS))


@pytest.mark.parametrize(
    "features",
    [
        None,
        {},
        {"x": 3},
        {"x": io.FixedLenFeature([None], tf.int64)},
        {"x": io.FixedLenSequenceFeature([], tf.int64)},
    ],
)
def test_wrong_descriptions(features):
    with pytest.raises(ValueError):
        io.parse_example(RECORDS, features)


@pytest.mark.parametrize(
    "text", [b"garbage", b"\x0a\xff\xff", b"\x0a\x02\x0a\x09", b"\x08\x01", b"\x0a" + b"\xff" * 9 + b"\x01"]
)
def test_invalid_records(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example"):
        io.parse_single_example(text, FEATURES)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example"):
        io.parse_single_sequence_example(text, CONTEXT, LISTS)


def test_damaged_records_raise_only_their_error():
    rng = np.random.default_rng(7)
    for text, function, features in (
        (
            RECORDS[1],
            io.parse_single_example,
            [{"x": io.VarLenFeature(tf.int64), "f": io.VarLenFeature(tf.float32)}],
        ),
        (SEQUENCES[0], io.parse_single_sequence_example, [{"v": io.VarLenFeature(tf.string)}, LISTS]),
    ):
        for _ in range(300):
            damaged = bytearray(text)
            damaged[rng.integers(len(text))] = rng.integers(256)
            with contextlib.suppress(tf.errors.InvalidArgumentError):
                function(bytes(damaged), *features)
