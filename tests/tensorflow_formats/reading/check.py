"""`python -m tensorflow_formats.reading.check FOLDER`: read the files of `record`, and compare the answers.

Prints a line for each file. Checkpoints of objects are written again; `record` can restore them with TensorFlow.
"""

import json
import sys
import traceback
from pathlib import Path

import agc.runtime as tf

from . import checkpoints, models, record
from .answers import decode, differences, encode


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


def check_model(folder, tolerance=1e-5):
    """Return the differences of the calls of a saved model from TensorFlow's results."""
    model = tf.saved_model.load(str(folder))
    found = []
    for number, answer in enumerate(wanted(folder)):
        call = models.Call(
            answer["path"], is_signature=answer["is_signature"], has_gradient=answer["has_gradient"]
        )
        args, kwargs = (decode(answer[name], tf.constant) for name in ("args", "kwargs"))
        result = encode(record.run(tf, model, call, args, kwargs))
        found += differences(result, answer["result"], tolerance, f"call {number} of {call.path}")
    return found


def outcome(kind, check, *args):
    """Print what a check finds, and return whether it agrees."""
    try:
        found = check(*args)
    except Exception:
        found = [traceback.format_exc(limit=-3)]
    print(kind, args[-1].name, *(["agrees"] if not found else found[:3]))
    return not found


def main(folder, *names):
    results = []
    for kind, check in (("checkpoints", check_checkpoint_of), ("models", check_model)):
        for path in sorted(Path(folder, kind).iterdir()):
            if not names or path.name in names:
                results.append(outcome(kind, check, path))
    print(sum(results), "of", len(results), "agree")
    return results.count(False)


def check_checkpoint_of(path):
    return check_checkpoint(path.name, path, path / "ours")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
