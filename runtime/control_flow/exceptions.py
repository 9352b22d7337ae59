"""Exceptions of user code in a graph: `raise` and `assert` become operations that fail at run time.

    if x < 0:                                            cond less, x
        raise ValueError(f"bad value {x}")     ==>         then x
                                                             raise x [error='ValueError', pieces=('bad value ', '')]

While tracing, the exception propagates as usual up to the block that becomes a region of the graph. There it is
recorded, after all effects on its way, such as those of a `finally`. A region that fails returns no results. If no
region of an operation returns, the region around the operation ends as well.
"""

from __future__ import annotations

from agc.autograph import staging

from ..ir.builder import Builder
from ..ir.source_location import raised_at
from ..ops.state.variable_ops import read_variable
from .regions import active


class RegionNeverReturns(BaseException):
    """Ends the trace of a region that always fails; its failure is recorded already."""


def end(error: BaseException) -> None:
    """Record the exception of a region's function if the graph is to fail with it; else raise it."""
    if isinstance(error, RegionNeverReturns):
        return
    is_pythons = isinstance(error, UnboundLocalError) or hasattr(error, "fails_in_graph")
    if not is_pythons and not staging.raised_by_user(error):
        if isinstance(error, Exception) and _is_from_user_code(error):
            handler = staging.surroundings(error, active().root.entered).catching
            if handler is not None:
                from .uncaught import skippable

                raise skippable(error, handler) from error
            _explain(error)
        raise error
    from .failures import fail  # most programs raise nothing

    fail(error)


def _is_from_user_code(error: Exception) -> bool:
    """Return whether Python raised the exception at a line of user code, not in agc or a library."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    origin = raised_at(error)
    file = None if innermost is None else innermost.tb_frame.f_code.co_filename
    return origin is not None and file == origin.filename and not hasattr(error, "raised_in_agc")


def _explain(error: Exception) -> None:
    """Add a note that a graph traces branches that the program never takes, to a Python error in user code."""
    if not getattr(error, "__notes__", None):
        error.add_note(
            "(raised while tracing, which runs every branch of an `if` on tensors and every loop body, "
            "even if the graph never runs them)"
        )


def has_effects(builder: Builder) -> bool:
    """Return whether a graph has effects up to this point."""
    return any(operation.stateful and operation.op is not read_variable for operation in builder.operations)
