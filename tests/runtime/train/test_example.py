"""Messages of records: the values of TensorFlow 2.21 with protobuf 7, and bytes that are no messages."""

import copy
import pickle

import agc.runtime as tf
import numpy as np
import pytest

T = tf.train


def example():
    return T.Example(
        features=T.Features(
            feature={
                "x": T.Feature(int64_list=T.Int64List(value=[3])),
                "y": T.Feature(float_list=T.FloatList(value=np.array([1, 0.1, np.nan]))),
            }
        )
    )


def test_bytes_of_an_example():
    features = example().features
    assert features.feature["x"].SerializeToString().hex() == "1a030a0103"
    assert features.feature["y"].SerializeToString().hex() == "120e0a0c0000803fcdcccc3d0000c07f"
    again = T.Example.FromString(example().SerializeToString(deterministic=True))
    assert again == example() and again is not example()
    assert copy.deepcopy(again) == pickle.loads(pickle.dumps(again)) == again
    assert list(features.feature["y"].float_list.value)[:2] == [1.0, 0.10000000149011612]


def test_text_format():
    made = T.Example()
    made.features.feature["é"].bytes_list.value.append(b"a\x00\xff\"'\n\\")
    made.features.feature["b"].float_list.value.extend([1, 0.1, 1e-7, float("nan"), 123456789])
    assert str(made.features.feature["é"]) == 'bytes_list {\n  value: "a\\000\\377\\"\\\'\\n\\\\"\n}\n'
    lines = [line.strip() for line in str(made).splitlines()]
    assert [line for line in lines if line.startswith("key")] == ['key: "b"', 'key: "é"']
    assert [line for line in lines if line.startswith("value:")][:5] == [
        "value: 1", "value: 0.1", "value: 1e-07", "value: nan", "value: 123456792",
    ]  # fmt: skip


def test_choice_of_a_feature():
    feature = T.Feature(int64_list=T.Int64List(value=[1]))
    old = feature.int64_list
    feature.float_list.value.append(2)
    assert feature.WhichOneof("kind") == "float_list" and not feature.HasField("int64_list")
    old.value.append(5)
    assert feature.WhichOneof("kind") == "float_list"
    assert T.Feature(bytes_list=T.BytesList()).SerializeToString() == b"\n\0"
    feature.Clear()
    assert feature.WhichOneof("kind") is None and feature == T.Feature()


def test_messages_are_copied():
    numbers = T.Int64List(value=[1])
    feature = T.Feature(int64_list=numbers)
    numbers.value.append(2)
    assert feature.int64_list.value == [1]
    feature.MergeFrom(feature)
    assert feature.int64_list.value == [1, 1]
    other = T.Feature()
    other.CopyFrom(feature)
    assert other == feature and other.int64_list.value is not feature.int64_list.value


def test_lists():
    value = T.Int64List(value=[3, 1, 2]).value
    value.sort()
    value[1:] = [9, 8, 7]
    del value[0]
    assert value == [9, 8, 7] and value.pop() == 7 and value[::-1] == [8, 9]
    assert np.array(value).tolist() == [9, 8]


def test_sequences():
    made = T.SequenceExample()
    steps = made.feature_lists.feature_list["x"].feature
    steps.add().int64_list.value.extend([1, -1])
    steps.append(T.Feature(bytes_list=T.BytesList(value=[b"q"])))
    again = T.SequenceExample.FromString(made.SerializeToString())
    assert [step.WhichOneof("kind") for step in again.feature_lists.feature_list["x"].feature] == [
        "int64_list",
        "bytes_list",
    ]
    assert again.feature_lists.feature_list["x"].feature[0].int64_list.value == [1, -1]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: T.Int64List(value=[3.0]), TypeError),
        (lambda: T.Int64List(value=[True]), TypeError),
        (lambda: T.Int64List(value=[1 << 63]), ValueError),
        (lambda: T.FloatList(value=["a"]), TypeError),
        (lambda: T.BytesList(value=["a"]), TypeError),
        (lambda: T.Int64List(value=5), TypeError),
        (lambda: T.Int64List(values=[5]), ValueError),
        (lambda: T.Feature(int64_list=5), TypeError),
        (lambda: setattr(T.Feature(), "int64_list", T.Int64List()), AttributeError),
        (lambda: setattr(T.Feature(), "other", 1), AttributeError),
        (lambda: T.Features().feature.__setitem__("a", T.Feature()), ValueError),
        (lambda: T.Example.FromString("text"), TypeError),
        (lambda: hash(T.Example()), TypeError),
    ],
)
def test_refusals(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    "content",
    [
        b"\x0a\xff",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x0a" + b"\xff" * 20,
        b"\x0b" * 1000,
        b"\x0a\x02\x0a\x05",
        b"\x0a\x05\x0a\x03\x0a\x01\xff",
        b"\0\0",
    ],
)
def test_invalid_bytes_are_a_value_error(content):
    with pytest.raises(ValueError, match="Error parsing message"):
        T.Example.FromString(content)


def test_hostile_numbers():
    with pytest.raises(ValueError, match="more than 64 bits"):
        T.Int64List.FromString(b"\x0a\x0c" + b"\xff" * 11 + b"\x01")
    with pytest.raises(ValueError, match="Error parsing"):
        T.FloatList.FromString(b"\x0a\x03abc")
    assert T.Int64List.FromString(b"\x08\x05\x0a\x02\x06\x07").value == [5, 6, 7]  # unpacked and packed
    assert T.FloatList.FromString(b"\x0d\0\0\x80\x3f\x08\x05").value == [1.0]  # an integer is another field
