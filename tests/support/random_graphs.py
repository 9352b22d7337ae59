"""Random graphs for property tests: all four structures, effects, failures, dead values, several results.

Values are of four kinds: int32[], float32[], bool[] and float32[3]. Every graph also holds a reference to one
variable, which operations with effects read and change, so that their order shows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from agc.runtime import dtypes, errors
from agc.runtime.ir.graph import Constant, Graph, Operand, Operation, Origin, Value
from agc.runtime.ir.value_types import AnySpec, TensorType, VariableType
from agc.runtime.ops.framework import region_ops  # noqa: F401  (declares the operations with regions)
from agc.runtime.ops.framework.op import find
from hypothesis import strategies as st


def many(few: int) -> int:
    """How many graphs a property is tried on: few in the suite, as many as are asked for in `make fuzz`."""
    return int(os.environ.get("AGC_FUZZ") or few)


N, F, B, V = (
    TensorType(dtypes.int32, ()),
    TensorType(dtypes.float32, ()),
    TensorType(dtypes.bool_, ()),
    TensorType(dtypes.float32, (3,)),
)
REF = VariableType(F)

#   operation               operands   attributes
STEPS: list[tuple[str, tuple[TensorType, ...], dict[str, Any]]] = [
    ("add",                 (N, N),    {}),
    ("multiply",            (N, N),    {}),
    ("floordiv",            (N, N),    {}),
    ("add",                 (F, F),    {}),
    ("realdiv",             (F, F),    {}),
    ("multiply",            (F, V),    {}),
    ("subtract",            (V, V),    {}),
    ("less",                (N, N),    {}),
    ("greater_equal",       (F, F),    {}),
    ("logical_not",         (B,),      {}),
    ("where",               (B, F, F), {}),
    ("cast",                (N,),      {"dtype": dtypes.float32}),
    ("reduce_sum",          (V,),      {"axis": (0,), "keepdims": False}),
    ("reduce_max",          (V,),      {"axis": None, "keepdims": False}),
    ("gather",              (V, N),    {"axis": 0, "batch_dims": 0}),
    ("stack",               (F, F, F), {"axis": 0}),
    ("unstack",             (V,),      {"num": 3, "axis": 0}),
    ("assert",              (B,),      {"message": "no", "error": "InvalidArgumentError", "summarize": 3}),  # last
]  # fmt: skip
EFFECTS = [("assign_add_variable", (REF, F)), ("assign_variable", (REF, F)), ("read_variable", (REF,))]


class Cell:
    """A placeholder for a variable."""

    def __init__(self, content: float) -> None:
        self._array = np.array(content, np.float32)


@st.composite
def graphs(draw: st.DrawFn, depth: int = 2, effects: bool = True) -> Graph:
    """A graph with inputs (variable, int32, float32, bool, float32[3]); without effects if so wished."""
    return _Maker(draw, [], effects).graph("main", [REF, N, F, B, V], depth)


@st.composite
def arguments(draw: st.DrawFn) -> list[Any]:
    """Values for the inputs of such a graph; the variable is new each time."""
    return [
        Cell(draw(st.integers(-3, 3))),
        np.array(draw(st.integers(-4, 4)), np.int32),
        np.array(draw(_floats), np.float32),
        np.array(draw(st.booleans())),
        np.array(draw(st.lists(_floats, min_size=3, max_size=3)), np.float32),
    ]


_floats = st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.1, 1e30, float("inf"), float("nan")])
_names = st.sampled_from(
    ["x", "y", "total", "x.1", "a/b", "return", "op_add", "int32_1", "np", "", "ξ", "1st"]
)


class _Maker:
    """Grows one graph; `callees` are graphs that calls may share."""

    def __init__(self, draw: st.DrawFn, callees: list[Graph], effects: bool) -> None:
        self.draw = draw
        self.effects = effects
        self.callees = callees
        self.pool: list[Operand] = []
        self.operations: list[Operation] = []

    def graph(
        self,
        name: str,
        inputs: Sequence[AnySpec],
        depth: int,
        results: Sequence[TensorType] = (),
        known: Sequence[Any] = (),
    ) -> Graph:
        values = tuple(
            Value(self.draw(_names), spec, elements) for spec, elements in zip_longest(inputs, known)
        )
        self.pool = list(values)
        for _ in range(self.draw(st.integers(0, 5))):
            self.step(depth)
        wanted = results or [
            self.draw(st.sampled_from([N, F, B, V])) for _ in range(self.draw(st.integers(0, 3)))
        ]
        outputs = tuple(self.operand(spec) for spec in wanted)
        return Graph(name, values, tuple(self.operations), outputs)

    def operand(self, spec: AnySpec) -> Operand:
        """A value of the pool, mostly, or a constant."""
        found = [x for x in self.pool if x.spec == spec]
        if found and (spec == REF or self.draw(st.integers(0, 3))):
            return self.draw(st.sampled_from(found))
        return Constant(self.draw(_constants(spec)))

    def step(self, depth: int) -> None:
        makers = [self.plain, self.plain]
        if self.effects:
            makers.append(self.effect)
        if depth:
            makers += [self.cond, self.switch, self.loop, self.call]
        self.draw(st.sampled_from(makers))(depth)

    def add(
        self,
        name: str,
        inputs: Sequence[Operand],
        attrs: dict[str, Any],
        regions: Any = (),
        specs: Any = None,
    ) -> None:
        op = find(name)
        inferred = op.infer(list(inputs), attrs) if specs is None else tuple(specs)
        many = inferred if isinstance(inferred, tuple) else (inferred,)
        outputs = tuple(Value(self.draw(_names), spec) for spec in many)
        origin = Origin("train.py", len(self.operations) + 1, "fit")
        if op.known is not None:
            outputs[0].elements = op.known(*op.grouped(list(inputs)), **attrs)
        self.operations.append(Operation(op, tuple(inputs), attrs, outputs, tuple(regions), origin))
        self.pool += outputs

    def plain(self, depth: int) -> None:
        name, kinds, attrs = self.draw(st.sampled_from(STEPS if self.effects else STEPS[:-1]))
        try:
            self.add(name, [self.operand(kind) for kind in kinds], attrs)
        except (ValueError, errors.OpError):
            return  # a constant index that the rule refuses: no step then

    def effect(self, depth: int) -> None:
        name, kinds = self.draw(st.sampled_from(EFFECTS))
        self.add(name, [self.operand(kind) for kind in kinds], {})

    def arguments(self) -> list[Operand]:
        return [self.operand(spec) for spec in (REF, N, F, B, V)]

    def region(
        self,
        name: str,
        inputs: Sequence[Operand],
        depth: int,
        results: Sequence[TensorType],
        changing: int = 0,
    ) -> Graph:
        return _Maker(self.draw, self.callees, self.effects).graph(
            name, [x.spec for x in inputs], depth - 1, results, _known(inputs, changing)
        )

    def results(self) -> list[TensorType]:
        return self.draw(st.lists(st.sampled_from([N, F, B, V]), min_size=1, max_size=3))

    def cond(self, depth: int) -> None:
        given, results = self.arguments(), self.results()
        regions = [self.region(name, given, depth, results) for name in ("then", "else")]
        self.add("cond", [self.operand(B), *given], {}, regions, results)

    def switch(self, depth: int) -> None:
        given, results = self.arguments(), self.results()
        count = self.draw(st.integers(1, 3))
        regions = [self.region("branch", given, depth, results) for _ in range(count)]
        self.add("switch", [self.operand(N), *given], {}, regions, results)

    def call(self, depth: int) -> None:
        given, results = self.arguments(), self.results()
        if not self.callees or self.draw(st.booleans()):
            self.callees.append(self.region("callee", given, depth, results, changing=len(given)))
        callee = self.draw(st.sampled_from(self.callees))
        self.add("call", given, {}, [callee], [x.spec for x in callee.outputs])

    def loop(self, depth: int) -> None:
        """Counts to a small limit; the rest of the state is whatever the body makes of it."""
        kinds = self.results()
        state = [Constant(np.array(0, np.int32)), *map(self.operand, kinds)]
        given = [*state, *self.arguments()]
        entered = list(zip((x.spec for x in given), _known(given, len(state)), strict=True))
        test = self.counting(entered, "less", Constant(np.array(self.draw(st.integers(0, 4)), np.int32)))
        body = self.region("body", given, depth, kinds, changing=len(state))
        step = self.counting(entered, "add", Constant(np.array(1, np.int32)), rename=body)
        limit = self.draw(st.sampled_from([None, None, 0, 2]))
        attrs = {} if limit is None else {"maximum_iterations": limit}
        self.add("while", given, attrs, [test, step], [N, *kinds])

    def counting(
        self, entered: Sequence[tuple[AnySpec, Any]], name: str, other: Operand, rename: Graph | None = None
    ) -> Graph:
        """`first input <name> other`, before what the body `rename` yields."""
        inputs = rename.inputs if rename else tuple(Value(self.draw(_names), *each) for each in entered)
        op = find(name)
        result = Value("k", B if rename is None else N)
        if op.known is not None:
            result.elements = op.known(inputs[0], other)
        operation = Operation(op, (inputs[0], other), {}, (result,))
        place = self.draw(st.integers(0, len(rename.operations))) if rename else 0
        old = rename.operations if rename else ()
        outputs = (result, *(rename.outputs if rename else ()))
        return Graph("body" if rename else "test", inputs, (*old[:place], operation, *old[place:]), outputs)


def _known(given: Sequence[Operand], changing: int) -> list[Any]:
    """The known elements of a region's inputs, of which the first `changing` are new each time it runs."""
    return [None] * changing + [x.elements if isinstance(x, Value) else None for x in given[changing:]]


def _constants(spec: AnySpec) -> st.SearchStrategy[Any]:
    assert isinstance(spec, TensorType), "variables are always given"
    if spec == N:
        return st.integers(-3, 5).map(lambda n: np.array(n, np.int32))
    if spec == B:
        return st.booleans().map(np.array)
    if spec == F:
        return _floats.map(lambda x: np.array(x, np.float32))
    return st.lists(_floats, min_size=3, max_size=3).map(lambda xs: np.array(xs, np.float32))
