"""Control flow that JAX cannot stage is an error that names the line, the variable and the fix."""

# ruff: noqa: SIM108, RET503  (programs in the style of users)

import agc.jax
import jax.numpy as jnp
import pytest
from agc.autograph.errors import StagingError


def different_types(x):
    if x > 0:
        y = jnp.int32(1)
    else:
        y = x * 2.0
    return y


def different_shapes(x):
    if x > 0:
        y = jnp.ones(2)
    else:
        y = jnp.ones(3)
    return y


def different_structures(x):
    if x > 0:
        y = (x, x)
    else:
        y = [x, x]
    return y


def nothing_returned(x):
    if x > 0:
        return x


def different_objects(x):
    if x > 0:
        y = "text"
    else:
        y = "other"
    return x, y


def type_changes_in_loop(n):
    total = jnp.int32(0)
    while n > 0:
        total = total + 0.5
        n -= 1
    return total


def shape_changes_in_loop(n):
    v = jnp.zeros(2)
    while n > 0:
        v = jnp.concatenate([v, v])
        n -= 1
    return v


def structure_changes_in_loop(n):
    best = None
    while n > 0:
        best = n
        n -= 1
    return best


def list_of_unknown_length(n):
    out = []
    while n > 0:
        out.append(n)
        n -= 1
    return out


def list_that_an_if_extends(n):
    out = []
    for x in jnp.arange(3):
        if x > n:
            out.append(x)
    return out


def list_that_is_read(n):
    out = [n]
    for x in jnp.arange(3):
        out.append(out[-1] + x)
    return out


def condition_with_elements(n):
    if jnp.arange(3) > n:
        return 1
    return 0


CASES = [
    (different_types, "AGC201", "`y`", "if x > 0:"),
    (different_shapes, "AGC201", "`y`", "float32[3]"),
    (different_structures, "AGC202", "`y`", "y = [x, x]"),
    (nothing_returned, "AGC202", "return", "None"),
    (different_objects, "AGC203", "`y`", "'other'"),
    (type_changes_in_loop, "AGC204", "`total`", "total = jnp.int32(0)"),
    (shape_changes_in_loop, "AGC204", "`v`", "float32[4]"),
    (structure_changes_in_loop, "AGC205", "`best`", "best = None"),
    (list_of_unknown_length, "AGC231", "`out`", "while n > 0:"),
    (list_that_an_if_extends, "AGC231", "`out`", "if x > n:"),
    (list_that_is_read, "AGC231", "list", "out.append(out[-1] + x)"),
    (condition_with_elements, "AGC207", "(3,)", "jnp.any"),
]


@pytest.mark.parametrize(
    ("function", "code", "variable", "shown"), CASES, ids=lambda each: getattr(each, "__name__", None)
)
def test_the_error_names_the_line_and_the_variable(function, code, variable, shown):
    with pytest.raises(StagingError) as raised:
        agc.jax.jit(function)(jnp.float32(1) if "different" in function.__name__ else 1)
    assert raised.value.diagnostic.code == code
    assert raised.value.diagnostic.where.file == __file__
    for text in (variable, shown):
        assert text in str(raised.value)


def test_a_range_with_a_traced_bound_takes_integers():
    @agc.jax.jit
    def counted(n):
        for _ in range(n):
            pass

    with pytest.raises(TypeError, match="integers"):
        counted(2.5)
