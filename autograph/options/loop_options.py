"""`set_loop_options`: what a user says about a loop, at the head of its body.

    while n > 0:                                        ag__.while_loop(
        set_loop_options(maximum_iterations=9)   ==>        …, options=lambda n: {'maximum_iterations': 9})
        n -= 1

In plain Python it does nothing. A backend that stages the loop gets the options with it.
"""

from __future__ import annotations

from typing import Any

UNSPECIFIED: Any = object()

NAMES = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants", "checkpoint_every")


def set_loop_options(
    parallel_iterations: Any = UNSPECIFIED,
    swap_memory: Any = UNSPECIFIED,
    maximum_iterations: Any = UNSPECIFIED,
    shape_invariants: Any = UNSPECIFIED,
    checkpoint_every: Any = UNSPECIFIED,
) -> None:
    """Set options of a staged loop; this call is the first statement of its body.

    Args:
        parallel_iterations, swap_memory: hints for a backend, which may ignore them.
        maximum_iterations: a staged loop ends after at most so many iterations.
        shape_invariants: (variable, shape) pairs: the shape of the variable in all iterations.
        checkpoint_every: gradients of a staged loop keep the state only after each n-th iteration, and recompute
            the iterations between; "auto" chooses n, so that N iterations take memory for about sqrt(2 N) states.

    >>> def halved(n):
    ...     while n > 1:
    ...         set_loop_options(maximum_iterations=100)
    ...         n //= 2
    ...     return n
    >>> halved(9)
    1
    """


def looks_like_directive(dotted: str) -> bool:
    """Return whether an unresolved name reads like that of `set_loop_options`."""
    return dotted == "set_loop_options" or dotted.endswith("experimental.set_loop_options")
