"""Fused operations in blocks give what the interpreter gives: elements to the bit, sums of floats within a few ulp."""

from __future__ import annotations

import functools
import gc
import multiprocessing
import threading
import tracemalloc
import warnings
from collections.abc import Iterator
from typing import Any

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
import pytest
from agc.runtime import config, dtypes, errors
from agc.runtime.executors import EXECUTORS, Plan, interpret
from agc.runtime.executors.plan.fusion import fused_kernel, tiling, write
from agc.runtime.ir.graph import Constant, Graph, Operand, Operation, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.fusion_traits import works_on_elements
from agc.runtime.ops.framework.op import REGISTRY, find
from agc.runtime.optimize.fusion import run as fuse
from hypothesis import given, settings
from hypothesis import strategies as st
from support.each_case import each_case
from support.operation_examples import REFUSALS
from support.outcomes import bits
from support.random_graphs import many
from support.verifier import verify


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 elements for tensors from 100 on, so that small ones show all that can happen."""
    monkeypatch.setattr(tiling, "SMALLEST", 100)
    monkeypatch.setattr(tiling, "WORTH", 0.0)
    monkeypatch.setattr(tiling, "LEAST", 64)
    monkeypatch.setattr(tiling, "MOST", 64)


@pytest.fixture(autouse=True)
def blocks_fail_only_where_the_whole_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that fail give way to the whole, which says what is to blame. Where it says nothing, they were wrong."""
    results, call = fused_kernel._Run.results, fused_kernel.Fused.__call__

    def watched(run: Any) -> Any:
        try:
            return results(run)
        except Exception as error:
            run.fused.failure = error
            raise

    def called(fused: Any, *operands: Any) -> Any:
        fused.failure = None
        found = call(fused, *operands)
        assert fused.failure is None, f"blocks failed: {fused.failure!r}"
        return found

    # The plan reads tracebacks, and agc's frames would be dropped where an error passes `called`, which is not agc's.
    monkeypatch.setenv("AGC_FULL_TRACEBACK", "1")
    monkeypatch.setattr(fused_kernel._Run, "results", watched)
    monkeypatch.setattr(fused_kernel.Fused, "__call__", called)


@pytest.fixture
def many_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Four threads for whatever has more than one block."""
    monkeypatch.setattr(tiling, "PAYS", 0.0)
    monkeypatch.setattr(tiling, "LONG", 0.0)
    config.threading.set_intra_op_parallelism_threads(4)
    yield
    config.threading.set_intra_op_parallelism_threads(0)


def same(found: Any, wanted: Any, ulp: int = 0) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if ulp and wanted.dtype.kind == "f":
        np.testing.assert_array_max_ulp(found, wanted, ulp)
    else:
        np.testing.assert_array_equal(found, wanted)
        if wanted.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def planned(text: str) -> Plan:
    """The plan of a graph, fused whatever its size."""
    return Plan(verify(fuse(parse(text.replace("N", "?")))))


CHAIN = """\
graph f(x: float32[N], y: float32[N]) -> float32[N], float32[], float32[], bool[]
  a = multiply x, y                             : float32[N]
  b = exp a                                     : float32[N]
  c = subtract b, x                             : float32[N]
  s = reduce_sum c                              : float32[]
  m = reduce_max b                              : float32[]
  g = greater c, 1.0                            : bool[N]
  t = reduce_any g                              : bool[]
  return c, s, m, t
"""


@pytest.mark.parametrize("size", [0, 1, 99, 100, 128, 1000])
def test_every_size_agrees(size: int) -> None:
    plan = planned(CHAIN)
    values = np.random.default_rng(size).normal(size=(2, size)).astype(np.float32)
    wanted = interpret(plan.graph, list(values))
    found = plan.run(values)
    for i, ulp in enumerate((0, 4, 0, 0)):
        same(found[i], wanted[i], ulp)


def test_results_do_not_depend_on_the_number_of_threads(many_threads: None) -> None:
    values = np.random.default_rng(1).normal(size=(2, 5000)).astype(np.float32)
    found = []
    for threads in (1, 2, 5):
        config.threading.set_intra_op_parallelism_threads(threads)
        found.append([np.asarray(x).tobytes() for x in planned(CHAIN).run(values)])
    assert found[0] == found[1] == found[2]


POLYNOMIAL = """\
graph f(x: float32[N]) -> float32[N]
  a = multiply x, x                             : float32[N]
  b = add a, x                                  : float32[N]
  return b
"""


@pytest.mark.parametrize(
    ("size", "is_shared", "elements"),
    [(1 << 19, False, 1 << 16), (1 << 23, True, 1 << 17)],
    ids=["one thread: the tile fits its cache", "several threads: calls are worth a wait for the GIL"],
)
def test_tiles_that_threads_share_are_large(
    size: int, is_shared: bool, elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiling, "LEAST", 1 << 15)
    monkeypatch.setattr(tiling, "MOST", 1 << 17)
    body = fuse(parse(POLYNOMIAL.replace("N", "?"))).operations[0].regions[0]
    layout = tiling.lay_out(write(body, "f", str, lambda *names: "f"), [(size,)])
    assert layout is not None
    assert (layout.is_shared, layout.rows) == (is_shared, elements)


def test_a_plan_may_run_in_several_threads(many_threads: None) -> None:
    plan = planned(CHAIN)
    inputs = np.random.default_rng(2).normal(size=(4, 2, 3000)).astype(np.float32)
    wanted = [plan.run(pair)[0].tolist() for pair in inputs]
    found: list[Any] = [None] * 4

    def run(i: int) -> None:
        found[i] = [plan.run(inputs[i])[0].tolist() for _ in range(10)]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[one] * 10 for one in wanted]


def test_a_forked_process_has_threads_of_its_own(many_threads: None) -> None:
    plan = planned(CHAIN)
    values = np.ones((2, 1000), np.float32)
    wanted = plan.run(values)[0].tolist()
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    with warnings.catch_warnings(action="ignore"):  # that a process with threads is forked
        child = context.Process(target=lambda: theirs.send(plan.run(values)[0].tolist()))
        child.start()
    assert mine.poll(60)
    assert mine.recv() == wanted
    child.join()


#    shapes of x, y and z, which broadcast to the first
SHAPES = [
    ((20, 30), (30,), ()),
    ((2, 1, 3, 60), (2, 1, 1, 60), (3, 1)),
    ((5, 40, 1), (40, 1), (5, 1, 1)),
    ((20, 30), (20, 1), (1, 30)),
    ((4, 5, 30), (30,), (5, 1)),
    ((4, 5, 30), (4, 5, 1), (1, 1, 1)),
    ((1, 600), (600,), (1, 1)),
    ((600, 1), (600, 1), (1,)),
    ((3, 1, 50, 2), (3, 1, 1, 1), (50, 2)),
    ((3, 200), (200,), ()),
]


@each_case("shapes", SHAPES, ids=str)
@each_case("axis", [None, (0,), (-1,), (0, -1), ()], ids=str)
@each_case("keepdims", [False, True])
def test_broadcasting_and_axes(shapes: Any, axis: Any, keepdims: bool, many_threads: None) -> None:
    dims = [f"float32[{', '.join('?' for _ in shape)}]" for shape in shapes]
    whole, attrs = dims[0], f"[axis={axis}, keepdims={keepdims}]"
    left = REGISTRY["reduce_sum"].infer(
        [Value("x", TensorType(dtypes.float32, (None,) * len(shapes[0])))],
        {"axis": axis, "keepdims": keepdims},
    )
    graph = parse(f"""\
graph f(x: {dims[0]}, y: {dims[1]}, z: {dims[2]}) -> {whole}, {left}, {left}, {left}
  a = multiply x, y : {whole}
  b = add z, a : {whole}
  s = reduce_sum b {attrs} : {left}
  m = reduce_mean b {attrs} : {left}
  t = reduce_min a {attrs} : {left}
  return b, s, m, t
""")
    random = np.random.default_rng(3)
    values = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    found, wanted = Plan(fuse(graph)).run(values), interpret(graph, values)
    same(found[0], wanted[0])
    same(found[3], wanted[3])
    for i in (1, 2):
        scale = np.abs(values[0]).sum() * 2e-6
        assert found[i].shape == wanted[i].shape
        np.testing.assert_allclose(found[i], wanted[i], rtol=1e-6, atol=scale)


def test_views_of_any_kind_are_operands() -> None:
    graph = parse("""\
graph f(x: float32[?, ?], y: float32[?, ?]) -> float32[?, ?], float32[]
  a = multiply x, y                             : float32[?, ?]
  b = exp a                                     : float32[?, ?]
  s = reduce_sum y                              : float32[]
  c = add b, s                                  : float32[?, ?]
  return c, s
""")
    plan, random = Plan(fuse(graph)), np.random.default_rng(4)
    big = random.normal(size=(60, 60)).astype(np.float32)
    for x in (big.T, big[::-1, ::2].T, big[::3, 1:21], np.broadcast_to(np.float32(3), (20, 30))):
        for y in (x, np.asfortranarray(x), np.broadcast_to(np.float32(0.1), x.shape)):
            found, wanted = plan.run([x, y]), interpret(graph, [x, y])
            same(found[1], wanted[1], 8)
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-4)


def test_memory_of_a_chain_is_that_of_its_result() -> None:
    lines = "".join(f"  a.{i + 1} = multiply a{f'.{i}' if i else ''}, 1.01 : float32[?]\n" for i in range(20))
    plan = Plan(fuse(parse(f"graph f(a: float32[?]) -> float32[?]\n{lines}  return a.20\n")))
    x = np.ones(50_000, np.float32)
    plan.run([x])
    gc.collect()
    tracemalloc.start()
    plan.run([x])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * x.nbytes


def test_a_failure_names_the_operation_and_the_line() -> None:
    text = """\
graph f(x: int32[?], y: int32[?]) -> int32[?]
  a = add x, y                                  : int32[?]
  b = floordiv a, y                             : int32[?]
  return b
"""
    zero = np.zeros(300, np.int32)
    messages = []
    for executor in EXECUTORS.values():
        with pytest.raises(errors.InvalidArgumentError) as caught:
            executor(parse(text))([zero, zero])
        messages.append(caught.value.message)
    assert (
        messages[0] == messages[1] == "Integer division by zero [op floordiv of x: int32[300], y: int32[300]]"
    )


def test_incompatible_shapes_are_refused_as_in_the_interpreter() -> None:
    values = np.ones(300, np.float32), np.ones(200, np.float32)
    messages = []
    for executor in EXECUTORS.values():
        with pytest.raises(errors.InvalidArgumentError) as caught:
            executor(parse(CHAIN.replace("N", "?")))(list(values))
        messages.append(caught.value.message)
    assert messages[0] == messages[1]


@pytest.mark.parametrize("sizes", [(1, 300), (300, 1), (300, 300)])
def test_statically_equal_unknown_sizes_may_differ_at_run_time(sizes: tuple[int, int]) -> None:
    """Of both tensors only the rank is known: one of them may have a single element."""
    plan = planned("""\
graph f(x: float32[N], y: float32[N]) -> float32[N], float32[N], float32[]
  a = multiply x, x                             : float32[N]
  b = add a, y                                  : float32[N]
  c = exp a                                     : float32[N]
  s = reduce_max c                              : float32[]
  return b, c, s
""")
    values = [np.random.default_rng(8).normal(size=size).astype(np.float32) for size in sizes]
    for found, wanted in zip(plan.run(values), interpret(plan.graph, values), strict=True):
        same(found, wanted)


DTYPES = [
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.bool_, dtypes.float16,
    dtypes.complex64,
]  # fmt: skip
NUMBERS = [0.0, -0.0, 0.5, -2.5, 7.0, 1e-45, 70000.0, 1e39, -1e300, float("inf"), float("nan"), 3.0, 2.0, 1.0]


def sample(dtype: dtypes.DType, size: int) -> Any:
    random = np.random.default_rng(size)
    numbers = random.choice(NUMBERS, size)
    with np.errstate(all="ignore"):
        if dtype.kind in "iub":
            return random.integers(0, 256, size).astype(dtype.numpy_dtype)
        return numbers.astype(dtype.numpy_dtype)


find("")  # loads all operations


def elementwise() -> list[tuple[str, dtypes.DType]]:
    """Every operation that can be fused, with each dtype that it takes."""
    found = []
    for name, _op in sorted(REGISTRY.items()):
        for dtype in DTYPES:
            made = step(name, dtype)
            if made is not None and works_on_elements(made):
                found.append((name, dtype))
    return found


def step(name: str, dtype: dtypes.DType) -> Operation | None:
    """The operation on vectors of the dtype, if it takes them."""
    op = REGISTRY[name]
    x = Value("x", TensorType(dtype, (None,)))
    condition = Value("c", TensorType(dtypes.bool_, (None,)))
    attrs = dict(op.attribute_defaults) if op._bare is not None else {}
    attrs |= {"cast": {"dtype": dtypes.float32}, "leaky_relu": {"alpha": 0.25}}.get(name, {})
    operands: list[Operand] = [x] * len(op.operand_parameters)
    if name == "where":
        operands[0] = condition
    try:
        spec = op.infer(operands, attrs)
    except (AttributeError, *REFUSALS):  # operations on lists, too, which have no vectors as operands
        return None
    if not isinstance(spec, TensorType) or op.stateful:
        return None
    inputs = tuple(Value(f"x{i}", operand.spec) for i, operand in enumerate(operands))
    return Operation(op, inputs, attrs, (Value("y", spec),))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_elementwise_operation_agrees(dtype: dtypes.DType) -> None:
    """Followed by a copy, so that two are fused; on blocks that are not all of one size."""
    for name, found in elementwise():
        if found is not dtype:
            continue
        operation = step(name, dtype)
        assert operation is not None
        (y,) = operation.outputs
        z = Value("z", y.spec)
        other: Operand = Constant(np.array(1, y.dtype.numpy_dtype))
        last = Operation(REGISTRY["where"], (Constant(np.array(True)), y, other), {}, (z,))
        graph = Graph("f", operation.inputs, (operation, last), (z,))  # type: ignore[arg-type]
        values = [sample(x.dtype, 150 + i)[:150] for i, x in enumerate(operation.inputs)]
        before = [value.copy() for value in values]
        outcomes = []
        for run in (functools.partial(interpret, graph), Plan(fuse(graph)).run):
            try:
                outcomes.append(
                    np.asarray(run(values)[0]).tobytes() if y.dtype.kind in "iub" else run(values)[0]
                )
            except errors.OpError as error:
                outcomes.append(error.message)
        assert fuse(graph).operations[0].type == "fused", name
        assert [value.tobytes() for value in values] == [value.tobytes() for value in before], name
        if isinstance(outcomes[0], np.ndarray):
            np.testing.assert_array_equal(outcomes[1], outcomes[0], err_msg=name)
        else:
            assert outcomes[1] == outcomes[0], name


@pytest.mark.parametrize(
    "line",
    [
        "zeros_like a : float32[N]",
        "ones_like a : float32[N]",
        "relu a : float32[N]",
        "floordiv b, 0 : int32[N]",
        "floormod b, 0 : int32[N]",
        *(
            f"cast a [dtype={dtype}] : {dtype}[N]"
            for dtype in ("int8", "uint16", "int32", "uint32", "int64", "bool", "float16", "complex64")
        ),
    ],
)
def test_operations_with_special_templates(line: str) -> None:
    """Uniform results, refusals, and conversions of what does not fit."""
    text = f"""\
graph f(x: float32[N], n: int32[N]) -> float32[N], int32[N], {line.rpartition(": ")[2]}
  a = negative x                                : float32[N]
  b = negative n                                : int32[N]
  y = {line}
  return a, b, y
"""
    numbers = [
        0.0,
        -0.0,
        0.5,
        -1.0,
        127.5,
        300.0,
        -129.0,
        65519.0,
        -7e4,
        2.0**31,
        2.0**32,
        1e30,
        np.inf,
        np.nan,
    ]
    values = [np.resize(np.array(numbers, np.float32), 150), np.arange(150, dtype=np.int32)]
    outcomes = []
    for run in (functools.partial(interpret, parse(text.replace("N", "?"))), planned(text).run):
        try:
            outcomes.append(list(map(bits, run(values))))
        except errors.OpError as error:
            outcomes.append([error.message])
    assert outcomes[1] == outcomes[0]


def test_a_buffer_that_has_a_new_owner_is_not_free() -> None:
    """u is computed where t was; so w, which u waits for, must be computed elsewhere."""
    plan = planned("""\
graph f(x: float32[N], y: float32[N]) -> float32[N]
  t = multiply x, y                             : float32[N]
  u = exp t                                     : float32[N]
  w = negative x                                : float32[N]
  v = add u, w                                  : float32[N]
  return v
""")
    values = list(np.random.default_rng(6).normal(size=(2, 300)).astype(np.float32))
    same(plan.run(values)[0], interpret(plan.graph, values)[0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
def test_arrays_of_the_caller_are_not_overwritten(dtype: str) -> None:
    """An operand that is read for the last time gives its buffer for the result; the user's array is no buffer."""
    graph = parse(f"""\
graph f(x: {dtype}[?], y: {dtype}[?]) -> {dtype}[?], {dtype}[]
  a = multiply x, x                             : {dtype}[?]
  b = add a, y                                  : {dtype}[?]
  c = negative b                                : {dtype}[?]
  s = reduce_sum c                              : {dtype}[]
  return c, s
""")
    x, y = np.arange(300).astype(dtype), np.ones(300, dtype)
    plan = Plan(fuse(graph))
    for _ in range(2):
        same(plan.run([x, y])[0], -(np.arange(300).astype(dtype) ** 2 + 1))
    same(x, np.arange(300).astype(dtype))
    same(y, np.ones(300, dtype))


@pytest.mark.parametrize(
    "line",
    [
        "where p, t, t",
        "where p, t, y",
        "where p, y, t",
        "where p, t, 0.0",
        "where p, 0.0, t",
        "_clip t, t, y",
        "_clip t, y, t",
        "_clip y, t, t",
        "squared_difference t, t",
        "pow t, t",
        "floordiv y, t",
        "floormod t, t",
    ],
)
def test_a_dead_operand_donates_its_buffer_only_after_its_last_read(line: str) -> None:
    graph = parse(f"""\
graph f(x: float32[?], y: float32[?]) -> float32[?]
  p = less x, y                                 : bool[?]
  t = multiply x, 2.0                           : float32[?]
  z = {line} : float32[?]
  u = negative z                                : float32[?]
  return u
""")
    values = list(np.random.default_rng(5).normal(size=(2, 300)).astype(np.float32))
    same(Plan(fuse(graph)).run(values)[0], interpret(graph, values)[0])


UNARY = [
    "exp", "negative", "relu", "sigmoid", "square", "tanh", "abs", "zeros_like", "ones_like", "log_sigmoid",
]  # fmt: skip
BINARY = ["add", "subtract", "multiply", "maximum", "realdiv", "squared_difference", "floordiv"]
SOURCES = [("x", (20, 30)), ("y", (30,)), ("z", ()), ("w", (20, 1))]


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    """Random operations on elements of one shape, with reuse, choices, reductions, and several results."""
    values: list[Operand] = [
        Value(name, TensorType(dtypes.float32, (None,) * len(shape))) for name, shape in SOURCES
    ]
    inputs = tuple(values)
    whole = [values[0]]
    conditions: list[Operand] = []
    operations: list[Operation] = []

    def add(name: str, operands: list[Operand], attrs: dict[str, Any] | None = None) -> Value:
        attrs = dict(REGISTRY[name].attribute_defaults) if attrs is None else attrs
        value = Value(name, REGISTRY[name].infer(operands, attrs))
        operations.append(Operation(REGISTRY[name], tuple(operands), attrs, (value,)))
        return value

    def operand() -> Operand:
        return draw(
            st.sampled_from(
                [*values, *whole, Constant(np.array(0.5, np.float32)), Constant(np.array(0.0, np.float32))]
            )
        )

    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["unary", "binary", "compare", "where", "cast"]))
        one = draw(st.sampled_from(whole))
        if kind == "unary":
            whole.append(add(draw(st.sampled_from(UNARY)), [one]))
        elif kind == "binary":
            pair = [one, operand()]
            whole.append(add(draw(st.sampled_from(BINARY)), pair if draw(st.booleans()) else pair[::-1]))
        elif kind == "compare":
            conditions.append(add("less", [one, operand()]))
        elif kind == "where" and conditions:
            whole.append(add("where", [draw(st.sampled_from(conditions)), one, operand()]))
        elif kind == "cast" and conditions:
            whole.append(add("cast", [draw(st.sampled_from(conditions))], {"dtype": dtypes.float32}))
    results = [draw(st.sampled_from(whole)) for _ in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(0, 2))):
        attrs = {"axis": draw(st.sampled_from([None, (0,), (1,)])), "keepdims": draw(st.booleans())}
        results.append(add("reduce_max", [draw(st.sampled_from(whole))], attrs))
    return Graph("f", inputs, tuple(operations), tuple(results))  # type: ignore[arg-type]


@settings(max_examples=many(60))
@given(programs(), st.integers(0, 5))
def test_random_programs(graph: Graph, seed: int) -> None:
    before = tiling.SMALLEST, tiling.WORTH, tiling.LEAST, tiling.MOST
    tiling.SMALLEST, tiling.WORTH, tiling.LEAST, tiling.MOST = 100, 0.0, 64, 64
    try:
        random = np.random.default_rng(seed)
        values = [random.normal(size=shape).astype(np.float32) for _, shape in SOURCES]
        for found, wanted in zip(
            Plan(verify(fuse(graph))).run(values), interpret(graph, values), strict=True
        ):
            same(found, wanted)
    finally:
        tiling.SMALLEST, tiling.WORTH, tiling.LEAST, tiling.MOST = before
