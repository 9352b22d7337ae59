"""Explain the errors by which JAX refuses to give Python a traced value: what Python needs, and the fix.

np.sin(x)     TracerArrayConversionError  ⇒  NumPy needs the values of a traced array; fix: jax.numpy
"""

from __future__ import annotations

from agc.arrays import UnknownValue

import jax

_WHY = "a traced array has its value when the program runs"
_SIZES = (
    "take sizes from shapes, such as x.shape[0], or make the argument static: jit(static_argnums=…); to loop n times, "
    "write `for i in range(n)`"
)

_TABLE: tuple[tuple[type[Exception], str, str, str], ...] = (
    # class                                    its text contains    what Python needs             fix
    (
        jax.errors.TracerBoolConversionError, "", "Python needs a truth value here",
        "decide in an `if` or `while` of the converted function, or with jnp.where",
    ),
    (
        jax.errors.TracerArrayConversionError, "", "NumPy needs the values of a traced array",
        "call the function of this name in jax.numpy",
    ),
    (
        jax.errors.TracerIntegerConversionError, "", "Python needs an integer here",
        "index an array instead of a list: jnp.array(items)[i]; or " + _SIZES,
    ),
    (
        jax.errors.NonConcreteBooleanIndexError, "", "the number of selected items is unknown",
        "keep the shape: jnp.where(mask, x, 0), or x[mask] = value",
    ),
    (
        jax.errors.ConcretizationTypeError, "`float` function", "Python needs a number here",
        "call the function of jax.numpy instead of that of `math`; for text, format with an f-string",
    ),
    (
        jax.errors.ConcretizationTypeError, "method", "Python needs the value of a traced array",
        "compute with the array itself, and take its value from the result of the compiled function",
    ),
    (
        jax.errors.ConcretizationTypeError, "size argument", "the number of items is unknown",
        "pass `size=`, the largest number",
    ),
    (jax.errors.ConcretizationTypeError, "", "a size must be known while the function is traced", _SIZES),
    (TypeError, "Shapes must be 1D sequences", "a shape must be known while the function is traced", _SIZES),
    (
        TypeError, "unhashable type: 'DynamicJaxprTracer'", "a traced array cannot be a key of a dict or set",
        "index an array, jnp.array([...])[i], or make the argument static: jit(static_argnums=…)",
    ),
    (
        IndexError, "static", "the size of a slice must be known while the function is traced",
        "if only the start is traced, jax.lax.dynamic_slice_in_dim(x, start, size); else keep the shape: "
        "jnp.where(jnp.arange(len(x)) < stop, x, 0)",
    ),
)  # fmt: skip


def unknown_value(error: Exception) -> UnknownValue | None:
    """Return what Python needs, why the value is unknown, and the fix; None for other errors.

    >>> unknown_value(IndexError("Slice entries must be static integers.")).title
    'the size of a slice must be known while the function is traced'
    """
    for kind, part, title, fix in _TABLE:
        if isinstance(error, kind) and part in str(error):
            return UnknownValue(title, _WHY, fix, kind is jax.errors.TracerBoolConversionError)
    return None
