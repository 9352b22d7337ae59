"""Import rules of random numbers by seeds: the key and the counter of a seed stand for the seed.

StatelessRandomGetKeyCounter(seed), StatelessRandomUniformV2(shape, key, counter)
==>     StatelessRandomUniform(shape, seed)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import dtypes
from ...core import late_binding
from ...core.conversion import convert_to_tensor
from ...errors import UnimplementedError
from .graph_import import GraphFunctions, rule
from .graph_messages import NodeDef


class SeedKey(NamedTuple):
    """The key or the counter that TensorFlow computes from a seed."""

    seed: Any


@rule("StatelessRandomGetKeyCounter")
def _(functions: GraphFunctions, node: NodeDef, inputs: list[Any]) -> list[Any]:
    return [SeedKey(inputs[0])] * 2


@rule("StatelessRandomGetAlg")
def _(functions: GraphFunctions, node: NodeDef, inputs: list[Any]) -> list[Any]:
    return [convert_to_tensor(1, dtypes.int32)]  # Philox


@rule("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2")
def _(functions: GraphFunctions, node: NodeDef, inputs: list[Any]) -> list[Any]:
    operation = getattr(late_binding.raw_ops, node.op.removesuffix("V2"))
    return [operation(shape=inputs[0], seed=_seed(node, inputs), dtype=_dtype(node))]


@rule("StatelessRandomUniformFullIntV2")
def _(functions: GraphFunctions, node: NodeDef, inputs: list[Any]) -> list[Any]:
    operation = late_binding.raw_ops.StatelessRandomUniformFullInt
    return [operation(shape=inputs[0], seed=_seed(node, inputs), dtype=_dtype(node))]


@rule("StatelessRandomUniformIntV2")
def _(functions: GraphFunctions, node: NodeDef, inputs: list[Any]) -> list[Any]:
    operation = late_binding.raw_ops.StatelessRandomUniformInt
    return [operation(shape=inputs[0], seed=_seed(node, inputs), minval=inputs[4], maxval=inputs[5])]


def _dtype(node: NodeDef) -> dtypes.DType:
    return dtypes.as_dtype(node.attr["dtype"].type or 1)


def _seed(node: NodeDef, inputs: list[Any]) -> Any:
    if not isinstance(inputs[1], SeedKey):
        raise UnimplementedError(f"{node.op} takes a key that is not computed from a seed")
    return inputs[1].seed
