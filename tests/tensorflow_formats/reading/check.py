"""`python -m tensorflow_formats.reading.check FOLDER`: read the files of `record`, and compare the answers.

Prints a line for each file. Checkpoints of objects are written again; `record` can restore them with TensorFlow.
"""

import json
import sys
import traceback
from pathlib import Path

import agc.runtime as tf

from . import checkpoints, record
from .answers import differences, encode


def wanted(folder):
    """Return TensorFlow's answers for a file."""
    return json.loads((folder / "answers.json").read_text())


def values_of(prefix):
    """Return the values of a checkpoint, and compare its list of names and shapes with them."""
    reader = tf.train.load_checkpoint(prefix)
    names = [name for name, _ in tf.train.list_variables(prefix) if name != record.GRAPH_KEY]
    values = {name: reader.get_tensor(name) for name in names}
    shapes = reader.get_variable_to_shape_map()
    assert all(list(getattr(value, "shape", ())) == shapes[name] for name, value in values.items())
    return encode(values)


def leaves(values):
    """Return the values in the order of their content: the shortest path to a variable of Keras may differ."""
    return {"list": sorted(values["dict"].values(), key=str)}


def check_checkpoint(name, folder, target):
    """Return the differences of a checkpoint's values; write its objects, if both sides have them, as `target`."""
    prefix = str(folder / "ckpt")
    found = list(differences(values_of(prefix), wanted(folder), 0.0))
    if name in checkpoints.OBJECTS:
        checkpoint = tf.train.Checkpoint(**checkpoints.OBJECTS[name](tf, 2))
        checkpoint.read(prefix).assert_consumed()
        options = tf.train.CheckpointOptions(experimental_format="tensorflow")
        checkpoint.write(str(target), options)
        found += differences(leaves(values_of(str(target))), leaves(wanted(folder)), 0.0, "written again")
    return found


def main(folder):
    failed = 0
    for path in sorted(Path(folder, "checkpoints").iterdir()):
        try:
            found = check_checkpoint(path.name, path, path / "ours")
        except Exception:
            found = [traceback.format_exc(limit=-3)]
        failed += bool(found)
        print("checkpoint", path.name, "agrees" if not found else found[:3])
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
