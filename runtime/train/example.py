"""The messages of records in TFRecord files: `Example` and `SequenceExample`, and what they consist of.

Example(features=Features(feature={"x": Feature(int64_list=Int64List(value=[3]))}))      ⇄      bytes
"""

from __future__ import annotations

from ..core.export import export
from ..storage.messages import Message


@export("train.BytesList")
class BytesList(Message):
    """A list of bytes: `value`.

    >>> BytesList(value=[b"a"]).SerializeToString()
    b'\\n\\x01a'
    """

    FIELDS = "repeated bytes value = 1;"


@export("train.FloatList")
class FloatList(Message):
    """A list of float32 numbers: `value`.

    >>> FloatList(value=[0.5]).value
    [0.5]
    """

    FIELDS = "repeated float value = 1;"


@export("train.Int64List")
class Int64List(Message):
    """A list of int64 numbers: `value`.

    >>> Int64List.FromString(Int64List(value=[1, -1]).SerializeToString()).value
    [1, -1]
    """

    FIELDS = "repeated int64 value = 1;"


@export("train.Feature")
class Feature(Message):
    """One of `bytes_list`, `float_list` and `int64_list`; `WhichOneof("kind")` is its name.

    >>> Feature(int64_list=Int64List(value=[7])).WhichOneof("kind")
    'int64_list'
    """

    FIELDS = """
        oneof kind {
            BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3;
        }
    """


@export("train.Features")
class Features(Message):
    """Features by their names: the map `feature`.

    >>> sorted(Features(feature={"x": Feature(), "y": Feature()}).feature)
    ['x', 'y']
    """

    FIELDS = "map<string, Feature> feature = 1;"


@export("train.Example")
class Example(Message):
    """A record: `features`.

    >>> example = Example()
    >>> example.features.feature["x"].int64_list.value.append(3)
    >>> Example.FromString(example.SerializeToString()).features.feature["x"].int64_list.value
    [3]
    """

    FIELDS = "Features features = 1;"


@export("train.FeatureList")
class FeatureList(Message):
    """A list of features, such as the steps of a sequence: `feature`.

    >>> len(FeatureList(feature=[Feature(), Feature()]).feature)
    2
    """

    FIELDS = "repeated Feature feature = 1;"


@export("train.FeatureLists")
class FeatureLists(Message):
    """Lists of features by their names: the map `feature_list`.

    >>> step = Feature(int64_list=Int64List(value=[1, 2]))
    >>> lists = FeatureLists(feature_list={"ids": FeatureList(feature=[step])})
    >>> len(lists.feature_list["ids"].feature)
    1
    """

    FIELDS = "map<string, FeatureList> feature_list = 1;"


@export("train.SequenceExample")
class SequenceExample(Message):
    """A record with sequences: features of the whole in `context`, and sequences of features in `feature_lists`.

    >>> record = SequenceExample(context=Features(feature={"n": Feature(int64_list=Int64List(value=[2]))}))
    >>> SequenceExample.FromString(record.SerializeToString()) == record
    True
    """

    FIELDS = "Features context = 1; FeatureLists feature_lists = 2;"
