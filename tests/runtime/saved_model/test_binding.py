"""The index of a saved model states how its graphs are called: what does not fit them is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.saved_model import file_format
from support.sealed_files import changed


class _Model(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.small = tf.Variable([1.0, 2.0])
        self.large = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(input_signature=[tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)])
    def f(self, x: Any, n: Any) -> Any:
        return {"y": x * self.small, "n": n + 1}


def _graph(content: dict[str, Any]) -> Any:
    return content["nodes"][0]["functions"]["f"]["graphs"][0]


def _swap(content: dict[str, Any]) -> None:
    arguments = _graph(content)["arguments"]
    arguments["x"], arguments["n"] = arguments["n"], arguments["x"]


def _other_variable(content: dict[str, Any]) -> None:
    (number,) = _graph(content)["captured"]
    others = [i for i, node in enumerate(content["nodes"]) if node["kind"] == "variable" and i != number]
    _graph(content)["captured"] = others


@pytest.mark.parametrize(
    "change",
    [
        _swap,
        _other_variable,
        lambda content: _graph(content)["arguments"].update(x={"tensor": [[3], "float32", "x"]}),
        lambda content: _graph(content)["arguments"].update(x={"tensor": [[None], "float32", "x"]}),
        lambda content: _graph(content)["arguments"].update(x={"tensor": [[2], "float64", "x"]}),
        lambda content: _graph(content)["arguments"].update(x={"python": 1}),
        lambda content: _graph(content)["captured"].clear(),
        lambda content: _graph(content)["captured"].append(_graph(content)["captured"][0]),
        lambda content: _graph(content).update(outputs={"output": 2}),
        lambda content: _graph(content).update(outputs={"output": -1}),
    ],
)
def test_an_index_that_contradicts_the_graph_is_refused(tmp_path: Path, change: Any) -> None:
    tf.saved_model.save(_Model(), tmp_path)
    assert tf.saved_model.load(tmp_path).f(tf.constant([1.0, 2.0]), 3)["n"].numpy() == 4
    changed(tmp_path / file_format.INDEX, change)
    with pytest.raises(tf.errors.DataLossError, match=r"the graph (takes|has no result)"):
        tf.saved_model.load(tmp_path)


@pytest.mark.parametrize("name", ["\uff58", "x, y", "x=1", "def", "", "*x", "None", 1, None])
def test_invalid_parameter_names_are_refused(tmp_path: Path, name: Any) -> None:
    tf.saved_model.save(_Model(), tmp_path)

    def rename(content: dict[str, Any]) -> None:
        content["nodes"][0]["functions"]["f"]["parameters"][0][0] = name

    changed(tmp_path / file_format.INDEX, rename)
    with pytest.raises(tf.errors.DataLossError):
        tf.saved_model.load(tmp_path)
