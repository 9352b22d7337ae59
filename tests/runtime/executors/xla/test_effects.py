"""What XLA programs print, draw and run on."""

from __future__ import annotations

import sys
from typing import Any

import agc.runtime as tf
import jax
import numpy as np
import pytest

XLA = {"jit_compile": "xla"}


def test_prints_are_in_program_order(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function(**XLA)
    def counted(x: Any) -> Any:
        tf.print("from", x, output_stream=sys.stdout)
        for i in tf.range(2):
            tf.print(i, x + i, output_stream=sys.stdout)
        return x

    counted(tf.constant([1, 2]))
    assert capsys.readouterr().out == "from [1 2]\n0 [1 2]\n1 [2 3]\n"


def test_failing_runs_print_once(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function(**XLA)
    def divided(x: Any, n: Any) -> Any:
        tf.print("n is", n, output_stream=sys.stdout)
        return x // n

    assert divided(tf.constant(7), tf.constant(2)).numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        divided(tf.constant(7), tf.constant(0))
    assert capsys.readouterr().out == "n is 2\nn is 0\n"


def test_random_numbers_are_those_of_the_other_executors() -> None:
    def drawn() -> Any:
        seed = tf.constant([3, 4])
        return (
            tf.random.uniform([5]),
            tf.random.uniform([3], 0, 10, tf.int32),
            tf.random.shuffle(tf.range(7)),
            tf.random.stateless_uniform([3], seed, dtype=tf.float64),
            tf.random.normal([5]),
            tf.random.truncated_normal([9]),
            tf.random.categorical(tf.zeros([2, 4]), 3),
        )

    results = []
    for compiler in (False, "xla"):
        tf.random.set_seed(7)
        function = tf.function(drawn, jit_compile=compiler)
        results.append([tf.nest.flatten(function()), tf.nest.flatten(function())])
    for wanted, found in zip(*results, strict=True):
        for one, other in zip(wanted, found, strict=True):
            if one.dtype is tf.float32:
                np.testing.assert_allclose(other, one, rtol=1e-6)
            else:
                np.testing.assert_array_equal(other, one)
        np.testing.assert_array_equal(found[0], wanted[0])


def test_devices_of_jax_are_listed_once_xla_is_used() -> None:
    tf.function(lambda x: x + 1, **XLA)(tf.constant(1))
    others = [device.platform.upper() for device in jax.local_devices() if device.platform != "cpu"]
    listed = tf.config.list_physical_devices()
    assert [device.device_type for device in listed] == ["CPU", *others]


@pytest.mark.skipif(all(device.platform == "cpu" for device in jax.local_devices()), reason="no GPU")
def test_programs_run_on_the_device_that_the_graph_names() -> None:
    kind = next(device.platform for device in jax.local_devices() if device.platform != "cpu").upper()
    with tf.device(f"/{kind}:0"):
        product = tf.function(lambda x: tf.matmul(x, x), **XLA)(tf.ones([64, 64]))
    np.testing.assert_allclose(product, np.full((64, 64), 64.0), rtol=1e-3)


def test_missing_devices_mean_the_default_one() -> None:
    with tf.device("/GPU:7"):
        double = tf.function(lambda x: x * 2, **XLA)
        assert int(double(tf.constant(4))) == 8
