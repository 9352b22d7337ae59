"""`python -m tensorflow_formats.reading.record FOLDER [name]…`, with TensorFlow: write files and answers.

With `--restore`: restore the checkpoints that `check` wrote.

FOLDER/checkpoints/tree/ckpt.index …     FOLDER/checkpoints/tree/answers.json
"""

import json
import sys
from pathlib import Path

from . import checkpoints
from .answers import differences, encode

GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def values_of(tf, prefix):
    """Return the values of a checkpoint by key, without its object graph."""
    reader = tf.train.load_checkpoint(prefix)
    names = sorted(reader.get_variable_to_shape_map())
    return encode({name: reader.get_tensor(name) for name in names if name != GRAPH_KEY})


def record_checkpoint(tf, name, folder):
    """Write a checkpoint and its values."""
    folder.mkdir(parents=True, exist_ok=True)
    prefix = str(folder / "ckpt")
    if name in checkpoints.OBJECTS:
        tf.train.Checkpoint(**checkpoints.OBJECTS[name](tf, 3)).write(prefix)
    else:
        checkpoints.FILES[name](tf, prefix)
    (folder / "answers.json").write_text(json.dumps(values_of(tf, prefix)))


def check_restored(tf, name, folder):
    """Return how what TensorFlow restores from a checkpoint of this runtime differs from what it saved itself."""
    checkpoint = tf.train.Checkpoint(**checkpoints.OBJECTS[name](tf, 2))
    checkpoint.read(str(folder / "ours")).assert_consumed()
    checkpoint.write(str(folder / "again"))
    answers = json.loads((folder / "answers.json").read_text())
    return list(differences(values_of(tf, str(folder / "again")), answers, 0.0))


def main(folder, *names):
    import tensorflow as tf

    if names[:1] == ("--restore",):
        for name in checkpoints.OBJECTS:
            found = check_restored(tf, name, Path(folder, "checkpoints", name))
            print("checkpoint", name, "restored by TensorFlow:", found or "agrees")
        return
    for name in {**checkpoints.OBJECTS, **checkpoints.FILES}:
        if not names or name in names:
            record_checkpoint(tf, name, Path(folder, "checkpoints", name))


if __name__ == "__main__":
    main(*sys.argv[1:])
