"""Collect all forms of a function as one JSON model, and make the page from it.

f, args  →  trace  →  stages, plan, gradient  →  one run  →  {"source": …, "code": …, "graphs": …, …}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
from agc.runtime.executors import Plan
from agc.runtime.ir.graph import Graph, Operation
from agc.runtime.optimize.side_effects import is_repeatable

from . import gradient, run_values
from .graph_rows import Origins, RowTable
from .page import render
from .stages import optimizer_stages, stages_as_json
from .user_functions import code_as_json, root_section, sections, source_as_json


def explore(
    function: Callable[..., Any], *args: Any, native: bool = False, run: bool = True, **kwargs: Any
) -> str:
    """Return a page that shows `function` in all its forms, for arguments like `args` and `kwargs`.

    `function` is a Python function or a `tf.function`. With `run`, the function runs for the values of its
    operations and their times; its variables get their former values back. Arguments that are `tf.TensorSpec`
    have no values, so nothing runs then. `native` adds LLVM's code (extra `jit`).

    The page is one HTML file, and loads nothing from elsewhere. Raises the errors of tracing. If the run raises, the
    page shows the error, and the values until then.

    >>> page = explore(lambda x: x * 2, tf.constant(3))
    >>> page[:15]
    '<!doctype html>'
    """
    return render(collect(function, *args, native=native, run=run, **kwargs))


def collect(
    function: Callable[..., Any], *args: Any, native: bool = False, run: bool = True, **kwargs: Any
) -> dict[str, Any]:
    """Return the model of the page as JSON: dicts, lists, texts and numbers.

    >>> collect(lambda x: x * 2, tf.constant(3))["result"]
    'tf.Tensor(6, shape=(), dtype=int32)'
    """
    traced: Any = function if hasattr(function, "get_concrete_function") else tf.function(function)
    python: Any = getattr(traced, "python_function", function)
    concrete = traced.get_concrete_function(*args, **kwargs)
    origins = Origins()
    table = RowTable(origins)
    stages = optimizer_stages(concrete.graph)
    final = stages[-1].graph
    forward = stages_as_json(stages, table)
    found = sections(python, origins.numbers)
    backward, note = gradient.gradient_graph(traced, args, kwargs)
    plan = Plan(final)
    graphs = {
        "forward": forward,
        "gradient": [] if backward is None else stages_as_json(optimizer_stages(backward), table),
    }
    model: dict[str, Any] = {
        "title": concrete.name,
        "signature": str(concrete.graph).partition("\n")[0].removeprefix(f"graph {concrete.graph.name}"),
        "graphs": graphs,
        "gradient_note": note,
        "plan": _plan_as_json(plan, table, origins),
        "native": _native_as_json(concrete.graph, origins) if native else None,
    }
    is_run = run and not _has_specs((args, kwargs))
    model.update(
        _run(traced, concrete, final, table, args, kwargs) if is_run else {"values": {}, "times": {}}
    )
    root = root_section(python)
    model["source"] = [source_as_json(section, origins) for section in found]
    model["code"] = [code_as_json(section, python if section == root else None, origins) for section in found]
    model["rows"] = table.rows
    return model


def _has_specs(arguments: Any) -> bool:
    return any(isinstance(leaf, tf.TypeSpec) for leaf in tf.nest.flatten(arguments))


def _plan_as_json(plan: Plan, table: RowTable, origins: Origins) -> dict[str, Any]:
    lines = plan.source.splitlines()
    by_line = plan.operations
    operations: list[Operation | None] = [by_line.get(n) for n in range(1, len(lines) + 1)]
    return {
        "lines": lines,
        "ops": [-1 if each is None else table.number_of(each) for each in operations],
        "at": [None if each is None else origins.of(each) for each in operations],
    }


def _native_as_json(graph: Graph, origins: Origins) -> dict[str, Any]:
    from agc.runtime.executors.llvm import text_with_origins

    text, places = text_with_origins(graph)
    return {
        "lines": text.splitlines(),
        "at": [None if each is None else origins.at(each.filename, each.line) for each in places],
    }


def _run(traced: Any, concrete: Any, final: Graph, table: RowTable, args: Any, kwargs: Any) -> dict[str, Any]:
    """Run the function, and return the values and times of its operations."""
    run = run_values.ObservedRun(traced, concrete, args, kwargs)
    records = [run.record]
    if run.error is not None:
        said = {"error": f"{type(run.error).__name__}: {run.error}"}
    else:
        said = {"result": str(run.result)}
        if is_repeatable(concrete.graph):
            records.append(run_values.run_plan(final, run.arguments, concrete.variables))
        else:
            said["run_note"] = (
                "The function has effects, so it ran once; the times are those of the interpreter."
            )
    return {
        **said,
        "values": {table.number_of(each): record.as_json(each) for record in records for each in record.runs},
        "times": {table.number_of(each): spent for each, spent in records[-1].times.items() if spent},
    }
