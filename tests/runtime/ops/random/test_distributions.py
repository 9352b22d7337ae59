"""Random numbers of many distributions, and generators: TensorFlow 2.21's numbers; moments; gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.kernels.random import philox, rejection_samplers
from agc.runtime.ops.random.stateless_distributions import gamma_variates
from support.everywhere import everywhere

R = tf.random
SEED = [1, 2]

NUMBERS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "full int32": (
        lambda: R.stateless_uniform([3], SEED, None, None, tf.int32),
        [1105988140, 1738052849, -335576002],
    ),
    "full uint64": (
        lambda: R.stateless_uniform([2], SEED, None, None, tf.uint64),
        [7464880146280614444, 1591045637757961278],
    ),
    "split": (lambda: R.split(SEED, 2), [[1105988140, 1738052849], [-335576002, 370444179]]),
    "fold_in": (lambda: R.fold_in(SEED, tf.constant(3, tf.int64)), [7464880146280614444, 3]),
    "categorical": (
        lambda: R.stateless_categorical([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]], 4, SEED),
        [[2, 2, 1, 2], [1, 1, 2, 0]],
    ),
    "poisson": (lambda: R.stateless_poisson([4], SEED, lam=3.0), [5, 5, 4, 6]),
    "poissons": (
        lambda: R.stateless_poisson([3, 2], SEED, lam=[2.0, 100.0], dtype=tf.float32),
        [[3, 112], [4, 91], [3, 108]],
    ),
    "binomial": (
        lambda: R.stateless_binomial([3, 2], SEED, counts=[10.0, 100.0], probs=[0.3, 0.6]),
        [[5, 47], [5, 65], [5, 56]],
    ),
    "binomial above half": (
        lambda: R.stateless_binomial([4], SEED, counts=[10, 20, 30, 40], probs=0.7, output_dtype=tf.float64),
        [5, 11, 20, 21],
    ),
    "shuffle": (lambda: R.experimental.stateless_shuffle(tf.range(8), SEED), [4, 2, 1, 7, 3, 6, 0, 5]),
    "index_shuffle": (lambda: R.experimental.index_shuffle(tf.range(8), SEED, 9), [5, 0, 1, 4, 3, 6, 9, 8]),
    "index_shuffle of many": (
        lambda: R.experimental.index_shuffle([0, 1, 2, 3], SEED, 1000),
        [440, 997, 41, 719],
    ),
    "rounds": (lambda: tf.random_index_shuffle([0, 1, 2, 3], [1, 2, 3], 9, rounds=6), [1, 6, 3, 7]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_whole_numbers_are_tensorflows(name: str) -> None:
    draw, expected = NUMBERS[name]
    assert draw().numpy().tolist() == expected
    for executor in ("plan", "interpret"):
        assert tf.function(draw, experimental_executor=executor)().numpy().tolist() == expected


FRACTIONS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "gamma": (
        lambda: R.stateless_gamma([4], SEED, alpha=2.0),
        [2.8172736167907715, 1.9241365194320679, 3.3360066413879395, 2.218280553817749],
    ),
    "gamma below 1": (
        lambda: R.stateless_gamma([3], SEED, alpha=0.5),
        [0.0669536143541336, 0.6282354593276978, 0.18136732280254364],
    ),
    "gamma of 1 and 3": (
        lambda: R.stateless_gamma([3, 2], SEED, alpha=[1.0, 3.0]),
        [[3.49944234, 3.35037541], [1.71930933, 3.40351486], [2.24873519, 2.44797111]],
    ),
    "bounded": (
        lambda: R.stateless_parameterized_truncated_normal(
            [4], SEED, means=0.5, stddevs=2.0, minvals=-0.3, maxvals=1.0
        ),
        [0.7972784638404846, -0.05034106969833374, 0.9950900673866272, -0.09149640798568726],
    ),
    "bounded far away": (
        lambda: R.stateless_parameterized_truncated_normal([3], SEED, minvals=3.0, maxvals=5.0),
        [3.0513298511505127, 3.001145601272583, 3.3942105770111084],
    ),
    "bounded closely": (
        lambda: R.stateless_parameterized_truncated_normal([3], SEED, minvals=3.0, maxvals=3.1),
        [3.0844058990478516, 3.019204616546631, 3.0996222496032715],
    ),
    "bounded on both sides": (
        lambda: R.stateless_parameterized_truncated_normal(
            [2, 2], SEED, means=[0.0, 1.0], minvals=[1.0, -5.0], maxvals=[9.0, -3.0]
        ),
        [[1.1047760248184204, -3.3073577880859375], [1.0023386478424072, -3.527717113494873]],
    ),
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_fractions_are_tensorflows(name: str) -> None:
    draw, expected = FRACTIONS[name]
    np.testing.assert_allclose(draw().numpy(), expected, rtol=1e-6)


def test_seeds_of_the_program() -> None:
    R.set_seed(1)
    np.testing.assert_allclose(
        R.gamma([3], 2.0, seed=5).numpy(), [3.188262939, 3.629108667, 0.380015552], rtol=1e-6
    )
    np.testing.assert_allclose(R.gamma([2], 2.0, seed=5).numpy(), [1.810474991, 1.493902921], rtol=1e-6)
    assert R.poisson([4], 3.0, seed=5).numpy().tolist() == [5, 2, 3, 4]
    assert R.poisson([4], 3.0, seed=5).numpy().tolist() == [5, 6, 3, 5]
    R.set_seed(1)
    drawn = R.gamma([2], [0.5, 1.0], beta=[2.0, 3.0], dtype=tf.float64, seed=5).numpy()
    np.testing.assert_allclose(
        drawn, [[0.121811493695, 0.224267034823], [0.000408868639, 0.089004708665]], rtol=1e-9
    )
    assert R.poisson([2], [3.0, 30.0], dtype=tf.int32, seed=3).dtype == tf.int32


def test_a_generator_draws_tensorflows_numbers() -> None:
    g = R.Generator.from_seed(1234)
    drawn = [g.normal([3]), g.normal([2], dtype=tf.float64), g.uniform([3])]
    expected = [
        [0.9356608986854553, 1.0854305028915405, -0.937883734703064],
        [-1.1295407268330722, -0.4095742070555405],
        [0.12601232528686523, 0.9137699604034424, 0.908308744430542],
    ]
    for one, other in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-6)
    assert g.uniform([3], 1, 5, dtype=tf.int32).numpy().tolist() == [1, 2, 3]
    assert g.uniform([3], 1, 5, dtype=tf.int64).numpy().tolist() == [3, 2, 1]
    assert g.uniform([2], None, None, dtype=tf.int32).numpy().tolist() == [-536612729, -1737105620]
    g.uniform([2], 5.0, 6.0, dtype=tf.float64)
    assert g.uniform_full_int([2], dtype=tf.uint32).dtype == tf.uint32


def test_binomials_seeds_and_splits_of_a_generator() -> None:
    g = R.Generator.from_state([9426, 0, 0], "philox")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must end with"):
        g.binomial([4], counts=[10.0], probs=[0.3])
    many = g.binomial([2, 3], counts=[100.0, 5.0, 50.0], probs=[0.3, 0.8, 0.5])
    assert many.numpy().tolist() == [[26, 4, 20], [28, 2, 26]]
    assert g.binomial([3], counts=10.0, probs=0.3, dtype=tf.float32).numpy().tolist() == [2, 6, 2]
    assert g.state.numpy().tolist() == [278226, 0, 0]
    assert g.make_seeds(2).numpy().tolist() == [[7419993945779938459, 1865174896163237590], [0, 0]]
    g.reset([278994, 0, 0])
    assert [h.key.numpy() for h in g.split(2)] == [-3642255385802836684, 4626541664306971289]
    assert g.skip(5).numpy().tolist() == [279506, 0, 0]
    assert g.state.numpy().tolist() == [280786, 0, 0]


def test_states_and_keys() -> None:
    states = [R.Generator.from_seed(seed).state.numpy().tolist() for seed in (-5, [1, 2], 2**64 + 3)]
    assert states == [[-5, -1, -1], [0, 1, 2], [3, 1, 0]]
    g = R.Generator.from_key_counter(5, [6, 7], "philox")
    assert (g.state.numpy().tolist(), int(g.key), g.algorithm) == ([6, 7, 5], 5, 1)
    g.reset_from_seed(7)
    assert R.Generator(copy_from=g).state.numpy().tolist() == [7, 0, 0]
    with pytest.raises(ValueError, match="incompatible"):
        R.Generator.from_state([1, 2], "philox")
    with pytest.raises(tf.errors.UnimplementedError, match="ThreeFry"):
        R.Generator.from_seed(3, alg="threefry").normal([2])
    one, other = (R.Generator.from_non_deterministic_state() for _ in range(2))
    assert one.state.numpy().tolist() != other.state.numpy().tolist()


def test_a_generator_in_a_function() -> None:
    eager = R.Generator.from_seed(3)
    expected = [eager.normal([2]).numpy().tolist() for _ in range(2)]
    for executor in ("plan", "interpret"):
        g = R.Generator.from_seed(3)
        draw = tf.function(lambda n, g=g: g.normal([n]), experimental_executor=executor)
        assert [draw(tf.constant(2)).numpy().tolist() for _ in range(2)] == expected
        assert g.state.numpy().tolist() == eager.state.numpy().tolist()


def test_distributions_have_their_moments() -> None:
    gammas = R.stateless_gamma([40_000, 2], SEED, alpha=[0.3, 7.0], beta=2.0, dtype=tf.float64).numpy()
    np.testing.assert_allclose(gammas.mean(axis=0), [0.15, 3.5], rtol=0.02)
    np.testing.assert_allclose(gammas.var(axis=0), [0.075, 1.75], rtol=0.05)
    poissons = R.stateless_poisson([40_000, 3], SEED, lam=[0.5, 9.9, 200.0], dtype=tf.float64).numpy()
    np.testing.assert_allclose(poissons.mean(axis=0), [0.5, 9.9, 200.0], rtol=0.02)
    np.testing.assert_allclose(poissons.var(axis=0), [0.5, 9.9, 200.0], rtol=0.05)
    binomials = R.stateless_binomial(
        [40_000, 2], SEED, counts=[8.0, 300.0], probs=[0.9, 0.4], output_dtype=tf.float64
    )
    np.testing.assert_allclose(binomials.numpy().mean(axis=0), [7.2, 120], rtol=0.02)
    np.testing.assert_allclose(binomials.numpy().var(axis=0), [0.72, 72], rtol=0.05)
    places = R.experimental.index_shuffle(tf.range(100), SEED, 99).numpy()
    assert sorted(places.tolist()) == list(range(100))


def test_empty_shapes_draw_nothing() -> None:
    assert R.stateless_gamma([0, 2], SEED, alpha=[1.0, 2.0]).shape == [0, 2]
    assert R.stateless_poisson([0], SEED, lam=1.0).shape == [0]
    assert R.experimental.stateless_shuffle(tf.zeros([0, 3]), SEED).shape == [0, 3]
    known = everywhere(lambda shape, lam: R.stateless_poisson(shape, SEED, lam), [2, 1], [4.0])
    assert known.shape == (2, 1)


def test_the_gradient_of_gamma_is_the_implicit_one() -> None:
    alpha, step = np.array([0.7, 1.0, 4.0]), 1e-5
    x = gamma_variates([3], SEED, tf.constant(alpha))

    def moved(by: float) -> Any:
        """The numbers with the same share below them, for another `alpha`: found by halving."""
        share = tf.math.igamma(tf.constant(alpha), x).numpy()
        low, high = x.numpy() - 0.01, x.numpy() + 0.01
        for _ in range(60):
            middle = (low + high) / 2
            below = tf.math.igamma(tf.constant(alpha + by), tf.constant(middle)).numpy() < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low

    given = gamma_variates.differentiate(tf.ones([3], tf.float64), x, [3], SEED, tf.constant(alpha))[2]
    np.testing.assert_allclose(given.numpy(), (moved(step) - moved(-step)) / (2 * step), rtol=1e-5)


def test_the_gradient_of_gamma_is_exact_where_the_terms_of_the_density_cancel() -> None:
    """With a mean of a million, numbers of float32 in the exponent would be wrong by 10 %; all quantiles move by 1."""
    alpha = tf.constant(1e6)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        x = R.stateless_gamma([6], SEED, alpha)
    np.testing.assert_allclose(tape.jacobian(x, alpha), 1.0, rtol=2e-3)


def test_refusals() -> None:
    refused = tf.errors.InvalidArgumentError
    with pytest.raises(refused, match="does not end with"):
        R.stateless_gamma([3], SEED, alpha=[1.0, 2.0])
    with pytest.raises(refused, match="Invalid parameters"):
        R.stateless_parameterized_truncated_normal([3], SEED, minvals=2.0, maxvals=1.0)
    with pytest.raises(refused, match=r"seed must have shape \[2\]"):
        R.stateless_normal([3], [1, 2, 3])
    with pytest.raises(ValueError, match="both `None` or both non-`None`"):
        R.Generator.from_seed(1).uniform([2], dtype=tf.int32)
    with pytest.raises(ValueError, match="unsupported value"):
        R.split(SEED, alg="threefry")


@pytest.mark.parametrize("native", [True, False])
def test_many_variates_are_drawn_tile_by_tile_with_the_same_numbers(monkeypatch, native):
    def drawn():
        return [
            R.stateless_gamma([40, 2], [3, 2**40], [0.5, 7.0]).numpy().tolist(),
            R.stateless_poisson([40, 2], SEED, lam=[2.0, 50.0]).numpy().tolist(),
            R.stateless_binomial([40, 2], SEED, counts=[10.0, 100.0], probs=[0.3, 0.6]).numpy().tolist(),
        ]

    expected = drawn()
    monkeypatch.setattr(rejection_samplers, "_TILE", 7)
    if not native:
        monkeypatch.setattr(philox, "native", None)
    assert drawn() == expected
