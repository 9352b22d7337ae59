# mypy: ignore-errors
"""Run written graphs and saved models, as a program of a Python that has TensorFlow: `python -c TEXT FOLDER`.

name.json, name.0.tensor …      ==>     name.output.0.tensor …, or name.error
"""

import json
import pathlib
import sys
import traceback


def main(folder):
    import tensorflow as tf

    for path in sorted(folder.glob("*.json")):
        about = json.loads(path.read_text())
        try:
            inputs = [
                tf.io.parse_tensor((folder / f"{path.stem}.{i}.tensor").read_bytes(), dtype)
                for i, dtype in enumerate(about["dtypes"])
            ]
            for i, value in enumerate(run(tf, pathlib.Path(about["file"]), about, inputs)):
                target = folder / f"{path.stem}.output.{i}.tensor"
                target.write_bytes(tf.io.serialize_tensor(value).numpy())
        except Exception as error:
            (folder / f"{path.stem}.error").write_text(f"{type(error).__name__}: {error}")
            if "-v" in sys.argv:
                traceback.print_exc()


def run(tf, path, about, arrays):
    """Return the outputs of a saved model, or of a frozen graph."""
    inputs = dict(zip(about["inputs"], arrays))  # noqa: B905  # of any Python
    if path.is_dir():
        found = tf.saved_model.load(str(path)).signatures["serving_default"](**inputs)
        return [found[name] for name in about["outputs"]]
    graph = tf.compat.v1.GraphDef.FromString(path.read_bytes())

    def imported(*values):
        names = [f"{name}:0" for name in about["outputs"]]
        given = dict(zip(about["inputs"], values))  # noqa: B905
        return tf.graph_util.import_graph_def(graph, given, names, name="")

    specs = [tf.TensorSpec(array.shape, array.dtype) for array in arrays]
    return tf.compat.v1.wrap_function(imported, specs)(*arrays)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
