"""`agc.runtime.onnx.load`: a model file as a function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....core.conversion import convert_to_tensor
from ....core.module import Module
from ....core.tensor import EagerTensor
from ....core.tensor_spec import TensorSpec
from ....core.variable import Variable
from ....storage.corruption import reading
from ....tracing.function import function
from . import operators  # noqa: F401  # registers them
from .evaluation import run_nodes
from .nodes import GraphReader, NodeGraph, check_names, check_operators
from .operators.registry import TensorSequence
from .protos import dtype_of, read_model


def load(path: Any, trainable: bool = False) -> OnnxModel:
    """Return an ONNX model as a function (extra `[onnx]`).

    Args:
        path: the file.
        trainable: make the floating-point constants of the model variables, so that it can be trained further.

    The model takes tensors in the order of `input_specs`, or by name, and returns a tensor, or a list of several. A
    sequence among the results is a list. The model can be called eagerly and in a `tf.function`, and differentiated.
    Inputs with a default value may be left out.

    Raises UnimplementedError, which lists all operators that are not supported, and DataLossError for a damaged file.
    No code of the file is executed; external data are read from the folder of the file only.

    >>> import agc.runtime as tf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = tf.export.onnx(lambda x: 2.0 * x, folder + "/f.onnx", [tf.TensorSpec([None])])
    ...     model = load(folder + "/f.onnx")
    >>> model(tf.constant([1.0, 2.0])).numpy().tolist(), model.input_specs[0].shape
    ([2.0, 4.0], TensorShape([None]))
    """
    path = Path(path)
    proto = read_model(path)
    with reading(path):
        graph = GraphReader(proto, path.parent).graph
        check_operators(graph, path)
        check_names(graph, path)
        specs = [_spec(value) for value in proto.graph.input]
        metadata = {each.key: each.value for each in proto.metadata_props}
        return OnnxModel(graph, specs, metadata, trainable)


def _spec(value: Any) -> TensorSpec:
    if value.type.WhichOneof("value") != "tensor_type":
        raise ValueError(f"the input {value.name!r} is not a tensor")
    tensor = value.type.tensor_type
    shape = None
    if tensor.HasField("shape"):
        # Some exporters write an unknown size as -1.
        sizes = [each.dim_value if each.HasField("dim_value") else -1 for each in tensor.shape.dim]
        shape = [size if size >= 0 else None for size in sizes]
    return TensorSpec(shape, dtype_of(tensor.elem_type), value.name)


class OnnxModel(Module):
    """A loaded model.

    Attributes: `input_specs`, a TensorSpec for each input; `output_names`; `metadata`, the properties in the file; and
    `weights` by name, variables if the model is trainable, else tensors.

    >>> import agc.runtime as tf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = tf.export.onnx(lambda x: 2.0 * x, folder + "/f.onnx", [tf.TensorSpec([None])])
    ...     load(folder + "/f.onnx").output_names
    ['output_0']
    """

    def __init__(
        self, graph: NodeGraph, specs: list[TensorSpec], metadata: dict[str, str], trainable: bool
    ) -> None:
        super().__init__()
        self.input_specs = specs
        self.output_names = list(graph.outputs)
        self.metadata = metadata
        self._graph = graph
        self.weights = {name: _weight(name, value, trainable) for name, value in graph.constants.items()}
        self._run = function(self._evaluated, autograph=False)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Return the results for tensors in the order of `input_specs`, or by name."""
        names = [str(spec.name) for spec in self.input_specs]
        given = dict(zip(names, inputs, strict=False))
        unknown = [name for name in named if name not in names or name in given]
        if unknown or len(inputs) > len(names):
            raise TypeError(f"the model takes {', '.join(names)}: {unknown or len(inputs)} is too much")
        given.update(named)
        missing = [name for name in names if name not in given and name not in self.weights]
        if missing:
            raise TypeError(
                f"the model takes {', '.join(map(str, names))}: {', '.join(map(str, missing))} is missing"
            )
        values = [given[name] if name in given else self.weights[name] for name in names]
        pairs = zip(values, self.input_specs, strict=True)
        results = self._run(*[convert_to_tensor(value, spec.dtype) for value, spec in pairs])
        return results[0] if len(results) == 1 else results

    def _evaluated(self, *values: Any) -> list[Any]:
        known = {name: _value(value) for name, value in self.weights.items()}
        known.update((str(spec.name), value) for spec, value in zip(self.input_specs, values, strict=True))
        results = run_nodes(self._graph, known)
        return [each.items if isinstance(each, TensorSequence) else each for each in results]

    def __repr__(self) -> str:
        inputs = ", ".join(f"{spec.name}: {spec.spec}" for spec in self.input_specs)
        return f"<OnnxModel {self._graph.name}({inputs}) -> {', '.join(self.output_names)}>"


def _weight(name: str, value: Any, trainable: bool) -> Any:
    tensor = EagerTensor(value)
    return Variable(tensor, name=name) if trainable and tensor.dtype.is_floating else tensor


def _value(weight: Any) -> Any:
    return convert_to_tensor(weight) if isinstance(weight, Variable) else weight
