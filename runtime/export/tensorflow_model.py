"""The format `saved_model`: TensorFlow's SavedModel of one function, which is the signature `serving_default` too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..core.conversion import convert_to_tensor as tensor
from ..formats.program import Array, Program
from ..formats.tensorflow.callees import as_signature, of_program
from ..formats.tensorflow.frozen_graph import check, lists_grow
from ..formats.tensorflow.model_writer import ModelWriter
from ..saved_model.load import load
from ..saved_model.signatures import DEFAULT
from ..train.object_graph import VALUE
from .tensorflow_runtime import run_in_tensorflow, tensorflow_python


def encode(program: Program) -> dict[str, bytes]:
    """Return the files of a model with one function: `__call__`, also by its name and as `serving_default`."""
    writer = ModelWriter(lists_grow(program.graph))
    root = writer.add("user_object", "_generic_user_object")
    for each in program.variables:
        writer.link(root, each.name, writer.variable(each.variable, f"{each.name}{VALUE}"))
    callee = of_program(program)
    writer.function(root, dict.fromkeys((program.name, "__call__")), [callee])
    writer.signatures(root, {DEFAULT: as_signature(callee)._replace(calls=callee)})
    check(writer.library, "a SavedModel", program.name)
    return writer.content(program.metadata)


def run(path: Path, program: Program, arrays: Sequence[Array], python: str | None = None) -> list[Array]:
    """Return the outputs of the signature: by TensorFlow in this or another Python, else by agc's own reader."""
    chosen = python or tensorflow_python()
    if chosen is not None:
        return run_in_tensorflow(chosen, path, program, arrays)
    inputs = {port.name: tensor(array) for port, array in zip(program.inputs, arrays, strict=True)}
    found = load(path).signatures[DEFAULT](**inputs)
    return [np.asarray(found[port.name].numpy()) for port in program.outputs]


def runtime(python: str | None) -> str:
    """Return the name of what runs the file."""
    chosen = python or tensorflow_python()
    return "agc, which reads the model back" if chosen is None else f"TensorFlow in {chosen}"
