"""Graphs as a hostile author of files writes them: text that wants to be code in every field, and types that lie.

`with_hostile_text` and `with_lies` go through the fields of a valid graph's JSON data, one at a time; `mutated` changes
some of them at random. What is loaded in spite of that has to run like any other graph.
"""

from __future__ import annotations

import builtins
import copy
import json
import random
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
from agc.runtime import dtypes, errors
from agc.runtime.executors import EXECUTORS, Plan
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.graph_def import GraphDef
from agc.runtime.ir.json_format import serialize
from agc.runtime.ir.json_reader import deserialize
from agc.runtime.ir.parser import parse
from agc.runtime.ops.framework.region_ops import WHILE
from support.operation_examples import Call, as_operation

MARKER = "agc_marker_of_hostile_code"
"""What hostile text sets in `builtins` when it runs."""

_CODE = f"__import__('builtins').__dict__.__setitem__('{MARKER}',1)"
TEXTS = (
    _CODE,
    f"x;{_CODE}",
    f"x\n    {_CODE}\n",
    f"x={_CODE}, y",
    f"'+{_CODE}+'",
    f"{{0}}[{_CODE}]",
    f"):\n    {_CODE}\n    return (",
    "exec", "__builtins__", "np", "lambda", "\uff4e\uff50", "\u00aa", "x\0y", "x\u2028y", "\ud800", "",
)  # fmt: skip
CLEAN = (ValueError, errors.OpError)
"""What a loader, or a graph that has been loaded, may raise."""

_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 7, 2**31, 2**63, -(2**63), 10**30, 0.5, float("nan"), float("inf"), "", "x", [], {}, [[]],
    [1, 2], [-9], {"dtype": "float64"}, {"dtype": "string"}, {"dtype": "variant"}, {"shape": [3]}, {"bytes": "eA=="},
    {"float": "nan"}, {"array": {"dtype": "int32", "shape": [1], "data": "AQAAAA=="}}, {"python": "f"},
    "float32[1000000]", "float32[?]", "float32[...]", "int32[]", "int64[2]", "string[4]", "ref float32[]",
    "array float32[]", "bool[]", {"constant": 0}, {"value": 3, "dtype": "int32"},
)  # fmt: skip


def graph_of(call: Call) -> tuple[Graph, list[Any]] | None:
    """A graph of one operation, and its inputs' values; None for what a file cannot hold."""
    made = as_operation(call, 0)
    if made is None:
        return None
    operation, inputs, given = made
    graph = Graph("example", tuple(inputs), (operation,), operation.outputs)
    try:
        serialize(graph, portable=True)
    except ValueError:
        return None
    return graph, given


def with_hostile_text(data: Any, most: int | None = None) -> Iterator[Any]:
    """The data with hostile text in the place of each text and each name of a field, one at a time.

    Args:
        most: so many of the places are enough.
    """
    rng = random.Random(repr(data))
    for path in _chosen(data, most):
        text = rng.choice(TEXTS)
        changed = copy.deepcopy(data)
        parent, last = _at(changed, path)
        if isinstance(parent, dict):
            parent[text] = copy.deepcopy(parent[last])
            yield changed
            changed = copy.deepcopy(changed)
            parent, last = _at(changed, path)
            del parent[last]
            yield changed
        changed = copy.deepcopy(data)
        parent, last = _at(changed, path)
        if isinstance(parent[last], (str, int, float, list)):
            parent[last] = text
            yield changed


def with_lies(data: Any, most: int | None = None) -> Iterator[Any]:
    """The data with another value in the place of each one, one at a time."""
    rng = random.Random(repr(data))
    for path in _chosen(data, most):
        changed = copy.deepcopy(data)
        parent, last = _at(changed, path)
        parent[last] = copy.deepcopy(rng.choice(_ODD))
        yield changed


def mutated(data: Any, rng: random.Random) -> Any:
    """The data with a few places changed, exchanged, repeated or cut."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        paths = list(_paths(data))
        if not paths:
            return data
        parent, last = _at(data, rng.choice(paths))
        old, how = parent[last], rng.random()
        if how < 0.15:
            del parent[last]
        elif how < 0.35:
            other, place = _at(data, rng.choice(paths)) if parent[last] is old else (parent, last)
            parent[last] = copy.deepcopy(other[place])
        elif how < 0.5 and isinstance(parent, list):
            parent.insert(last, copy.deepcopy(rng.choice(parent)))
        elif how < 0.7 and type(old) is int:
            parent[last] = old + rng.choice([1, -1, 2, 100, 2**31, -(2**33)])
        else:
            parent[last] = copy.deepcopy(rng.choice(_ODD))
    return data


def _chosen(data: Any, most: int | None) -> list[tuple[Any, ...]]:
    paths = list(_paths(data))
    if most is None or len(paths) <= most:
        return paths
    return random.Random(len(paths)).sample(paths, most)


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _at(data: Any, path: tuple[Any, ...]) -> tuple[Any, Any]:
    for key in path[:-1]:
        data = data[key]
    return data, path[-1]


def loaded(data: Any) -> Graph | None:
    """The graph of such data, by each of the two ways to load JSON; None if it is refused, in the words of a loader."""
    try:
        graph = deserialize(copy.deepcopy(data))
    except CLEAN as error:
        assert str(error)
        graph = None
    try:
        assert GraphDef.FromString(json.dumps(data).encode()).graph is not None
        assert graph is not None
    except CLEAN as error:
        assert str(error)
        assert graph is None
    return graph


def run(graph: Graph, given: list[Any], executors: tuple[str, ...] = ("interpret", "plan")) -> None:
    """Run a loaded graph on these values, in each executor: it gives results or refuses them."""
    Plan(graph)
    if WHILE in graph.ops and not signal.getitimer(signal.ITIMER_REAL)[0]:
        return  # a loop may have become endless, which is no fault
    for value, array in zip(graph.inputs, given, strict=False):
        if getattr(value.spec, "shape", None) is None or dtypes.of_array(array) is not value.spec.dtype:
            return  # what calls a graph refuses arguments that do not fit it
    if len(given) != len(graph.inputs):
        return
    for name in executors:
        try:
            with np.errstate(all="ignore"):
                EXECUTORS[name](graph)(given)
        except (*CLEAN, ZeroDivisionError, MemoryError):
            pass  # a hostile graph may fail with any error of its own, but must not crash or run text as code


def nothing_ran() -> bool:
    """Whether no hostile text has become code."""
    return not hasattr(builtins, MARKER)


def as_text(graph: Graph) -> str:
    return str(graph)


def read_text(text: str) -> Graph | None:
    """The graph of a text; None if it is refused."""
    try:
        return parse(text)
    except CLEAN as error:
        assert str(error)
        return None
