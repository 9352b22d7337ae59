"""Inference by TensorFlow Probability: samplers, optimizers, state spaces and solvers; their results are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

tfb, tfd, kernels, mcmc = tfp.bijectors, tfp.distributions, tfp.math.psd_kernels, tfp.mcmc

SEED = [1, 2]


def chain(kernel: Any, start: Any, steps: int, **options: Any) -> Any:
    options = {"trace_fn": None, "seed": SEED, **options}
    return tf.function(lambda: mcmc.sample_chain(steps, current_state=start, kernel=kernel, **options))()


def half_square(x: Any) -> Any:
    return -(x**2) / 2


def hamiltonian() -> Any:
    kernel = mcmc.HamiltonianMonteCarlo(tfd.Normal(1.0, 2.0).log_prob, step_size=0.7, num_leapfrog_steps=3)
    return chain(kernel, tf.zeros([4]), 50, trace_fn=lambda _, results: results.is_accepted)


def no_u_turn() -> Any:
    sampler = mcmc.NoUTurnSampler(tfd.MultivariateNormalDiag([0.0, 1.0], [1.0, 3.0]).log_prob, step_size=0.5)
    return chain(mcmc.DualAveragingStepSizeAdaptation(sampler, num_adaptation_steps=40), tf.zeros([2, 2]), 60)


def random_walk() -> Any:
    return chain(mcmc.RandomWalkMetropolis(half_square), 0.0, 50)


def slices() -> Any:
    return chain(mcmc.SliceSampler(half_square, step_size=1.0, max_doublings=5), 1.0, 20)


def replica_exchange() -> Any:
    mixture = tfd.MixtureSameFamily(tfd.Categorical(probs=[0.5, 0.5]), tfd.Normal([-3.0, 3.0], [0.5, 0.5]))
    kernel = mcmc.ReplicaExchangeMC(
        mixture.log_prob,
        inverse_temperatures=[1.0, 0.3, 0.1],
        make_kernel_fn=lambda log_prob: mcmc.HamiltonianMonteCarlo(log_prob, 0.5, 3),
    )
    return chain(kernel, 1.0, 40)


def diagnostics() -> Any:
    chains = tf.random.stateless_normal([50, 3], SEED)
    return mcmc.effective_sample_size(tf.sin(tf.range(40.0))), mcmc.potential_scale_reduction(chains)


def particle_filter() -> Any:
    found = tf.function(tfp.experimental.mcmc.particle_filter, autograph=False)(
        observations=tf.constant([0.1, 0.5, 1.2, 2.0]),
        initial_state_prior=tfd.Normal(0.0, 1.0),
        transition_fn=lambda _, x: tfd.Normal(x + 0.5, 0.3),
        observation_fn=lambda _, x: tfd.Normal(x, 0.5),
        num_particles=50,
        seed=SEED,
    )
    return tf.reduce_mean(found[0], 1), tf.reduce_sum(found[3])


def rosenbrock(x: Any) -> Any:
    return tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def quasi_newton() -> Any:
    def with_gradient(x: Any) -> Any:
        return tfp.math.value_and_gradient(rosenbrock, x)

    start = tf.constant([-1.2, 1.0, 0.5], tf.float64)
    limited = tf.function(lambda: tfp.optimizer.lbfgs_minimize(with_gradient, start, tolerance=1e-8))()
    full = tfp.optimizer.bfgs_minimize(with_gradient, start, tolerance=1e-8)
    return limited.converged, limited.position, full.converged, full.position


def without_derivatives() -> Any:
    start = tf.constant([-1.2, 1.0], tf.float64)
    found = tfp.optimizer.nelder_mead_minimize(rosenbrock, initial_vertex=start, func_tolerance=1e-10)
    root = tfp.math.find_root_chandrupatla(lambda x: x**2 - 2.0, 0.0, 2.0).estimated_root
    return found.converged, found.position, root


def surrogate_posterior() -> Any:
    scale = tfp.util.TransformedVariable([1.0, 1.0], tfb.Softplus())
    surrogate = tfd.MultivariateNormalDiag(tf.Variable([0.0, 0.0]), scale)
    target = tfd.MultivariateNormalDiag([1.0, -1.0], [0.5, 2.0])
    losses = tfp.vi.fit_surrogate_posterior(
        target.log_prob, surrogate, tf.keras.optimizers.Adam(0.1), num_steps=60, sample_size=20, seed=SEED
    )
    return losses[0], losses[-1], surrogate.mean(), surrogate.stddev()


def gaussian_process() -> Any:
    x = np.linspace(0, 1, 12)[:, None]
    y, noise = np.sin(6 * x[:, 0]), tf.constant(0.01, tf.float64)
    amplitude, length = (
        tfp.util.TransformedVariable(tf.constant(start, tf.float64), tfb.Exp()) for start in (1.0, 0.3)
    )
    kernel = kernels.ExponentiatedQuadratic(amplitude, length)
    process = tfd.GaussianProcess(kernel, x, observation_noise_variance=noise)
    losses = tfp.math.minimize(
        lambda: -process.log_prob(y),
        20,
        tf.keras.optimizers.Adam(0.05),
        trainable_variables=process.trainable_variables,
    )
    at = np.array([[0.15], [0.5]])
    posterior = tfd.GaussianProcessRegressionModel(kernel, at, x, y, observation_noise_variance=noise)
    return losses[-1], posterior.mean(), posterior.stddev()


def structural_time_series() -> Any:
    y = np.cumsum(np.random.RandomState(0).randn(30)).astype(np.float32)
    parts = [tfp.sts.LocalLinearTrend(observed_time_series=y), tfp.sts.Seasonal(4, observed_time_series=y)]
    model = tfp.sts.Sum(parts, observed_time_series=y)
    values = [tf.fill([1], 0.5) for _ in model.parameters]
    return tfp.sts.forecast(model, y, values, 3).mean()


def kalman_filter() -> Any:
    model = tfd.LinearGaussianStateSpaceModel(
        6,
        tf.linalg.LinearOperatorFullMatrix([[1.0, 1.0], [0.0, 1.0]]),
        tfd.MultivariateNormalDiag(scale_diag=[0.1, 0.1]),
        tf.linalg.LinearOperatorFullMatrix([[1.0, 0.0]]),
        tfd.MultivariateNormalDiag(scale_diag=[0.5]),
        tfd.MultivariateNormalDiag(scale_diag=[1.0, 1.0]),
    )
    y = tf.constant([[0.0], [1.0], [1.8], [3.1], [4.2], [4.9]])
    return tf.function(lambda y: (model.log_prob(y), model.posterior_marginals(y)[0]))(y)


def hidden_markov_model() -> Any:
    model = tfd.HiddenMarkovModel(
        tfd.Categorical(probs=[0.8, 0.2]),
        tfd.Categorical(probs=[[0.7, 0.3], [0.2, 0.8]]),
        tfd.Normal([0.0, 15.0], [5.0, 10.0]),
        7,
    )
    y = tf.constant([-2.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    return model.log_prob(y), model.posterior_mode(y), model.posterior_marginals(y).probs_parameter()


def differential_equations() -> Any:
    start, times = tf.constant([1.0, 1.0]), [0.1, 0.5, 1.0]

    def stiff(t: Any, y: Any) -> Any:
        return tf.stack([-50.0 * y[0] + y[1], -y[1]])

    return (
        tf.function(lambda: tfp.math.ode.BDF().solve(stiff, 0.0, start, times).states)(),
        tfp.math.ode.DormandPrince().solve(lambda t, y: -y, 0.0, start, times).states,
    )


def joint_model() -> Any:
    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Any:
        a = yield tfd.Normal(0.0, 1.0, name="a")
        b = yield tfd.LogNormal(a, 1.0, name="b")
        yield tfd.Normal(b * tf.ones(3), 1.0, name="c")

    drawn = model.sample(2, seed=SEED)
    return drawn, model.log_prob(drawn)


def bijectors() -> Any:
    flow = tfb.Chain([tfb.Shift([1.0, 2.0]), tfb.Scale([2.0, 0.5]), tfb.Invert(tfb.Softplus())])
    x = tf.constant([[0.5, 1.5]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        volume = flow.forward_log_det_jacobian(x, event_ndims=1)
    spline = tfb.RationalQuadraticSpline([0.5, 0.5], [0.3, 0.7], [1.2])
    matrices = (
        tfb.CorrelationCholesky().forward([0.1, 0.2, 0.3]),
        tfb.FillScaleTriL().forward([0.1, 0.2, 0.3]),
    )
    return (
        flow.forward(x),
        flow.inverse(flow.forward(x)),
        volume,
        tape.gradient(volume, x),
        spline.forward([0.3]),
        matrices,
    )


def across_functions() -> Any:
    """A distribution, and one with variables, as an argument, a result and a loop variable of functions."""
    density = tf.function(lambda distribution, x: distribution.log_prob(x))
    location = tf.Variable(1.0)
    found = []
    for value in (1.0, 2.0):
        location.assign(value)
        found.append(density(tfd.Normal(location, 1.0), 1.0))
    with tf.GradientTape() as tape:
        result = density(tfd.Normal(location, 1.0), 1.0)
    moved = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, normal: (i + 1, tfd.Normal(normal.loc + 1.0, normal.scale)),
        [0, tfd.Normal(0.0, 1.0)],
    )
    return found, tape.gradient(result, location), moved[1].loc


def special_functions() -> Any:
    m = tfp.math
    return (
        m.betainc(2.0, 3.0, 0.4), m.log_gamma_difference(10.0, 2.0), m.erfcx(2.0), m.lambertw(1.0),
        m.owens_t(1.0, 0.5), m.bessel_kve(1.5, 2.0), m.logerfc(3.0), m.igammainv(2.0, 0.3), m.betaincinv(2.0, 3.0, 0.4),
    )  # fmt: skip


def statistics() -> Any:
    x = tf.constant([1.0, 5.0, 2.0, 8.0])
    design = tf.constant([[1.0, 0.5], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    regression = tfp.glm.fit(
        design, tf.constant([1.0, 2.0, 3.0, 6.0]), tfp.glm.Poisson(), maximum_iterations=10
    )
    divergence = tfd.kl_divergence(tfd.Gamma(2.0, 1.0), tfd.Gamma(3.0, 2.0))
    return (
        tfp.stats.percentile(x, 50.0), tfp.stats.quantiles(x, 4), tfp.stats.auto_correlation(x), regression[0],
        divergence,
    )  # fmt: skip


PROGRAMS = [
    hamiltonian, no_u_turn, random_walk, slices, replica_exchange, diagnostics, particle_filter, quasi_newton,
    without_derivatives, surrogate_posterior, gaussian_process, structural_time_series, kalman_filter,
    hidden_markov_model, differential_equations, joint_model, bijectors, across_functions, special_functions,
    statistics,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: Callable[[], Any], record_property: Callable[..., None]) -> None:
    leaves = tf.nest.flatten(program())
    record_property(
        "numbers", " ".join(f"{x:.5g}" for leaf in leaves for x in np.ravel(np.asarray(leaf, float)))
    )
