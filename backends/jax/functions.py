"""The functions of `agc.jax`: convert a function for JAX, and compile it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from agc.arrays import converted, staged

import jax

from . import backend, deferred_rules  # noqa: F401  (registers JAX's types; stages what JAX runs later)
from .codes import code_of, raise_from
from .library import LIBRARY

F = TypeVar("F", bound=Callable[..., Any])


def autograph(function: F) -> F:
    """Return the function with its control flow on traced arrays staged, for any transformation of JAX.

    `jax.jit`, `grad`, `value_and_grad`, `jvp`, `vjp`, `vmap`, `checkpoint` and `lax.scan` take the result as they take
    any function. With concrete arrays it does what `function` does. Functions that it calls are converted, too.

    A failed `assert` or a staged `raise` raises the exception by a callback, while the program runs; JAX reports
    it as `jax.errors.JaxRuntimeError`. `agc.jax.jit` raises the exception itself.

    Raises:
        agc.autograph.errors.StagingError: control flow that JAX cannot stage with these values, with its line.

    >>> import jax
    >>> import agc.jax
    >>> @agc.jax.autograph
    ... def hill(x):
    ...     if x > 1:
    ...         return x * x
    ...     return 2 * x - 1
    >>> jax.vmap(jax.grad(hill))(jax.numpy.array([0.5, 3.0]))
    Array([2., 6.], dtype=float32)
    """
    return staged(function, LIBRARY)


def jit(function: F | None = None, /, **options: Any) -> Any:
    """Convert a function, and compile it with `jax.jit`, which gets the options.

    Without a function, return a decorator.

    Raises:
        The exceptions of the function's own `raise` and `assert`, after the program has run. To know whether there is
        one, a call waits for the program. Functions without checks are dispatched asynchronously, as with `jax.jit`.
        agc.autograph.errors.StagingError: control flow that JAX cannot stage with these values, with its line.

    >>> import agc.jax
    >>> @agc.jax.jit
    ... def root(x):
    ...     assert x >= 0, "a negative number has no real root"
    ...     guess = x
    ...     while abs(guess * guess - x) > 1e-6 * x:
    ...         guess = 0.5 * (guess + x / guess)
    ...     return guess
    >>> round(float(root(2.0)), 4)
    1.4142
    >>> try:
    ...     root(-1.0)
    ... except AssertionError as error:
    ...     print(error)
    a negative number has no real root
    """
    if function is None:
        return functools.partial(jit, **options)
    run = converted(function, LIBRARY)

    @functools.wraps(function)
    def with_code(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        result, checks = run(args, kwargs)
        return result, code_of(checks)

    compiled = jax.jit(with_code, **options)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result, code = compiled(*args, **kwargs)
        raise_from(code)
        return result

    call.lower, call.clear_cache = compiled.lower, compiled.clear_cache  # type: ignore[attr-defined]
    return call
