"""Run written graphs and saved models: `python -m tensorflow_formats.run_in_tensorflow FOLDER`, with TensorFlow.

add.pb, add.in.npz, add.json     ==>     add.out.npz, or add.error
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np


def main(folder: Path) -> None:
    import tensorflow as tf

    for path in sorted(folder.glob("*.json")):
        name = path.stem
        about = json.loads(path.read_text())
        with np.load(folder / f"{name}.in.npz", allow_pickle=True) as stored:
            arrays = [
                tf.constant(stored[key].tolist() if stored[key].dtype == object else stored[key])
                for key in stored
            ]
        arrays = [
            tf.bitcast(x, kind) if "float" in kind and x.dtype != kind else x
            for x, kind in zip(arrays, about["dtypes"], strict=True)
        ]
        try:
            found = run(tf, folder / about["file"], about["inputs"], about["outputs"], arrays)
            np.savez(folder / f"{name}.out.npz", *found)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            (folder / f"{name}.error").write_text(text if "-v" in sys.argv else text[:1500])
            if "-v" in sys.argv:
                traceback.print_exc()


def run(tf: Any, path: Path, inputs: list[str], outputs: list[str], arrays: list[Any]) -> list[Any]:
    """Return the outputs of a saved model, or of a frozen graph."""
    if path.is_dir():
        found = tf.saved_model.load(str(path)).signatures["serving_default"](
            **dict(zip(inputs, arrays, strict=True))
        )
        return [as_array(found[name]) for name in outputs]
    graph = tf.compat.v1.GraphDef.FromString(path.read_bytes())

    def imported(*values: Any) -> Any:
        names = [f"{name}:0" for name in outputs]
        return tf.graph_util.import_graph_def(graph, dict(zip(inputs, values, strict=True)), names, name="")

    specs = [tf.TensorSpec(array.shape, array.dtype) for array in arrays]
    function = tf.compat.v1.wrap_function(imported, specs)
    return [as_array(value) for value in function(*arrays)]


def as_array(value: Any) -> Any:
    array = value.numpy()
    return np.asarray(array, object) if isinstance(array, (bytes, str)) else np.asarray(array)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
