"""The definition of an operation: all that graphs, passes and executors read of it.

    operation = graph.operations[0]             m.1 = add m, 1
    operation.op.infer(inputs, attrs)           the type of `m.1`
    operation.op.has(COMMUTATIVE)               True

`ops.framework.op` makes definitions callable, by reading the arguments of a call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from .. import errors
from .facts import DeclaredFacts, FactRecord


class OpDef(FactRecord):
    """The definition of an operation.

    Attributes: `name` (in graphs), `rule` (the inference rule), `parameters` (of the rule), `compute` (the kernel),
    `stateful` (the operation has side effects or reads state: DCE and reordering exclude it), `expression` (Python
    text with `{0}`, `{1}` … that computes the same as the kernel when all inputs have the same dtype; the plan
    executor prefers it), `optional` (attributes that may be missing), and those of `FactRecord`.
    """

    parameters: tuple[str, ...]
    optional: frozenset[str] = frozenset()

    # Positions of parameters: the operands with their annotations, and the attributes with their names and readers.
    operand_parameters: list[tuple[int, str]]
    attribute_parameters: list[tuple[int, str, Callable[[Any], Any]]]
    group: int | None  # which operand is a list
    _operands_first: bool
    required_count: int  # the number of parameters without a default
    default_values: tuple[Any, ...]

    def __init__(
        self,
        rule: Callable[..., Any],
        name: str,
        stateful: bool = False,
        expression: str | None = None,
        **facts: Unpack[DeclaredFacts],
    ) -> None:
        super().__init__(**facts)
        self.rule = rule
        self.name = name
        self.stateful = stateful
        self.expression = expression
        self.compute: Callable[..., Any] = self._no_kernel
        self.special: Callable[..., Any] | None = None
        self.known: Callable[..., Any] | None = None
        self.differentiate: Callable[..., Any] | None = None
        self.has_no_gradient: str | None = None

    def _no_kernel(self, *arrays: Any, **attrs: Any) -> Any:
        raise errors.InternalError(f"{self.name} has no kernel of its own", self.name)

    def kernel(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Register the NumPy kernel: a function from arrays, in the order of the inputs, and attributes to arrays."""
        self.compute = compute
        return compute

    def specialize(self, special: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function that returns a faster kernel, of arrays alone, for calls that the rule accepts.

        It takes a list of inputs, and the attributes: `Constant` for an input that has the same elements in all
        calls, else the type. It returns None where the kernel shall run.
        """
        self.special = special
        return special

    def gradient(self, differentiate: Callable[..., Any]) -> Callable[..., Any]:
        """Register the gradient function (VJP): cotangents of the inputs from the cotangent of the result.

        It takes the cotangent of the result and the result, then the inputs and attributes as the rule does.
        With several results, the first two are lists; cotangents of unused results are None.

        It returns a tensor or None for each input, or a list of them for an `Inputs` argument. With several
        inputs it returns a tuple of these. It is written with operations.
        """
        self.differentiate = differentiate
        return differentiate

    def no_gradient(self, reason: str) -> None:
        """Record why a result of floats passes no gradient on."""
        self.has_no_gradient = reason

    def elements(self, known: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function that computes the statically known elements of a vector of integers.

        It takes operands and attributes as the rule does. It returns a tuple of integers and None, or None. The
        tuple is in row-major order, and has the elements of several results one after the other.
        """
        self.known = known
        return known

    def set_elements(self, results: Sequence[Any], operands: list[Any], attrs: Mapping[str, Any]) -> None:
        """Set the statically known elements of the values `results`."""
        if self.known is None or not results:
            return
        found = self.known(*self.grouped(operands), **attrs)
        if len(results) == 1 or found is None:
            results[0].elements = found
            return
        start = 0
        for value in results:
            stop = start + math.prod(value.shape)
            value.elements, start = found[start:stop], stop

    def infer(self, operands: list[Any], attrs: Mapping[str, Any]) -> Any:
        """Return the result's TensorType, or a tuple of them, by the inference rule."""
        if self._operands_first:
            return self.rule(*self.grouped(operands), **attrs)
        given = dict(
            zip((self.parameters[i] for i, _ in self.operand_parameters), self.grouped(operands), strict=True)
        )
        return self.rule(**given, **attrs)

    def infer_all(self, operands: list[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the types of all results, also of a single one, as a tuple."""
        found = self.infer(operands, attrs)
        return found if isinstance(found, tuple) else (found,)

    def grouped(self, arrays: list[Any]) -> list[Any]:
        """Return flat inputs grouped as the rule and the kernel take them: those of an `Inputs` argument in a list."""
        position = self.group
        if position is None:
            return arrays
        end = len(arrays) - (len(self.operand_parameters) - position - 1)
        return [*arrays[:position], arrays[position:end], *arrays[end:]]

    @functools.cached_property
    def input_names(self) -> list[str]:
        """Return the names of the parameters that are inputs."""
        return [self.parameters[i] for i, _ in self.operand_parameters]

    @functools.cached_property
    def defaults(self) -> Mapping[str, Any]:
        """Return the default values of parameters."""
        return dict(zip(self.parameters[self.required_count :], self.default_values, strict=True))

    @functools.cached_property
    def attribute_defaults(self) -> dict[str, Any]:
        """Return the values of the attributes with a default, which are all attributes of a bare call."""
        first = self.required_count
        return {
            name: reader(self.default_values[i - first])
            for i, name, reader in self.attribute_parameters
            if i >= first
        }
