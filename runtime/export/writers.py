"""One public function for each format: `write` with the options of that format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..formats.program import Program
from ..saved_model import tensorflow_save
from ..saved_model.function_serialization import is_function
from ..storage.atomic_files import write_files
from .source import Axes
from .write import write

Signature = Sequence[Any] | Mapping[str, Any]


def text(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as text; see `write`.

    >>> import agc.runtime as tf, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = text(tf.sin, folder + "/f.txt", [tf.TensorSpec([2])])
    ...     print(pathlib.Path(folder, "f.txt").read_text(), end="")
    graph sin(x: float32[2]) -> float32[2]
      _ = sin x                                     : float32[2]
      return _
    """
    return write(source, path, input_signature, to="text")


def json(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as JSON; see `write`.

    >>> import agc.runtime as tf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     json(tf.sin, folder + "/f.json", [tf.TensorSpec([2])]).name
    'sin'
    """
    return write(source, path, input_signature, to="json")


def dot(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as a picture for Graphviz; see `write`.

    >>> import agc.runtime as tf, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = dot(tf.sin, folder + "/f.dot", [tf.TensorSpec([2])])
    ...     pathlib.Path(folder, "f.dot").read_text()[:7]
    'digraph'
    """
    return write(source, path, input_signature, to="dot")


def mermaid(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as a flowchart of Mermaid; see `write`.

    >>> import agc.runtime as tf, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = mermaid(tf.sin, folder + "/f.mmd", [tf.TensorSpec([2])])
    ...     pathlib.Path(folder, "f.mmd").read_text()[:12]
    'flowchart TD'
    """
    return write(source, path, input_signature, to="mermaid")


def onnx(
    source: Any,
    path: Any,
    input_signature: Signature = (),
    *,
    dynamic_axes: Axes | None = None,
    opset: int = 22,
    allow_random: bool = False,
) -> Program:
    """Write a function as an ONNX model (extra `[onnx]`).

    Args:
        source, path, input_signature, dynamic_axes: see `write`.
        opset: the version of the operators, from 20 to 28.
        allow_random: write random operations as ONNX' generators, whose numbers differ from those of agc.

    Variables that the function assigns are inputs `NAME` with the current value as the default, and outputs
    `NAME_next`. Raises `CannotExportError` with all operations that ONNX cannot express.

    >>> import agc.runtime as tf, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = onnx(lambda x: 2.0 * x, folder + "/f.onnx", [tf.TensorSpec([None])])
    ...     os.listdir(folder)
    ['f.onnx']
    """
    options = {"opset": opset, "allow_random": allow_random}
    return write(source, path, input_signature, to="onnx", dynamic_axes=dynamic_axes, **options)


def graphdef(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write a function as a frozen GraphDef of TensorFlow, with variables as constants; see `write`.

    Raises CannotExportError also for a program that assigns variables.

    >>> import agc.runtime as tf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graphdef(tf.sin, folder + "/f.pb", [tf.TensorSpec([2])]).outputs[0].name
    'output_0'
    """
    return write(source, path, input_signature, to="graphdef")


def saved_model(
    source: Any, path: Any, input_signature: Signature = (), signatures: Any = None
) -> Program | None:
    """Write a function, or an object with functions, as TensorFlow's SavedModel.

    Args:
        source: as for `write`; or an object such as a `tf.Module`, without an `input_signature`. Its variables are
            saved, and its functions with the graphs that they have, as by `saved_model.save`.
        path: the folder.
        input_signature: as for `write`.
        signatures: of an object, as for `saved_model.save`. A function is the signature "serving_default".

    Returns the program that was written, or None for an object. Raises CannotExportError, which lists all reasons.

    >>> import agc.runtime as tf, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = saved_model(lambda x: 2.0 * x, folder, [tf.TensorSpec([None])])
    ...     sorted(os.listdir(folder))
    ['saved_model.pb', 'variables']
    """
    is_object = hasattr(type(source), "__children__") and not is_function(source)
    if not is_object or input_signature:
        return write(source, path, input_signature, to="saved_model")
    write_files(Path(path), tensorflow_save.encode(source, signatures, {"producer": "agc"}))
    return None


def stablehlo(
    source: Any, path: Any, input_signature: Signature = (), *, dynamic_axes: Axes | None = None
) -> Program:
    """Write a function as StableHLO, which `jax.export.deserialize` reads (extra `[jax]`).

    Args:
        source, path, input_signature, dynamic_axes: see `write`. Unknown dimensions become symbolic sizes, if no
            operation needs their numbers.

    Variables that the function assigns are inputs after the others, and results after the others. If a check may
    fail, the first result says whether it has. Raises `CannotExportError` with all operations that XLA cannot run.

    >>> stablehlo(lambda x: 2.0 * x, "f.stablehlo", [tf.TensorSpec([2])])  # doctest: +SKIP
    Program(name='lambda_', ...)
    """
    return write(source, path, input_signature, to="stablehlo", dynamic_axes=dynamic_axes)
