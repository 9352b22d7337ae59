"""Datasets of files, and datasets kept in files. The record is what TensorFlow 2.21 writes for the same strings."""

from __future__ import annotations

import gzip
import zlib
from collections import OrderedDict
from itertools import islice

import agc.runtime as tf
import numpy as np
import pytest

D = tf.data.Dataset

RECORDED = bytes.fromhex("0300000000000000b099490e6162636e57f121000000000000000029039807d8ea82a2")
"""The file that TensorFlow's writer makes of b"abc" and b""."""


def texts(ds):
    return [x.numpy() for x in ds]


def test_lines_without_their_ends(tmp_path):
    (tmp_path / "a").write_bytes(b"one\ntwo\r\n\nthree")
    (tmp_path / "b").write_bytes(b"four\n")
    names = [str(tmp_path / "a"), str(tmp_path / "b")]
    expected = [b"one", b"two", b"", b"three", b"four"]
    assert texts(tf.data.TextLineDataset(names)) == expected
    assert texts(tf.data.TextLineDataset(D.from_tensor_slices(names))) == expected
    assert texts(tf.data.TextLineDataset(tmp_path / "b")) == [b"four"]
    assert texts(D.from_tensor_slices(names).interleave(tf.data.TextLineDataset, cycle_length=2)) == [
        b"one", b"four", b"two", b"", b"three",
    ]  # fmt: skip


def test_compressed_lines(tmp_path):
    (tmp_path / "g").write_bytes(gzip.compress(b"x\ny"))
    (tmp_path / "z").write_bytes(zlib.compress(b"x\ny"))
    assert texts(tf.data.TextLineDataset(str(tmp_path / "g"), compression_type="GZIP")) == [b"x", b"y"]
    assert texts(tf.data.TextLineDataset(str(tmp_path / "z"), compression_type="ZLIB")) == [b"x", b"y"]
    with pytest.raises(tf.errors.DataLossError):
        texts(tf.data.TextLineDataset(str(tmp_path / "z"), compression_type="GZIP"))


def test_a_missing_file_is_an_error_when_it_is_read(tmp_path):
    ds = tf.data.TextLineDataset(str(tmp_path / "none"))
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        texts(ds)


def test_records_of_a_fixed_length(tmp_path):
    (tmp_path / "f").write_bytes(b"HEADaabbccEND")
    name = str(tmp_path / "f")
    assert texts(tf.data.FixedLengthRecordDataset(name, 2, 4, 3)) == [b"aa", b"bb", b"cc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not an exact multiple of the record length"):
        texts(tf.data.FixedLengthRecordDataset(name, 4))


def test_records_are_framed_as_in_tensorflow(tmp_path):
    name = str(tmp_path / "r")
    with tf.io.TFRecordWriter(name) as writer:
        writer.write(b"abc")
        writer.write(b"")
    assert (tmp_path / "r").read_bytes() == RECORDED
    assert texts(tf.data.TFRecordDataset(name)) == [b"abc", b""]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_are_written_and_read(tmp_path, compression):
    name = str(tmp_path / "r")
    ds = D.range(20).map(tf.as_string)
    tf.data.experimental.TFRecordWriter(name, compression).write(ds)
    assert texts(tf.data.TFRecordDataset(name, compression)) == [str(i).encode() for i in range(20)]


@pytest.mark.parametrize(("at", "said"), [(3, "corrupted"), (13, "corrupted"), (25, "corrupted"), (-1, None)])
def test_damaged_records_are_refused(tmp_path, at, said):
    content = bytearray(RECORDED)
    if said is None:
        del content[-2:]
    else:
        content[at] ^= 1
    (tmp_path / "r").write_bytes(content)
    with pytest.raises(tf.errors.DataLossError, match=said or "truncated"):
        texts(tf.data.TFRecordDataset(str(tmp_path / "r")))


def test_names_of_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.dat"):
        (tmp_path / name).touch()
    found = texts(D.list_files(str(tmp_path / "*.txt"), shuffle=False))
    assert [name.rpartition(b"/")[2] for name in found] == [b"a.txt", b"b.txt"]
    assert sorted(texts(D.list_files([str(tmp_path / "*.txt")], seed=1))) == found
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        D.list_files(str(tmp_path / "*.none"))


def counted():
    """A dataset, and how often its elements have been made."""
    calls = []

    def elements():
        for i in range(3):
            calls.append(i)
            yield i, [float(i)] * i, f"text {i}"

    spec = (tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.float32), tf.TensorSpec((), tf.string))
    return D.from_generator(elements, output_signature=spec), calls


def plain(ds):
    return [(int(a), b.numpy().tolist(), c.numpy()) for a, b, c in ds]


EXPECTED = [(0, [], b"text 0"), (1, [1.0], b"text 1"), (2, [2.0, 2.0], b"text 2")]


@pytest.mark.parametrize("keeping", ["memory", "file", "snapshot"])
def test_a_cache_is_filled_by_the_first_complete_iteration(tmp_path, keeping):
    ds, calls = counted()
    place = str(tmp_path / "kept")
    kept = ds.cache() if keeping == "memory" else ds.cache(place) if keeping == "file" else ds.snapshot(place)
    for _ in kept.take(2):
        pass  # not complete
    assert [plain(kept), plain(kept)] == [EXPECTED, EXPECTED]
    assert calls in ([0, 1, 0, 1, 2], [0, 1, 2, 0, 1, 2])
    if keeping != "memory":
        assert plain(counted()[0].cache(place)) == EXPECTED
        assert [path.name for path in tmp_path.iterdir()] == ["kept.rows"]


@pytest.mark.parametrize("keeping", ["memory", "file"])
def test_the_last_of_a_known_number_of_elements_fills_a_cache(tmp_path, keeping):
    ds = D.range(8).shuffle(8).batch(3)
    kept = ds.cache() if keeping == "memory" else ds.cache(str(tmp_path / "kept"))

    def epoch():  # of three steps, which do not ask for the end
        return [batch.numpy().tolist() for batch in islice(kept, 3)]

    assert epoch() == epoch() == [batch.numpy().tolist() for batch in kept]


def test_a_saved_dataset_of_tensorflow_is_named(tmp_path):
    (tmp_path / "dataset_spec.pb").write_bytes(b"\x08\x01")
    with pytest.raises(tf.errors.UnimplementedError, match=r"of TensorFlow, with the file dataset_spec\.pb"):
        tf.data.Dataset.load(str(tmp_path))


def test_saved_elements_are_loaded_without_their_spec(tmp_path):
    path = str(tmp_path / "saved")
    ds = counted()[0].map(lambda a, b, c: {"number": a, "rest": (b, c, None)})
    ds.save(path)
    loaded = D.load(path)
    assert loaded.element_spec == ds.element_spec
    assert [
        (int(e["number"]), e["rest"][0].numpy().tolist(), e["rest"][1].numpy()) for e in loaded
    ] == EXPECTED
    for dtype in (np.float16, np.complex64, np.uint8, np.bool_):
        D.from_tensors(np.ones([2, 3], dtype)).save(path)
        (element,) = D.load(path)
        assert element.dtype == dtype and element.shape == [2, 3]


def test_damaged_files_of_elements_are_refused(tmp_path):
    path = tmp_path / "saved"
    D.range(5).save(str(path))
    rows = path / "elements.rows"
    whole = rows.read_bytes()
    for damaged in (whole[:-4], whole[:20], b"something else", whole.replace(b"int64", b"int65")):
        rows.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError):
            list(D.load(str(path)))
    with pytest.raises(tf.errors.NotFoundError):
        D.load(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="the elements are"):
        rows.write_bytes(whole)
        D.load(str(path), tf.TensorSpec((), tf.float32))
    spec = path / "spec.json"
    spec.write_text(spec.read_text().replace("int64", "int32"))
    with pytest.raises(tf.errors.DataLossError, match="its checksum does not match"):
        D.load(str(path))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,b,c\n1,2.5,x\n4,,"y, z"\n7,8.5,\n')
    return str(path)


def test_records_of_csv_files(table):
    ds = tf.data.experimental.CsvDataset(table, [[0.5], [""]], header=True, select_cols=[1, 2])
    assert [(float(b), c.numpy()) for b, c in ds] == [(2.5, b"x"), (0.5, b"y, z"), (8.5, b"")]
    excluding = tf.data.experimental.CsvDataset(table, [[0.5], [""]], header=True, exclude_cols=[0])
    assert len(list(excluding)) == 3
    needed = iter(tf.data.experimental.CsvDataset(table, [tf.int32, [0.5], tf.string], header=True))
    assert [int(next(needed)[0]), int(next(needed)[0])] == [1, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 2 is required but missing in record!"):
        next(needed)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Field 1 in record is not a valid int32: 2\.5"):
        list(tf.data.experimental.CsvDataset(table, [tf.int32, tf.int32, [""]], header=True))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 3"):
        list(tf.data.experimental.CsvDataset(table, [[""], [""]]))


def test_columns_of_csv_files(table):
    ds = tf.data.experimental.make_csv_dataset(table, 2, label_name="c", shuffle=False, num_epochs=1)
    columns = OrderedDict(a=tf.TensorSpec([None], tf.int32), b=tf.TensorSpec([None], tf.float32))
    assert repr(ds) == f"<_PrefetchDataset element_spec={(columns, tf.TensorSpec([None], tf.string))}>"
    (first, labels), (second, _) = ds
    assert {key: column.numpy().tolist() for key, column in first.items()} == {"a": [1, 4], "b": [2.5, 0.0]}
    assert labels.numpy().tolist() == [b"x", b"y, z"]
    assert second["a"].numpy().tolist() == [7]
    endless = tf.data.experimental.make_csv_dataset(table, 2, select_columns=["b"], shuffle_seed=1)
    assert [len(batch["b"]) for batch in endless.take(4)] == [2, 2, 2, 2]
    with pytest.raises(ValueError, match="must be one of the columns"):
        tf.data.experimental.make_csv_dataset(table, 2, label_name="z")


def test_the_names_in_a_header_line_have_the_given_encoding(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_bytes("größe\n1\n".encode("latin-1"))
    ds = tf.data.experimental.make_csv_dataset(str(path), 1, num_epochs=1, encoding="latin-1")
    assert list(ds.element_spec) == ["größe"]
    with pytest.raises(UnicodeDecodeError, match=r"header line of .*sizes\.csv: pass its `encoding`"):
        tf.data.experimental.make_csv_dataset(str(path), 1)


FAULTS_OF_CSV = {
    '1,a"b\n': "cannot have quotes inside", '1,"a"b\n': "escaped by another quote",
    '1,"a': "without closing quoted field",
    "1_0,a\n": "not a valid int32: 1_0", "1.0,a\n": "not a valid int32: 1.0", "99999999999,a\n": "not a valid int32",
    ",a\n": "Field 0 is required", "1,a,b\n": "Expect 2 fields but have 3", "1\n": "Expect 2 fields but have 1",
    "\n1,a\n": "Expect 2 fields but have 1", "1,a\rb\n": "Expect 2 fields but have 1",
}  # fmt: skip
RECORDS_OF_CSV = {
    "1,a\n2,b": [(1, b"a"), (2, b"b")], "1,a\r\n2,b\r\n": [(1, b"a"), (2, b"b")],
    '1,"a\nb"\n2,c\n': [(1, b"a\nb"), (2, b"c")],
    " 1,a\n": [(1, b"a")], "+1,\n": [(1, b"")], '1,"a""b"\n': [(1, b'a"b')], '1,""': [(1, b"")],
    "1,a\0b\n": [(1, b"a\0b")],
    '1,"x"\r2,y\n': [(1, b"x"), (2, b"y")], "1,": [(1, b"")], "": [],
}  # fmt: skip


def records_of_csv(path, text):
    path.write_bytes(text.encode())
    found = tf.data.experimental.CsvDataset(str(path), [tf.int32, ""])
    return [(int(number), text.numpy()) for number, text in found]


@pytest.mark.parametrize("text", RECORDS_OF_CSV)
def test_csv_is_read_as_in_tensorflow(text, tmp_path):
    assert records_of_csv(tmp_path / "a.csv", text) == RECORDS_OF_CSV[text]


@pytest.mark.parametrize("text", FAULTS_OF_CSV)
def test_faults_of_csv_name_the_record_and_the_file(text, tmp_path):
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=rf"{FAULTS_OF_CSV[text]}.* \[record . of .*a\.csv\]"
    ):
        records_of_csv(tmp_path / "a.csv", text)


@pytest.mark.parametrize("row, count", [("3", 1), ("3,4,5", 3), ("", 0)])
def test_columns_are_not_inferred_from_records_of_other_widths(row, count, tmp_path):
    (tmp_path / "a.csv").write_text(f"a,b\n1,2\n{row}\n")
    with pytest.raises(ValueError, match=f"CSV row 3 has {count} number of fields. Expected: 2.*a.csv"):
        tf.data.experimental.make_csv_dataset(str(tmp_path / "a.csv"), 2)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("header, footer", [(0, 0), (3, 0), (0, 100_000), (70_000, 3)])
def test_fixed_length_records_may_cross_read_buffers(compression, header, footer, tmp_path):
    path = tmp_path / "a"
    rows = [b"%07d" % number for number in range(12_000)]
    content = b"h" * header + b"".join(rows) + b"f" * footer
    path.write_bytes({"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression](content))
    options = {"header_bytes": header, "footer_bytes": footer, "compression_type": compression}
    found = tf.data.FixedLengthRecordDataset(str(path), 7, **options).batch(len(rows))
    assert [batch.numpy().tolist() for batch in found] == [rows]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="body length 84000 bytes, which is not an exact"
    ):
        list(tf.data.FixedLengthRecordDataset(str(path), 11, **options).batch(len(rows)))


@pytest.mark.parametrize("options, said", [
    ({"select_columns": [7]}, "not among 2 columns"), ({"select_columns": [-1]}, "not among 2 columns"),
    ({"column_defaults": [1]}, "1 column_defaults do not fit 2"), ({"field_delim": ",,"}, "only 1 char"),
    ({"column_names": ["a"]}, "has 2 number of fields. Expected: 1"),
])  # fmt: skip
def test_missing_columns_are_refused(options, said, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=said):
        tf.data.experimental.make_csv_dataset(str(tmp_path / "a.csv"), 1, **options)
