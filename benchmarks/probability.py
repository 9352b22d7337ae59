"""Time inference by TensorFlow Probability on agc and on TensorFlow: the first call in seconds, a call in milliseconds.

python -m benchmarks.probability [--peer PYTHON]     the Python of an environment with TensorFlow and tf_keras

Both environments need the package tensorflow_probability. Each column is a process of its own, which prints the results
of one seed as well: they are equal on agc and in TensorFlow's graphs; XLA draws other random numbers.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from .timing import seconds

COLUMNS = {
    "agc": ("agc", None),
    "agc native": ("agc", True),
    "TF graph": ("tensorflow", None),
    "TF XLA": ("tensorflow", True),
}
"""The library of each column, and `jit_compile`."""

WARM = 3.0
"""Seconds in which a function is called before it is timed, so that automatic compilation has ended."""


def programs(tf: Any, tfp: Any) -> dict[str, Callable[[Any], Any]]:
    """Return functions of a seed, two int32."""
    normal, mcmc = tfp.distributions.Normal, tfp.mcmc
    data = tf.constant([3.1, 4.0, 5.2, 3.9])

    def log_density(mean: Any) -> Any:
        likelihood = tf.reduce_sum(normal(mean[..., tf.newaxis], 1.0).log_prob(data), -1)
        return normal(0.0, 10.0).log_prob(mean) + likelihood

    def chain(kernel: Any, start: Any, seed: Any) -> Any:
        drawn = mcmc.sample_chain(
            500, current_state=start, kernel=kernel, num_burnin_steps=100, trace_fn=None, seed=seed
        )
        return tf.reduce_mean(drawn)

    def particle_filter(seed: Any) -> Any:
        found = tfp.experimental.mcmc.particle_filter(
            observations=tf.linspace(0.0, 3.0, 50),
            initial_state_prior=normal(0.0, 1.0),
            transition_fn=lambda _, x: normal(x + 0.05, 0.3),
            observation_fn=lambda _, x: normal(x, 0.5),
            num_particles=200,
            seed=seed,
        )
        return tf.reduce_sum(found[3])

    def stiff_equation(seed: Any) -> Any:
        rate = 50.0 + tf.cast(seed[0], tf.float64)

        def slope(t: Any, y: Any) -> Any:
            return tf.stack([-rate * y[0] + y[1], -y[1]])

        start = tf.ones([2], tf.float64)
        return tf.reduce_sum(tfp.math.ode.BDF().solve(slope, 0.0, start, [0.1, 0.5, 1.0]).states)

    return {
        "Hamiltonian Monte Carlo, 4 chains, 600 steps": lambda seed: chain(
            mcmc.HamiltonianMonteCarlo(log_density, step_size=0.3, num_leapfrog_steps=3), tf.zeros([4]), seed
        ),
        "No-U-Turn sampler, 600 steps": lambda seed: chain(
            mcmc.NoUTurnSampler(log_density, step_size=0.4), tf.zeros([]), seed
        ),
        "particle filter, 50 steps, 200 particles": particle_filter,
        "stiff differential equation (BDF)": stiff_equation,
    }


def measure(column: str) -> dict[str, tuple[float, float, float]]:
    """Return the first call and a call in seconds, and the result, of each program, in this process."""
    library, jit_compile = COLUMNS[column]
    if library == "agc":
        import agc.runtime

        agc.runtime.install_as_tensorflow()
    import tensorflow as tf
    import tensorflow_probability as tfp

    return {name: timed(tf, program, jit_compile) for name, program in programs(tf, tfp).items()}


def timed(tf: Any, program: Callable[[Any], Any], jit_compile: bool | None) -> tuple[float, float, float]:
    """Return the seconds of the first call and of the fastest later one, and the result."""
    seed = tf.constant([1, 2])
    run = functools.partial(tf.function(program, jit_compile=jit_compile, autograph=False), seed)
    first, warm = seconds(run, 1), 0.0
    while warm < WARM:
        warm += seconds(run, 1)
    return first, min(seconds(run, 1) for _ in range(10)), float(run())


def main() -> None:
    """Measure the columns, each in its own process, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.probability", description=__doc__)
    parser.add_argument("--peer", help="the Python of an environment with TensorFlow")
    parser.add_argument("--column", choices=COLUMNS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.column:
        print(json.dumps(measure(chosen.column)))
        return
    found = {}
    for column, (library, _) in COLUMNS.items():
        python = sys.executable if library == "agc" else chosen.peer
        if python:
            command = [python, "-m", "benchmarks.probability", "--column", column]
            found[column] = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    print(f"{'':46}" + "".join(f"{column:>25}" for column in found))
    for name in next(iter(found.values())):
        cells = (found[column][name] for column in found)
        texts = [f"{1e3 * best:9.3f} ({first:.2f} s) {result:.4f}" for first, best, result in cells]
        print(f"{name:46}" + "".join(f"{text:>25}" for text in texts), flush=True)


if __name__ == "__main__":
    main()
