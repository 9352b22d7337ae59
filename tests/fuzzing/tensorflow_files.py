"""Mutations of TensorFlow's checkpoints: of the messages of the index, of the object graph, and of the data.

The table is written again, so that its checksums fit; `seal_bundle` does the same for those of the tensors.
"""

import shutil
from pathlib import Path

import agc.runtime as tf
from agc.runtime.formats.tensorflow.bundle import BundleReader, write_bundle
from agc.runtime.formats.tensorflow.bundle_entries import BundleEntry
from agc.runtime.formats.tensorflow.object_messages import GRAPH_KEY
from agc.runtime.formats.tensorflow.string_tensor import decode_strings
from agc.runtime.formats.tensorflow.table import read_table, write_table
from agc.runtime.storage.crc32c import crc32c, masked
from agc.runtime.storage.protobuf import field, fields

from . import mutations


def in_table(content, rng):
    """Return an index with other messages and keys, or with other bytes."""
    if rng.random() < 0.3:
        return mutations.damaged(content, rng)
    entries = read_table(content)
    for key in rng.sample(sorted(entries), min(len(entries), rng.choice([1, 1, 2]))):
        message = entries.pop(key) if rng.random() < 0.3 else entries[key]
        entries[mutations.damaged(key, rng) if rng.random() < 0.2 else key] = in_message(message, rng)
    return write_table(entries)


def in_message(message, rng, depth=0):
    """Return a message of protocol buffers with other fields; messages inside of it are changed as such."""
    if rng.random() < 0.2:
        return mutations.damaged(message, rng)
    try:
        parts = list(fields(message))
    except ValueError:
        parts = []
    if not parts:
        return mutations.damaged(message, rng)
    at = rng.randrange(len(parts))
    number, value = parts[at]
    if isinstance(value, int):
        value = rng.choice([value + 1, 0, 1, 2**31, 2**40, 2**63, 2**64 - 1])
    elif depth < 8:
        value = in_message(value, rng, depth + 1)
    kind = rng.randrange(5)
    parts[at : at + 1] = [
        [],
        [(number, value)] * 2,
        [(number + 1, value)],
        [(number, value)],
        [(number, value)],
    ][kind]
    return b"".join(field(each, content) for each, content in parts)


MODELS = Path(__file__).parents[2] / "fixtures" / "tensorflow_files" / "models"


def write_model(name):
    """Return a function that writes a saved model of TensorFlow."""
    return lambda folder: shutil.copytree(MODELS / name, folder, dirs_exist_ok=True)


def read_model(folder):
    """Load a saved model, and trace all its functions."""
    model = tf.saved_model.load(folder)
    for signature in model.signatures.values():
        signature.structured_outputs  # noqa: B018
    for value in vars(model).values():
        getattr(value, "concrete_functions", None)


def in_graph(folder, rng):
    """Change the object graph of a checkpoint, and write all tensors again."""
    reader = BundleReader(folder / "ckpt")
    tensors = {name: reader.read(name) for name in reader.entries}
    tensors[GRAPH_KEY][()] = in_message(tensors[GRAPH_KEY][()], rng)
    write_bundle(str(folder / "ckpt"), tensors)


def seal_bundle(folder):
    """Make the checksums of the tensors fit the data file, as far as the index can be read."""
    index, data = folder / "ckpt.index", (folder / "ckpt.data-00000-of-00001").read_bytes()
    try:
        entries = read_table(index.read_bytes())
        for key, message in entries.items():
            if key:
                entry = BundleEntry.parse(message)
                content = data[entry.offset : entry.offset + entry.size]
                crc = decode_strings(content, 1)[1] if entry.dtype == 7 else crc32c(content)
                entries[key] = entry._replace(crc=masked(crc)).serialized()
    except ValueError:
        return
    index.write_bytes(write_table(entries))


def with_entries(**changes):
    """Return a change of a checkpoint's folder that changes the places of all its tensors."""

    def changed(folder):
        index = folder / "ckpt.index"
        entries = read_table(index.read_bytes())
        found = {key: BundleEntry.parse(message) for key, message in entries.items() if key}
        graph = GRAPH_KEY.encode()
        new = {key: entry if key == graph else entry._replace(**changes) for key, entry in found.items()}
        messages = {key: entry.serialized() for key, entry in new.items()}
        index.write_bytes(write_table({b"": entries[b""], **messages}))

    return changed


def nested_structure(depth):
    """Return a saved model whose only function has arguments of tuples nested so deeply."""
    structure = b""
    for _ in range(depth):
        structure = field(52, field(1, structure))
    function = field(3, structure) + field(4, structure)
    graph = field(1, field(4, b"")) + field(2, field(1, "f") + field(2, function))
    return field(2, field(1, field(4, "serve")) + field(7, graph))
