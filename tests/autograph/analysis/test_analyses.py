"""What the analyses say about small functions."""

from __future__ import annotations

from typing import Any

import gast
import pytest
from agc.autograph.analysis import scopes
from agc.autograph.analysis.binding_time import BindingTimes, static
from agc.autograph.analysis.cfg_builder import Flow
from agc.autograph.analysis.definite_assignment import definedness
from agc.autograph.analysis.live_in_out import plan
from agc.autograph.analysis.liveness import live


def function(text: str) -> Any:
    return gast.parse(text).body[0]


def blocks(node: Any) -> list[Any]:
    """The `if`s and loops of a function, in the order of their lines."""
    found = [child for child in gast.walk(node) if isinstance(child, (gast.If, gast.While, gast.For))]
    return sorted(found, key=lambda child: child.lineno)


# scopes


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(a): return a + b", {"b"}),
        ("def f(): return [x + k for x in xs]", {"k", "xs"}),
        ("def f(): return [x for x in x]", {"x"}),
        ("def f(): return (lambda y, *z: y + z + w)", {"w"}),
        ("def f():\n nonlocal n\n n = 1", {"n"}),
        ("def f():\n class A:\n  x = 1\n  y = x + q\n  def g(self): return x\n", {"q", "x"}),
        ("def f():\n global g\n g = 1\n return g", {"g"}),
        ("def f():\n def h():\n  return a + b\n a = 1", {"b"}),
        ("def f():\n try: pass\n except E as e: print(e)", {"E", "print"}),
        ("def f(x):\n match x:\n  case A([y, *z]): return y + z + w", {"A", "w"}),
        ("def f(x: int = d) -> int: return (y := x)", set()),
    ],
)
def test_free_names(text: str, names: set[str]) -> None:
    found = scopes.Found()
    scopes.scan(function(text), found)
    assert found.captured == names


def test_bound_names() -> None:
    text = "def f(a, *b):\n import c.d, e as g\n for h in [i for i in a]: pass\n"
    text += " with a as (j, k): del l\n (m := 1)"
    assert scopes.bound(function(text)) == {"a", "b", "c", "g", "h", "j", "k", "l", "m"}


def test_immediately_consumed_generators_capture_nothing() -> None:
    def captured(text: str) -> set[str]:
        return Flow(function(f"def f(k, xs): {text}"), "ag__").captured

    assert captured("return any(x > k for x in xs)") == set()
    assert captured("return sorted(xs, key=lambda x: x * k)") == set()
    assert captured("return [x * k for x in xs]") == set()
    assert captured("return (x * k for x in xs)") == {"k"}
    assert captured("return lambda: k") == {"k"}


# liveness and definedness


def names_at_header(text: str) -> set[str]:
    node = function(text)
    flow = Flow(node, "ag__")
    (loop,) = (block for block in flow.blocks.values() if not isinstance(block.statement, gast.If))
    return set(flow.members(live(flow)[loop.landmarks[0].body] & ~flow.elsewhere))


def test_live_at_the_header_of_a_loop() -> None:
    text = (
        "def f(n):\n total = local = 0\n while n:\n  local = g(n)\n  total += local\n  n -= 1\n return total"
    )
    assert names_at_header(text) == {"n", "total"}


def test_annotations_in_a_function_are_not_read() -> None:
    text = "def f(xs, kind):\n while xs[0]:\n  xs[0]: kind = (y := g(xs))\n kind = y\n return kind"
    assert names_at_header(text) == {"xs", "y"}


def test_live_through_an_exception() -> None:
    text = "def f(xs):\n i = 0\n try:\n  for x in xs:\n   i = g(x)\n  i = 0\n except E:\n  return i"
    assert names_at_header(text) == {"i"}


def verdicts(text: str) -> dict[str, str]:
    """Whether what a function reads is bound there; a `finally` block counts on all its ways."""
    flow = Flow(function(text), "ag__")
    facts = definedness(flow)
    seen: dict[str, set[str]] = {}
    for node, reading, _ in flow.readings:
        if isinstance(reading.node.ctx, gast.Del):
            continue
        bit = 1 << flow.index[reading.node.id]
        verdict = {"bound"} if facts.bound[node] & bit else set()
        verdict |= {"unbound"} if facts.unbound[node] & bit else set()
        seen.setdefault(reading.node.id, set()).update(verdict)
    return {name: "maybe" if len(verdict) == 2 else "".join(verdict) for name, verdict in seen.items()}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\n use(x)", "bound"),
        ("use(x)\n x = 1", "unbound"),
        ("if c:\n  x = 1\n use(x)", "maybe"),
        ("if c:\n  x = 1\n else:\n  raise E\n use(x)", "bound"),
        ("while c:\n  x = 1\n use(x)", "maybe"),
        ("while True:\n  x = 1\n  if c: break\n use(x)", "bound"),
        ("for x in c: pass\n else: x = 0\n use(x)", "bound"),
        ("x = 1\n del x\n use(x)", "unbound"),
        ("try:\n  x = g()\n except E:\n  x = 0\n use(x)", "bound"),
        ("try:\n  x = g()\n except E:\n  pass\n use(x)", "maybe"),
        ("try:\n  x = g()\n finally:\n  h()\n use(x)", "bound"),
        ("try:\n  x = g()\n finally:\n  use(x)", "maybe"),
        ("try: g()\n except E as x: pass\n use(x)", "unbound"),
        ("with c:\n  x = g()\n use(x)", "maybe"),
        ("with open(c):\n  x = g()\n use(x)", "bound"),
        ("match c:\n  case 1: x = 1\n  case x: pass\n use(x)", "maybe"),
        ("if (x := c): pass\n use(x)", "bound"),
        ("if c and (x := c): pass\n use(x)", "maybe"),
        ("if c and (x := c) and use(x): pass", "bound"),
    ],
)
def test_definedness(body: str, expected: str) -> None:
    assert verdicts(f"def f(c):\n {body}")["x"] == expected


# staticness


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x is None", True),
        ("not isinstance(x, int)", True),
        ("x in xs", True),
        ("x is None or y is None", True),
        ("TYPE_CHECKING", True),
        ("typing.TYPE_CHECKING", True),
        ("True", True),
        ("x == 'train'", False),
        ("__name__ == '__main__'", True),
        ("x == b'train'", False),
        ("x in ('a', 'b')", True),
        ("x in (b'a', b'b')", False),
        ("x", False),
        ("x > 0", False),
        ("x is None or y", False),
        ("f(x)", False),
    ],
)
def test_provably_static_expressions(text: str, expected: bool) -> None:
    assert static(function(text).value) is expected


def staged(text: str) -> list[int]:
    """The lines of the blocks that are staged."""
    node = function(text)
    staging = BindingTimes(node)
    return [block.lineno for block in blocks(node) if block in staging]


def test_tests_on_data_are_staged() -> None:
    assert staged("def f(x):\n if x is None: pass\n if x: pass\n while x: pass\n for y in x: pass") == [
        3,
        4,
        5,
    ]


def test_a_loop_with_a_data_dependent_exit_is_staged() -> None:
    assert staged("def f(x):\n while True:\n  if x: break") == [2, 3]
    assert staged("def f(x):\n for k in (1, 2):\n  if x: return k") == [2, 3]
    assert staged("def f(x):\n for k in (1, 2):\n  if x: continue") == [3]
    assert staged("def f(x):\n for k in (1, 2):\n  if k is x: break") == []
    assert staged("def f(x):\n for k in (1, 2):\n  if x: continue\n  break") == [2, 3]


def test_blocks_that_yield_or_await_are_not_staged() -> None:
    assert staged("def f(x):\n while x:\n  yield x") == []
    assert staged("def f(x):\n while x:\n  if x: x = 1\n  yield x") == [3]
    assert staged("def f(x):\n while x:\n  if x: break\n  yield x") == []
    assert staged("async def f(x):\n if x:\n  await x\n if x: x = 1") == [4]


def test_a_function_that_inspects_its_frame_is_not_staged() -> None:
    assert staged("def f(x):\n if x: y = 1\n return locals()") == []


# state


def plans(text: str) -> list[tuple[list[str], list[str], list[str]]]:
    node = function(text)
    found = plan(node, BindingTimes(node), set(), "ag__")
    ordered = [found.blocks[id(block)] for block in blocks(node) if id(block) in found.blocks]
    return [(each.parameters, each.results, each.cells) for each in ordered]


def test_parameters_and_results_need_not_be_equal() -> None:
    text = "def f(c, x):\n if c:\n  y = x\n  x = 1\n else:\n  y = 0\n return y"
    assert plans(text) == [(["x"], ["y"], [])]


def test_a_variable_local_to_one_iteration_is_no_state() -> None:
    text = "def f(n):\n s = 0\n while n:\n  t = n * n\n  s = s + t\n  n = n - 1\n return s"
    assert plans(text) == [(["n", "s"], ["n", "s"], [])]


def test_cells() -> None:
    captured = "def f(c):\n x = 0\n g = lambda: x\n if c: x = 1\n return g()"
    handled = "def f(c):\n x = 0\n try:\n  while c: x += g()\n finally: print(x)"
    declared = "def f(c):\n global x\n if c: x = 1"
    swallowed = "def f(c):\n x = 0\n with c:\n  while c: x += g()\n return x"
    assert [plans(text) for text in (captured, handled, declared, swallowed)] == [[([], [], ["x"])]] * 4


def test_a_try_inside_the_block_makes_no_cell() -> None:
    text = "def f(c):\n x = 0\n while c:\n  try: x += g()\n  except E: x = -1\n return x"
    assert plans(text) == [(["x"], ["x"], [])]


def test_state_locations_exclude_values_computed_in_the_block() -> None:
    text = "def f(a, i):\n for k in a:\n  a.x = a[0] = a[i].y = a[k] = 1\n  b = a\n  b.z = a.x.w = 2"
    node = function(text)
    (found,) = plan(node, BindingTimes(node), set(), "ag__").blocks.values()
    assert [gast.unparse(place) for place in found.locations] == ["a.x", "a[0]", "a[i].y"]
