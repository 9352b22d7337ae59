"""Structured operations, defined by their regions: `cond`, `while`, `switch`, `call`, `fused`.

The executors implement them; they have no kernel. A region is a closed graph. Its inputs correspond one to
one to the operands passed to it.

    cond    predicate, *args          regions (then, else)    results: those of the region that runs
    while   *state, *invariants       regions (test, body)    results: the last state
    switch  index, *args              regions: the branches   results: those of the branch that runs
    call    *args                     regions (callee,)       results: the callee's
    fused   *args                     regions (body,)         results: the body's, whose operations run as one
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...ir.value_types import TensorType
from .attribute_parsers import READERS, Axes
from .op import Op, Tensors, op

_NONE: Mapping[str, str] = {}


class StructuredOp(Op):
    """An operation with regions; `Operation.stateful` is true if an operation in its regions is stateful."""

    def __init__(self, name: str, doc: str, attributes: Mapping[str, str] = _NONE) -> None:
        def rule(*operands: Any) -> Any:
            raise TypeError(f"the results of {name!r} follow from its regions")

        rule.__name__ = name
        rule.__doc__ = doc
        super().__init__(rule, name)
        self.attribute_parameters = [
            (i, each, READERS[kind]) for i, (each, kind) in enumerate(attributes.items())
        ]
        self.required_count = len(attributes)
        self.optional = frozenset(attributes)
        self._bare = None  # created from regions, never by a direct call


@op(name="custom_gradient")
def CUSTOM(inputs: Tensors, results: int, given: Axes, refusal: str = "") -> tuple[TensorType, ...]:
    """Return the first of the inputs, as many as there are results; the region computes their gradients.

    The region takes the cotangents of the results and the last of the inputs. It yields the cotangents of the
    inputs after the results that `given` numbers. With a `refusal`, there are none: it says why.
    """
    return tuple(value.spec for value in inputs[:results])


CUSTOM.kernel(lambda inputs, results, given, refusal="": inputs[:results])


COND = StructuredOp("cond", "Run the first region when the predicate is true, else the second.")
WHILE = StructuredOp("while", "Replace the state by what the body yields, as long as the test yields true.",
                     {"maximum_iterations": "Rounds", "checkpoint_every": "Every"})  # fmt: skip
SWITCH = StructuredOp("switch", "Run the region with the given number; the last one when there is none.")
CALL = StructuredOp("call", "Run the graph of another function, as native code of its own if that is `jit_compile`.",
                    {"name": "str", "jit_compile": "bool"})  # fmt: skip
FUSED = StructuredOp(
    "fused", "Run operations on elements as one, in blocks. Executors make them; no program has them."
)
