"""Say which loop JAX cannot differentiate backwards, with its line.

    y = lax.while_loop(…)      ⇒    y = forwards_only(lax.while_loop(…)), the identity

Its transpose, which reverse mode reaches before that of the loop, raises the error.
"""

from __future__ import annotations

from typing import Any

from agc.autograph.errors import Diagnostic, StagingError, Where

import jax
import jax.extend.core
from jax.interpreters import ad, batching, mlir

_PRIMITIVE = jax.extend.core.Primitive("forwards_only")
_PRIMITIVE.def_impl(lambda x, **_: x)
_PRIMITIVE.def_abstract_eval(lambda aval, **_: aval)
mlir.register_lowering(_PRIMITIVE, lambda context, x, **_: [x])


def forwards_only(value: Any, where: Where | None) -> Any:
    """Return the array; if it is differentiated backwards, raise an error that names the line of its loop."""
    return _PRIMITIVE.bind(value, where=where)


def _transposed(cotangent: Any, x: Any, where: Where | None) -> Any:
    raise StagingError(
        Diagnostic(
            "AGC230",
            "reverse-mode differentiation of this loop is not possible",
            where,
            why="JAX would have to keep the state of each iteration, and their number is known only when it runs",
            fix="begin the loop's body with set_loop_options(maximum_iterations=n), loop over the rows of an array or "
            "over a range of known size, or use forward mode: jax.jvp or jax.jacfwd",
        )
    )


def _batched(values: Any, axes: Any, **parameters: Any) -> Any:
    return _PRIMITIVE.bind(*values, **parameters), axes[0]


ad.deflinear2(_PRIMITIVE, _transposed)
batching.primitive_batchers[_PRIMITIVE] = _batched
