"""Random numbers are those of TensorFlow 2.21 for the same seeds; the expected ones were printed by it."""

from collections.abc import Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.kernels.random import distributions, permutations, philox


@pytest.fixture(autouse=True)
def seed() -> Iterator[None]:
    tf.random.set_seed(7)
    yield
    tf.random.set_seed(None)


def listed(tensor: Any) -> Any:
    return tensor.numpy().reshape(-1).tolist()


def test_philox_passes_the_known_answer_tests() -> None:
    ones, pi = 0xFFFFFFFF, (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
    assert philox.words((1 << 64) - 1, (ones,) * 4) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    assert philox.words(0x299F31D0A4093822, pi) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


@pytest.fixture(params=["extension", "NumPy"])
def drawer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw by the extension, and without it."""
    if request.param == "NumPy":
        monkeypatch.setattr(philox, "native", None)


@pytest.mark.usefixtures("drawer")
@pytest.mark.parametrize("step", [1, 64])
@pytest.mark.parametrize("before", [0, 50, 1 << 40], ids=["at a carry", "before a carry", "no carry"])
def test_many_blocks_equal_single_blocks(before: int, step: int) -> None:
    stream = philox.Stream(7, -1)
    first = stream.counter + (1 << 64) - 1 - before  # a carry goes into the upper half
    many = stream.bits(first, 5000, step)
    for i in (0, 1, 16, 17, 99, 4095, 4096, 4999):
        assert stream.block((first + step * i) % (1 << 128)) == tuple(many[i].tolist())
    for count in (0, 1, 2, 5, 100, 128, 129):
        assert stream.bits(first, count, step).tolist() == many[:count].tolist()


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("count", [0, 1, 2, 5, 255, 256, 257, 5003, 1 << 20])
def test_the_extension_draws_the_numbers_of_numpy(
    count: int, dtype: tf.DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn() -> list[bytes]:
        stream = philox.Stream(count - 7, -5)
        stream.counter -= 100  # the carries of both halves are within the numbers
        uniform = distributions.uniforms(stream, (count,), dtype)
        normal = distributions.normals(stream, (count,), dtype)
        truncated = distributions.truncated_normal(stream, min(count, 5003), dtype)
        order = permutations.shuffled(stream, min(count, 5003))
        assert np.abs(truncated).max(initial=0) <= 2
        return [*(x.tobytes() for x in (uniform, normal, truncated, order)), stream.counter.to_bytes(16)]

    found = drawn()
    monkeypatch.setattr(philox, "native", None)
    assert drawn() == found


def test_the_extension_refuses_arrays_that_it_cannot_fill() -> None:
    if philox.native is None:
        pytest.skip("the extension has not been built")
    whole, fixed = np.empty(8, np.float32), np.empty(8, np.float32)
    fixed.flags.writeable = False
    for array in (whole[::2], fixed):
        with pytest.raises(TypeError, match="must be read-write bytes-like object"):
            philox.native.normal(array, 1, 2, 3, 1)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64], ids=lambda dtype: dtype.name)
def test_a_number_is_the_first_of_many_with_its_seed(dtype: tf.DType) -> None:
    for draw in (tf.random.stateless_uniform, tf.random.stateless_normal):
        for seed in ([1, 2], [0, 0], [-5, 1 << 40]):
            many = draw([20_000], seed, dtype=dtype).numpy()
            assert many[0] == draw([], seed, dtype=dtype).numpy() == draw([1, 1], seed, dtype=dtype).numpy()
            assert many[:7].tolist() == draw([7], seed, dtype=dtype).numpy().tolist()


def test_a_program_draws_tensorflows_numbers() -> None:
    normal = listed(tf.random.normal((2, 2)))
    assert normal == [0.5983449220657349, 0.0627620741724968, 0.14631742238998413, 0.4848187565803528]
    assert listed(tf.random.uniform((3,))) == [0.01905345916748047, 0.6496551036834717, 0.6962069272994995]
    assert listed(tf.random.uniform((5,), maxval=10, dtype=tf.int32)) == [8, 4, 9, 4, 5]
    wide = listed(tf.random.uniform((3,), -(2**40), 2**40, dtype=tf.int64))
    assert wide == [-530568708794, 220909183541, 606354870441]
    assert listed(tf.random.uniform((2,), dtype=tf.float64)) == [0.7538287765472151, 0.17593639048602983]
    np.testing.assert_allclose(
        listed(tf.random.normal((2,), dtype=tf.float64)),
        [-1.4242207606179875, 0.7234402865745088],
        rtol=1e-15,
    )
    assert listed(tf.random.uniform((3,), dtype=tf.float16)) == [0.06640625, 0.544921875, 0.11328125]
    np.testing.assert_allclose(
        listed(tf.random.truncated_normal((6,))),
        [
            -0.026129748672246933, -1.1985071897506714, -0.005536680109798908, -0.8271074891090393,
            0.4821825921535492, 1.0903867483139038,
        ],
        rtol=2e-7,
    )  # fmt: skip
    assert listed(tf.random.shuffle(tf.range(8))) == [5, 0, 6, 3, 1, 7, 2, 4]
    assert listed(tf.random.categorical([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]], 4)) == [2, 2, 2, 1, 1, 0, 1, 0]
    assert listed(tf.random.uniform((2,), -1.0, 3.0)) == [-0.03907966613769531, 1.2895002365112305]
    np.testing.assert_allclose(
        listed(tf.random.normal((2,), 5.0, 0.5)), [5.012085437774658, 4.4187517166137695], rtol=2e-7
    )


def test_long_tensors_too() -> None:
    assert listed(tf.random.uniform((1001,)))[-2:] == [0.3353689908981323, 0.4631845951080322]
    np.testing.assert_allclose(
        listed(tf.random.normal((1001,)))[-2:], [-0.8051385879516602, 1.9888246059417725], rtol=2e-7
    )
    np.testing.assert_allclose(
        listed(tf.random.truncated_normal((501,)))[-2:], [0.36910635232925415, -0.9224024415016174], rtol=2e-7
    )


A1, A2 = [0.4603748321533203, 0.9285181760787964], [0.7407518625259399, 0.29213786125183105]


def test_operations_with_the_same_seed_share_a_stream_until_the_global_seed_is_set_again() -> None:
    assert listed(tf.random.uniform((2,), seed=1)) == A1
    assert listed(tf.random.uniform((2,), seed=1)) == A2
    tf.random.set_seed(7)
    assert listed(tf.random.uniform((2,), seed=1)) == A1


def test_a_seed_of_the_operation_alone_is_enough() -> None:
    tf.random.set_seed(None)
    assert listed(tf.random.uniform((2,), seed=1)) == [0.2390373945236206, 0.92039954662323]


def test_without_any_seed_the_numbers_differ() -> None:
    tf.random.set_seed(None)
    first = listed(tf.random.uniform((4,)))
    tf.random.set_seed(None)
    assert listed(tf.random.uniform((4,))) != first


def test_in_a_function_every_operation_has_a_stream_of_its_own() -> None:
    @tf.function
    def f() -> Any:
        return tf.random.uniform((2,), seed=1), tf.random.uniform((2,), seed=1)

    assert [listed(x) for x in f()] == [A1, A1]
    assert [listed(x) for x in f()] == [A2, A2]
    tf.random.set_seed(7)
    assert [listed(x) for x in f()] == [A1, A1]


def test_a_function_counts_the_operations_that_have_no_seed() -> None:
    @tf.function
    def g() -> Any:
        return tf.random.uniform((2,)), tf.random.normal((2,))

    drawn, bell = g()
    assert listed(drawn) == [0.7537285089492798, 0.07793760299682617]
    np.testing.assert_allclose(listed(bell), [-0.5408053994178772, 1.1220329999923706], rtol=2e-7)
    assert listed(g()[0]) == [0.39710164070129395, 0.6849350929260254]


def test_a_loop_in_a_graph_draws_new_numbers_in_every_iteration() -> None:
    @tf.function
    def total(n: Any) -> Any:
        t = tf.constant(0.0)
        for _ in tf.range(n):
            t += tf.random.uniform(())
        if t > 0.0:
            t += tf.random.uniform(())
        return t

    assert total(tf.constant(3)).numpy() == np.float32(2.4921603202819824)


def test_statistics_of_many_numbers() -> None:
    drawn = tf.random.truncated_normal((20000,), mean=1.0, stddev=2.0).numpy()
    assert abs(drawn.mean() - 1) < 0.05
    assert np.abs(drawn - 1).max() <= 4
    counts = np.bincount(tf.random.categorical([[0.0, float(np.log(3))]], 10000).numpy()[0])
    assert abs(counts[1] / 10000 - 0.75) < 0.02


def test_shuffle_moves_whole_rows() -> None:
    rows = tf.reshape(tf.range(20), [10, 2])
    shuffled = tf.random.shuffle(rows).numpy()
    assert sorted(shuffled.tolist()) == rows.numpy().tolist()
    assert shuffled.tolist() != rows.numpy().tolist()


def test_static_shapes_in_a_graph() -> None:
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def f(n: Any) -> Any:
        shapes.extend([tf.random.uniform([n, 3]).shape, tf.random.normal((2, 3)).shape])
        shapes.append(tf.random.shuffle(tf.range(n)).shape)
        return tf.random.uniform([n, 3])

    assert f(2).shape == [2, 3]
    assert shapes == [[None, 3], [2, 3], [None]]


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: tf.random.uniform([2], dtype=tf.int32), ValueError, "Must specify maxval for integer dtype"),
        (
            lambda: tf.random.uniform([2], 5, 5, dtype=tf.int32),
            tf.errors.InvalidArgumentError,
            "Need minval < maxval, got 5 >= 5",
        ),
        (lambda: tf.random.normal([2], dtype=tf.int32), ValueError, "Argument `dtype` got invalid value"),
        (lambda: tf.random.normal([-1]), tf.errors.InvalidArgumentError, "Dimension -1 must be >= 0"),
    ],
)
def test_refusals(draw: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        draw()


def test_stateless_numbers_equal_tensorflows() -> None:
    at = {"seed": [7, 1]}
    near = tf.random.stateless_uniform([2, 2], minval=-1.0, maxval=1.0, **at)
    assert np.allclose(near, [[-0.91975856, 0.08469391], [-0.12003541, 0.8170738]], atol=1e-7)
    assert np.allclose(tf.random.stateless_normal([3], seed=(1, 2)), [0.5441101, 0.20738031, 0.07356432])
    assert tf.random.stateless_uniform([4], seed=[1, 2], maxval=10, dtype=tf.int32).numpy().tolist() == [
        0,
        9,
        4,
        9,
    ]
    truncated = tf.random.stateless_truncated_normal([3], seed=[5, 6])
    assert np.allclose(truncated, [1.0239844, -0.53878856, 1.2795534])


def test_stateless_numbers_depend_on_the_seed_alone() -> None:
    @tf.function
    def draw(i: tf.Tensor) -> tf.Tensor:
        return tf.random.stateless_normal([2], seed=[3, i])

    first, second = draw(tf.constant(0)), draw(tf.constant(1))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, draw(tf.constant(0)))
    assert np.array_equal(first, tf.random.stateless_normal([2], seed=[3, 0]))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="seed must have shape"):
        tf.random.stateless_normal([2], seed=[1, 2, 3])
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random.stateless_uniform([2], seed=[1, 2], dtype=tf.int64)


@pytest.mark.parametrize("executor", ["plan", "interpret", "native"])
@pytest.mark.parametrize(
    ("global_seed", "seed", "numbers"),
    [
        (1234, None, [[92, 63], [35, 68], [61, 75]]),
        (1234, 7, [[24, 65], [73, 55], [11, 57]]),
    ],
)
def test_each_call_in_a_graph_starts_at_the_seeds(
    executor: str, global_seed: int, seed: int | None, numbers: list[list[int]]
) -> None:
    """The numbers are TensorFlow's."""
    tf.random.set_seed(global_seed)
    inner = tf.function(lambda: tf.random.uniform([2], 0, 100, tf.int32, seed=seed))
    middle = tf.function(lambda: tf.stack([inner(), inner()]))
    outer = tf.function(lambda: [middle(), inner(), middle()], experimental_executor=executor)
    for expected in numbers:
        first, second, third = (x.numpy().tolist() for x in outer())
        assert first == third == [expected, expected]
        assert second == expected
    assert [inner().numpy().tolist() for _ in numbers] == numbers


def test_calls_without_seeds_share_their_graph() -> None:
    tf.random.set_seed(None)
    inner = tf.function(lambda: tf.random.uniform([2]))
    outer = tf.function(lambda: (inner(), inner())).get_concrete_function()
    first, second = (operation.regions[0] for operation in outer.graph.operations)
    assert first is second


# TensorFlow's numbers for the seed [1, 2].
NARROW = {
    ("float16", "uniform"): [0.54296875, 0.2353515625, 0.060546875],
    ("bfloat16", "uniform"): [0.34375, 0.8828125, 0.484375],
    ("float16", "normal"): [0.5439453125, 0.2073974609375, 0.07354736328125],
    ("bfloat16", "normal"): [0.54296875, 0.20703125, 0.07373046875],
    ("float16", "truncated_normal"): [0.5439453125, 0.2073974609375, 0.07354736328125],
    ("bfloat16", "truncated_normal"): [0.54296875, 0.20703125, 0.07373046875],
}


@pytest.mark.parametrize("executor", [None, "plan", "interpret", "automatic"])
@pytest.mark.parametrize(("dtype", "distribution"), NARROW)
def test_numbers_of_16_bits(dtype: str, distribution: str, executor: str | None) -> None:
    def draw() -> Any:
        return getattr(tf.random, f"stateless_{distribution}")([3], [1, 2], dtype=dtype)

    call = tf.function(draw, experimental_executor=executor) if executor else draw
    drawn = call()
    assert drawn.dtype == tf.as_dtype(dtype)
    assert tf.cast(drawn, tf.float64).numpy().tolist() == NARROW[dtype, distribution]


def test_stateful_numbers_of_16_bits() -> None:
    tf.random.set_seed(5)
    assert tf.cast(tf.random.uniform([3], dtype="bfloat16"), float).numpy().tolist() == [
        0.296875, 0.8046875, 0.25,
    ]  # fmt: skip
    tf.random.set_seed(5)
    assert tf.cast(tf.nn.dropout(tf.ones(5, "bfloat16"), 0.5), float).numpy().tolist() == [0, 2, 0, 0, 0]


@pytest.mark.parametrize("draw", [tf.random.uniform, tf.random.normal, tf.random.truncated_normal])
@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64], ids=lambda dtype: dtype.name)
def test_kept_calls_go_on_with_their_stream(draw, dtype):
    def run():
        tf.random.set_seed(3)
        return [draw([5], dtype=dtype, seed=1).numpy().tolist() for _ in range(4)]

    first, kept = run(), run()
    assert first == kept and len(set(map(tuple, kept))) == 4
    scaled = {"minval": 1, "maxval": 3.0} if draw is tf.random.uniform else {"mean": 1, "stddev": 2.0}
    tf.random.set_seed(3)
    for numbers in kept:
        expected = np.asarray(numbers, dtype.as_numpy_dtype) * dtype.as_numpy_dtype(2) + 1
        assert draw([5], dtype=dtype, seed=1, **scaled).numpy().tolist() == expected.tolist()
