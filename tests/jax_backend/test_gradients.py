"""Gradients of staged control flow agree with finite differences; loops of unknown length say their line."""

# ruff: noqa: SIM108  (programs in the style of users)

import agc.jax
import jax
import jax.numpy as jnp
import pytest
from agc.autograph.errors import StagingError
from agc.autograph.experimental import set_loop_options
from jax.test_util import check_grads


def branches(x):
    if x > 1:
        y = x * x
    else:
        y = jnp.sin(x)
    return 3 * y


def early_return(x):
    if x < 0.5:
        return x * 2
    y = x * x
    if x < 1:
        return y + x
    return y * y


def rows(x):
    total = 0.0
    for row in jnp.array([1.0, -2.0, 3.0]) * x:
        if row > 0:
            total += row * row
        else:
            total -= row
    return total


def rows_until(x):
    total = 0.0
    for row in jnp.array([1.0, 2.0, 3.0, 4.0]) * x:
        if row > 3.5:
            break
        total += row**2
    return total


def appended(x):
    values = []
    for row in jnp.array([1.0, 2.0, 3.0]):
        values.append(x * row)
        values.append(x**2)
    return jnp.stack(values) @ jnp.arange(6.0)


def bounded_while(x):
    while x < 10:
        set_loop_options(maximum_iterations=20)
        x = x * x + x
    return x


def assigned_items(x):
    v = jnp.zeros(4)
    for k in jnp.arange(4):
        v[k] = x**k
    v[0] *= x
    return v.sum()


def nested(x):
    total = 0.0
    for a in jnp.arange(3.0):
        b = a
        while b < 4:
            set_loop_options(maximum_iterations=50)
            total += x * b
            b = b + x
    return total


def unbounded(x):
    k = 0
    while x < 10:
        x = x * x
        k += 1
    return x


BACKWARDS = [branches, early_return, rows, rows_until, appended, bounded_while, assigned_items, nested]


@pytest.mark.parametrize("compiled", [False, True], ids=["by operation", "compiled"])
@pytest.mark.parametrize("function", BACKWARDS)
def test_gradients_agree_with_finite_differences(function, compiled):
    staged = agc.jax.autograph(function)
    if compiled:
        staged = jax.jit(staged)
    for x in (0.31, 0.83, 1.3):
        check_grads(staged, (jnp.float32(x),), order=1, atol=0.05, rtol=0.05, eps=1e-3)


def test_forward_mode_of_a_loop_of_unknown_length_agrees_with_finite_differences():
    staged = jax.jit(agc.jax.autograph(unbounded))
    check_grads(staged, (jnp.float32(1.3),), order=1, modes=["fwd"], atol=0.05, rtol=0.05, eps=1e-3)


@pytest.mark.parametrize("function", BACKWARDS)
def test_batches_give_what_each_element_gives(function):
    xs = jnp.array([0.3, 0.8, 1.3])
    gradient = jax.grad(agc.jax.autograph(function))
    batch = jax.vmap(gradient)(xs)
    assert jnp.allclose(batch, jnp.stack([gradient(x) for x in xs]), rtol=1e-5)


def test_a_loop_of_unknown_length_names_its_line_in_reverse_mode():
    with pytest.raises(StagingError, match="AGC230") as raised:
        jax.grad(jax.jit(agc.jax.autograph(unbounded)))(2.0)
    assert "while x < 10:" in str(raised.value)
    assert "maximum_iterations" in str(raised.value)


def test_concrete_tracers_run_python_itself():
    # outside of `jit`, `grad` knows the numbers: Python's own loop runs, and reverse mode works
    assert jax.grad(agc.jax.autograph(unbounded))(2.0) == jax.grad(unbounded)(2.0) == 32


def test_rematerialized_blocks_have_the_same_gradient():
    staged = agc.jax.autograph(rows)
    assert jax.grad(jax.jit(jax.checkpoint(staged)))(1.3) == pytest.approx(float(jax.grad(rows)(1.3)))


def scaled_down(x):
    if x < 100:
        x = 3 * x - 1
    return x


def times_infinity(x):
    y = x
    if x < 100:
        y = x + 1
    else:
        y = x * jnp.inf
    return y


def root_or_zero(x):
    y = 0 * x
    if x > 0:
        y = jnp.sqrt(x)
    return y


@pytest.mark.parametrize("function, conditionals", [(scaled_down, 0), (times_infinity, 1), (root_or_zero, 1)])
def test_branches_are_selected_only_where_derivatives_are_finite(function, conditionals):
    """The derivative of a selection is 0 times that of the other branch, which is no number if that is infinite."""
    staged = agc.jax.autograph(function)
    assert str(jax.make_jaxpr(staged)(1.0)).count("cond[") == conditionals
    assert jnp.isfinite(jax.grad(staged)(0.0))
    differences = (staged(2.25) - staged(1.75)) / 0.5
    assert jax.grad(staged)(2.0) == pytest.approx(float(differences), rel=1e-2)


def test_large_arrays_are_not_computed_in_both_branches():
    assert "cond[" in str(jax.make_jaxpr(agc.jax.autograph(shifted))(jnp.zeros(65)))
    assert "cond[" not in str(jax.make_jaxpr(agc.jax.autograph(shifted))(jnp.zeros(64)))


def shifted(x):
    if x.sum() > 0:
        x = x + 1
    return x


@agc.jax.jit
def count_up(start, stop, step):
    count = 0
    for _ in range(start, stop, step):
        count += 1
    return count, len(range(start, stop, step))


@pytest.mark.parametrize("bounds", [(0, -3, 1), (5, 2, 1), (2, 5, -2), (5, 0, -2), (0, 5, 2)])
def test_empty_ranges_have_no_items(bounds):
    assert count_up(*map(jnp.int32, bounds)) == (len(range(*bounds)),) * 2
