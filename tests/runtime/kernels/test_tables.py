"""Tables of functions of float32 numbers: they equal their formulas, rounded, up to a last bit."""

from __future__ import annotations

import numpy as np
import pytest
from agc.runtime.kernels.special_functions import (
    bessel,
    error_functions,
    exponential_integrals,
    gamma,
    tables,
)

FORMULAS = {
    "erf": error_functions.erf,
    "erfc": error_functions.erfc,
    "inverse_erf": error_functions.inverse_erf,
    "quantile": error_functions.quantile,
    "dawson": error_functions.dawson,
    "log_gamma": gamma.log_gamma,
    "digamma": gamma.digamma,
    "j0": lambda x: bessel.j(0, x),
    "y1": lambda x: bessel.y(1, x),
    "k0": lambda x: bessel.k(0, x),
    "i1": lambda x: bessel.i(1, x),
    "exponential": exponential_integrals.exponential,
    "fresnel": lambda x: exponential_integrals.fresnel(x)[0],
    "dilogarithm": exponential_integrals.dilogarithm,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-45, -1e-38, 1e-8, 3e38, np.inf, -np.inf, np.nan]
ROOTS = [1.4616321, 2.4048256, 2.1971413, 0.37250741, 1.0, 2.0, 0.5]

pytestmark = pytest.mark.skipif(tables.native is None, reason="the extension was not built")


def _numbers():
    rng = np.random.default_rng(0)
    powers = np.float64(10) ** rng.uniform(-10, 3, 2000)
    near_roots = np.concatenate([np.float32(root) * (1 + np.arange(-20, 21) * 2.0**-23) for root in ROOTS])
    parts = [SPECIAL, powers, -powers, rng.normal(size=2000), rng.uniform(0, 1, 1000), near_roots]
    return np.concatenate(parts).astype(np.float32)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FORMULAS)
def test_a_table_equals_its_formula(name):
    x = _numbers()
    found = tables.Table(FORMULAS[name])(x)
    expected = FORMULAS[name](x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_max_ulp(found, expected, 1)
    is_exact = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(found[is_exact], expected[is_exact])
    assert np.mean(found == expected) > 0.99 * np.mean(expected == expected)
    assert (np.signbit(found) == np.signbit(expected))[expected == 0].all()


def test_few_numbers_make_the_intervals_of_their_octaves_only():
    points = []

    def formula(x):
        points.append(x.size)
        return np.sqrt(x)

    table = tables.Table(formula)
    assert table(np.array([1.5, 1.75], np.float32)).tolist() == np.sqrt(np.float32([1.5, 1.75])).tolist()
    asked = sum(points)
    assert asked < 1000
    table(np.linspace(1, 1.9, 100, dtype=np.float32))
    assert sum(points) == asked


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_exact_zero_at_the_first_number_of_an_interval_needs_no_formula():
    points = []

    def formula(x):
        points.append(x.size)
        return np.log2(x)

    table = tables.Table(formula)
    x = np.float32(1) + np.arange(100, dtype=np.float32) * np.float32(2.0**-23)
    expected = np.log2(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_max_ulp(table(x), expected, 1)
    asked = sum(points)
    assert table(x[:3]).tolist() == expected[:3].tolist()
    assert table(x[:1]).tolist() == [0.0]
    assert sum(points) == asked


def test_a_pole_is_left_to_the_formula():
    x = np.float32([2.999, 3.0, 3.001, 3.5])
    with np.errstate(divide="ignore"):
        expected = 1 / (x.astype(np.float64) - 3)
        found = tables.Table(lambda x: 1 / (x - 3))(x)
    assert found.tolist() == expected.astype(np.float32).tolist()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_shapes_layouts_and_dtypes(dtype):
    kernel = tables.tabulated(np.arctan)
    grid = np.linspace(-2, 2, 24).astype(dtype).reshape(4, 6)
    for x in (grid, grid.T[::-2], grid[:, ::3], grid[:0], grid[1, 2], np.broadcast_to(grid[0], (3, 6))):
        found = kernel(np.asarray(x))
        assert found.dtype == dtype and found.shape == np.shape(x)
        np.testing.assert_array_max_ulp(found, np.arctan(x.astype(np.float64)).astype(dtype), 1)


def test_arrays_that_do_not_fit_are_refused():
    x = np.zeros(4, np.float32)
    rows = np.zeros((2, 3, 10))
    for arguments in ((x, x[:2], rows, 0, 18), (x[::2], x[:2], rows, 0, 18), (x, x, rows[:, :, :9], 0, 18)):
        with pytest.raises(ValueError, match="evaluate takes contiguous float32 arrays"):
            tables.native.evaluate(*arguments)


@pytest.mark.skipif(tables.native is None, reason="there is no extension")
def test_few_numbers_are_those_of_the_table() -> None:
    table = tables.Table(error_functions.erf)
    x = np.linspace(-3, 3, 60, dtype=np.float32).reshape(6, 10)
    assert table.few(x) is None  # no octave has been made
    expected = table(x)
    assert np.array_equal(table.few(x), expected) and table.few(x[2, 3, ...]) == expected[2, 3]
    others = [
        x.T,
        x.astype(np.float64),
        x.astype(">f4"),
        np.append(x, np.float32(1e30)),
        np.zeros(1 << 15, np.float32),
    ]
    assert all(table.few(other) is None for other in others)
