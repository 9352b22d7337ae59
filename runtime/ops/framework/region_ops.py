"""Operations whose meaning lies in their regions: `cond`, `while`, `switch`, `call`, `fused`.

The executors know them; they have no kernel. A region is a closed graph whose inputs stand for the operands
that it is given, one to one.

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
    """An operation with regions; `Operation.stateful` follows from what they hold."""

    def __init__(self, name: str, doc: str, attributes: Mapping[str, str] = _NONE) -> None:
        def rule(*operands: Any) -> Any:
            raise TypeError(f"the results of {name!r} follow from its regions")

        rule.__name__ = name
        rule.__doc__ = doc
        super().__init__(rule, name)
        self._attributes = [(i, each, READERS[kind]) for i, (each, kind) in enumerate(attributes.items())]
        self._required = len(attributes)
        self.optional = frozenset(attributes)
        self._bare = None  # regions make it, not a call


@op(name="custom_gradient")
def CUSTOM(inputs: Tensors, results: int, given: Axes) -> tuple[TensorType, ...]:
    """The first of the inputs, as many as there are results. The region says what their gradients are.

    It takes the gradients of the results and the last of the inputs, and yields those of the inputs behind the
    results that `given` numbers.
    """
    return tuple(value.spec for value in inputs[:results])


@CUSTOM.kernel
def _(inputs: list[Any], results: int, given: Any) -> list[Any]:
    return inputs[:results]


COND = StructuredOp("cond", "Run the first region when the predicate is true, else the second.")
WHILE = StructuredOp(
    "while",
    "Replace the state by what the body yields, as long as the test yields true.",
    {"maximum_iterations": "Rounds", "checkpoint_every": "Every"},
)
SWITCH = StructuredOp("switch", "Run the region with the given number; the last one when there is none.")
CALL = StructuredOp("call", "Run the graph of another function.", {"name": "str"})
FUSED = StructuredOp(
    "fused", "Run operations on elements as one, in blocks. Executors make them; no program has them."
)
