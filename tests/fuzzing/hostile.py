"""Files of a hostile author: each asks for much, nests deeply, overlaps or leads out. All of them are refused.

"a gzip file of zeros as lines": ("lines gzip", lambda folder: …)     the loader, and what is done to its good files
"""

import gzip
import json
import struct
import zlib

from agc.runtime.storage.crc32c import masked_crc32c
from agc.runtime.storage.protobuf import field, varint

from . import mutations, tensorflow_files

LARGE = 400 << 20
DEEP = 100_000


def _replaced(name, content):
    return lambda folder: (folder / name).write_bytes(content() if callable(content) else content)


def _tensor(*sizes, dtype=1):
    return field(1, dtype) + field(2, b"".join(field(2, field(1, size)) for size in sizes))


def _zeros(compressor):
    """Return many zeros, compressed, without compressing them all: the same block again and again."""
    first, again = (
        compressor.compress(bytes(1 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    return first + again * (LARGE >> 20)


def _gzip():
    return _zeros(zlib.compressobj(9, wbits=31))


def _zlib():
    return _zeros(zlib.compressobj(9))


def _long_record():
    """Return the head of a record of zeros, and the zeros, compressed."""
    head = struct.pack("<Q", LARGE)
    return gzip.compress(head + struct.pack("<I", masked_crc32c(head))) + _gzip()


def _header(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def _sealed(name, change):
    """Return a change of the content of a sealed file, which gets the checksum that fits."""

    def changed(folder):
        document = json.loads((folder / name).read_bytes())
        change(document["content"])
        (folder / name).write_text(json.dumps(mutations.sealed(document)))

    return changed


def _with_lists(content, count, copies):
    """Add so many lists, of which each holds the next so often; without copies, itself."""
    nodes = content["nodes"]
    first = len(nodes)
    nodes[0]["children"]["more"] = first
    for number in range(first, first + count):
        children = {str(copy): number + 1 for copy in range(copies)} or {"0": number}
        nodes.append({"kind": "list", "class": "list", "children": children, "functions": {}})
    nodes.append({"kind": "list", "class": "list", "children": {}, "functions": {}})


def _array(start, end, **others):
    return {"dtype": "U8", "shape": [end - start], "data_offsets": [start, end], **others}


HOSTILE = {
    "a constant of 2**40 elements": ("parse_tensor", _replaced("float32", _tensor(2**40))),
    "a constant of 2**28 elements": ("parse_tensor", _replaced("float32", _tensor(2**28))),
    "2**28 empty strings": ("parse_tensor", _replaced("string", _tensor(2**28, dtype=7))),
    "a negative dimension": ("parse_tensor", _replaced("float32", _tensor(-1))),
    "dimensions whose product overflows": ("parse_tensor", _replaced("float32", _tensor(2**32, 2**32))),
    "100,000 dimensions": ("parse_tensor", _replaced("float32", lambda: _tensor(*[2**62] * DEEP))),
    "a varint without an end": ("parse_tensor", _replaced("int64", b"\x80" * DEEP)),
    "a message that is longer than the file": ("parse_tensor", _replaced("int64", b"\x12" + varint(2**62))),
    "a gzip file of zeros as lines": ("lines gzip", _replaced("a", _gzip)),
    "a gzip file of zeros as a record": ("records gzip", _replaced("records", _long_record)),
    "a zlib file of zeros as records": ("records zlib", _replaced("records", _zlib)),
    "a record of 2**40 bytes": ("records", _replaced(
        "records", struct.pack("<Q", 2**40) + struct.pack("<I", masked_crc32c(struct.pack("<Q", 2**40))),
    )),
    "a record of 2**64 - 1 bytes": ("records", _replaced(
        "records", struct.pack("<Q", 2**64 - 1) + struct.pack("<I", masked_crc32c(struct.pack("<Q", 2**64 - 1))),
    )),
    "100,000 quotes": ("CsvDataset", _replaced("a.csv", b'a,b,c\n1,2,"' + b'""' * DEEP)),
    "a number of 1,000,000 digits": ("CsvDataset", _replaced("a.csv", b"a,b,c\n" + b"1" * 10**6 + b",2,x\n")),
    "a fraction of 1,000,000 digits": ("CsvDataset", _replaced("a.csv", b"a,b,c\n1,." + b"1" * 10**6 + b"x,x\n")),
    "no columns": ("make_csv_dataset", _replaced("a.csv", b"")),
    "a header only of line ends": ("make_csv_dataset", _replaced("a.csv", b"\n\n\n")),
    "one column twice": ("make_csv_dataset", _replaced("a.csv", b"a,a\n1,2\n")),
    "a header of 2**63 bytes": ("safetensors", _replaced("a", (2**63).to_bytes(8, "little"))),
    "a header nested 100,000 deep": ("safetensors", _replaced("a", _header(b'{"a": ' + b"[" * DEEP))),
    "arrays that share bytes": ("safetensors", _replaced(
        "a", _header({str(place): _array(0, 100_000) for place in range(5000)}, bytes(100_000)),
    )),
    "arrays that overlap by one byte": ("safetensors", _replaced(
        "a", _header({"a": _array(0, 2), "b": _array(1, 3)}, bytes(3)),
    )),
    "an array before the data": ("safetensors", _replaced("a", _header({"a": _array(-4, 0)}, bytes(8)))),
    "a shape that is not a number": ("safetensors", _replaced(
        "a", _header({"a": _array(0, 1, shape=[float("nan")])}, bytes(1)),
    )),
    "a dimension that is True": ("safetensors", _replaced("a", _header({"a": _array(0, 1, shape=[True])}, bytes(1)))),
    "an index nested 100,000 deep": ("saved model", _replaced("saved_model.json", b"[" * DEEP)),
    "an integer of 100,000 digits": ("saved model", _replaced("saved_model.json", b'{"version": ' + b"1" * DEEP)),
    "a folder outside": ("saved model", _sealed("saved_model.json", lambda c: c.update(folder="../good"))),
    "a function outside": ("saved model", _sealed(
        "saved_model.json", lambda c: c["files"].update({"../../x": "0" * 64}) or c["nodes"].append({"kind": "asset"}),
    )),
    "a list that contains itself": ("saved model", _sealed("saved_model.json", lambda c: _with_lists(c, 1, 0))),
    "lists of lists, 2**40 in all": ("saved model", _sealed("saved_model.json", lambda c: _with_lists(c, 40, 2))),
    "lists nested 20,000 deep": ("saved model", _sealed("saved_model.json", lambda c: _with_lists(c, 20_000, 1))),
    "no objects": ("saved model", _sealed("saved_model.json", lambda c: c.update(nodes=[]))),
    "a checkpoint without objects": ("checkpoint", _sealed("ckpt-1.index", lambda c: c.update(nodes=[]))),
    "a child too many": ("checkpoint", _sealed("ckpt-1.index", lambda c: c["nodes"][0].update(children={"m": 99}))),
    "a negative child": ("checkpoint", _sealed("ckpt-1.index", lambda c: c["nodes"][0].update(children={"m": -1}))),
    "data outside": ("checkpoint", _sealed("ckpt-1.index", lambda c: c["data"].update(file="../x"))),
    "an index of surrogates": ("checkpoint", _sealed("ckpt-1.index", lambda c: c["data"].update(file="\ud800"))),
    "a tensor of 2**60 elements": ("TensorFlow's checkpoint", tensorflow_files.with_entries(shape=(1 << 60,))),
    "a string tensor of 2**60 elements": (
        "TensorFlow's checkpoint", tensorflow_files.with_entries(dtype=7, shape=(1 << 60,)),
    ),
    "tensors that share bytes": ("TensorFlow's checkpoint", tensorflow_files.with_entries(offset=0)),
    "a data file of many": ("TensorFlow's checkpoint", tensorflow_files.with_entries(shard=3)),
    "messages nested 10,000 deep": ("TensorFlow's model variables", _replaced(
        "saved_model.pb", lambda: tensorflow_files.nested_structure(10_000),
    )),
    "elements of another dtype": ("saved dataset", _replaced(
        "elements.rows", b"agc rows 1\n" + struct.pack("<IB", 3, 5) + b"int64" + struct.pack("<BQQ", 1, 2**40, 2**43),
    )),
    "a leaf of 2**43 bytes": ("saved dataset", _replaced(
        "elements.rows", b"agc rows 1\n" + struct.pack("<IB", 3, 7) + b"float64" + struct.pack("<BQQ", 1, 3, 2**43),
    )),
    "a row of 2**32 - 2 leaves": ("saved dataset", _replaced("elements.rows", b"agc rows 1\n\xfe\xff\xff\xff")),
    "a graph nested 100,000 deep": ("graph", _replaced("graph", b"[" * DEEP)),
    "a constant of 10**12 strings": ("graph", _replaced("graph", json.dumps({
        "format": "agc graph", "version": 1, "constants": [{"dtype": "string", "shape": [10**12], "data": ""}],
        "graphs": [{"name": "g", "inputs": [], "operations": [], "outputs": []}],
    }).encode())),
}  # fmt: skip
