"""Kernels of eager calls that took long are compiled, and give what they gave before."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import tiering
from agc.runtime.executors.llvm.trial_times import TRIALS
from agc.runtime.ops.framework import eager_calls
from agc.runtime.ops.framework.eager_calls import EagerCall
from agc.runtime.ops.framework.op import REGISTRY
from support.eager_calls import kept_by

pytestmark = pytest.mark.usefixtures("language")


@pytest.fixture(autouse=True)
def no_kernel_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count no time of earlier tests, which a busy machine makes long."""
    monkeypatch.setattr(eager_calls, "_spent", 0.0)


softmax = tf.nn.softmax  # an operation is registered at its first use


LARGE = np.random.default_rng(0).standard_normal((64, 1_000)).astype(np.float32)


@pytest.mark.parametrize("name", ["softmax", "tanh", "gather"])
def test_a_kernel_that_took_long_is_compiled_and_gives_the_same(name: str, monkeypatch: Any) -> None:
    monkeypatch.delenv("AGC_JIT", raising=False)
    if not tiering.is_wanted():
        pytest.skip("no compiler is installed")
    x, ids = tf.constant(LARGE), tf.constant([3, 1])
    run = {"softmax": softmax, "tanh": tf.tanh, "gather": lambda x: tf.gather(x, ids)}[name]
    first = run(x).numpy()
    REGISTRY[name]._calls.clear()
    for _ in range(3):
        run(x)
    for call in kept_by(name):
        kernel = call.compute
        call.slow(1.0, [LARGE, ids.numpy()][: len(call.template)])
        assert call.compute is not kernel
    for _ in range(3):
        np.testing.assert_allclose(run(x).numpy(), first, rtol=1e-5, atol=1e-6)
    ids = tf.constant([3, 64])
    if name == "gather":
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 64 is not in \[0, 64\)"):
            run(x)


def test_the_first_kernel_is_compiled_once_all_took_long(monkeypatch: Any) -> None:
    monkeypatch.delenv("AGC_JIT", raising=False)
    if not tiering.is_wanted():
        pytest.skip("no compiler is installed")
    REGISTRY["softmax"]._calls.clear()
    for _ in range(2):
        softmax(tf.constant(LARGE))
    (call,) = kept_by("softmax")
    kernel = call.compute
    monkeypatch.setattr(eager_calls, "_spent", 0.0)
    call.slow(0.1, [LARGE])
    assert call.compute is kernel
    monkeypatch.setattr(eager_calls, "_spent", 0.2)
    call.slow(0.001, [LARGE])
    assert call.compute is not kernel


def test_a_kernel_that_took_long_does_not_have_to_do_so_again(monkeypatch: Any) -> None:
    monkeypatch.delenv("AGC_JIT", raising=False)
    if not tiering.is_wanted():
        pytest.skip("no compiler is installed")
    compiled: list[str] = []
    monkeypatch.setattr(tiering, "ask", lambda trial, graph, arguments: compiled.append(graph.name))
    REGISTRY["softmax"]._calls.clear()
    for _ in range(2):
        softmax(tf.constant(LARGE))
    (call,) = kept_by("softmax")
    call.slow(1.0, [LARGE])
    for _ in range(2):  # the plan is measured once
        softmax(tf.constant(LARGE))
    assert compiled == ["softmax"]


@pytest.mark.parametrize("name", ["softmax", "sigmoid"])
def test_kernels_on_smaller_arrays_are_measured_now_and_then(name: str, monkeypatch: Any) -> None:
    if REGISTRY[name].__call__ == REGISTRY[name]._call:
        pytest.skip("the C extension measures kernels")
    taken: list[float] = []
    monkeypatch.setattr(EagerCall, "slow", lambda call, seconds, arrays: taken.append(seconds))
    REGISTRY[name]._calls.clear()
    x = tf.constant(LARGE[:, :300])
    for _ in range(300):
        getattr(tf.nn, name)(x)
    assert 5 < len(taken) < 100
    assert min(taken) >= 8 * 2e-6  # each counts for eight calls


@pytest.fixture
def slow_softmax(monkeypatch: Any) -> tuple[EagerCall, Any, Callable[..., Any]]:
    """Return a kept call of softmax that native code is wanted for, the state of that, and the kernel."""
    monkeypatch.delenv("AGC_JIT", raising=False)
    if not tiering.is_wanted():
        pytest.skip("no compiler is installed")
    runs: list[Any] = []
    automatic = EXECUTORS["automatic"]
    monkeypatch.setitem(EXECUTORS, "automatic", lambda graph: runs.append(automatic(graph)) or runs[-1])
    REGISTRY["softmax"]._calls.clear()
    for _ in range(3):
        softmax(tf.constant(LARGE))
    (call,) = kept_by("softmax")
    kernel = call.compute
    call.slow(1.0, [LARGE])
    assert call.compute is not kernel
    return call, runs[0].__self__._trial([LARGE]), kernel


def test_a_kernel_runs_again_if_native_code_is_no_faster(slow_softmax: Any) -> None:
    call, state, kernel = slow_softmax
    state.give_up()
    assert call.compute is kernel


@pytest.mark.parametrize("is_slow", [True, False])
def test_native_code_must_be_faster_than_the_kernel_besides_the_plan(
    is_slow: bool, slow_softmax: Any
) -> None:
    call, state, kernel = slow_softmax
    found = [softmax(tf.constant(LARGE)).numpy()]
    state.settle(lambda arrays: [time.sleep(0.01)] and found if is_slow else found)
    for _ in range(2 * TRIALS):
        np.testing.assert_array_equal(softmax(tf.constant(LARGE)).numpy(), found[0])
    assert (call.compute is kernel) is is_slow


def test_reads_of_a_tensor_array_keep_their_kernel(monkeypatch: Any) -> None:
    monkeypatch.delenv("AGC_JIT", raising=False)
    REGISTRY["array_read"]._calls.clear()
    array = tf.TensorArray(tf.float32, 2).unstack(LARGE[:2])
    for _ in range(3):
        array.read(1)
    (call,), given = kept_by("array_read"), list[Any]()
    kernel = call.compute
    call.compute = lambda *arguments: given.append(arguments) or kernel(*arguments)
    np.testing.assert_array_equal(array.read(1).numpy(), LARGE[1])
    call.compute = kernel
    call.slow(1.0, given[0][: len(call.template)])
    assert call.compute is kernel


@pytest.mark.parametrize("name", ["matmul", "random_uniform"])
def test_products_and_random_numbers_keep_their_kernels(name: str, monkeypatch: Any) -> None:
    monkeypatch.delenv("AGC_JIT", raising=False)
    x = tf.constant(LARGE[:, :64])
    for _ in range(4):
        tf.matmul(x, x), tf.random.uniform([8, 8])
    assert kept_by(name)
    for call in kept_by(name):
        kernel = call.compute
        call.slow(1.0, [x.numpy()] * len(call.template))
        assert call.compute is kernel


@pytest.mark.skipif(eager_calls.native is None, reason="the C extension was not built")
def test_kernels_in_python_keep_calls_on_few_numbers_whose_shapes_recur(language: str) -> None:
    if language == "python":
        pytest.skip("elementwise operations keep calls in the C extension only")
    tf.sigmoid(tf.zeros([2]))  # accepts the dtype
    REGISTRY["sigmoid"]._calls.clear()
    for size in range(100, 110):
        tf.sigmoid(tf.zeros([size]))
    assert kept_by("sigmoid") == []
    for _ in range(2):
        np.testing.assert_array_equal(tf.sigmoid(tf.zeros([100])), np.full(100, np.float32(0.5)))
        tf.sigmoid(tf.zeros([10]))
    (call,) = kept_by("sigmoid")
    assert call.kinds[0].shape == [100]
