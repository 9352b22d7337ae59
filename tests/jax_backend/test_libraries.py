"""Modules of Flax and Equinox, and optimizers of Optax, in staged control flow."""

# ruff: noqa: B023  (functions in loops are called at once)

import agc.jax
import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from agc.autograph.experimental import set_loop_options
from flax import nnx

X = jnp.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
Y = jnp.array([5.0, 11.0, 2.0])


class Counted(nnx.Module):
    """A linear layer whose output is halved until it is small; it counts its calls and the halvings."""

    def __init__(self, rngs):
        self.linear = nnx.Linear(2, 1, rngs=rngs)
        self.calls, self.halvings = nnx.Variable(jnp.array(0)), nnx.Variable(jnp.array(0))

    def __call__(self, x):
        self.calls[...] += 1
        y = self.linear(x)[:, 0]
        while jnp.abs(y).max() > 100:
            set_loop_options(maximum_iterations=10)
            y = y / 2
            self.halvings[...] += 1
        return y


@nnx.jit
@agc.jax.autograph
def fit(model, optimizer, x, y):
    def loss(model):
        return jnp.mean((model(x) - y) ** 2)

    steps, value = 0, jnp.inf
    while value > 0.1 and steps < 300:
        value, grads = nnx.value_and_grad(loss)(model)
        norm = optax.tree.norm(grads)
        if norm > 1.0:
            grads = jax.tree.map(lambda g: g / norm, grads)
        optimizer.update(model, grads)
        steps += 1
    return steps, value


def test_a_loop_updates_the_variables_of_an_nnx_module_and_its_optimizer():
    model = Counted(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.3), wrt=nnx.Param)
    steps, value = fit(model, optimizer, X, Y)
    assert value <= 0.1
    assert steps == optimizer.step[...] == model.calls[...] > 1
    assert model(1000 * X).max() <= 100  # Python's own loop, on concrete arrays
    assert model.halvings[...] > 0


def test_random_streams_of_nnx_advance_in_a_loop():
    dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

    def dropped(dropout, x, n):
        while n > 0:
            x = dropout(x)
            n -= 1
        return x

    expected = dropped(nnx.Dropout(0.5, rngs=nnx.Rngs(0)), jnp.ones(8), 2)
    assert jnp.array_equal(nnx.jit(agc.jax.autograph(dropped))(dropout, jnp.ones(8), 2), expected)
    assert dropout.rngs.count[...] == 2


def test_nnx_itself_refuses_changes_of_an_outer_trace_as_before():
    variable = nnx.Variable(jnp.array(1.0))

    def changed(x):
        variable[...] = x
        return x

    with pytest.raises(Exception, match="different trace level"):
        jax.jit(agc.jax.autograph(changed))(2.0)


class Scaled(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.width)(x)
        if h.sum() > 0:
            h = nn.relu(h)
        while jnp.abs(h).max() > 2:
            h = h / 2
        return nn.Dense(1)(h)[:, 0]


def test_control_flow_in_a_module_of_linen():
    model = Scaled(3)
    params = agc.jax.jit(model.init)(jax.random.key(0), X)
    eager = model.apply(params, 5 * X)  # concrete arrays: Python's own control flow
    np.testing.assert_allclose(agc.jax.jit(model.apply)(params, 5 * X), eager, rtol=1e-5)


class Decay(eqx.Module):
    rate: jax.Array
    most: float = eqx.field(static=True)

    def __call__(self, x):
        while jnp.abs(x).max() > self.most:
            set_loop_options(maximum_iterations=20)
            x = x * self.rate
        return x


def test_a_module_of_equinox_is_called_differentiated_and_batched():
    decay = Decay(jnp.array(0.5), 1.0)
    staged = eqx.filter_jit(eqx.filter_value_and_grad(agc.jax.autograph(lambda m, x: m(x).sum())))
    value, gradient = staged(decay, jnp.array([3.0, 1.0]))
    assert (value, gradient.rate) == (1.0, 4 * 2 * 0.5)
    assert jax.jit(jax.vmap(agc.jax.autograph(decay)))(jnp.array([[3.0], [0.5]])).tolist() == [[0.75], [0.5]]


def test_a_module_of_equinox_is_the_state_of_a_training_loop_that_stops_early():
    optimizer = optax.adam(0.3)

    def loss(model, x, y):
        return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)

    @eqx.filter_jit
    @agc.jax.autograph
    def train(model, x, y):
        state = optimizer.init(eqx.filter(model, eqx.is_array))
        best, waited = jnp.inf, 0
        for _ in jnp.arange(300):
            value, grads = eqx.filter_value_and_grad(loss)(model, x, y)
            if value < best - 1e-4:
                best, waited = value, 0
            else:
                waited += 1
            if waited == 50:
                break
            updates, state = optimizer.update(grads, state)
            model = eqx.apply_updates(model, updates)
        return model, best

    assert train(eqx.nn.Linear(2, 1, key=jax.random.key(0)), X, Y)[1] < 0.1
