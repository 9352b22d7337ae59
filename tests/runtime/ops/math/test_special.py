"""Special functions: values, recorded from TensorFlow 2.21; slopes, by differences; edges; shapes."""

from __future__ import annotations

import math
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.kernels.special_functions import incomplete_gamma_beta
from agc.runtime.ops.framework.op import find

POINTS = [0.05, 0.4, 0.9, 1.7, 3.9, 4.1, 9.5, 26.0, 60.0]
TENSORFLOW = {
    "digamma": [
        -20.49784499129987, -2.561384544585115, -0.7549269499470515, 0.20854787487349347, 1.2273275368446404,
        1.2841070900315987, 2.19773787640295, 3.238742512851974, 4.085988081383538,
    ],
    "bessel_i0": [
        1.0006250976630322, 1.0404017822293417, 1.2129851657286845, 1.8639649620738397, 10.368957916732946,
        12.323570116019567, 1753.480990527323, 15388976705.66081, 5.8940770556098e24,
    ],
    "bessel_i0e": [
        0.9518240357909767, 0.6974021705595335, 0.4931629661007054, 0.3405156879824709, 0.20988752793578067,
        0.20423452732363756, 0.1312512608142679, 0.07862365204001373, 0.051611549173609834,
    ],
    "bessel_i1": [
        0.025007813313844475, 0.2040267557335706, 0.4971264481609643, 1.1963465656344818, 8.912787451362721,
        10.687741836417759, 1658.4530777821342, 15090072642.341646, 5.844751588390468e24,
    ],
    "bessel_i1e": [
        0.02378816786654957, 0.13676322429582918, 0.20211653087685583, 0.21855280659849335,
        0.18041185432576082, 0.17712447623277525, 0.12413824765488178, 0.07709652456966624,
        0.05117963018902871,
    ],
    "bessel_j0": [
        0.9993750976494684, 0.9603982266595634, 0.8075237981225449, 0.39798485944610945, -0.4018260148876399,
        -0.3886696798358537, -0.19392874768742224, 0.15599931552242116, -0.09147180408906201,
    ],
    "bessel_j1": [
        0.024992188313759704, 0.19602657795531878, 0.4059495460788056, 0.5777652315290233,
        -0.027244039620779877, -0.10327325774733861, 0.16126443075752983, 0.015045730586915967,
        0.04659838375816622,
    ],
    "bessel_k0": [
        3.114234029471991, 1.114529134524435, 0.4867303081629007, 0.16549631805699652, 0.012482322757249774,
        0.009980007227840246, 3.005788495793434e-05, 1.2498773979850727e-12, 1.4138978405591074e-27,
    ],
    "bessel_k0e": [
        3.273904222534543, 1.662682089124302, 1.1971633802518515, 0.9059181385685512, 0.616657314733833,
        0.6021965063516314, 0.4015651321154054, 0.24463801494155152, 0.1614681782362939,
    ],
    "bessel_k1": [
        19.909674325882506, 2.184354424732687, 0.7165335787760191, 0.2093624882040826, 0.013999282082274831,
        0.011136277633479937, 3.160203411042675e-05, 1.273690779238924e-12, 1.425632026517104e-27,
    ],
    "bessel_k1e": [
        20.93046515706008, 3.258673879218212, 1.76238821960592, 1.1460392462302547, 0.6915988205835427,
        0.6719661951682486, 0.4221945429769579, 0.24929899875354788, 0.16280823094404423,
    ],
    "bessel_y0": [
        -1.9793110008172095, -0.6060245684270096, 0.0056283066352055405, 0.45202700018163466,
        0.023375908198719486, -0.05609462660634407, 0.17121062620272404, 0.012044625860755468,
        0.04735895220944916,
    ],
    "bessel_y1": [
        -12.789855171174972, -1.7808720442700516, -0.8731265824563288, -0.2847262450640684,
        0.4078200195265381, 0.3845940348189165, 0.20317989938720774, -0.15579655322960267,
        0.09186960936986693,
    ],
    "dawsn": [
        0.04991674994050924, 0.3599434819348881, 0.5407243187262987, 0.37255934897407883, 0.13292729108108928,
        0.12596465843434612, 0.05292815270562564, 0.019245024851840636, 0.00833449122332905,
    ],
    "expint": [
        -2.3678845985793746, 0.10476521861932497, 1.6228117136968674, 3.9209632013549047, 18.315714346443034,
        21.048466568323178, 1605.0284066323388, 7842940991.898188, 1.9361822139292765e24,
    ],
    "fresnel_cos": [
        0.049999922893770664, 0.3974807591723595, 0.7648230212733264, 0.32382687600390025, 0.4223327102609332,
        0.5736956314512053, 0.4872873310265677, 0.49999423527272, 0.4999995309204995,
    ],
    "fresnel_sin": [
        6.544977485561544e-05, 0.033359432660613184, 0.3397763443931403, 0.5491959403215687,
        0.47520240235068884, 0.475798257032828, 0.5309998491513985, 0.4877573202131747, 0.4946948353546973,
    ],
    "spence": [
        1.4406337969700393, 0.7275863077163329, 0.1026177910993911, -0.6051584023377057, -1.8928076612853566,
        -1.9852360541156655, -3.820519021167801, -6.785907899712119, -9.941212000072792,
    ],
}  # fmt: skip
BETWEEN = [-0.99999, -0.9, -1e-3, 0.3, 0.86, 0.999999]
INVERSES = {
    "erfinv": [
        -3.123413274341571, -1.1630871536766743, -0.000886227157466553, 0.27246271472675443,
        1.0435418436397583, 3.458910737260051,
    ],
    "erfcinv": [
        3.123413274341571, 1.1630871536766743, 0.000886227157466553, -0.27246271472675443,
        -1.0435418436397583, -3.458910737260051,
    ],
    "ndtri": [
        -4.417173413470006, -1.6448536269514729, -0.0012533144654325557, 0.38532046640756773,
        1.47579102817917, 4.891638475671085,
    ],
}  # fmt: skip
FIRST, SECOND = [0.1, 0.5, 2.0, 9.0, 40.0, 150.0], [0.05, 2.0, 1.5, 8.0, 52.0, 149.0]
PAIRS = {
    "igamma": [
        0.7755386354510306, 0.9544997361036415, 0.44217459962892536, 0.40745265856240703, 0.9630080176281987,
        0.4782302571374261,
    ],
    "igammac": [
        0.22446136454896937, 0.04550026389635857, 0.5578254003710746, 0.592547341437593, 0.03699198237180137,
        0.5217697428625738,
    ],
    "zeta": [
        37.487557571597456, 1.6123753486854886, 0.41439832211716005, 1.3873883862387977e-09,
        8.213694374541787e-71, 0.0,
    ],
    "polygamma": [
        -20.49784499129987, 0.6449340668482266, -0.8287966442343201, 0.004699239795945102,
        -8.526796947278079e-07, 0.006733981287246351,
    ],
    "betainc": [
        0.2691776977244003, 0.7394254526319742, 0.381281566461771, 0.7160633527173115, 0.252378724671255,
        0.7367777217231453,
    ],
    "igamma_slope": [
        -2.026422662100398, -0.13561933520399783, -0.31348863782507946, -0.13398554668286158,
        -0.012267772670716562, -0.032591423743703135,
    ],
}  # fmt: skip


def doubles(values: Any) -> Any:
    return tf.constant(values, tf.float64)


def function(name: str) -> Any:
    return find(name)


@pytest.mark.parametrize("name", TENSORFLOW)
def test_unary_functions_equal_tensorflows(name: str) -> None:
    got = function(name)(doubles(POINTS)).numpy()
    np.testing.assert_allclose(got, TENSORFLOW[name], rtol=2e-13, atol=1e-15)
    half = function(name)(tf.constant(POINTS[:4], tf.float16))
    assert half.dtype == tf.float16
    np.testing.assert_allclose(half.numpy(), TENSORFLOW[name][:4], rtol=5e-3, atol=1e-3)


def test_inverses_are_tensorflows() -> None:
    u = np.array(BETWEEN)
    for name, argument in (("erfinv", u), ("erfcinv", u + 1), ("ndtri", (u + 1) / 2)):
        got = function(name)(doubles(argument)).numpy()
        # Of TensorFlow's, the middle is not exact.
        np.testing.assert_allclose(got, INVERSES[name], rtol=1e-10)
    np.testing.assert_allclose(tf.math.erf(tf.math.erfinv(doubles(u))).numpy(), u, rtol=1e-14)
    np.testing.assert_allclose(
        tf.math.erfinv(doubles([1e-300])).numpy(), [np.sqrt(np.pi) / 2 * 1e-300], rtol=1e-15
    )


def test_binary_functions_equal_tensorflows() -> None:
    a, b = doubles(FIRST), doubles(SECOND)
    for name in ("igamma", "igammac", "igamma_slope"):
        np.testing.assert_allclose(function(name)(a, b).numpy(), PAIRS[name], rtol=1e-9)
    np.testing.assert_allclose(tf.math.zeta(a + 1, b).numpy(), PAIRS["zeta"], rtol=1e-13)
    orders = doubles([0, 1, 2, 3, 4, 1])
    np.testing.assert_allclose(tf.math.polygamma(orders, b).numpy(), PAIRS["polygamma"], rtol=1e-13)
    x = doubles([0.1, 0.3, 0.5, 0.6, 0.4, 0.52])
    np.testing.assert_allclose(tf.math.betainc(a, b, x).numpy(), PAIRS["betainc"], rtol=1e-10)


def test_great_arguments_of_igamma() -> None:
    """Where the formulas change, they agree; and the median of the distribution is near `a - 1/3`."""
    below, above = doubles([99_999.0, 100_001.0]), doubles([100_100.0, 100_102.0])
    one, other = tf.math.igamma(below, above).numpy()
    assert abs(one - other) < 1e-5
    a = doubles([1e6, 1e9, 1e12])
    np.testing.assert_allclose(tf.math.igamma(a, a - 1 / 3).numpy(), 0.5, atol=1e-9)
    total = tf.math.igamma(a, a + 100) + tf.math.igammac(a, a + 100)
    np.testing.assert_allclose(total.numpy(), 1, rtol=1e-15)


@pytest.mark.parametrize("name", [*TENSORFLOW, "erfinv", "erfcinv", "ndtri"])
def test_gradients_are_slopes(name: str) -> None:
    x = np.array([0.15, 0.4, 0.9]) if name in INVERSES else np.array([0.3, 1.2, 2.8, 6.1])
    step = 1e-5
    op = function(name)
    slope = (op(doubles(x + step)).numpy() - op(doubles(x - step)).numpy()) / (2 * step)
    given = op.differentiate(doubles(np.ones_like(x)), op(doubles(x)), doubles(x))
    np.testing.assert_allclose(given.numpy(), slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["igamma", "igammac", "zeta", "polygamma"])
def test_gradients_of_two_arguments_have_their_shapes(name: str) -> None:
    op, step = function(name), 1e-5
    a, x = doubles([[2.0], [3.0]]), doubles([1.5, 2.0, 4.0])
    ones = tf.ones([2, 3], tf.float64)
    first, second = op.differentiate(ones, op(a, x), a, x)
    slope = np.sum((op(a, x + step) - op(a, x - step)).numpy(), axis=0) / (2 * step)
    np.testing.assert_allclose(second.numpy(), slope, rtol=1e-6)
    if first is not None:
        slope = np.sum((op(a + step, x) - op(a - step, x)).numpy(), axis=1, keepdims=True) / (2 * step)
        np.testing.assert_allclose(first.numpy(), slope, rtol=1e-6)


def test_edges_are_tensorflows() -> None:
    inf, nan = np.inf, np.nan
    np.testing.assert_equal(tf.math.digamma([0.0, -1.0, inf, -inf]).numpy(), [nan, nan, inf, nan])
    np.testing.assert_equal(tf.math.erfinv([1.0, -1.0, 2.0]).numpy(), [inf, -inf, nan])
    np.testing.assert_equal(tf.math.ndtri([0.0, 1.0, -0.1]).numpy(), [-inf, inf, nan])
    np.testing.assert_equal(tf.math.special.bessel_k0([0.0, -1.0, inf]).numpy(), [inf, inf, 0.0])
    np.testing.assert_equal(tf.math.special.bessel_y1([0.0, -1.0]).numpy(), [-inf, -inf])
    np.testing.assert_equal(tf.math.special.expint([0.0, -1.0]).numpy(), [-inf, nan])
    np.testing.assert_equal(tf.math.igamma([0.0, 1.0, 1.0], [1.0, inf, -1.0]).numpy(), [nan, 1.0, nan])
    np.testing.assert_equal(
        tf.math.zeta([1.0, 2.0, 3.0, 0.5], [2.0, -1.0, -1.0, 1.0]).numpy(), [inf, inf, nan, nan]
    )


def test_in_a_graph_with_unknown_shapes() -> None:
    for executor in ("plan", "interpret"):
        traced = tf.function(
            lambda a, x: tf.math.igamma(a, x) + tf.math.digamma(x),
            input_signature=[tf.TensorSpec(None, tf.float64), tf.TensorSpec([None], tf.float64)],
            experimental_executor=executor,
        )
        a, x = doubles(2.0), doubles([0.5, 3.0])
        np.testing.assert_array_equal(
            traced(a, x).numpy(), (tf.math.igamma(a, x) + tf.math.digamma(x)).numpy()
        )
    assert tf.math.betainc(doubles(1.0), doubles(2.0), tf.zeros([0], tf.float64)).shape == [0]


def test_refusals() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="zeta does not take float16"):
        tf.math.zeta(tf.constant(2.0, tf.float16), tf.constant(2.0, tf.float16))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
        tf.math.betainc([1.0, 2.0], [1.0, 2.0, 3.0], 0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="digamma does not take int32"):
        tf.math.digamma(1)


def test_the_ends_of_the_incomplete_beta_function():
    """TensorFlow 2.21's: 0 and 1 at the ends even beside NaN, NaN outside."""
    nan, inf = np.nan, np.inf
    a = np.array([nan, nan, 2.0, nan, -1.0, 0.0, inf, inf, 2.0])
    b = np.array([2.0, nan, nan, 1.0, 2.0, nan, 2.0, 2.0, 2.0])
    x = np.array([0.0, 1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, nan])
    expected = [0.0, 1.0, 0.0, nan, nan, nan, 0.0, nan, nan]
    np.testing.assert_array_equal(tf.math.betainc(a, b, x).numpy(), expected)


@pytest.mark.parametrize(("dtype", "ulp"), [(np.float16, 1), (np.float32, 2), (np.float64, 2)])
def test_erf_is_that_of_the_standard_library(dtype: Any, ulp: int) -> None:
    ends = [0.0, -0.0, 1.0, -1.0, 1e-30, 6.0, 40.0, np.inf, -np.inf]
    x = np.append(np.random.default_rng(2).uniform(-7, 7, 5000), ends).astype(dtype)
    found = tf.math.erf(x).numpy()
    wanted = np.array([math.erf(number) for number in x.tolist()])
    assert found.dtype == dtype
    assert (np.signbit(found) == np.signbit(x)).all()
    assert (np.abs(found - wanted) <= ulp * np.spacing(np.abs(wanted).astype(dtype)).astype(np.float64)).all()
    assert np.isnan(tf.math.erf(dtype(np.nan)))


def test_continued_fractions_stop_where_rounding_moves_them_forever() -> None:
    steps = []

    def part(n: int, x: Any) -> tuple[Any, Any]:
        steps.append(n)
        return n * (1.5 - n), x + 2 * n - 0.5

    x = np.linspace(2.5, 3.0, 2_000)
    incomplete_gamma_beta._fraction(x - 0.5, part, x)
    assert len(steps) < 500
