"""Extension types as arguments and results of saved functions, in both formats; their names are those of TensorFlow."""

import agc.runtime as tf
import pytest
from agc.runtime.composite import registered_types
from agc.runtime.saved_model import structure_json


class Unit(tf.experimental.ExtensionType):
    __name__ = "tests.Unit"
    scale: tf.Tensor
    name: str = "m"


class Masked(tf.experimental.ExtensionType):
    __name__ = "tests.Masked"
    values: tf.Tensor
    rows: tf.RaggedTensor
    unit: Unit
    others: tuple[tf.Tensor, ...] = ()
    kind: tf.DType = tf.int32

    def total(self):
        return tf.reduce_sum(self.values)


class Model(tf.Module):
    @tf.function
    def double(self, x):
        return Masked(x.values * 2.0, x.rows, x.unit, (x.unit.scale, x.values), tf.int64)


@pytest.fixture
def masked():
    return Masked([1.0, 2.0], tf.ragged.constant([[1], [2, 3]]), Unit(5.0, "km"))


@pytest.fixture(params=["agc", "tensorflow"])
def folder(request, tmp_path, masked):
    model = Model()
    model.double(masked)
    options = tf.saved_model.SaveOptions(experimental_format=request.param)
    tf.saved_model.save(model, tmp_path, options=options)
    return tmp_path


def test_loaded_functions_take_and_return_extension_types(folder, masked):
    found = tf.saved_model.load(folder).double(masked)
    assert type(found) is Masked
    assert float(found.total()) == 6.0
    assert found.rows.to_list() == [[1], [2, 3]]
    assert (found.unit.name, found.kind) == ("km", tf.int64)
    assert [x.numpy().tolist() for x in found.others] == [5.0, [1.0, 2.0]]


def test_values_of_an_unknown_type_are_anonymous(folder, masked, monkeypatch):
    monkeypatch.setattr(registered_types, "with_name", lambda name: None)
    with (
        pytest.warns(UserWarning, match=r"extension type tests\.Masked become anonymous: it is unknown"),
        pytest.warns(UserWarning, match=r"extension type tests\.Unit become anonymous"),
    ):
        model = tf.saved_model.load(folder)
        ((spec,), _) = model.double.concrete_functions[0].structured_input_signature
    found = model.double(spec.from_tensors(tf.nest.flatten(masked, expand_composites=True)))
    assert isinstance(found, registered_types.AnonymousExtensionType)
    assert found.values.numpy().tolist() == [2.0, 4.0]
    assert found.unit.name == "km"
    assert not hasattr(found, "total")


def test_values_of_a_type_with_other_fields_are_anonymous(folder, monkeypatch):
    monkeypatch.setattr(registered_types, "with_name", lambda name: Unit.Spec)
    with pytest.warns(
        UserWarning, match=r"tests\.Masked become anonymous: it has other fields than the file"
    ):
        _ = tf.saved_model.load(folder).double.concrete_functions[0].structured_input_signature


def test_a_type_without_a_name_is_not_saved(tmp_path):
    class Point(tf.experimental.ExtensionType):
        x: tf.Tensor

    class Shift(tf.Module):
        @tf.function
        def __call__(self, point):
            return Point(point.x + 1)

    shift = Shift()
    shift(Point(1))
    with pytest.raises(ValueError, match=r"Point has no name in files: write __name__ = 'my_project\.Point'"):
        tf.saved_model.save(shift, tmp_path)


@pytest.mark.parametrize("field", ["__class__", "a b", 3])
def test_a_file_cannot_give_fields_other_names(field):
    data = {"extension": ["tests.Unknown.Spec", [field, {"python": 1}]]}
    with pytest.raises(ValueError, match="is not the name of a field"):
        structure_json.read(data)
