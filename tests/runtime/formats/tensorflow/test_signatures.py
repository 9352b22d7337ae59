"""The table of TensorFlow's operations is complete and well formed."""

from agc.runtime.formats.tensorflow import signatures
from agc.runtime.formats.tensorflow.signatures import NodeAttribute, signature
from agc.runtime.raw_ops.table_reader import definitions

KINDS = {"int", "float", "bool", "string", "type", "shape", "tensor", "func"}


def test_arguments_refer_to_attributes_of_the_operation():
    for name in signatures._lines():
        found = signature(name)
        assert found is not None and found.name == name
        for argument in found.inputs + found.outputs:
            assert not argument.number or found.attributes[argument.number].kind == "int"
            assert not argument.is_list or found.attributes[argument.kind].kind == "list(type)"
        kinds = {
            attribute.kind.removeprefix("list(").removesuffix(")") for attribute in found.attributes.values()
        }
        assert kinds <= KINDS


def test_raw_operations_have_a_signature():
    lacking = {name for name in definitions() if signature(name) is None}
    assert lacking == set()


def test_lists_defaults_and_effects_are_read():
    branch = signature("If")
    assert branch.is_stateful and branch.inputs[1].is_list and branch.outputs[0].kind == "Tout"
    assert branch.attributes["output_shapes"] == NodeAttribute("list(shape)", [])
    assert signature("Conv2D").attributes["data_format"].default == "NHWC"
    assert signature("NoSuchOperation") is None
