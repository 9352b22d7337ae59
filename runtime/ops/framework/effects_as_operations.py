"""Functions that print or assert, and have no result, return an operation in a graph for sessions.

    with tf.Graph().as_default():
        check = tf.debugging.assert_positive(x)      # an operation, which `control_dependencies` takes
                                                     # in eager code and in traced functions: None

A session runs only the operations that its fetches need. Other graphs run all effects in program order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ...ir.builder import current

F = TypeVar("F", bound=Callable[..., Any])


def returns_operation(function: F) -> F:
    """Make a function return, in a graph for sessions, an operation that depends on the effects it has added."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        builder: Any = current()
        if builder is None or not builder.keeps_constants:
            return function(*args, **kwargs)
        start = len(builder.operations)
        function(*args, **kwargs)
        return builder.no_op([each for each in builder.operations[start:] if not each.outputs])

    return cast(F, called)
