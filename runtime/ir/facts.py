"""Facts about an operation that its declaration records, and that passes and executors query.

negative = unary("negative", operator.neg, ..., traits=CHEAP, scalar={"if": "-{0}"})

negative.has(CHEAP)                 gradients of loops compute it again instead of saving its result
negative.scalar["f"]                is the expression on Python's floats
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from ..core import export as exports
from .batching import BatchingRule, elementwise
from .traits import Trait

Kinds = Mapping[str, Any]
"""A table by kinds of a dtype, as in NumPy: `{"iu": x, "f": y}` has `x` for integers and `y` for floats."""


class BlockReduction(NamedTuple):
    """A reduction as a function of elements, axes, dtype and `out`, and its name in the source of a plan.

    A reduction that `divides` is divided by the number of elements at the end; it takes floats only.
    """

    text: str
    compute: Callable[..., Any]
    divides: bool = False


class DeclaredFacts(TypedDict, total=False):
    """The optional facts of a declaration; see `FactRecord`."""

    traits: Trait
    cost: int
    fills: int
    in_place: Callable[[Callable[..., Any]], Callable[..., Any]]
    ufunc: np.ufunc
    out: Mapping[str, Sequence[str]]
    reuses: tuple[int, ...]
    scalar: Mapping[str, str]
    numpy_scalar: Mapping[str, str]
    interval: Callable[..., Any]
    reducer: BlockReduction
    batch: BatchingRule
    formula: Callable[..., Any]
    element_operands: int
    export: Sequence[str]


class FactRecord:
    """The facts of one operation.

    Attributes:
        traits: See `traits.py`.
        cost: The time for one element, in additions.
        fills: The number that every element of the result is; None if there is no such number.
        in_place: A function from the kernel to one that changes the list, its first operand, in place.
        ufunc: The NumPy function that computes the same as the kernel for dtypes that `out` lacks, if the
            operands raise no INTEGER_ERRORS.
        out: By kind or name of the first operand's dtype, statements that compute the result into the buffer `{o}`
            from `{0}`, `{1}` … and the constants `{zero}`, `{one}`, `{six}`. They do what the kernel does.
        reuses: The numbers of the operands that may share the buffer with the result in `out`.
        scalar: By kind, an expression on Python numbers that computes the same as the kernel.
        numpy_scalar: By kind, an expression on NumPy scalars that is faster than the kernel.
        interval: The function from the operands' ranges to the result's range; see `intervals.py`.
        batch: The batching rule, which runs the operation on all rows at once; see `batching.py`.
        formula: An expression of one element of the result, which native code computes for floats. It takes
            `m`, the operands as numbers with Python's operators, and the attributes by name. `m` has the
            functions `where`, `abs`, `sqrt`, `exp` … as methods.
        element_operands: The number of leading operands that may be ragged, if each element of the result depends
            on their elements at its index only; `Elementwise` operations have it by themselves.
        reducer: The function that reduces a block of elements; None if results of blocks cannot be combined.

    `export` are the public names of the operation, such as ("math.exp", "exp"); see core/export.py.
    """

    traits: Trait = Trait.NONE
    cost: int = 1
    fills: int | None = None
    in_place: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    ufunc: np.ufunc | None = None
    out: Mapping[str, Any]
    reuses: tuple[int, ...] = (0,)
    scalar: Mapping[str, Any]
    numpy_scalar: Mapping[str, Any]
    interval: Callable[..., Any] | None = None
    reducer: BlockReduction | None = None
    batch: BatchingRule | None = None
    formula: Callable[..., Any] | None = None
    element_operands: int = 0

    def __init__(self, **facts: Unpack[DeclaredFacts]) -> None:
        unknown = facts.keys() - DeclaredFacts.__annotations__.keys()
        if unknown:
            raise TypeError(f"an operation has no facts {unknown}")
        export = facts.pop("export", ())
        vars(self).update(facts)
        self.out = _by_kind(facts.get("out", {}))
        self.scalar = _by_kind(facts.get("scalar", {}))
        self.numpy_scalar = _by_kind(facts.get("numpy_scalar", {}))
        if self.batch is None and Trait.ELEMENTWISE in self.traits:
            self.batch = elementwise
        exports.export(*export)(self)

    def batching(self, rule: BatchingRule) -> BatchingRule:
        """Register the batching rule."""
        self.batch = rule
        return rule

    def has(self, trait: Trait) -> bool:
        """Return whether the operation has all of these traits."""
        bits: int = trait._value_  # `in` would run Python code of enum
        return self.traits._value_ & bits == bits


def _by_kind(table: Kinds) -> dict[str, Any]:
    """Return the table with one entry for each kind; a key may be the name of a dtype, too."""
    return {key: entry for keys, entry in table.items() for key in ((keys,) if keys[-1].isdigit() else keys)}
