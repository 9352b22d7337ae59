"""Every program with every input, run in every way, gives what TensorFlow gives.

    eager          f(*tensors)
    converted      autograph.convert(f), with eager tensors; with Python values, where the program takes them
    interpret      the graph, walked op by op
    plan           the graph, compiled to straight-line Python

What a program prints counts as its result, too.
"""

import ast
import functools
import inspect
import io
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc import autograph
from agc.runtime.ir.parser import parse
from support import programs
from support.selection import pairs
from support.verifier import verify
from support.versions import converted_version

Case = tuple[str, int]  # a program and the number of one of its inputs
Version = Callable[[Callable[..., Any]], Callable[..., Any]]
Listen = pytest.CaptureFixture[str]

EXECUTORS = ("interpret", "plan")
VERSIONS: dict[str, Version] = {"convert": autograph.convert, "in place": converted_version}


@functools.cache
def traced(name: str, executor: str) -> Any:
    """A program as a graph function, run by the executor of that name; its inputs share what is traced for them."""
    return tf.function(programs.load(name).entry, experimental_executor=executor)


@functools.cache
def converted(name: str, version: str) -> Callable[..., Any]:
    """A converted program, which its inputs share."""
    return VERSIONS[version](programs.load(name).entry)


def shown(part: Any) -> str | None:
    """The name of a case in the names of tests; None for the way in which it is run."""
    return f"{part[0]}-{part[1]}" if isinstance(part, tuple) else None


def expect(case: Case, call: Callable[[], Any], listen: Listen, types: bool) -> None:
    """Demand that a call gives and prints what is on record for the case."""
    name, index = case
    known = programs.record(name)["results"][index]
    listen.readouterr()
    result = programs.measured(call())
    printed = listen.readouterr().err.splitlines()
    found = list(programs.differences(known["value"], result, types))
    assert not found, "\n".join(found)
    assert printed == known["printed"]


@pytest.mark.parametrize("case", programs.cases(), ids="{0[0]}-{0[1]}".format)
def test_eager(case: Case, capfd: Listen) -> None:
    program = programs.load(case[0])
    arguments = program.tensor_arguments(case[1], tf.constant)
    expect(case, lambda: program.entry(*arguments), capfd, types=True)


@pytest.mark.parametrize(("case", "version"), pairs(programs.cases(), [*VERSIONS]), ids=shown)
def test_converted_with_eager_tensors(case: Case, version: str, capfd: Listen) -> None:
    program = programs.load(case[0])
    arguments = program.tensor_arguments(case[1], tf.constant)
    expect(case, lambda: converted(case[0], version)(*arguments), capfd, types=True)


@pytest.mark.parametrize(("case", "version"), pairs(programs.cases("python"), [*VERSIONS]), ids=shown)
def test_converted_with_python_values(case: Case, version: str, capfd: Listen) -> None:
    program = programs.load(case[0])
    arguments = program.python_arguments(case[1])
    expect(case, lambda: converted(case[0], version)(*arguments), capfd, types=False)
    wanted, found = program.entry(*arguments), converted(case[0], version)(*arguments)
    assert (type(found), found) == (type(wanted), wanted)


@pytest.mark.parametrize(("case", "executor"), pairs(programs.cases(), EXECUTORS), ids=shown)
def test_graph(case: Case, executor: str, capfd: Listen) -> None:
    program = programs.load(case[0])
    arguments = program.tensor_arguments(case[1], tf.constant)
    run = traced(case[0], executor)
    expect(case, lambda: run(*arguments), capfd, types=True)
    expect(case, lambda: run(*arguments), capfd, types=True)  # from the cache


@pytest.mark.parametrize("name", programs.NAMES)
def test_graph_text_parses_back_to_an_equal_graph(name: str) -> None:
    program = programs.load(name)
    arguments = program.tensor_arguments(0, tf.constant)
    graph = traced(name, "plan").get_concrete_function(*arguments).graph
    text = str(graph)
    again = parse(text)
    verify(again)
    assert again == graph
    assert str(again) == text


def functions_of(module: ModuleType) -> list[FunctionType]:
    """The functions and methods that a program defines, top level and in classes."""
    own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    methods = [part for value in own if inspect.isclass(value) for part in vars(value).values()]
    return list(dict.fromkeys(value for value in own + methods if isinstance(value, FunctionType)))


def lines_of_code(text: str) -> int:
    """The lines of a source that are neither blank nor comment."""
    return sum(1 for line in io.StringIO(text) if line.strip() and not line.strip().startswith("#"))


@pytest.mark.parametrize("name", programs.NAMES)
def test_generated_code_is_at_most_three_times_its_source(name: str) -> None:
    source_lines = generated_lines = 0
    for function in functions_of(programs.load(name).module):
        code = autograph.to_code(function).removeprefix("from agc.autograph import operators as ag__\n")
        (definition,) = ast.parse(code).body
        assert isinstance(definition, ast.FunctionDef) and definition.name == function.__name__
        source_lines += lines_of_code(inspect.getsource(function))
        generated_lines += lines_of_code(code)
    assert generated_lines <= 3 * source_lines, f"{source_lines} lines became {generated_lines}"


def differing(expected: object, actual: object) -> list[str]:
    return list(programs.differences(programs.measured(expected), programs.measured(actual)))


def test_a_difference_is_reported_with_its_path() -> None:
    expected = {"steps": 3, "root": (1.0, [1.5, 2.0])}
    assert differing(expected, {"steps": 3, "root": (1.000001, [1.5, 2.0])}) == []
    assert differing(expected, {"steps": 4, "root": (1.0, [1.5, 3.0])}) == [
        "result['steps']['value']: 3 became 4",
        "result['root'][1][1]['value']: 2.0 became 3.0",
    ]


def test_dtypes_shapes_and_structure_must_agree() -> None:
    assert differing(True, 1) == ["result['dtype']: 'bool' became 'int32'", "result['value']: True became 1"]
    assert differing(np.float32([1]), np.float32(1)) != []
    assert differing(np.float32(1), np.float64(1)) == ["result['dtype']: 'float32' became 'float64'"]
    assert differing((1, 2), (1, 2, 3)) != []
    assert differing(float("nan"), float("nan")) == []
