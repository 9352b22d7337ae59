"""`python -m tensorflow_formats.reading.record FOLDER [name]…`, with TensorFlow: write files and answers.

With `--restore`: restore the checkpoints that `check` wrote.

FOLDER/checkpoints/tree/ckpt.index …     FOLDER/checkpoints/tree/answers.json
"""

import json
import sys
import traceback
from pathlib import Path

from . import checkpoints, models
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


def record_model(tf, name, folder):
    """Write a saved model, and the results of its calls after loading it again."""
    model, calls, *more = models.MODELS[name](tf)
    options = more[0] if more else {}
    folder.parent.mkdir(parents=True, exist_ok=True)
    if options.pop("is_export", False):
        model.export(str(folder), verbose=False, **options)
    elif options.pop("is_saver", False):
        model(str(folder))
    else:
        tf.saved_model.save(model, str(folder), **options)
    loaded = tf.saved_model.load(str(folder))
    answers = []
    for call in calls:
        found = function_of(loaded, call)
        args, kwargs = call.args, call.kwargs
        if "*" in kwargs:
            kwargs = {next(iter(found.structured_input_signature[1])): kwargs["*"]}
        data = {"path": call.path, "is_signature": call.is_signature, "has_gradient": call.has_gradient}
        data |= {"args": encode(list(args)), "kwargs": encode(kwargs)}
        answers.append({**data, "result": encode(run(tf, loaded, call, args, kwargs))})
    (folder / "answers.json").write_text(json.dumps(answers))


def run(tf, model, call, args, kwargs):
    """Return the result of a call, with the gradients of its squares if the call has any."""
    function = function_of(model, call)
    if not call.has_gradient:
        return function(*args, **kwargs)
    with tf.GradientTape() as tape:
        watched = [value for value in args if value.dtype.is_floating]
        tape.watch(watched)
        result = function(*args, **kwargs)
        loss = tf.add_n([tf.reduce_sum(tf.square(each) * 0.3) for each in tf.nest.flatten(result)])
    variables = tape.watched_variables()
    grads = tape.gradient(loss, [*watched, *variables])
    sums = [float(tf.reduce_sum(tf.abs(tf.convert_to_tensor(each)))) for each in grads[len(watched) :]]
    return {
        "result": result,
        "args": grads[: len(watched)],
        "variables": tf.constant(sorted(sums), tf.float32),
    }


def function_of(model, call):
    """Return the function of a loaded model that a call names."""
    if call.is_signature:
        return model.signatures[call.path]
    for part in call.path.split("/"):
        model = model[int(part)] if part.isdigit() else getattr(model, part)
    return model


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
    for name in models.MODELS:
        if not names or name in names:
            try:
                record_model(tf, name, Path(folder, "models", name))
            except Exception:
                print("model", name, traceback.format_exc(limit=-2))


if __name__ == "__main__":
    main(*sys.argv[1:])
