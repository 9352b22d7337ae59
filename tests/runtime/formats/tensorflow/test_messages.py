"""Messages of TensorFlow's formats: fields, choices, maps, and messages that contain each other."""

import pytest
from agc.runtime.formats.tensorflow.graph_messages import (
    AttrValue,
    FunctionDef,
    GraphDef,
    NodeDef,
    TensorShapeProto,
)
from agc.runtime.formats.tensorflow.object_messages import SavedObject, SavedObjectGraph
from agc.runtime.formats.tensorflow.saved_model_messages import SavedModel, TensorInfo
from agc.runtime.formats.tensorflow.structure_messages import StructuredValue


def again(message):
    return type(message).FromString(message.SerializeToString())


@pytest.mark.parametrize(
    ("name", "value", "content"),
    [
        ("i", 0, "1800"),
        ("i", -1, "18ffffffffffffffffff01"),
        ("f", 0.5, "250000003f"),
        ("b", False, "2800"),
        ("b", True, "2801"),
        ("s", b"", "1200"),
        ("type", 9, "3009"),
        ("placeholder", "T", "4a0154"),
    ],
)
def test_an_attribute_keeps_its_kind_even_if_it_is_zero(name, value, content):
    made = AttrValue(**{name: value})
    assert made.SerializeToString().hex() == content
    assert again(made).WhichOneof("value") == name
    assert getattr(again(made), name) == value


def test_another_value_replaces_an_attribute():
    value = AttrValue(i=3)
    value.s = b"SAME"
    assert value.WhichOneof("value") == "s"
    assert not value.HasField("i")
    assert str(value) == 's: "SAME"\n'


def test_a_choice_leaves_the_other_fields_alone():
    info = TensorInfo(name="x:0", dtype=1)
    info.composite_tensor.SetInParent()
    assert again(info).WhichOneof("encoding") == "composite_tensor"
    assert again(info).dtype == 1
    saved = SavedObject(children=[{"node_id": 3, "local_name": "w"}])
    saved.variable.dtype = 1
    assert again(saved).WhichOneof("kind") == "variable"
    assert again(saved).children[0].local_name == "w"


def test_attributes_contain_functions_with_attributes():
    node = NodeDef(name="branch", op="If", input=["p", "x"])
    node.attr["then_branch"].func.name = "f"
    node.attr["then_branch"].func.attr["T"].type = 1
    node.attr["output_shapes"].list.shape.add(dim=[{"size": -1}, {"size": 2}])
    assert again(node).attr["then_branch"].func.attr["T"].type == 1
    assert [dim.size for dim in again(node).attr["output_shapes"].list.shape[0].dim] == [-1, 2]
    assert "dtype" not in again(node).attr


def test_maps_of_strings():
    function = FunctionDef(ret={"y": "add:z:0"})
    function.control_ret["print"] = "print"
    assert dict(again(function).ret) == {"y": "add:z:0"}
    assert dict(again(function).control_ret) == {"print": "print"}
    with pytest.raises(TypeError, match="expected string, int found"):
        function.ret["z"] = 3


@pytest.mark.parametrize("number", [0, -1, 1, -(2**62), 2**62])
def test_signed_integers_alternate_between_signs(number):
    assert again(StructuredValue(int64_value=number)).int64_value == number


def test_structures_are_read_as_written():
    nest = StructuredValue()
    nest.tuple_value.values.add(none_value={})
    nest.tuple_value.values.add(float64_value=1.5)
    nest.tuple_value.values.add().dict_value.fields["k"].tensor_spec_value.shape.unknown_rank = True
    assert again(nest) == nest
    assert again(nest).tuple_value.values[0].HasField("none_value")


def test_a_whole_model_is_read_as_written():
    model = SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.graph_def.MergeFrom(GraphDef(node=[{"name": "x", "op": "Placeholder"}]))
    meta.signature_def["serving_default"].inputs["x"].name = "x:0"
    meta.object_graph_def.MergeFrom(SavedObjectGraph(nodes=[{"function": {"concrete_functions": ["f"]}}]))
    assert again(model) == model


def test_texts_of_wrong_bytes_are_refused():
    with pytest.raises(ValueError, match="Error parsing message with type 'NodeDef'"):
        NodeDef.FromString(b"\n\x01\xff")


def test_fields_of_another_kind_are_dropped():
    assert NodeDef.FromString(b"\x08\x05") == NodeDef()
    assert AttrValue.FromString(b"\x20\x01") == AttrValue()
    assert TensorShapeProto.FromString(b"\x18\x01").unknown_rank is True
