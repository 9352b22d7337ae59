"""Results are computed into the arrays of dead values, and into no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS, Plan, interpret
from agc.runtime.executors.plan import buffer_donation
from agc.runtime.executors.plan.fusion import tiling
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.parser import parse
from agc.runtime.optimize import fusion
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.matrix_graphs import inputs, matrix_graphs
from support.random_graphs import many
from support.verifier import verify


@pytest.fixture(autouse=True)
def everything_is_big(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(buffer_donation, "BIG", 0)
    yield


@pytest.fixture
def in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is fused that can be, and cut."""
    for name, value in {"SMALLEST": 1, "WORTH": 0.0, "LEAST": 8, "MOST": 8}.items():
        monkeypatch.setattr(tiling, name, value)
    monkeypatch.setattr(fusion, "SMALLEST", 1)


def source(text: str) -> list[str]:
    return [line.strip() for line in Plan(verify(parse(text))).source.splitlines()]


def test_a_result_reuses_the_array_of_a_dead_value() -> None:
    lines = source("""\
graph f(x: float32[4, 4]) -> float32[4, 4]
  a = exp x                                     : float32[4, 4]
  b = multiply a, x                             : float32[4, 4]
  c = add b, a                                  : float32[4, 4]
  return c
""")
    assert lines[1:] == [
        "a = op_exp(x)",
        "b = a * x",
        "c = np.add(b, a, out=b)",
        "del a, b",
        "return (c,)",
    ]


LAYERS = [
    lambda x: tf.nn.conv2d(x, tf.ones([1, 1, 4, 4]), 1, "SAME"),
    lambda x: tf.nn.max_pool2d(x, 2, 1, "SAME"),
    lambda x: tf.raw_ops.MaxPoolGrad(
        orig_input=x, orig_output=x, grad=x, ksize=[1] * 4, strides=[1] * 4, padding="SAME"
    ),
    lambda x: tf.nn.softmax(x),
    lambda x: tf.nn.bias_add(x, tf.ones([4])),
]


@pytest.mark.parametrize("layer", LAYERS)
def test_results_of_layers_are_reused(layer: Any) -> None:
    spec = tf.TensorSpec([2, 8, 8, 4], tf.float32)
    concrete = tf.function(lambda x: tf.exp(layer(x)), jit_compile=False).get_concrete_function(spec)
    assert re.search(r"np\.exp\((\w+), out=\1\)", Plan(concrete.graph).source)


def test_stacked_rows_own_their_array() -> None:
    lines = source("""\
graph f(x: float32[4], y: float32[4]) -> float32[2, 4]
  a = stack x, y [axis=0]                       : float32[2, 4]
  b = multiply a, 2.0                           : float32[2, 4]
  return b
""")
    assert lines[1:3] == ["a = op_stack([x, y], axis=0)", "b = np.multiply(a, float32_2_0, out=a)"]


@pytest.mark.parametrize(
    "other",
    [
        "v = transpose a, [1, 0]                       : float32[4, 4]",
        "v = reshape a, [4, 4]                         : float32[4, 4]",
        "v = getitem a [key='::-1']                    : float32[4, 4]",
    ],
)
def test_an_array_with_a_view_is_not_reused(other: str) -> None:
    text = f"""\
graph f(x: float32[4, 4]) -> float32[4, 4], float32[4, 4]
  a = exp x                                     : float32[4, 4]
  {other}
  b = multiply a, x                             : float32[4, 4]
  return b, v
"""
    assert "b = a * x" in source(text)


_MAY_BE_THEIR_OPERAND = {
    "round": lambda x: tf.round(x),
    "round of integers": lambda x: tf.round(tf.cast(x, tf.int32)),
    "real": lambda x: tf.math.real(x),
    "real of complex": lambda x: tf.math.real(tf.complex(x, x)),
    "imag of complex": lambda x: tf.math.imag(tf.complex(x, x)),
    "reshape": lambda x: tf.reshape(x, [-1]),
    "transpose": lambda x: tf.transpose(x),
    "slice": lambda x: x[1:],
    "split": lambda x: tf.split(x, 2)[0],
    "broadcast": lambda x: tf.broadcast_to(x, [2, 4, 4]),
    "sum over nothing": lambda x: tf.reduce_sum(x, axis=[]),
}


@pytest.mark.parametrize("of_what", ["an input", "a new array"])
@pytest.mark.parametrize("view", _MAY_BE_THEIR_OPERAND.values(), ids=_MAY_BE_THEIR_OPERAND)
def test_an_aliased_array_is_not_reused(view: Any, of_what: str) -> None:
    @tf.function(jit_compile=False)
    def both(x: Any) -> Any:
        x = x if of_what == "an input" else tf.sqrt(x)
        seen = view(x)
        return -(seen + seen), -(x * x), seen * seen, x + x

    x = tf.constant(np.arange(16.0).reshape(4, 4))
    x._array.flags.writeable = False  # so that whoever writes to it fails
    start = x._array if of_what == "an input" else np.sqrt(x._array)
    seen = view(tf.constant(start)).numpy()
    for _ in range(2):
        for found, wanted in zip(both(x), (-2 * seen, -(start**2), seen * seen, 2 * start), strict=True):
            np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize(
    "name, dtype, other",
    [("round", "int32", "int32"), ("real", "complex64", "float32"), ("imag", "complex64", "float32")],
)
def test_a_result_that_may_alias_its_operand_is_not_reused(name: str, dtype: str, other: str) -> None:
    graph = verify(
        parse(f"""\
graph f(x: {dtype}[4, 4]) -> {dtype}[4, 4], {other}[4, 4]
  a = negative x                                : {dtype}[4, 4]
  v = {name} a                                  : {other}[4, 4]
  b = multiply v, v                             : {other}[4, 4]
  return a, b
""")
    )
    x = (np.arange(16).reshape(4, 4) * (1 + 2j if dtype == "complex64" else 1)).astype(dtype)
    part = x.imag if name == "imag" else x.real
    for found, wanted in zip(Plan(graph).run([x]), (-x, part * part), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_inputs_constants_and_variables_are_left_alone() -> None:
    text = """\
graph f(x: float32[2], v: ref float32[2]) -> float32[2], float32[2], float32[2]
  a = negative x                                : float32[2]
  r = read_variable v                           : float32[2]
  b = negative r                                : float32[2]
  c = negative [1.0, 2.0]                       : float32[2]
  return a, b, c
"""
    assert not any("out=" in line for line in source(text))


LOOP = """\
graph f(x: float32[4, 4], n: int32[]) -> float32[4, 4]
  k, s = while 0, x, n                          : int32[], float32[4, 4]
    test k, s, n
      go = less k, n                            : bool[]
      yield go
    body k, s, n
      a = matmul s, s                           : float32[4, 4]
      b = tanh a                                : float32[4, 4]
      s.1 = add s, b                            : float32[4, 4]
      j = add k, 1                              : int32[]
      yield j, s.1
  return s
"""


def test_loops_work_in_one_array() -> None:
    lines = source(LOOP)
    assert lines[2:] == [
        "k, s = 0, x",
        "n_1 = int(n)",
        "s = s.copy()",
        "while k < n_1:",
        "a = s @ s",
        "b = np.tanh(a, out=a)",
        "del a",
        "s = np.add(s, b, out=s)",
        "del b",
        "k = k + 1",
        "return (s,)",
    ]


def test_the_operands_of_a_loop_are_not_overwritten() -> None:
    plan, x = Plan(parse(LOOP)), np.full((4, 4), 0.1, np.float32)
    first = plan.run([x, np.array(3, np.int32)])[0]
    kept = first.copy()
    plan.run([x, np.array(5, np.int32)])
    assert (x == np.float32(0.1)).all()
    np.testing.assert_array_equal(first, kept)


ROUNDS = """\
graph f(x: float32[4, 4]) -> float32[4, 4], float32[4, 4]
  a = matmul x, x                               : float32[4, 4]
  k, s, t = while 0, a, a, {given}              : int32[], float32[4, 4], float32[4, 4]
    test k, s, t, r
      go = less k, 3                            : bool[]
      yield go
    body k, s, t, r
      b = tanh s                                : float32[4, 4]
      s.1 = add b, r                            : float32[4, 4]
      t.1 = subtract t, r                       : float32[4, 4]
      j = add k, 1                              : int32[]
      yield j, s.1, t.1
  c = negative {behind}                         : float32[4, 4]
  d = add c, s                                  : float32[4, 4]
  return d, t
"""
TWO_RESULTS = """\
graph f(x: float32[4, 4]) -> float32[4, 4], float32[4, 4]
  a = matmul x, x                               : float32[4, 4]
  b = exp a                                     : float32[4, 4]
  c = add b, 1.0                                : float32[4, 4]
  d = multiply b, 2.0                           : float32[4, 4]
  return c, d
"""


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ROUNDS.format(given="x", behind="s"), id="two states that start with one array"),
        pytest.param(ROUNDS.format(given="a", behind="s"), id="what a loop starts with, and reads"),
        pytest.param(
            ROUNDS.format(given="x", behind="a"), id="what a loop starts with, and is read behind it"
        ),
        pytest.param(TWO_RESULTS, id="two results in one place"),
    ],
)
def test_an_array_is_reused_at_most_once(text: str, is_fused: bool, in_small_blocks: None) -> None:
    graph = verify(parse(text))
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
    found = Plan(fusion.run(graph) if is_fused else graph).run([x])
    for one, other in zip(found, interpret(graph, [x]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_collected_state_is_a_new_array_in_each_iteration() -> None:
    text = """\
graph f(x: float32[4, 4], n: int32[]) -> float32[?, 4, 4]
  l = array_new n [dtype=float32, dynamic=False, element_shape=None] : array float32[4, 4]
  k, s, a = while 0, x, l, n                    : int32[], float32[4, 4], array float32[4, 4]
    test k, s, l, n
      go = less k, n                            : bool[]
      yield go
    body k, s, l, n
      m = matmul s, s                           : float32[4, 4]
      s.1 = tanh m                              : float32[4, 4]
      l.1 = array_write l, k, s.1               : array float32[4, 4]
      j = add k, 1                              : int32[]
      yield j, s.1, l.1
  z = array_stack a [dtype=float32, element_shape=(4, 4)] : float32[?, 4, 4]
  return z
"""
    graph = parse(text)
    values = [np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32), np.array(4, np.int32)]
    np.testing.assert_array_equal(Plan(graph).run(values)[0], interpret(graph, values)[0])


@settings(
    max_examples=many(40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(matrix_graphs(), st.booleans())
def test_random_programs(in_small_blocks: None, graph: Graph, is_fused: bool) -> None:
    """Run twice on the same operands: neither they nor the results of the first run may change."""
    verify(graph)
    plan, values = Plan(fusion.run(graph) if is_fused else graph), inputs()
    given = [value.copy() for value in values]
    wanted = [np.asarray(x).copy() for x in interpret(graph, given)]
    first = plan.run(values)
    for found in (first, plan.run(values), first):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    for one, other in zip(values, given, strict=True):
        np.testing.assert_array_equal(one, other)


UPDATE = """\
graph f(v: ref float32[4, 4], x: float32[4, 4]) -> float32[4, 4]
  a = multiply x, 2.0                           : float32[4, 4]
  new = assign_sub_variable v, a                : float32[4, 4]
  b = multiply x, 3.0                           : float32[4, 4]
  newer = assign_add_variable v, b              : float32[4, 4]
  return new
"""


def test_a_variable_takes_the_array_of_its_update() -> None:
    """What was in it before is left alone, for others may have it."""
    lines = source(UPDATE)
    assert "new = op_update_into(v, np.subtract, a, a)" in lines
    assert "newer = op_update_into(v, np.add, b, b)" in lines
    outcomes = []
    for executor in ("plan", "interpret"):
        variable = tf.Variable(tf.fill([4, 4], 10.0))
        old = variable.read_value()
        (new,) = EXECUTORS[executor](parse(UPDATE))([variable, np.ones((4, 4), np.float32)])
        outcomes.append([np.asarray(each).tolist() for each in (old, new, variable)])
        assert (new[0, 0], old.numpy()[0, 0]) == (8.0, 10.0)
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("  c = add a, x                                : float32[4, 4]", "return new, c"),
        ("  c = read_variable v                         : float32[4, 4]", "return new, a"),
    ],
)
def test_a_variable_takes_no_array_that_is_still_needed(line: str, other: str) -> None:
    text = UPDATE.replace("  b = multiply", f"{line}\n  b = multiply").replace("return new", other)
    text = text.replace("-> float32[4, 4]", "-> float32[4, 4], float32[4, 4]")
    assert "new = op_update_into(v, np.subtract, a, a)" not in source(text)
