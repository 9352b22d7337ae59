"""Time inference by TensorFlow Probability on agc and on TensorFlow.

python -m benchmarks.probability [--peer PYTHON]     the Python of an environment with TensorFlow and tf_keras

Both environments need the package tensorflow_probability. The results of one seed are equal on agc and in TensorFlow's
graphs; XLA draws other random numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .columns import Program, main

WARM = 3.0


def hamiltonian(tf: Any, tfp: Any, seed: Any) -> Any:
    """Draw from four chains at once."""
    kernel = tfp.mcmc.HamiltonianMonteCarlo(_log_density(tf, tfp), step_size=0.3, num_leapfrog_steps=3)
    return _chain(tf, tfp, kernel, tf.zeros([4]), seed)


def no_u_turn(tf: Any, tfp: Any, seed: Any) -> Any:
    """Draw from a chain whose steps have loops."""
    return _chain(tf, tfp, tfp.mcmc.NoUTurnSampler(_log_density(tf, tfp), step_size=0.4), tf.zeros([]), seed)


def _log_density(tf: Any, tfp: Any) -> Callable[[Any], Any]:
    normal, data = tfp.distributions.Normal, tf.constant([3.1, 4.0, 5.2, 3.9])

    def log_density(mean: Any) -> Any:
        likelihood = tf.reduce_sum(normal(mean[..., tf.newaxis], 1.0).log_prob(data), -1)
        return normal(0.0, 10.0).log_prob(mean) + likelihood

    return log_density


def _chain(tf: Any, tfp: Any, kernel: Any, start: Any, seed: Any) -> Any:
    drawn = tfp.mcmc.sample_chain(
        500, current_state=start, kernel=kernel, num_burnin_steps=100, trace_fn=None, seed=seed
    )
    return tf.reduce_mean(drawn)


def particle_filter(tf: Any, tfp: Any, seed: Any) -> Any:
    """Follow a position that is measured in 50 steps."""
    normal = tfp.distributions.Normal
    found = tfp.experimental.mcmc.particle_filter(
        observations=tf.linspace(0.0, 3.0, 50),
        initial_state_prior=normal(0.0, 1.0),
        transition_fn=lambda _, x: normal(x + 0.05, 0.3),
        observation_fn=lambda _, x: normal(x, 0.5),
        num_particles=200,
        seed=seed,
    )
    return tf.reduce_sum(found[3])


def stiff_equation(tf: Any, tfp: Any, seed: Any) -> Any:
    """Solve two equations by backward differentiation formulas."""
    rate = 50.0 + tf.cast(seed[0], tf.float64)

    def slope(t: Any, y: Any) -> Any:
        return tf.stack([-rate * y[0] + y[1], -y[1]])

    start = tf.ones([2], tf.float64)
    return tf.reduce_sum(tfp.math.ode.BDF().solve(slope, 0.0, start, [0.1, 0.5, 1.0]).states)


def _of(program: Callable[..., Any]) -> Program:
    """Return the program for the table, a function of a seed."""

    def made(tf: Any, jit_compile: bool | None) -> Callable[[], Any]:
        import tensorflow_probability as tfp

        function = tf.function(functools.partial(program, tf, tfp), jit_compile=jit_compile, autograph=False)
        return functools.partial(function, tf.constant([1, 2]))

    return made


PROGRAMS = {
    "Hamiltonian Monte Carlo, 4 chains, 600 steps": _of(hamiltonian),
    "No-U-Turn sampler, 600 steps": _of(no_u_turn),
    "particle filter, 50 steps, 200 particles": _of(particle_filter),
    "stiff differential equation (BDF)": _of(stiff_equation),
}

if __name__ == "__main__":
    main("benchmarks.probability", __doc__, PROGRAMS, WARM)
