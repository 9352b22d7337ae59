"""The format `onnx`: a program as a model, and its results in ONNX Runtime.

    variables that the program reads        initializers
    variables that it assigns               inputs with a default value, and outputs `NAME_next`

The second kind makes one step of a program with state: pass the outputs `NAME_next` as the next inputs `NAME`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...functionalize.errors import CannotCompileError, Reason
from ...functionalize.shapes import specialized
from ...functionalize.variables import without_variables
from ...ir.graph import Graph
from ...ir.traits import DRAWS_RANDOM
from ...ir.value_types import TensorType
from ..missing import library
from ..program import Array, Port, Program
from ..refusals import CannotExportError, refusing
from . import loops, rules  # noqa: F401  # registers the writers of loops and the rules
from .emitter import NodeEmitter
from .graph_writer import GraphWriter
from .onnx_types import DTYPES, helper, value_info
from .registry import RULES
from .values import Ref

OPSETS = (20, 28)
"""The oldest and the newest opset that are written."""
DEFAULT_OPSET = 22
_LARGEST = 2**31 - 1  # of a protobuf message


def encode(
    program: Program, opset: int = DEFAULT_OPSET, allow_random: bool = False, optimize: bool = True
) -> bytes:
    """Return the program as an ONNX model.

    Args:
        program: what to write.
        opset: the version of the operators, from 20 to 28.
        allow_random: write random operations as ONNX' generators, whose numbers differ from those of agc.
        optimize: write the optimized graph.

    Raises `CannotExportError` with all operations that ONNX cannot express.
    """
    if not OPSETS[0] <= opset <= OPSETS[1]:
        raise ValueError(f"opset must be between {OPSETS[0]} and {OPSETS[1]}, not {opset}")
    if not program.outputs:
        raise CannotExportError("ONNX", program.name, ["it has no results"])
    program = program.optimized() if optimize else program
    with refusing("ONNX", program.name):
        graph, assigned = without_variables(program.graph)
    graph = _specialized(program, graph)
    random = _random_operations(graph)
    # ONNX Runtime has no generators of newer opsets
    emitter = NodeEmitter(min(opset, 21) if random else opset)
    emitter.lists_grow = any(each.attrs.get("dynamic", False) for each in graph.walk())
    writer = GraphWriter(emitter, {} if allow_random else random)
    model = _Model(program, graph, assigned, writer).content()
    if writer.reasons:
        raise CannotExportError("ONNX", program.name, writer.reasons)
    _warn(program.name, writer.notes)
    if model.ByteSize() > _LARGEST:
        raise CannotExportError("ONNX", program.name, ["it has more than 2 GB of constants and variables"])
    content: bytes = model.SerializeToString()
    return content


def _specialized(program: Program, graph: Graph) -> Graph:
    """Return the graph with the shapes that follow from those of the inputs and variables."""
    values = [TensorType(each.variable.dtype, each.variable._array.shape) for each in program.variables]
    try:
        return specialized(graph, [*[port.spec for port in program.inputs], *values], with_sizes=True)
    except CannotCompileError:  # it has strings, or shapes of unknown rank
        return graph


def _random_operations(graph: Graph) -> dict[str, str]:
    """Return the operations that ONNX could draw for, and the way to let it."""
    reason = "the random numbers of ONNX differ from those of agc; allow_random=True accepts that"
    return {each.type: reason for each in graph.walk() if each.op.has(DRAWS_RANDOM) and each.type in RULES}


def _warn(name: str, notes: Sequence[Reason]) -> None:
    if notes:
        lines = "".join(f"\n  {note}" for note in dict.fromkeys(map(str, notes)))
        warnings.warn(f"`{name}` as ONNX differs from the program:{lines}", stacklevel=5)


class _Model:
    """One model: the inputs, outputs and initializers around the nodes of a graph."""

    def __init__(self, program: Program, graph: Graph, assigned: Sequence[int], writer: GraphWriter) -> None:
        self.program, self.graph, self.writer, self.e = program, graph, writer, writer.e
        self.assigned = [each - len(program.inputs) for each in assigned]

    def content(self) -> Any:
        e, program = self.e, self.program
        taken = [self._input(port) for port in program.inputs]
        variables = [self._variable(number) for number in range(len(program.variables))]
        state = [program.variables[number] for number in self.assigned]
        outputs = [e.fresh(port.name) for port in program.outputs]
        outputs += [e.fresh(f"{each.name}_next") for each in state]
        results = self.writer.region(self.graph, [ref for ref in (*taken, *variables) if ref is not None])
        if self.writer.reasons:
            return None
        for ref, name in zip(results, outputs, strict=True):
            e.add("Identity", [ref.name], [name], {})
        inputs = [_declared(ref.name, port) for ref, port in zip(taken, program.inputs, strict=True)]
        inputs += [
            value_info(variables[i].name, variables[i].dtype, variables[i].shape) for i in self.assigned
        ]
        declared = [_output(name, operand) for name, operand in zip(outputs, self.graph.outputs, strict=True)]
        read = _names_read(e.nodes) | {value.name for value in inputs}
        # Others were folded into attributes and constants.
        constants = [each for each in e.initializers if each.name in read]
        graph = helper.make_graph(e.nodes, program.name, inputs, declared, initializer=constants)
        return self._model(graph)

    def _model(self, graph: Any) -> Any:
        opsets = [helper.make_opsetid("", self.e.opset)]
        metadata = self.program.metadata
        model = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=helper.find_min_ir_version_for(opsets),
            producer_name=metadata.get("producer", "agc"),
            producer_version=metadata.get("version", ""),
        )
        helper.set_model_props(model, metadata)
        return model

    def _input(self, port: Port) -> Ref:
        return self._checked(port.name, port.spec)

    def _checked(self, name: str, spec: TensorType) -> Ref:
        if spec.dtype.name not in DTYPES:
            reason = f"the input `{name}` is {spec.dtype.name}, which ONNX has no operators for"
            raise CannotExportError("ONNX", self.program.name, [reason])
        return Ref(self.e, self.e.fresh(name), spec.dtype, spec.shape)

    def _variable(self, number: int) -> Ref:
        """Return the value of a variable: an initializer, which is an input as well if it is assigned."""
        captured = self.program.variables[number]
        array, dtype = np.asarray(captured.variable._array), captured.variable.dtype
        ref = self._checked(captured.name, TensorType(dtype, array.shape))
        self.e.initialize(ref.name, array, dtype)
        return ref


def _names_read(nodes: Sequence[Any]) -> set[str]:
    """Return the names of the values that nodes read, and the graphs inside of them."""
    found = {name for node in nodes for name in node.input}
    for graph in [each.g for node in nodes for each in node.attribute if each.HasField("g")]:
        found |= _names_read(graph.node) | {value.name for value in graph.output}
    return found


def _declared(name: str, port: Port) -> Any:
    shape = port.spec.shape
    if shape is not None and port.axes is not None:
        sizes: Any = tuple(axis or size for axis, size in zip(port.axes, shape, strict=True))
        return value_info(name, port.spec.dtype, sizes)
    return value_info(name, port.spec.dtype, shape)


def _output(name: str, operand: Any) -> Any:
    return value_info(name, operand.spec.dtype, operand.spec.shape)


def run(path: Path, program: Program, arrays: Sequence[Array]) -> list[Array]:
    """Return the outputs that ONNX Runtime computes. RuntimeError for inputs and outputs of bfloat16."""
    for port in (*program.inputs, *program.outputs):
        if port.spec.dtype.name == "bfloat16":
            raise RuntimeError(
                f"ONNX Runtime gives Python no bfloat16 arrays, as `{port.name}` is: verify it as float32"
            )
    runtime = library("onnxruntime", None, "the verification of ONNX models")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()][: len(arrays)]
    feeds = {name: _fed(array) for name, array in zip(names, arrays, strict=True)}
    found = session.run(None, feeds)[: len(program.outputs)]
    return [_read(array) for array in found]


def _fed(array: Array) -> Array:
    """Return an array as ONNX Runtime takes it: strings as str."""
    if array.dtype != object:
        return array
    return _each(array, lambda text: text.decode() if isinstance(text, bytes) else text)


def _read(array: Any) -> Array:
    """Return an array of ONNX Runtime as agc has it: strings as bytes."""
    array = np.asarray(array)
    if array.dtype != object:
        return array  # type: ignore[no-any-return]
    return _each(array, lambda text: text.encode() if isinstance(text, str) else text)


def _each(array: Array, change: Any) -> Array:
    changed: Array = np.vectorize(change, otypes=[object])(array)
    return changed
