"""Checkpoints: values find their variables by name, now or later; files are whole, or refused.

Keys, paths and classes of errors are those of TensorFlow 2.21.
"""

import gc
import logging
import os
import re
from pathlib import Path

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.tracked_object import Trackable
from agc.runtime.storage import checksummed_json, safetensors


class Net(tf.Module):
    """A module that makes its variables late."""

    def __init__(self):
        super().__init__()
        self.layers, self.table = [], {}

    def build(self, scale=1.0):
        self.w = tf.Variable([1.0 * scale, 2.0 * scale])
        self.layers = [tf.Variable(3.0 * scale), tf.Module()]
        self.table = {"k": tf.Variable(int(4 * scale))}
        self.again = self.w
        return self


def values(net):
    return net.w.numpy().tolist(), float(net.layers[0]), int(net.table["k"])


@pytest.fixture
def saved(tmp_path):
    """The path of a checkpoint of a built net and a string."""
    return tf.train.Checkpoint(net=Net().build(), v=tf.Variable(b"text")).save(tmp_path / "ckpt")


def test_keys_are_the_shortest_paths_to_variables(saved):
    assert tf.train.list_variables(saved) == [
        ("net/layers/0/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("net/table/k/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("net/w/.ATTRIBUTES/VARIABLE_VALUE", [2]),
        ("save_counter/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("v/.ATTRIBUTES/VARIABLE_VALUE", []),
    ]


def test_restoring_restores_the_values(saved):
    net = Net().build(scale=10)
    checkpoint = tf.train.Checkpoint(net=net, v=tf.Variable(b""))
    checkpoint.restore(saved).assert_consumed()
    assert values(net) == ([1.0, 2.0], 3.0, 4)
    assert checkpoint.v.numpy() == b"text"
    assert int(checkpoint.save_counter) == 1


def test_variables_created_later_get_their_values_at_creation(saved):
    net = Net()
    status = tf.train.Checkpoint(net=net).restore(saved).expect_partial()
    with pytest.raises(AssertionError, match="uses these values"):
        status.assert_consumed()
    net.build(scale=10)
    assert values(net) == ([1.0, 2.0], 3.0, 4)


def test_variables_made_while_a_function_is_traced_get_their_values(tmp_path):
    class Lazy(tf.Module):
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.zeros_like(x))
            return self.w + x

    one = Lazy()
    one(tf.constant([1.0]))
    one.w.assign([5.0])
    path = tf.train.Checkpoint(one=one).save(tmp_path / "ckpt")
    other = Lazy()
    tf.train.Checkpoint(one=other).restore(path).expect_partial()
    assert other(tf.constant([1.0])).numpy().tolist() == [6.0]


def test_assert_consumed_sees_elements_appended_after_restore(tmp_path):
    holder = tf.Module()
    holder.items = [tf.Variable(1.0), tf.Variable(2.0)]
    path = tf.train.Checkpoint(holder=holder).save(tmp_path / "ckpt")
    other = tf.Module()
    other.items = [tf.Variable(0.0)]
    status = tf.train.Checkpoint(holder=other).restore(path)
    other.items.append(tf.Variable(0.0))
    status.assert_consumed()
    assert [float(item) for item in other.items] == [1.0, 2.0]


def test_a_part_can_be_restored(saved):
    part = tf.train.Checkpoint(w=tf.Variable([0.0, 0.0]))
    status = tf.train.Checkpoint(net=part).restore(saved).expect_partial()
    status.assert_existing_objects_matched().assert_nontrivial_match()
    assert part.w.numpy().tolist() == [1.0, 2.0]


def test_assert_consumed_names_missing_values(saved):
    status = tf.train.Checkpoint(other=tf.Variable(0.0)).restore(saved).expect_partial()
    with pytest.raises(AssertionError, match=r"uses these values of .*: v, net/w"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="no values for these variables: other"):
        status.assert_existing_objects_matched()
    nothing = tf.train.Checkpoint(other=tf.Module()).read(saved).expect_partial()
    with pytest.raises(AssertionError, match="no part of the object"):
        nothing.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="nothing is being restored"):
        tf.train.Checkpoint(v=tf.Variable(1)).restore(None).assert_consumed()


def test_unused_values_are_warned_of_once_unless_expected(saved, caplog):
    with caplog.at_level(logging.WARNING, "agc"):
        tf.train.Checkpoint(net=Net().build()).restore(saved).expect_partial()
        assert caplog.text == ""
        tf.train.Checkpoint(net=Net().build()).restore(saved)
        gc.collect()  # until then it waits for a child of that name
    assert re.search(r"were not used: v;.*expect_partial", caplog.text)


def test_values_consumed_later_are_not_warned_of(saved, caplog):
    net, v = Net(), tf.Variable(b"")
    gc.collect()  # objects of other tests may end now
    with caplog.at_level(logging.WARNING, "agc"):
        tf.train.Checkpoint(net=net, v=v).restore(saved)
        gc.collect()
        net.build()
        del net
        gc.collect()
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("variable", "error"), [([0.0, 0.0, 0.0], ValueError), ([0, 0], tf.errors.InvalidArgumentError)]
)
def test_a_value_that_does_not_fit_is_refused(saved, variable, error):
    net = tf.train.Checkpoint(w=tf.Variable(variable))
    with pytest.raises(
        error, match=r"cannot restore `net/w`.*has float32\[2\], the variable 'Variable:0' is"
    ):
        tf.train.Checkpoint(net=net).restore(saved)


def test_a_checkpoint_root_exposes_its_children(tmp_path):
    path = tf.train.Checkpoint(Net().build()).save(tmp_path / "ckpt")
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    net = Net().build(scale=10)
    tf.train.Checkpoint(root=net).restore(path).assert_consumed()
    assert values(net) == ([1.0, 2.0], 3.0, 4)


def test_a_shared_variable_is_saved_once_and_restored_for_all(tmp_path):
    v = tf.Variable(1.0)
    path = tf.train.Checkpoint(a=v, b=v).write(tmp_path / "ckpt")
    assert len(tf.train.list_variables(path)) == 1
    other = tf.Variable(0.0)
    tf.train.Checkpoint(a=other, b=other).read(path).assert_consumed()
    assert float(other) == 1.0


@pytest.mark.parametrize("value", [3, "name", object()], ids=["number", "text", "object"])
def test_an_untrackable_object_is_refused(value):
    with pytest.raises(ValueError, match="expecting `x` to be a trackable object"):
        tf.train.Checkpoint(x=value)


def test_files_are_read_and_written_outside_of_functions(saved):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))

    @tf.function(autograph=False)
    def save():
        checkpoint.save("never")

    with pytest.raises(NotImplementedError, match=r"Checkpoint\.save .* outside of tf\.function"):
        save()


def test_a_reader_needs_no_objects(saved):
    reader = tf.train.load_checkpoint(os.path.dirname(saved))
    key = "net/w/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.has_tensor(key)
    assert not reader.has_tensor("x")
    assert reader.get_tensor(key).tolist() == [1.0, 2.0]
    assert reader.get_variable_to_dtype_map()[key] is tf.float32
    assert tf.train.load_variable(saved, key).tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.NotFoundError, match="Key x not found in checkpoint"):
        reader.get_tensor("x")


def test_latest_checkpoint_is_the_last_saved(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    assert tf.train.latest_checkpoint(tmp_path) is None
    checkpoint.save(tmp_path / "ckpt")
    second = checkpoint.save(tmp_path / "ckpt")
    checkpoint.write(tmp_path / "other")
    assert tf.train.latest_checkpoint(tmp_path) == second
    (tmp_path / "ckpt-2.index").unlink()
    assert tf.train.latest_checkpoint(tmp_path) is None


def test_the_checkpoints_of_a_folder_are_listed(tmp_path):
    assert tf.train.get_checkpoint_state(tmp_path) is None
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tmp_path, max_to_keep=2)
    paths = [manager.save() for _ in range(3)]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == paths[-1]
    assert state.all_model_checkpoint_paths == paths[1:]
    assert state.last_preserved_timestamp > 0


def test_a_missing_checkpoint_is_not_found(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="there is no checkpoint"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "none")


def test_a_save_that_fails_leaves_the_last_one_whole(tmp_path, monkeypatch):
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "weights")
    v.assign([3.0, 4.0])
    for module, name in ((safetensors, "write_to"), (checksummed_json, "write")):

        def full(*args, **kwargs):
            raise OSError("No space left on device")

        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(module, name, full)
            checkpoint.write(tmp_path / "weights")
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(module, name, full)
            checkpoint.save(tmp_path / "weights")
        assert int(checkpoint.save_counter) == 0
        assert tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [
            1.0,
            2.0,
        ]


def test_overwriting_a_checkpoint_leaves_no_other_files(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    for value in (1.0, 2.0, 3.0):
        v.assign(value)
        path = checkpoint.write(tmp_path / "weights")
    assert len(os.listdir(tmp_path)) == 2
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == 3.0


def test_damage_is_refused_and_never_gives_other_values(saved):
    for file in Path(saved).parent.glob("ckpt-1.*"):
        content = file.read_bytes()
        for position in range(0, len(content), 11):
            file.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
            net = Net().build(scale=10)
            try:
                tf.train.Checkpoint(net=net).restore(saved).expect_partial()
            except (tf.errors.DataLossError, tf.errors.NotFoundError):
                assert values(net) == ([10.0, 20.0], 30.0, 40)
            else:
                assert values(net) == ([1.0, 2.0], 3.0, 4)
            file.write_bytes(content[:position])
            with pytest.raises(tf.errors.DataLossError, match=re.escape(str(file.name))):
                tf.train.load_checkpoint(saved)
        file.write_bytes(content)


def test_newer_and_foreign_files_are_refused_with_the_reason(saved, tmp_path):
    index = Path(f"{saved}.index")
    index.write_text(index.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(tf.errors.DataLossError, match=r"version 2 .* reads versions up to 1"):
        tf.train.load_checkpoint(saved)
    checksummed_json.write(index, "other", 1, {})
    with pytest.raises(tf.errors.DataLossError, match="not a checkpoint of agc"):
        tf.train.load_checkpoint(saved)
    checksummed_json.write(
        index, "checkpoint", 1, {"data": {"file": "../elsewhere", "sha256": ""}, "nodes": [], "values": {}}
    )
    with pytest.raises(tf.errors.DataLossError, match="not a file name"):
        tf.train.load_checkpoint(saved)


def test_all_dtypes_are_saved(tmp_path):
    variables = {
        "half": tf.Variable([1.5], dtype=tf.float16),
        "narrow": tf.Variable(tf.constant([1.5], tf.bfloat16)),
        "complex": tf.Variable([1 + 2j]),
        "flag": tf.Variable([True]),
        "text": tf.Variable(["é", ""]),
    }
    path = tf.train.Checkpoint(**variables).save(tmp_path / "ckpt")
    others = {name: tf.Variable(tf.zeros_like(variable)) for name, variable in variables.items()}
    tf.train.Checkpoint(**others).restore(path).assert_consumed()
    for name, variable in variables.items():
        assert np.array_equal(others[name].numpy(), variable.numpy())
        assert others[name].dtype is variable.dtype


def test_a_generator_goes_on_from_its_saved_state(tmp_path):
    module = tf.Module()
    module.noise = tf.random.Generator.from_seed(5)
    module.noise.normal([3])
    path = tf.train.Checkpoint(module=module, o=tf.random.Generator.from_seed(1)).save(tmp_path / "ckpt")
    expected = module.noise.normal([4]).numpy()
    assert ("o/_state_var/.ATTRIBUTES/VARIABLE_VALUE", [3]) in tf.train.list_variables(path)
    assert module.variables == ()

    other, late = tf.Module(), tf.random.Generator.from_seed(9)
    checkpoint = tf.train.Checkpoint(module=other, o=late)
    status = checkpoint.restore(path)
    other.noise = tf.random.Generator.from_seed(7)
    status.assert_consumed()
    assert late.state.numpy().tolist() == [1, 0, 0]
    assert np.array_equal(other.noise.normal([4]).numpy(), expected)


class Held(Trackable):
    """An object like a variable of Keras: its value is in a variable, once it has one."""

    _should_act_as_resource_variable = True

    def __init__(self, value=None):
        self._value = value


def test_a_variable_of_keras_is_saved_as_its_value(tmp_path):
    held = Held(tf.Variable(2.0))
    path = tf.train.Checkpoint(layer={"w": held}, same=held._value).write(tmp_path / "ckpt")
    assert tf.train.list_variables(path) == [("same/.ATTRIBUTES/VARIABLE_VALUE", [])]
    plain, other = tf.Variable(0.0), Held(tf.Variable(0.0))
    tf.train.Checkpoint(layer={"w": plain}).read(path).assert_existing_objects_matched()
    tf.train.Checkpoint(layer={"w": other}).read(path).assert_existing_objects_matched()
    assert float(plain) == float(other._value) == 2.0


def test_older_checkpoints_have_an_object_for_a_variable_of_keras(tmp_path):
    path = tf.train.Checkpoint(w={"_value": tf.Variable(2.0)}).write(tmp_path / "ckpt")
    held = Held(tf.Variable(0.0))
    tf.train.Checkpoint(w=held).read(path).assert_consumed()
    assert float(held._value) == 2.0


def test_a_variable_of_keras_without_a_value_is_not_saved(tmp_path):
    path = tf.train.Checkpoint(w=Held(), v=tf.Variable(1.0)).write(tmp_path / "ckpt")
    assert tf.train.list_variables(path) == [("v/.ATTRIBUTES/VARIABLE_VALUE", [])]
