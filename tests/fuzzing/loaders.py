"""Every reader of files: how good files are made, and how they are read and mutated."""

import gzip
import hashlib
import json
import os
import zlib

import agc.runtime as tf
import numpy as np

from . import mutations, tensorflow_files
from .content_loaders import CONTENT_LOADERS
from .loader import Loader

TENSORS = {
    "float32": [[1.5, 2.0], [3.0, 4.0]], "int64": [1, -2, 3], "string": ["a", "bc", ""], "bool": True,
    "float16": [0.5, 1.0], "complex64": [1 + 2j], "uint8": [[1], [2]],
}  # fmt: skip


class _Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        self.text = tf.Variable("text")
        self.steps = [tf.Variable(1), tf.Variable(2.5, dtype=tf.float64)]
        self.named = {"a": tf.Variable([True])}

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.int32)])
    def __call__(self, x, n):
        y = tf.matmul(x, self.w)
        for _ in tf.range(n):
            y = y / 2.0 if tf.reduce_sum(y) > 10.0 else tf.exp(y[:, ::-1]) + tf.gather(y, [0])
        return {"y": y, "more": [tf.argmax(y, 1), tf.concat([y, y], 0), tf.strings.join([self.text, "x"])]}


def _write_tensors(folder):
    for name, values in TENSORS.items():
        (folder / name).write_bytes(tf.io.serialize_tensor(tf.constant(values, name)).numpy())


def _read_tensors(folder):
    for name in TENSORS:
        tf.io.parse_tensor((folder / name).read_bytes(), name)


def _write_safetensors(folder):
    from agc.runtime.storage import safetensors

    safetensors.write(folder / "a", {name: np.asarray(tf.constant(v, name)) for name, v in TENSORS.items()})


def _read_safetensors(folder):
    from agc.runtime.storage import safetensors

    safetensors.read(folder / "a")


def _load_weights(name):
    def read(folder):
        variables = {name: tf.Variable(value, dtype=name) for name, value in TENSORS.items()}
        tf.train.load_weights(variables, folder / name, strict=False)

    return read


def _write_archive(folder):
    np.savez_compressed(
        folder / "a.npz", **{name: np.array(v, name) for name, v in TENSORS.items() if name != "string"}
    )


def _write_checkpoint(folder):
    tf.train.CheckpointManager(tf.train.Checkpoint(m=_Model()), folder, 3).save()


def _read_checkpoint(folder):
    prefix = str(folder / "ckpt-1")
    tf.train.Checkpoint(m=_Model()).read(prefix).expect_partial()
    tf.train.list_variables(prefix)


def _write_bundle(folder):
    options = tf.train.CheckpointOptions(experimental_format="tensorflow")
    tf.train.Checkpoint(m=_Model()).write(folder / "ckpt", options)


def _read_bundle(folder):
    prefix = str(folder / "ckpt")
    tf.train.Checkpoint(m=_Model()).read(prefix).expect_partial()
    reader = tf.train.load_checkpoint(prefix)
    for name, _ in tf.train.list_variables(prefix):
        reader.get_tensor(name)


def _seal_checkpoint(folder):
    index = folder / "ckpt-1.index"
    data = next(folder.glob("*.data*"))
    _set(index, ["content", "data", "sha256"], hashlib.sha256(data.read_bytes()).hexdigest())


def _read_state(folder):
    tf.train.latest_checkpoint(folder)
    try:
        tf.train.CheckpointManager(tf.train.Checkpoint(m=_Model()), folder, 3).restore_or_initialize()
    except (
        AssertionError
    ) as error:  # says of a whole file whose names are other ones that nothing in it matches
        raise ValueError(error) from None


def _seal_model(folder):
    for path in folder.glob("*/**/*.*"):
        name = str(path.relative_to(folder / path.relative_to(folder).parts[0]))
        _set(
            folder / "saved_model.json",
            ["content", "files", name],
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )


def _set(path, keys, value):
    """Replace a value in a sealed file, if it has such a place."""
    try:
        document = holder = json.loads(path.read_bytes())
        for key in keys[:-1]:
            holder = holder[key]
        holder[keys[-1]] = value
        path.write_text(json.dumps(mutations.sealed(document)))
    except (ValueError, TypeError, LookupError, RecursionError):
        pass  # an earlier change took the place away, or the file is no JSON any more


def _write_graph(folder):
    graph = _Model().__call__.get_concrete_function().graph
    (folder / "graph").write_bytes(graph.as_graph_def().SerializeToString())


def _read_graph(folder):
    from agc.runtime.ir.graph_def import GraphDef

    GraphDef.FromString((folder / "graph").read_bytes())


def _write_graph_text(folder):
    (folder / "graph").write_text(str(_Model().__call__.get_concrete_function().graph))


def _read_graph_text(folder):
    from agc.runtime.ir.parser import parse

    parse((folder / "graph").read_text(errors="replace"))


def _write_records(compression):
    def write(folder):
        with tf.io.TFRecordWriter(folder / "records", compression) as writer:
            for count in (0, 1, 7, 300):
                writer.write(b"x" * count)

    return write


def _drain(dataset):
    for _ in dataset:
        pass


CSV = b"a,b,c\n" + b"".join(b'%d,%f,"te""xt, %d"\n' % (i, i / 3, i) for i in range(20))


def _read_csv(folder):
    defaults = [tf.int32, 0.0, tf.string]
    _drain(tf.data.experimental.CsvDataset(str(folder / "a.csv"), defaults, header=True))


def _read_any_csv(folder):
    path = str(folder / "a.csv")
    _drain(tf.data.experimental.make_csv_dataset(path, 4, num_epochs=1, shuffle=False))


def _read_csv_records(folder):
    tf.io.decode_csv((folder / "a.csv").read_bytes().split(b"\n")[1:-1], [0, 0.0, ""])


def _write_rows(folder):
    rows = tf.data.Dataset.from_tensor_slices((np.arange(12.0).reshape(4, 3), ["a", "bb", "", "c"]))
    rows.map(lambda a, b: {"a": a, "b": (b, a[:1])}).save(str(folder))


def _cached(folder):
    """Return an entry of the cache of converted modules, which is in this folder."""
    from agc.autograph import code_cache

    os.environ.update(AGC_CACHE_DIR=str(folder), AGC_CACHE="1")
    return code_cache.Entry("x = 1\n", "/m.py")


def _write_code(folder):
    _cached(folder).write(compile("x = 1\n", "m.py", "exec"), {"numpy": True})


def _read_code(folder):
    _cached(folder).read(lambda name: True)


def _write_object_file(folder):
    from agc.runtime.executors.llvm import object_cache

    os.environ.update(AGC_CACHE_DIR=str(folder), AGC_CACHE="1")
    object_cache.write("key", b"code")


def _read_object_file(folder):
    from agc.runtime.executors.llvm import object_cache as cache

    os.environ.update(AGC_CACHE_DIR=str(folder), AGC_CACHE="1")
    assert cache.read("key") in (None, b"code")


def _text_file(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def _read_vocabulary(folder):
    tf.random.fixed_unigram_candidate_sampler([[0]], 1, 2, True, 3, vocab_file=str(folder / "words"))


TEXT = b"hello\r\nw\xc3\xb6rld\n\n" * 5
GZIP = mutations.packed_again(gzip.decompress, gzip.compress, mutations.in_records)
ZLIB = mutations.packed_again(zlib.decompress, zlib.compress, mutations.in_records)
RAW = {"*": mutations.damaged}
WITH_ARRAYS = {
    "*.data*": mutations.in_safetensors, "*.safetensors": mutations.in_safetensors, "*": mutations.mutated,
}  # fmt: skip


def _write_onnx(folder):
    import onnx

    def body(x, n):
        for _ in tf.range(n):
            x = x * 2.0 if tf.reduce_sum(x) > 1.0 else tf.add(tf.roll(x, 1, 0), 1.5)
        return tf.nn.softmax(x @ [[1.0], [2.0], [3.0]]), n

    tf.export.onnx(body, folder / "a.onnx", [tf.TensorSpec([2, 3]), tf.TensorSpec([], tf.int32)])
    model = onnx.load(folder / "a.onnx")
    where = {"save_as_external_data": True, "location": "b.data", "size_threshold": 0}
    onnx.save_model(model, folder / "b.onnx", **where)


def _read_onnx(folder):
    for name in ("a.onnx", "b.onnx"):
        tf.onnx.load(folder / name)


LOADERS = {
    "parse_tensor": Loader(_write_tensors, _read_tensors, RAW, names_file=False),
    "safetensors": Loader(_write_safetensors, _read_safetensors, {"*": mutations.in_safetensors}),
    "weights as safetensors": Loader(
        lambda folder: _write_safetensors(folder) or (folder / "a").rename(folder / "a.safetensors"),
        _load_weights("a.safetensors"), {"*": mutations.in_safetensors},
    ),
    "weights as npz": Loader(_write_archive, _load_weights("a.npz"), RAW),
    "checkpoint": Loader(
        _write_checkpoint, _read_checkpoint, WITH_ARRAYS, _seal_checkpoint,
    ),
    "TensorFlow's checkpoint": Loader(
        _write_bundle, _read_bundle, {"*.index": tensorflow_files.in_table, "*": mutations.damaged},
        tensorflow_files.seal_bundle,
    ),
    "objects of TensorFlow's checkpoint": Loader(_write_bundle, _read_bundle, change=tensorflow_files.in_graph),
    **{
        f"TensorFlow's model {name}": Loader(
            tensorflow_files.write_model(name), tensorflow_files.read_model,
            {"*.pb": tensorflow_files.in_message, "*.index": tensorflow_files.in_table, "*": mutations.damaged},
        )
        for name in ("control_flow", "session", "variables", "vocabulary")
    },
    "onnx": Loader(_write_onnx, _read_onnx, {"*.onnx": tensorflow_files.in_message, "*": mutations.damaged}),
    "checkpoint state": Loader(_write_checkpoint, _read_state, WITH_ARRAYS),
    "saved model": Loader(
        lambda folder: tf.saved_model.save(_Model(), folder), tf.saved_model.load,
        WITH_ARRAYS, _seal_model,
    ),
    "graph": Loader(_write_graph, _read_graph, names_file=False),
    "graph text": Loader(_write_graph_text, _read_graph_text, RAW, names_file=False),
    "records": Loader(
        _write_records(""), lambda folder: _drain(tf.data.TFRecordDataset(str(folder / "records"))),
        {"*": mutations.in_records},
    ),
    "records gzip": Loader(
        _write_records("GZIP"), lambda folder: _drain(tf.data.TFRecordDataset(str(folder / "records"), "GZIP")),
        {"*": GZIP},
    ),
    "records zlib": Loader(
        _write_records("ZLIB"), lambda folder: _drain(tf.data.TFRecordDataset(str(folder / "records"), "ZLIB")),
        {"*": ZLIB},
    ),
    "lines": Loader(_text_file("a", TEXT), lambda folder: _drain(tf.data.TextLineDataset(str(folder / "a"))), RAW),
    "lines gzip": Loader(
        _text_file("a", gzip.compress(TEXT)), lambda folder: _drain(tf.data.TextLineDataset(str(folder / "a"), "GZIP")),
        {"*": mutations.packed_again(gzip.decompress, gzip.compress, mutations.damaged)},
    ),
    "fixed length": Loader(
        _text_file("a", TEXT), lambda folder: _drain(tf.data.FixedLengthRecordDataset(str(folder / "a"), 5, 5, 5)), RAW,
    ),
    "CsvDataset": Loader(_text_file("a.csv", CSV), _read_csv, RAW),
    "make_csv_dataset": Loader(_text_file("a.csv", CSV), _read_any_csv, RAW),
    "decode_csv": Loader(_text_file("a.csv", CSV), _read_csv_records, RAW, names_file=False),
    "decode_raw": Loader(
        _text_file("a", bytes(16)), lambda folder: tf.io.decode_raw((folder / "a").read_bytes(), tf.float32), RAW,
        names_file=False,
    ),
    "decode_base64": Loader(
        _text_file("a", b"YWJjZGVm"), lambda folder: tf.io.decode_base64((folder / "a").read_bytes()), RAW,
        names_file=False,
    ),
    "unicode_decode": Loader(
        _text_file("a", TEXT), lambda folder: tf.strings.unicode_decode((folder / "a").read_bytes(), "UTF-8"), RAW,
        names_file=False,
    ),
    "saved dataset": Loader(
        _write_rows, lambda folder: _drain(tf.data.Dataset.load(str(folder))),
    ),
    "converted module": Loader(_write_code, _read_code, RAW),
    "object file": Loader(_write_object_file, _read_object_file, RAW),
    "vocabulary": Loader(_text_file("words", b"a,1\nb,2.5\nc,3\n"), _read_vocabulary, RAW),
    **CONTENT_LOADERS,
}  # fmt: skip
