"""Bundles of tensors: all dtypes, several files, slices, and damage."""

import errno
import os

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.formats.tensorflow import bundle, bundle_entries, slices
from agc.runtime.formats.tensorflow.bundle import BundleReader, data_path, index_path, write_bundle
from agc.runtime.formats.tensorflow.bundle_entries import BundleEntry, BundleHeader
from agc.runtime.formats.tensorflow.slices import Extent, slice_key
from agc.runtime.formats.tensorflow.table import read_table, write_table
from agc.runtime.storage.crc32c import masked_crc32c

NUMBERS = [dtype for dtype in (*dtypes.ALL, *dtypes.NARROW_FLOATS) if dtype is not dtypes.string]


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)], ids=str)
def test_numbers_of_each_dtype_are_read_again(dtype, shape, tmp_path):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.numpy_dtype)
    write_bundle(f"{tmp_path}/b", {"x": array})
    reader = BundleReader(f"{tmp_path}/b")
    found = reader.read("x")
    assert found.dtype == array.dtype
    assert reader.dtype("x") is dtype
    np.testing.assert_array_equal(found, array)


def test_data_stay_when_the_index_cannot_be_written(tmp_path, monkeypatch):
    def full(entries):
        raise OSError(errno.ENOSPC, "No space left on device")

    write_bundle(f"{tmp_path}/b", {"x": np.float32([1])})
    monkeypatch.setattr(bundle, "write_table", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*b\.index'"):
        write_bundle(f"{tmp_path}/b", {"x": np.float32([2])})
    assert BundleReader(f"{tmp_path}/b").read("x").tolist() == [1.0]
    assert len(os.listdir(tmp_path)) == 2


def test_strings_are_read_again(tmp_path):
    array = np.array([[b"a", b""], [b"\0\xff" * 300, "é".encode()]], object)
    write_bundle(f"{tmp_path}/b", {"x": array, "one": np.array(b"text", object)})
    reader = BundleReader(f"{tmp_path}/b")
    assert reader.read("x").tolist() == array.tolist()
    assert reader.read("one")[()] == b"text"


def test_views_are_written_in_the_order_of_rows(tmp_path):
    array = np.arange(6.0).reshape(2, 3)
    write_bundle(f"{tmp_path}/b", {"x": array.T, "y": array[:, ::-1]})
    reader = BundleReader(f"{tmp_path}/b")
    np.testing.assert_array_equal(reader.read("x"), array.T)
    np.testing.assert_array_equal(reader.read("y"), array[:, ::-1])


def written(folder, entries, *files):
    """Write a bundle of these entries, by key, and data files."""
    header = BundleHeader(len(files)).serialized()
    messages = {key: entry.serialized() for key, entry in entries.items()}
    index_path(f"{folder}/b").write_bytes(write_table({b"": header, **messages}))
    for number, content in enumerate(files):
        data_path(f"{folder}/b", number, len(files)).write_bytes(content)
    return BundleReader(f"{folder}/b")


def entry(array, shard=0, offset=0, **changes):
    plain = BundleEntry(1, array.shape, shard, offset, array.nbytes, masked_crc32c(array.tobytes()))
    return plain._replace(**changes)


FIRST, SECOND = np.arange(4, dtype=np.float32), np.arange(2, dtype=np.float32)


def test_tensors_are_in_several_files(tmp_path):
    reader = written(
        tmp_path, {b"a": entry(FIRST), b"b": entry(SECOND, 1)}, FIRST.tobytes(), SECOND.tobytes()
    )
    assert reader.read("a").tolist() == FIRST.tolist()
    assert reader.read("b").tolist() == SECOND.tolist()


def test_big_endian_numbers_are_read(tmp_path):
    content = FIRST.astype(">f4").tobytes()
    header = BundleHeader(1, is_big_endian=True).serialized()
    places = entry(FIRST, crc=masked_crc32c(content)).serialized()
    index_path(f"{tmp_path}/b").write_bytes(write_table({b"": header, b"a": places}))
    data_path(f"{tmp_path}/b").write_bytes(content)
    assert BundleReader(f"{tmp_path}/b").read("a").tolist() == FIRST.tolist()


def in_slices(first, second):
    whole = BundleEntry(1, (6,), slices=((first,), (second,)))
    return {
        b"a": whole,
        slice_key(b"a", (first,)): entry(FIRST),
        slice_key(b"a", (second,)): entry(SECOND, offset=16),
    }


def test_a_tensor_in_slices_is_joined(tmp_path):
    reader = written(tmp_path, in_slices(Extent(2, 4), Extent(0, 2)), FIRST.tobytes() + SECOND.tobytes())
    assert list(reader.entries) == ["a"]
    assert reader.read("a").tolist() == [0, 1, 0, 1, 2, 3]


@pytest.mark.parametrize(
    "extents, message",
    [
        ((Extent(1, 4), Extent(0, 2)), "overlap"),
        ((Extent(3, 4), Extent(0, 2)), "a slice from 3 to 7 of an axis of 6"),
        ((Extent(2, 3), Extent(0, 2)), "another dtype or shape"),
    ],
)
def test_slices_that_do_not_fit_are_refused(extents, message, tmp_path):
    reader = written(tmp_path, in_slices(*extents), FIRST.tobytes() + SECOND.tobytes())
    with pytest.raises(tf.errors.DataLossError, match=message):
        reader.read("a")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"crc": 1}, "the checksum of the bytes from 0 does not match"),
        ({"shape": (1 << 60,)}, r"16 bytes for float32\[1152921504606846976\]"),
        ({"offset": 8}, "it ends before the byte 24"),
        ({"size": 12, "shape": (3,)}, "the checksum"),
    ],
)
def test_damage_is_named(changes, message, tmp_path):
    reader = written(tmp_path, {b"a": entry(FIRST, **changes)}, FIRST.tobytes())
    with pytest.raises(
        tf.errors.DataLossError, match=f"data-00000-of-00001 is damaged: ValueError: {message}"
    ):
        reader.read("a")


def test_tensors_that_share_bytes_are_refused(tmp_path):
    with pytest.raises(tf.errors.DataLossError, match="share the bytes from 8"):
        written(tmp_path, {b"a": entry(FIRST), b"b": entry(SECOND, offset=8)}, FIRST.tobytes())


def test_a_dtype_without_tensors_is_named(tmp_path):
    reader = written(tmp_path, {b"a": entry(FIRST, dtype=11)}, FIRST.tobytes())
    assert reader.dtype("a").name == "qint8"
    with pytest.raises(tf.errors.UnimplementedError, match="is a tensor of qint8"):
        reader.read("a")


def test_a_missing_tensor_or_file_is_not_found(tmp_path):
    write_bundle(f"{tmp_path}/b", {"a": FIRST})
    with pytest.raises(tf.errors.NotFoundError, match="no tensor 'x'"):
        BundleReader(f"{tmp_path}/b").read("x")
    reader = BundleReader(f"{tmp_path}/b")
    os.remove(data_path(f"{tmp_path}/b"))
    with pytest.raises(tf.errors.NotFoundError, match="no file"):
        reader.read("a")
    with pytest.raises(tf.errors.NotFoundError, match="no file"):
        BundleReader(f"{tmp_path}/other")


def test_a_newer_format_is_refused(monkeypatch):
    monkeypatch.setattr(bundle_entries, "_NEWEST", 0)
    newer = BundleHeader().serialized() + b"\x1a\x02\x10\x01"  # a version with the least reader 1
    with pytest.raises(ValueError, match="it needs a newer reader"):
        BundleHeader.parse(newer)


def test_keys_of_slices_are_those_of_tensorflow():
    extents = (Extent(4, 3), Extent(0, None), Extent(100, 70_000))
    assert slice_key(b"a\0\xff\1", extents).hex() == "006100ffff0001000101038483807fc064e11170"
    message = slices.serialize_slice(extents)
    assert slices.parse_slice(message) == extents


def test_the_index_has_the_bytes_of_tensorflow(tmp_path):
    write_bundle(f"{tmp_path}/b", {"w": np.arange(6, dtype=np.float32).reshape(2, 3)})
    table = read_table(index_path(f"{tmp_path}/b").read_bytes())
    assert table[b""].hex() == "08011a020801"
    assert table[b"w"].hex() == "08011208120208021202080328183" + "5c0db3d17"
