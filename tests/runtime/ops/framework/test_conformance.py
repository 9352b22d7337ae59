"""What holds for every operation: the examples of the manuals are its test inputs.

The laws below are checked on the calls that operation_examples.py records, so an operation that is declared with an
example is tested without another line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.executors import interpret
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.json_format import serialize
from agc.runtime.ir.json_reader import deserialize
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from agc.runtime.optimize import optimize
from support.each_case import each_case
from support.hostile_graphs import graph_of, loaded, nothing_ran, run, with_hostile_text, with_lies
from support.operation_examples import MODULES, NAMES, REFUSALS, Call, calls, examples
from support.outcomes import bits
from support.selection import IS_FUZZING, in_turn
from support.verifier import verify

TAKES_ANYTHING = {
    "const", "numpy_function", "py_function", "string_format", "serialize_tensor", "stateless_numpy_function",
    "as_string", "boolean_mask", "equal_or_false", "expand_dims", "identity", "meshgrid",
    "not_equal_or_true", "optimization_barrier", "print", "raise", "random_shuffle", "range", "rank",
    "reverse_sequence", "roll", "shape", "size", "squeeze", "stop_gradient", "true_indices", "zeros_like",
}  # fmt: skip
"""Operations whose rule refuses no tensor; what must be integers has been checked before the rule."""


LAWS: list[Callable[[str], None]] = []


def law(check: Callable[[str], None]) -> Callable[[str], None]:
    """What must hold for each operation."""
    LAWS.append(check)
    return check


@each_case("name", MODULES)
def test_docstring_examples_print_their_results(name: str) -> None:
    assert "".join(examples().failures[name]) == ""


@law
def it_has_a_manual_an_example_and_a_kernel(name: str) -> None:
    op = REGISTRY[name]
    manual = (op.__doc__ or "").split(">>>")[0].strip()
    assert manual.endswith((".", ":")), f"the manual of {name} is no sentence: {manual!r}"
    assert op.compute != op._no_kernel, f"{name} has no kernel"
    assert name in examples().seen, f"no example calls {name}"


@law
def the_kernel_gives_what_the_rule_says(name: str) -> None:
    for call in calls(name):
        results = call.outcome(*call.arrays)
        for view in (_known, _values_unknown, _dimensions_unknown, _rank_unknown):
            specs = call.specs([view(array) for array in call.arrays])
            assert len(specs) == len(results)
            for spec, result in zip(specs, results, strict=True):
                assert spec.covers(TensorType(_dtype(result), np.shape(result))), (
                    f"{view.__name__}: {spec}, but {result!r}"
                )


@law
def the_optimizer_changes_no_result(name: str) -> None:
    for call in calls(name):
        if call.op.stateful or not all(isinstance(array, (np.ndarray, np.generic)) for array in call.arrays):
            continue
        inputs = [Value("x", Constant(np.asarray(array)).spec) for array in call.arrays]
        for operands in (inputs, [Constant(np.asarray(array)) for array in call.arrays]):
            outputs = tuple(Value("y", spec) for spec in call.specs(operands))
            operation = Operation(call.op, tuple(operands), call.attrs, outputs)
            given = list(map(np.asarray, call.arrays)) if operands is inputs else []
            graph = Graph("example", inputs if given else (), (operation,), outputs)
            optimized = verify(optimize(graph))
            assert list(map(bits, interpret(optimized, given))) == list(map(bits, interpret(graph, given)))


@law
def the_rule_knows_the_shape_where_it_knows_the_values(name: str) -> None:
    data_dependent = {
        "common_rows",
        "ragged_coordinates",
        "ranges",
        "rowids_of_splits",
        "ctc_beam_search",
        "ctc_collapse",
        "ctc_greedy",
        "suppress",
        "suppress_overlaps",
        "placeholder_with_default",  # what is fed decides
        "blank",  # nothing decides
        "all_gather",  # the other processes decide
        "coordinates_of_all_rows",
        "distinct_coordinates",
        "combined_sets",
        "matching_files",
        "parse_example",
        "parse_sequence_example",
        "parse_sparse_rows",
        "ragged_feature_lengths",
        "samples_of_wav",
        "string_bytes",
        "string_ngrams",
        "string_split",
        "unicode_code_points",
        "unique",
        "occurrences",
        "unique_with_counts",
        "true_indices",
        "masked",
        "distinct",
        "length_mask",
        "boolean_mask",
    }
    if name == "decode_image":
        return  # the file decides, even the rank: a GIF has an axis of frames
    for call in calls(name):
        for spec in call.specs([_known(array) for array in call.arrays]):
            assert spec.shape is not None
            assert None not in spec.shape or name in data_dependent


@law
def the_kernel_leaves_its_inputs_alone(name: str) -> None:
    for call in calls(name):
        arrays = [np.array(array) for array in call.arrays]
        for array in arrays:
            array.flags.writeable = False
        assert isinstance(call.outcome(*arrays), tuple)


@law
def numpy_scalars_are_as_good_as_arrays_of_rank_0(name: str) -> None:
    for call in calls(name):
        if any(not array.size or array.dtype == object for array in call.arrays):
            continue
        flat = [array.ravel()[0] for array in call.arrays]
        try:
            specs = call.specs([_known(np.array(item)) for item in flat])
        except REFUSALS:
            continue
        expected, got = call.outcome(*map(np.array, flat)), call.outcome(*flat)
        assert type(expected) is type(got)
        if isinstance(expected, tuple):
            for spec, one, other in zip(specs, expected, got, strict=True):
                assert spec.covers(TensorType(_dtype(other), np.shape(other)))
                if not call.op.stateful:
                    np.testing.assert_array_equal(one, other)
        else:
            assert expected is got


@law
def odd_operands_are_refused_with_a_reason_or_taken(name: str) -> None:
    """The rule meets every dtype and many shapes in each place: it fails with its own words or not at all."""
    refused = False
    for call, operands in _of_different_kinds(name):
        for place, operand in enumerate(operands):
            for dtype, shape in _odd_types(operand.dtype):
                odd = [*operands[:place], Value("odd", TensorType(dtype, shape)), *operands[place + 1 :]]
                try:
                    specs = call.specs(odd)
                except REFUSALS as error:
                    assert str(error)
                    refused = True
                else:
                    assert all(isinstance(spec, TensorType) for spec in specs)
    assert refused or not any(call.arrays for call in calls(name)) or name in TAKES_ANYTHING


ODD_SHAPES = [None, (), (None,), (0,), (2,), (None, 3), (2, 3), (5, 4, 3), (1, 2, 3, 4)]


def _odd_types(right: dtypes.DType) -> list[tuple[dtypes.DType, Any]]:
    """Every shape with the right dtype, which the rule does not refuse before, and with each dtype some shape."""
    of_dtypes = [
        (dtype, shape) for place, dtype in enumerate(dtypes.ALL) for shape in in_turn(ODD_SHAPES, place)
    ]
    return [*((right, shape) for shape in ODD_SHAPES), *of_dtypes]


@law
def a_file_states_as_many_results_as_it_asks_for(name: str) -> None:
    """A number of results is refused before the rule lists them: a few bytes would take gigabytes."""
    call = next((each for each in calls(name) if graph_of(each)), None)
    if call is None:
        return  # its operands are no tensors
    graph, _ = graph_of(call)  # type: ignore[misc]
    unknown = [
        each if isinstance(each, Constant) else Value(each.name, TensorType(each.dtype, None))
        for each in graph.operations[0].inputs
    ]
    for attribute, number in call.attrs.items():
        more = _count(call, unknown, {attribute: number + 1}) if type(number) is int else None
        if more not in (None, _count(call, unknown, {})):
            data = serialize(graph, portable=True)
            data["graphs"][0]["operations"][0]["attrs"][attribute] = 1 << 40
            with pytest.raises(ValueError, match=f"results by its `{attribute}`"):
                deserialize(data)


def _count(call: Call, operands: list[Any], changes: dict[str, Any]) -> int | None:
    """How many results the rule gives; None when it refuses this."""
    try:
        return len(call._replace(attrs={**call.attrs, **changes}).specs(operands))
    except REFUSALS:
        return None


@law
def a_file_makes_no_code_of_it_and_cannot_lie_about_it(name: str) -> None:
    """Each field of the operation's JSON form is changed: what is loaded all the same runs as ever."""
    found = next(filter(None, map(graph_of, calls(name))), None)
    if found is None:
        return  # its operands are no tensors
    graph, given = found
    data = serialize(graph, portable=True)
    assert str(deserialize(data)) == str(graph)
    most = None if IS_FUZZING else 3
    for each in (*with_hostile_text(data, most), *with_lies(data, most)):
        loaded_graph = loaded(each)
        if loaded_graph is not None:
            run(loaded_graph, given)
        assert nothing_ran()


@each_case("name", NAMES)
def test_all_laws(name: str) -> None:
    for check in LAWS:
        check(name)


def _of_different_kinds(name: str) -> Iterator[tuple[Call, list[Any]]]:
    """The examples that differ in more than the values of their operands, which are unknown here."""
    seen = set()
    for call in calls(name):
        operands = [_values_unknown(array) for array in call.arrays]
        kind = repr(([operand.spec for operand in operands], sorted(call.attrs.items())))
        if kind not in seen:
            seen.add(kind)
            yield call, operands


def _known(array: Any) -> Any:
    return Constant(array)


def _values_unknown(array: Any) -> Any:
    return Value("x", TensorType(dtypes.of_array(array), array.shape))


def _dimensions_unknown(array: Any) -> Any:
    return Value("x", TensorType(dtypes.of_array(array), (None,) * array.ndim))


def _rank_unknown(array: Any) -> Any:
    return Value("x", TensorType(dtypes.of_array(array), None))


def _dtype(result: Any) -> dtypes.DType:
    return dtypes.string if isinstance(result, bytes) else dtypes.of_array(result)
