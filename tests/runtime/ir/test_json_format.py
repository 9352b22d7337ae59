"""A graph and its JSON form are the same thing: what is written reads back into an identical graph."""

from __future__ import annotations

import json
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core import shapes
from agc.runtime.ir.attribute_json import attribute_data, attribute_from
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.graph_def import GraphDef
from agc.runtime.ir.json_format import as_text, serialize
from agc.runtime.ir.json_reader import GraphFormatError, deserialize
from agc.runtime.ir.printer import print_graph
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from hypothesis import given, settings
from support.random_graphs import graphs, many
from support.verifier import verify


@settings(max_examples=many(30))
@given(graphs())
def test_serialized_graphs_read_back(graph: Graph) -> None:
    data = json.loads(as_text(serialize(graph, portable=True)))
    again = deserialize(data)
    assert print_graph(again) == print_graph(graph)
    assert serialize(again) == data
    verify(again)
    for one, other in zip(graph.walk(), again.walk(), strict=True):
        assert one.origin == other.origin
        assert one.attrs == other.attrs
        assert [v.name for v in one.outputs] == [v.name for v in other.outputs]


@pytest.mark.parametrize(
    "array",
    [
        np.array(0.1, np.float32), np.array(-0.0, np.float32), np.array(np.nan), np.array([np.inf, 1]),
        np.array(1 << 62), np.arange(6, dtype=np.uint8).reshape(2, 3), np.zeros([0, 2], np.float16),
        np.array(1 + 2j, np.complex64), np.array([True, False]), np.array(True), np.array(b"\xff", object),
        np.array("a€".encode(), object), np.array([b"", b"\x00\xff"], object), np.array(7, np.int32),
    ],
)  # fmt: skip
def test_constants_are_kept_bit_by_bit(array: Any) -> None:
    graph = Graph("main", (), (), (Constant(array),))
    (back,) = deserialize(json.loads(as_text(serialize(graph)))).outputs
    assert isinstance(back, Constant)
    assert (back.dtype, back.shape) == (graph.outputs[0].dtype, array.shape)
    if array.dtype == object:
        assert back.value.tolist() == array.tolist()
    else:
        assert back.value.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -1, 1 << 70, 0.1, float("inf"), "mean", "", b"\xff\x00", 1j, complex(float("inf"), 0),
        (), (0, None, (1,)), [1, [2]], {"a": 1, 2: (3,)}, tf.float32, tf.string, shapes.TensorShape([None, 2]),
        shapes.TensorShape(None), slice(1, None, 2), Ellipsis,
    ],
)  # fmt: skip
def test_attributes_keep_their_type_and_value(value: Any) -> None:
    back = attribute_from(json.loads(json.dumps(attribute_data(value))))
    assert (type(back), back) == (type(value), value)


def test_an_array_as_an_attribute() -> None:
    back = attribute_from(json.loads(json.dumps(attribute_data(np.arange(3, dtype=np.int16)))))
    assert back.dtype == np.int16
    assert back.tolist() == [0, 1, 2]


def test_equal_constants_are_written_once() -> None:
    big = np.arange(100, dtype=np.float32)
    graph = Graph("main", (), (), (Constant(big), Constant(big.copy()), Constant(big + 1)))
    assert len(serialize(graph)["constants"]) == 2


def test_callees_are_shared() -> None:
    inner = tf.function(lambda x: x * 2)
    graph = tf.function(lambda x: inner(x) + inner(x + 1)).get_concrete_function(tf.constant(1)).graph
    again = deserialize(serialize(graph))
    first, second = (op.regions[0] for op in again.operations if op.type == "call")
    assert first is second
    assert again == graph


def test_process_bound_values_are_refused_in_portable_graphs() -> None:
    x = Value("x", TensorType(tf.float32, ()))
    operation = Operation(REGISTRY["reduce_sum"], (x,), {"axis": len}, (Value("y", x.spec),))
    graph = Graph("main", (x,), (operation,), operation.outputs)
    assert "<builtin_function_or_method len>" in str(graph.as_graph_def())
    with pytest.raises(ValueError, match="'reduce_sum' cannot be saved: its `axis`"):
        serialize(graph, portable=True)
    with pytest.raises(GraphFormatError, match=r"reduce_sum, `axis`: .* exists only while the program runs"):
        deserialize(serialize(graph))


class TestDamage:
    def data(self) -> Any:
        return serialize(tf.function(lambda x: x + 1.5).get_concrete_function(tf.constant(1.0)).graph)

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"format": "else"}'])
    def test_foreign_content(self, content: bytes) -> None:
        with pytest.raises(GraphFormatError):
            GraphDef.FromString(content)

    def test_a_newer_version(self) -> None:
        with pytest.raises(GraphFormatError, match="version 99; this agc reads up to 1"):
            deserialize({**self.data(), "version": 99})

    def test_an_unknown_operation_is_refused(self) -> None:
        data = self.data()
        data["graphs"][0]["operations"][0]["op"] = "teleport"
        with pytest.raises(GraphFormatError, match="no operation 'teleport'"):
            deserialize(data)

    @pytest.mark.parametrize(
        "change",
        [
            lambda graph: graph.update(outputs=["nothing"]),
            lambda graph: graph["inputs"][0].update(spec="float32["),
            lambda graph: graph["inputs"].append(graph["inputs"][0]),
            lambda graph: graph["operations"][0].update(inputs=["x", {"constant": 7}]),
            lambda graph: graph["operations"][0].update(inputs=["x", {"value": "a", "dtype": "float32"}]),
            lambda graph: graph["operations"][0].pop("outputs"),
            lambda graph: graph["operations"][0].update(callees=[0]),
        ],
    )
    def test_inconsistent_graphs_are_refused(self, change: Any) -> None:
        data = self.data()
        change(data["graphs"][0])
        with pytest.raises(GraphFormatError):
            deserialize(data)


def test_the_json_text_is_readable() -> None:
    graph = tf.function(lambda x: x + 1.5).get_concrete_function(tf.constant(1.0)).graph
    text = str(graph.as_graph_def())
    assert '"inputs": ["x", {"value": 1.5, "dtype": "float32"}]' in text
    assert json.loads(text) == graph.as_graph_def().data
