"""`tf.linalg.experimental.conjugate_gradient`: linear systems of an operator, solved by its products alone.

r = rhs - A x;  p = r      ==>      repeat: x moves along p, and p is made orthogonal to the directions before
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..control_flow.functional_api import while_loop
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.creation import zeros_like
from ..ops.math.arithmetic import divide_no_nan
from ..ops.math.comparison import logical_and
from ..ops.math.elementwise import conj, real
from ..ops.reduce.norms import norm
from ..ops.reduce.reductions import reduce_any, reduce_sum
from .operator import LinearOperator


class CGState(NamedTuple):
    """The state after `i` iterations: solution, residual, next direction, and square of the residual."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


@export("linalg.experimental.conjugate_gradient")
def conjugate_gradient(
    operator: LinearOperator,
    rhs: Any,
    preconditioner: LinearOperator | None = None,
    x: Any = None,
    tol: float = 1e-05,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solve `operator @ x == rhs` approximately; return the last state, whose `x` is the solution.

    Args:
        operator: `[..., N, N]`, known to be self-adjoint and positive definite (ValueError for others).
        rhs: vectors `[..., N]`, whose batch broadcasts.
        preconditioner: an approximation of the inverse, also self-adjoint and positive definite.
        x: where to start, zeros by default.
        tol: the iteration ends when all residuals have at most `tol` times the norm of `rhs`.
        max_iter: the largest number of iterations.

    >>> from agc.runtime.linalg import LinearOperatorFullMatrix
    >>> matrix = LinearOperatorFullMatrix([[4., 1.], [1., 3.]], is_self_adjoint=True, is_positive_definite=True)
    >>> conjugate_gradient(matrix, [5., 4.]).x.numpy().round(4).tolist()
    [1.0, 1.0]
    """
    for given, what in ((operator, "operator"), (preconditioner, "preconditioner")):
        if given is not None and not (given.is_self_adjoint and given.is_positive_definite):
            raise ValueError(f"Expected a self-adjoint, positive definite {what}.")
    rhs = convert_to_tensor(rhs)
    solution = zeros_like(rhs) if x is None else convert_to_tensor(x)
    residual = rhs - operator.matvec(solution)
    solution = solution + zeros_like(residual)  # the batch of both

    def improved(r: Any) -> Any:
        return r if preconditioner is None else preconditioner.matvec(r)

    def step(state: CGState) -> tuple[CGState]:
        product = operator.matvec(state.p)
        alpha = divide_no_nan(state.gamma, _dot(state.p, product))[..., None]
        r = state.r - alpha * product
        z = improved(r)
        gamma = _dot(r, z)
        beta = divide_no_nan(gamma, state.gamma)[..., None]
        return (CGState(state.i + 1, state.x + alpha * state.p, r, z + beta * state.p, gamma),)

    limit = tol * _length(rhs)
    direction = improved(residual)
    start = CGState(convert_to_tensor(0), solution, residual, direction, _dot(residual, direction))
    (last,) = while_loop(
        lambda state: logical_and(state.i < max_iter, reduce_any(_length(state.r) > limit)), step, (start,)
    )
    return last  # type: ignore[no-any-return]


def _dot(x: Any, y: Any) -> Tensor:
    return reduce_sum(conj(x) * y, -1)  # type: ignore[no-any-return]


def _length(x: Any) -> Tensor:
    return real(norm(x, axis=-1))  # type: ignore[no-any-return]
