"""Traits of operations: facts that passes and executors query instead of naming operations.

add = binary("add", ..., traits=COMMUTATIVE | MODULAR | CHEAP)

optimize/cse            CSE orders the operands of operations that are COMMUTATIVE
optimize/speculation    LICM and hoisting may run operations that are TOTAL before their condition
autodiff                the backward body of a loop recomputes results that are CHEAP
executors/plan          fusion merges operations that are ELEMENTWISE
"""

from __future__ import annotations

import enum


class Trait(enum.Flag):
    """A fact about an operation that holds for all its operands."""

    NONE = 0

    ELEMENTWISE = enum.auto()
    """Each element of the result depends on one element of each operand.

    The kernel computes the same bits for a part of an array as for the whole. Special functions lack this
    trait: they group elements by the formula to use.
    """

    COMMUTATIVE = enum.auto()
    """Swapped operands give the same bits, except for which of two NaNs is returned."""

    TOTAL = enum.auto()
    """The operation succeeds for all values of its operands if their shapes fit, so it may be speculated."""

    ANY_SHAPE = enum.auto()
    """A TOTAL operation accepts operands of any shape."""

    INTEGER_ERRORS = enum.auto()
    """The operation is TOTAL for floats only: it raises an error for some integers."""

    CHEAP = enum.auto()
    """Computing the result again costs no more than storing and loading it (rematerialization)."""

    BANDWIDTH_BOUND = enum.auto()
    """Computing takes no longer than reading the operands from memory."""

    MODULAR = enum.auto()
    """The result modulo 2**bits depends only on the operands modulo 2**bits."""

    INLINE_SCALAR = enum.auto()
    """The expression on Python numbers cannot overflow, so that it may be emitted at its only use."""

    FRESH_RESULT = enum.auto()
    """The results are new arrays that alias no operand, and the operation keeps no operand."""

    MAY_ALIAS = enum.auto()
    """An elementwise kernel may return its operand, or a view of it."""

    SIZE_QUERY = enum.auto()
    """The results are a few integers: sizes of the operand."""

    UPDATE = enum.auto()
    """The result is the first operand with some elements changed, so code may overwrite an operand that dies."""

    PYTHON_INDEX = enum.auto()
    """The kernel accepts a Python number for the second operand, an index."""

    FRESH_LIST = enum.auto()
    """The result is a new list that no other value shares."""

    READS_LIST = enum.auto()
    """The operation reads elements of a list, and keeps no reference to the list."""

    KEEPS_LENGTH = enum.auto()
    """The result has as many elements as the first operand, unless that TensorArray is dynamic."""

    KEEPS_VARIABLES = enum.auto()
    """A stateful operation changes no variable."""

    IDEMPOTENT = enum.auto()
    """Repeating a stateful operation after it has succeeded has no effect."""

    DRAWS_RANDOM = enum.auto()
    """A stateful operation has no effect but to advance the random state of the runtime."""

    CALLS_PYTHON = enum.auto()
    """The kernel runs Python code, which may assign any variable."""

    RAISES = enum.auto()
    """The operation raises an exception of the program, whose message names no operation."""

    LOCATES_ERRORS = enum.auto()
    """The kernel runs a graph, and its errors name the operation of that graph that failed."""

    COLLECTIVE = enum.auto()
    """All replicas of a strategy run the operation together, in the same order."""

    LENIENT = enum.auto()
    """The kernel computes something for sizes that the rule rejects, so executors check sizes that a graph leaves open.

    For example, NumPy broadcasts a size of 1.
    """


NONE = Trait.NONE
ELEMENTWISE = Trait.ELEMENTWISE
COMMUTATIVE = Trait.COMMUTATIVE
TOTAL = Trait.TOTAL
ANY_SHAPE = Trait.ANY_SHAPE
INTEGER_ERRORS = Trait.INTEGER_ERRORS
CHEAP = Trait.CHEAP
BANDWIDTH_BOUND = Trait.BANDWIDTH_BOUND
MODULAR = Trait.MODULAR
INLINE_SCALAR = Trait.INLINE_SCALAR
FRESH_RESULT = Trait.FRESH_RESULT
MAY_ALIAS = Trait.MAY_ALIAS
SIZE_QUERY = Trait.SIZE_QUERY
UPDATE = Trait.UPDATE
PYTHON_INDEX = Trait.PYTHON_INDEX
FRESH_LIST = Trait.FRESH_LIST
READS_LIST = Trait.READS_LIST
KEEPS_LENGTH = Trait.KEEPS_LENGTH
KEEPS_VARIABLES = Trait.KEEPS_VARIABLES
IDEMPOTENT = Trait.IDEMPOTENT
DRAWS_RANDOM = Trait.DRAWS_RANDOM
CALLS_PYTHON = Trait.CALLS_PYTHON
RAISES = Trait.RAISES
LOCATES_ERRORS = Trait.LOCATES_ERRORS
COLLECTIVE = Trait.COLLECTIVE
LENIENT = Trait.LENIENT
