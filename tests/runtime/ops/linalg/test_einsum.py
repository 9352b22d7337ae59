"""`einsum` by products of matrices gives what NumPy's gives."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.linalg import einsum_kernel

EQUATIONS = {
    "a product": ("ij,jk->ik", (40, 30), (30, 20)),
    "attention": ("bhqd,bhkd->bhqk", (2, 3, 11, 7), (2, 3, 13, 7)),
    "attention, transposed": ("aecd,abcd->acbe", (2, 13, 3, 7), (2, 11, 3, 7)),
    "a projection": ("btd,dhk->bthk", (4, 9, 16), (16, 3, 5)),
    "dots": ("...ij,...jk->...ki", (3, 2, 20, 9), (3, 2, 9, 10)),
    "dots on one side": ("...ij,jk", (5, 4, 20, 9), (9, 10)),
    "dots that are broadcast": ("...ij,...jk->...ik", (3, 1, 20, 9), (3, 2, 9, 10)),
    "two axes summed": ("iab,jba->ji", (20, 6, 7), (30, 7, 6)),
    "an axis that goes by itself": ("ijk,jl->il", (20, 6, 7), (6, 30)),
    "a diagonal": ("iij,jk->ik", (9, 9, 20), (20, 30)),
    "no sum": ("i,jk->kij", (20, ), (10, 50)),
    "rows": ("ij,ij->i", (100, 100), (100, 100)),
    "three": ("ij,kj,kl->il", (20, 30), (40, 30), (40, 10)),
    "a bilinear form": ("bi,ijk,bk->bj", (20, 9), (9, 8, 7), (20, 7)),
    "four": ("ab,bc,cd,de->ae", (9, 8), (8, 7), (7, 6), (6, 5)),
    "nothing": ("ij,jk->ik", (200, 0), (0, 200)),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUATIONS)
def test_einsum_equals_numpys(name, monkeypatch):
    equation, *shapes = EQUATIONS[name]
    monkeypatch.setattr(einsum_kernel, "SMALL", 0)
    einsum_kernel._steps.cache_clear()
    random = np.random.default_rng(0)
    factors = [random.normal(size=shape) for shape in shapes]
    expected = np.einsum(equation, *factors)
    found = tf.einsum(equation, *factors)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-12)
    graph = tf.function(lambda *given: tf.einsum(equation, *given))
    np.testing.assert_array_equal(graph(*map(tf.constant, factors)), found)
    einsum_kernel._steps.cache_clear()


def test_small_sums_and_integers_are_left_to_numpy():
    assert einsum_kernel._steps("ij,jk->ik", ((2, 3), (3, 4))) is None
    large = np.arange(90_000).reshape(300, 300) % 7
    assert np.array_equal(tf.einsum("ij,jk->ik", large, large), large @ large)


@pytest.mark.parametrize("optimize", ["greedy", "optimal", None, False])
def test_the_order_of_products_is_not_chosen_by_the_caller(optimize):
    assert tf.einsum("ij->ji", tf.ones((1, 2)), optimize=optimize).shape == (2, 1)


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_sum_that_recurs_is_equal_to_the_last_bit(name):
    equation, *shapes = EQUATIONS[name]
    factors = [tf.random.stateless_normal(shape, [7, i]) for i, shape in enumerate(shapes)]
    found = [tf.einsum(equation, *factors).numpy() for _ in range(4)]
    other = tf.einsum(equation, *(2 * x for x in factors)).numpy()
    for y in found[1:]:
        np.testing.assert_array_equal(y, found[0])
    np.testing.assert_array_equal(other, found[0] * 2.0 ** len(factors))
