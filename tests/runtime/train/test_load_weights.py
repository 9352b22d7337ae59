"""Weights of other projects: names, shapes and dtypes are compared before a variable changes."""

import json
import zipfile

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.storage import safetensors

VALUES = {
    "encoder.weight": np.arange(6, dtype=np.float32).reshape(3, 2),
    "encoder.bias": np.ones(3, np.float32),
    "step": np.array(7),
}
NAMES = {"encoder.weight": "layers/0/w", "encoder.bias": "layers.0.b"}


@pytest.fixture
def module():
    module, layer = tf.Module(), tf.Module()
    layer.w, layer.b = tf.Variable(np.zeros((3, 2), "float32")), tf.Variable(np.zeros(3, "float32"))
    module.layers, module.step = [layer], tf.Variable(0, dtype=tf.int64)
    return module


def written(folder, suffix, values=VALUES):
    path = folder / f"weights{suffix}"
    if suffix == ".npz":
        np.savez_compressed(path, **values)
    else:
        safetensors.write(path, values)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_values_are_loaded_by_names(suffix, module, tmp_path):
    found = tf.train.load_weights(module, written(tmp_path, suffix), NAMES)
    assert found == (["layers.0.w", "layers.0.b", "step"], [], [])
    assert module.layers[0].w.numpy().tolist() == VALUES["encoder.weight"].tolist()
    assert int(module.step) == 7


def test_names_may_be_a_function_and_leave_values_out(module, tmp_path):
    path = written(tmp_path, ".npz", VALUES | {"other": np.zeros(9)})
    found = tf.train.load_weights(
        module, path, lambda name: None if name == "other" else NAMES.get(name, name)
    )
    assert found.unused == []


def test_values_are_transformed_and_cast(module, tmp_path):
    values = {
        "w": VALUES["encoder.weight"].T.astype(np.float64),
        "b": np.ones(3, np.float16),
        "step": np.int64(1),
    }
    path = written(tmp_path, ".npz", values)
    tf.train.load_weights(
        module, path, lambda name: name if name == "step" else f"layers.0.{name}", cast=True,
        transform=lambda place, value: value.T,
    )  # fmt: skip
    assert module.layers[0].w.numpy().tolist() == VALUES["encoder.weight"].tolist()
    assert module.layers[0].w.dtype is tf.float32


def test_all_problems_are_listed_and_nothing_changes(module, tmp_path):
    values = {
        "w": np.ones((2, 3), np.float32),
        "step": np.int32(1),
        "extra": np.ones(1),
        "step2": np.array(2),
    }
    path = written(tmp_path, ".npz", values)
    with pytest.raises(ValueError) as caught:
        tf.train.load_weights(module, path, {"w": "layers.0.w", "step2": "step"})
    assert str(caught.value).splitlines() == [
        f"{path} does not fit the variables:",
        "  'step' and 'step2' are both for the variable 'step'",
        "  there is no variable for 'extra' (as 'extra')",
        "  there is no value for the variable 'layers.0.b'",
        "  'w' is float32[2, 3], but the variable 'layers.0.w' is float32[3, 2]",
    ]
    assert int(module.step) == 0
    with pytest.raises(
        ValueError, match=r"'step' is int32\[\], but the variable 'step' is int64\[\]: pass cast=True"
    ):
        tf.train.load_weights(module, written(tmp_path, ".npz", {"step": np.int32(1)}), strict=False)


def test_without_strict_the_rest_is_told(module, tmp_path):
    path = written(tmp_path, ".safetensors", {"step": np.array(3), "more": np.ones(1)})
    assert tf.train.load_weights(module, path, strict=False) == (
        ["step"],
        ["layers.0.w", "layers.0.b"],
        ["more"],
    )


def test_other_files_are_refused(module, tmp_path):
    with pytest.raises(ValueError, match=r"reads \.safetensors and \.npz files, not 'weights\.h5'"):
        tf.train.load_weights(module, tmp_path / "weights.h5")
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.load_weights(module, tmp_path / "weights.npz")


def npy(shape, data, descr="<f4"):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}}}"
    header = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize("shape", [(1 << 60,), (5,), (-1,)], ids=str)
def test_an_array_that_is_larger_than_its_file_is_refused(shape, module, tmp_path):
    with zipfile.ZipFile(tmp_path / "weights.npz", "w") as archive:
        archive.writestr("step.npy", npy(shape, bytes(16)))
    with pytest.raises(tf.errors.DataLossError, match=r"weights\.npz is (damaged|truncated)"):
        tf.train.load_weights(module, tmp_path / "weights.npz", strict=False)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["step.npy", "step"])
def test_two_arrays_of_one_name_are_refused(name, module, tmp_path):
    with zipfile.ZipFile(tmp_path / "weights.npz", "w") as archive:
        archive.writestr(name, npy((4,), bytes(16)))
        archive.writestr("step.npy", npy((4,), bytes(16)))
    with pytest.raises(tf.errors.DataLossError, match=r"weights\.npz is damaged, .*the same name"):
        tf.train.load_weights(module, tmp_path / "weights.npz", strict=False)


@pytest.mark.parametrize(
    ("shape", "descr", "method"),
    [
        ("-" * 9000 + "1", "<f4", zipfile.ZIP_STORED),
        ("(4,", "<f4", zipfile.ZIP_STORED),
        ("(2,)", "<M8[s]", zipfile.ZIP_STORED),
        ("(4,)", "<U1", zipfile.ZIP_STORED),
        ("(4,)", "<f4", zipfile.ZIP_LZMA),
        ("(4,)", "<f4", zipfile.ZIP_BZIP2),
    ],
    ids=[
        "a header that nests",
        "a header without an end",
        "dates",
        "no characters of Unicode",
        "LZMA",
        "bzip2",
    ],
)
def test_arrays_that_are_not_those_of_variables_are_refused(shape, descr, method, module, tmp_path):
    with zipfile.ZipFile(tmp_path / "weights.npz", "w", method) as archive:
        archive.writestr("step.npy", npy(shape, b"\xff" * 16, descr))
    with pytest.raises(tf.errors.DataLossError, match=r"'step' of .*weights\.npz is damaged"):
        tf.train.load_weights(module, tmp_path / "weights.npz", strict=False)


def test_bytes_of_truth_values_become_0_and_1(tmp_path):
    with zipfile.ZipFile(tmp_path / "weights.npz", "w") as archive:
        archive.writestr("a.npy", npy((3,), b"\0\2\xff", "|b1"))
    variables = {"a": tf.Variable([False] * 3)}
    tf.train.load_weights(variables, tmp_path / "weights.npz")
    assert variables["a"].numpy().view(np.uint8).tolist() == [0, 1, 1]


def test_pickled_objects_are_refused(module, tmp_path):
    np.savez(tmp_path / "weights.npz", step=np.array([{}], object))
    with pytest.raises(tf.errors.DataLossError, match="its dtype is object"):
        tf.train.load_weights(module, tmp_path / "weights.npz", strict=False)


def test_a_header_that_declares_too_much_is_refused(module, tmp_path):
    text = json.dumps({"step": {"dtype": "I64", "shape": [1 << 60], "data_offsets": [0, 1 << 63]}}).encode()
    (tmp_path / "weights.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(tf.errors.DataLossError, match="'step' of"):
        tf.train.load_weights(module, tmp_path / "weights.safetensors", strict=False)
