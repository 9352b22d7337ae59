"""Distributions of TensorFlow Probability: samples, densities, gradients and moments, as numbers that are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

tfb, tfd, kernels = tfp.bijectors, tfp.distributions, tfp.math.psd_kernels

SEED = [1, 2]
IDENTITY = tf.linalg.LinearOperatorIdentity(2)

DISTRIBUTIONS: dict[str, Callable[[], Any]] = {
    "bates": lambda: tfd.Bates(3.0),
    "bernoulli": lambda: tfd.Bernoulli(logits=[0.3, -1.0]),
    "beta": lambda: tfd.Beta(2.0, [3.0, 0.7]),
    "binomial": lambda: tfd.Binomial(10.0, probs=[0.3, 0.9]),
    "categorical": lambda: tfd.Categorical(logits=[0.1, 0.5, 1.0]),
    "cauchy": lambda: tfd.Cauchy(0.0, 1.0),
    "dirichlet": lambda: tfd.Dirichlet([1.0, 2.0, 3.0]),
    "dirichlet_multinomial": lambda: tfd.DirichletMultinomial(5.0, [1.0, 2.0, 3.0]),
    "empirical": lambda: tfd.Empirical([1.0, 2.0, 3.0]),
    "exponential": lambda: tfd.Exponential(2.0),
    "exponentially_modified_gaussian": lambda: tfd.ExponentiallyModifiedGaussian(0.0, 1.0, 2.0),
    "gamma": lambda: tfd.Gamma([2.0, 0.5], 3.0),
    "gaussian_process": lambda: tfd.GaussianProcess(
        kernels.ExponentiatedQuadratic(),
        np.linspace(0, 1, 4, dtype=np.float32)[:, None],
        observation_noise_variance=0.1,
        jitter=1e-3,
    ),
    "generalized_extreme_value": lambda: tfd.GeneralizedExtremeValue(0.0, 1.0, 0.2),
    "generalized_pareto": lambda: tfd.GeneralizedPareto(0.0, 1.0, 0.2),
    "geometric": lambda: tfd.Geometric(probs=0.3),
    "gumbel": lambda: tfd.Gumbel(0.0, 1.0),
    "half_normal": lambda: tfd.HalfNormal(2.0),
    "hidden_markov_model": lambda: tfd.HiddenMarkovModel(
        tfd.Categorical(probs=[0.8, 0.2]),
        tfd.Categorical(probs=[[0.7, 0.3], [0.2, 0.8]]),
        tfd.Normal([0.0, 15.0], [5.0, 10.0]),
        5,
    ),
    "horseshoe": lambda: tfd.Horseshoe(1.0),
    "independent": lambda: tfd.Independent(tfd.Normal([0.0, 1.0], 1.0), 1),
    "inverse_gamma": lambda: tfd.InverseGamma(3.0, 2.0),
    "inverse_gaussian": lambda: tfd.InverseGaussian(1.0, 2.0),
    "joint_named": lambda: tfd.JointDistributionNamed(
        {"a": tfd.Normal(0.0, 1.0), "b": lambda a: tfd.Gamma(tf.exp(a), 1.0)}
    ),
    "joint_sequential": lambda: tfd.JointDistributionSequential(
        [tfd.Normal(0.0, 1.0), lambda z: tfd.Normal(z, 2.0)]
    ),
    "kumaraswamy": lambda: tfd.Kumaraswamy(2.0, 3.0),
    "laplace": lambda: tfd.Laplace(0.0, 1.0),
    "linear_gaussian_state_space": lambda: tfd.LinearGaussianStateSpaceModel(
        4,
        IDENTITY,
        tfd.MultivariateNormalDiag(scale_diag=[0.5, 0.5]),
        IDENTITY,
        tfd.MultivariateNormalDiag(scale_diag=[1.0, 1.0]),
        tfd.MultivariateNormalDiag(scale_diag=[1.0, 1.0]),
    ),
    "lkj": lambda: tfd.LKJ(3, 2.0),
    "log_normal": lambda: tfd.LogNormal(0.0, 1.0),
    "logistic": lambda: tfd.Logistic(0.0, 1.0),
    "mixture": lambda: tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 1.0], [0.1, 0.5])
    ),
    "moyal": lambda: tfd.Moyal(0.0, 1.0),
    "multinomial": lambda: tfd.Multinomial(5.0, probs=[0.2, 0.3, 0.5]),
    "multivariate_normal_diag": lambda: tfd.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]),
    "multivariate_normal_full": lambda: tfd.MultivariateNormalFullCovariance(
        [0.0, 1.0], [[2.0, 0.3], [0.3, 1.0]]
    ),
    "multivariate_normal_tril": lambda: tfd.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [0.5, 2.0]]),
    "negative_binomial": lambda: tfd.NegativeBinomial(5.0, probs=0.4),
    "normal": lambda: tfd.Normal([0.0, 1.0], 2.0),
    "ordered_logistic": lambda: tfd.OrderedLogistic([-1.0, 1.0], 0.3),
    "pareto": lambda: tfd.Pareto(3.0, 1.0),
    "pert": lambda: tfd.PERT(0.0, 1.0, 3.0),
    "plackett_luce": lambda: tfd.PlackettLuce([1.0, 2.0, 3.0]),
    "poisson": lambda: tfd.Poisson([3.0, 0.5]),
    "power_spherical": lambda: tfd.PowerSpherical([1.0, 0.0, 0.0], 3.0),
    "relaxed_bernoulli": lambda: tfd.RelaxedBernoulli(0.5, logits=[0.2]),
    "sinh_arcsinh": lambda: tfd.SinhArcsinh(0.0, 1.0, 0.3, 1.2),
    "student_t": lambda: tfd.StudentT(3.0, 0.0, 1.0),
    "transformed": lambda: tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.Exp()),
    "triangular": lambda: tfd.Triangular(0.0, 3.0, 1.0),
    "truncated_normal": lambda: tfd.TruncatedNormal(0.0, 1.0, -1.0, 2.0),
    "uniform": lambda: tfd.Uniform(0.0, [1.0, 3.0]),
    "von_mises": lambda: tfd.VonMises(0.0, 3.0),
    "von_mises_fisher": lambda: tfd.VonMisesFisher([1.0, 0.0, 0.0], 3.0),
    "weibull": lambda: tfd.Weibull(2.0, 1.0),
    "wishart": lambda: tfd.WishartTriL(5.0, scale_tril=[[1.0, 0.0], [0.2, 1.0]]),
    "zipf": lambda: tfd.Zipf(3.0),
}


def samples(distribution: Any) -> Any:
    drawn = distribution.sample(3, seed=SEED)
    return drawn, distribution.log_prob(drawn)


def gradients(distribution: Any) -> Any:
    drawn = tf.nest.map_structure(tf.convert_to_tensor, distribution.sample(3, seed=SEED))
    with tf.GradientTape() as tape:
        tape.watch(tf.nest.flatten(drawn))
        densities = distribution.log_prob(drawn)
    found = tape.gradient(densities, tf.nest.flatten(drawn))
    return [np.nan if gradient is None else gradient for gradient in found]


def in_a_function(distribution: Any) -> Any:
    return tf.function(lambda seed: distribution.log_prob(distribution.sample(3, seed=seed)))(
        tf.constant(SEED)
    )


def moments(distribution: Any) -> Any:
    return distribution.mean(), distribution.variance()


@pytest.mark.parametrize("quantity", [samples, gradients, in_a_function, moments])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(
    name: str, quantity: Callable[[Any], Any], record_property: Callable[..., None]
) -> None:
    leaves = tf.nest.flatten(quantity(DISTRIBUTIONS[name]()))
    record_property("numbers", " ".join(f"{x:.5g}" for leaf in leaves for x in np.ravel(leaf)))
