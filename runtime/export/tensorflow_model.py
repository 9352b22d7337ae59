"""The format `saved_model`: TensorFlow's SavedModel of one function, which is the signature `serving_default` too."""

from __future__ import annotations

from ..formats.program import Program
from ..formats.tensorflow.callees import as_signature, of_program
from ..formats.tensorflow.frozen_graph import check, lists_grow
from ..formats.tensorflow.model_writer import ModelWriter
from ..saved_model.signatures import DEFAULT
from ..train.object_graph import VALUE


def encode(program: Program) -> dict[str, bytes]:
    """Return the files of a model with one function: `__call__`, also by its name and as `serving_default`."""
    writer = ModelWriter(lists_grow(program.graph))
    root = writer.add("user_object", "_generic_user_object")
    for each in program.variables:
        writer.link(root, each.name, writer.variable(each.variable, f"{each.name}{VALUE}"))
    callee = of_program(program)
    for name in dict.fromkeys((program.name, "__call__")):
        writer.function(root, name, [callee])
    writer.signatures(root, {DEFAULT: as_signature(callee)})
    check(writer.library, "a SavedModel", program.name)
    return writer.content(program.metadata)
