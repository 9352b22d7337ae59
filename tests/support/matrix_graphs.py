"""Random graphs over matrices, whose arrays may take each other's place: views, updates, loops within each other.

They make much of few values: those that are new, which may be replaced, and those that were there before a loop or a
branch, which must stay as they are.
"""

from __future__ import annotations

from typing import Any

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
from agc.runtime import dtypes
from agc.runtime.ir.clone import Substitution, renewed, substitute
from agc.runtime.ir.graph import Constant, Graph, Operand, Operation, Value
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import find
from hypothesis import strategies as st

SIZE = 6
"""More elements than native code keeps in registers."""

M, N = TensorType(dtypes.float32, (SIZE, SIZE)), TensorType(dtypes.int32, ())
UNARY = ["negative", "relu", "square", "tanh", "abs", "zeros_like", "identity"]
BINARY = ["add", "subtract", "multiply", "maximum", "matmul", "where", "matmul"]
EXACT_UNARY = ["negative", "relu", "abs", "zeros_like", "identity", "sort", "sort"]
EXACT_BINARY = ["add", "subtract", "maximum", "minimum", "where", "update", "update", "update"]
"""What gives the same bits everywhere, and does not grow much."""

VIEWS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("transpose", [[1, 0]], {}),
    ("reshape", [[SIZE, SIZE]], {}),
    ("getitem", [], {"key": "::-1"}),
    ("getitem", [], {"key": "..."}),
    ("broadcast_to", [[SIZE, SIZE]], {}),
    ("expand_dims", [], {"axis": 0}),
]


def inputs() -> list[np.ndarray[Any, Any]]:
    """What such a graph is given."""
    return [
        np.linspace(-1, 1, SIZE**2, dtype=np.float32).reshape(SIZE, SIZE),
        np.full((SIZE, SIZE), 0.3, np.float32),
    ]


def repeated(graph: Graph, times: int) -> Graph:
    """Return a graph that applies `graph` again and again, to its first and its last result."""
    operations: list[Operation] = []
    values: tuple[Operand, ...] = graph.inputs
    outputs: list[Operand] = []
    for _ in range(times):
        known: Substitution = dict(zip(graph.inputs, values, strict=True))
        operations += [renewed(operation, known) for operation in graph.operations]
        outputs += substitute(graph.outputs, known)
        values = outputs[-len(graph.outputs)], outputs[-1]
    return Graph(graph.name, graph.inputs, tuple(operations), outputs[-5:])


@st.composite
def matrix_graphs(draw: st.DrawFn, exact: bool = False) -> Graph:
    """A graph with two matrices as inputs; of `exact` operations only, if so wished."""
    maker = _Maker(draw, exact)
    inputs = Value("x", M), Value("y", M)
    maker.pool = list(inputs)
    for _ in range(draw(st.integers(2, 10))):
        maker.step(2)
    outputs = tuple(maker.pick() for _ in range(draw(st.integers(1, 4))))
    return Graph("f", inputs, tuple(maker.operations), outputs)


class _Maker:
    """Grows a graph over matrices: operations on elements, products, views, and loops within each other."""

    def __init__(self, draw: st.DrawFn, exact: bool) -> None:
        self.draw = draw
        self.exact = exact
        self.operations: list[Operation] = []
        self.pool: list[Operand] = []

    def add(self, name: str, operands: list[Operand], attrs: dict[str, Any] | None = None) -> Value:
        op = find(name)
        assert op is not None
        attrs = op.attribute_defaults | (attrs or {})
        value = Value(name, op.infer(operands, attrs))
        self.operations.append(Operation(op, tuple(operands), attrs, (value,)))
        self.pool.append(value)
        return value

    def pick(self) -> Operand:
        """What is new, mostly; else anything."""
        which = self.draw(st.integers(0, 8))
        if not which:
            return Constant(np.full((SIZE, SIZE), 0.5, np.float32))
        return self.draw(st.sampled_from(self.pool if which < 4 else self.pool[-3:]))

    def step(self, depth: int) -> None:
        kind = self.draw(
            st.sampled_from(
                ["unary", "binary", "binary", "view", "loop", "cond"]
                if depth
                else ["unary", "binary", "view"]
            )
        )
        if kind == "unary":
            name = self.draw(st.sampled_from(EXACT_UNARY if self.exact else UNARY))
            attrs = {"axis": self.draw(st.integers(0, 1))} if name == "sort" else {}
            self.add(name, [self.pick()], attrs)
        elif kind == "binary":
            self.binary(self.draw(st.sampled_from(EXACT_BINARY if self.exact else BINARY)))
        elif kind == "view":
            name, others, attrs = self.draw(st.sampled_from(VIEWS))
            given: list[Operand] = [Constant(np.array(other, np.int32)) for other in others]
            view = self.add(name, [self.pick(), *given], attrs)
            if view.spec != M:
                self.pool.remove(view)
                self.add("squeeze", [view], {"axis": (0,)})
        elif kind == "loop":
            self.loop(depth - 1)
        else:
            self.cond(depth - 1)

    def binary(self, name: str) -> None:
        if name == "where":
            condition = self.add("less", [self.pick(), self.pick()])
            self.pool.remove(condition)
            self.add("where", [condition, self.pick(), self.pick()])
        elif name == "update":
            begin = self.draw(st.integers(0, SIZE - 2))
            rows = self.add("getitem", [self.pick()], {"key": f"{begin}:{begin + 2}"})
            self.pool.remove(rows)
            places = Constant(np.array([[1], [self.draw(st.integers(2, SIZE - 1))]], np.int32))
            self.add("tensor_scatter_nd_update", [self.pick(), places, rows])
        else:
            attrs = {"transpose_a": self.draw(st.booleans())} if name == "matmul" else {}
            self.add(name, [self.pick(), self.pick()], attrs)

    def region(self, name: str, inputs: tuple[Value, ...], matrices: int, results: int, depth: int) -> Graph:
        inner = _Maker(self.draw, self.exact)
        inner.pool = list(inputs[-matrices:])
        for _ in range(self.draw(st.integers(1, 5))):
            inner.step(depth)
        outputs = tuple(inner.pick() for _ in range(results))
        return Graph(name, inputs, tuple(inner.operations), outputs)

    def loop(self, depth: int) -> None:
        count = self.draw(st.integers(1, 3))
        given = [Constant(np.array(0, np.int32)), *(self.pick() for _ in range(count + 1))]
        specs = [N, *[M] * (count + 1)]
        t = tuple(Value("t", spec) for spec in specs)
        limit = Constant(np.array(self.draw(st.integers(0, 3)), np.int32))
        go = Value("go", TensorType(dtypes.bool_, ()))
        less, plus, loop = find("less"), find("add"), find("while")
        assert less and plus and loop
        test = Graph("test", t, (Operation(less, (t[0], limit), {}, (go,)),), (go,))
        inputs = tuple(Value("s", spec) for spec in specs)
        body = self.region("body", inputs, count + 1, count, depth)
        k = Value("k", N)
        step = Operation(plus, (inputs[0], Constant(np.array(1, np.int32))), {}, (k,))
        body = Graph("body", inputs, (*body.operations, step), (k, *body.outputs))
        results = tuple(Value("r", spec) for spec in specs[: count + 1])
        self.operations.append(Operation(loop, tuple(given), {}, results, (test, body)))
        self.pool += results[1:]

    def cond(self, depth: int) -> None:
        cond = find("cond")
        assert cond is not None
        given = [self.pick(), self.pick()]
        regions = tuple(
            self.region(name, (Value("x", M), Value("y", M)), 2, 1, depth) for name in ("then", "else")
        )
        result = Value("c", M)
        choice = Constant(np.array(self.draw(st.booleans())))
        self.operations.append(Operation(cond, (choice, *given), {}, (result,), regions))
        self.pool.append(result)
