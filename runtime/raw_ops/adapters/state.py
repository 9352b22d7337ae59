"""Adapters of raw operations on variables, tables and random streams."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf

from ...core.variable import VariableHandle
from ...kernels.random import seeds
from ...ops.lookup.static_table import find_in_table
from ...ops.random import stateful
from ...ops.random.stateless_distributions import gamma_slope as gamma_slope


def variable(resource: Any) -> Any:
    """Return the variable of a handle, or the variable itself."""
    return resource.variable if isinstance(resource, VariableHandle) else resource


def effect(result: Any) -> Any:
    """Return None in eager code; in a graph, a value that a session can run."""
    return None if tf.executing_eagerly() else result


def found(table: Any, keys: Any, default: Any) -> Any:
    """Return the values of keys in a table; `default` for others."""
    if isinstance(table, tf.lookup.StaticHashTable):
        return find_in_table(keys, default, table._rows)
    return table.lookup(keys, default)


def scattered(resource: Any, indices: Any, updates: Any, how: str) -> Any:
    """Change rows of a variable."""
    target = variable(resource)
    rows = tf.broadcast_to(updates, tf.concat([tf.shape(indices), tf.shape(target)[1:]], 0))
    return effect(getattr(target, f"scatter_{how}")(tf.IndexedSlices(rows, indices)))


def momentum(var: Any, accum: Any, lr: Any, grad: Any, rate: Any, use_nesterov: bool) -> Any:
    """Change a variable by a step of gradient descent with momentum."""
    var, accum = variable(var), variable(accum)
    speed = accum.value() * rate + grad
    accum.assign(speed)
    return effect(var.assign_sub(grad * lr + speed * rate * lr if use_nesterov else speed * lr))


def adam(
    var: Any, m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any,
    grad: Any, use_nesterov: bool,
) -> Any:  # fmt: skip
    """Change a variable by a step of Adam."""
    var, m, v = variable(var), variable(m), variable(v)
    first = m.value() + (grad - m.value()) * (1 - beta1)
    second = v.value() + (tf.square(grad) - v.value()) * (1 - beta2)
    m.assign(first)
    v.assign(second)
    step = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    ahead = first * beta1 + (1 - beta1) * grad if use_nesterov else first
    return effect(var.assign_sub(step * ahead / (tf.sqrt(second) + epsilon)))


_DRAWS = {
    "categorical": stateful.random_categorical,
    "integers": stateful.random_integers,
    "normal": stateful.random_normal,
    "shuffle": stateful.random_shuffle,
    "truncated_normal": stateful.random_truncated_normal,
    "uniform": stateful.random_uniform,
}


def random(kind: str, *arguments: Any, seed: int, seed2: int) -> Any:
    """Draw from the stream of these seeds, which later calls continue; 0 and 0 is an unpredictable stream."""
    return _DRAWS[kind](*arguments, seed, seed2, seeds.pair(1)[2])


def one_seed(seed: int, seed2: int) -> int | None:
    return (seed2 or seed) or None
