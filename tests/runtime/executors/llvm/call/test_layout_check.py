"""On a CPython or NumPy with another object layout, native calls switch off; results stay the same."""

from __future__ import annotations

import _thread
import ctypes
import logging
import os
import subprocess
import sys
import threading
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm.call import cpython_layout, layout_check
from support.shortest_calls import compiled, goes_shortest

OFFSETS = (
    "TYPE", "SIZE", "LIST_ITEMS", "TUPLE_ITEMS", "WEAK_TARGET", "DATA", "RANK", "SIZES", "DTYPE", "FLAGS", "METHOD",
    "METHOD_OWNER", "METHOD_FUNCTION", "MEMBER", "BASIC_SIZE", "VECTORCALL_OFFSET", "CLASS_FLAGS",
)  # fmt: skip
OTHERS = {
    "C_ORDER_AND_ALIGNED": 0x102,
    "OWN_AND_WRITEABLE": 0x104,
    "OBJECT_SLOT": 6,
    "HAS_VECTORCALL": 1 << 10,
}
BY_VERSION = {"NEW_ARRAY", "NUMBER_SLOT"}  # fixed by NumPy's binary interface, and by CPython's


def test_every_constant_has_a_case() -> None:
    constants = {name for name, value in vars(cpython_layout).items() if isinstance(value, int)}
    assert {*OFFSETS, *OTHERS, *BY_VERSION} == constants


def test_every_check_holds_here() -> None:
    assert list(layout_check.failed_checks()) == []


# A field that is elsewhere is the same as a constant that is wrong.
@pytest.mark.parametrize("shift", [-8, 8, 64, 1 << 50])
@pytest.mark.parametrize("name", OFFSETS)
def test_a_field_that_is_elsewhere_is_noticed(name: str, shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython_layout, name, getattr(cpython_layout, name) + shift)
    assert list(layout_check.failed_checks())


@pytest.mark.parametrize("name", OTHERS)
def test_a_flag_that_is_elsewhere_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython_layout, name, OTHERS[name])
    assert list(layout_check.failed_checks())


def test_another_binary_interface_of_numpy_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(lambda: 3 << 24)
    monkeypatch.setattr(
        cpython_layout, "numpy_functions", lambda: [ctypes.cast(version, ctypes.c_void_p).value]
    )
    assert list(layout_check.failed_checks()) == ["NumPy's functions"]


def test_a_function_of_cpython_that_is_gone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_check, "NEEDED", ("Py_DecRef", "PyGone_Function"))
    assert list(layout_check.failed_checks()) == ["CPython's functions"]


def test_the_reason_can_be_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(cpython_layout, "LIST_ITEMS", 32)
    ask = layout_check.unknown_layout.__wrapped__
    assert ask() == (
        f"CPython {sys.version.split()[0]} with NumPy {np.__version__} has an unknown layout of lists, tuples and dicts"
    )
    assert not caplog.records  # by default nothing is said
    with caplog.at_level(logging.INFO, "agc"):
        ask()
    assert "Native calls are switched off: CPython" in caplog.text


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled from now on meets an unknown layout."""
    from agc.runtime.executors.llvm import jit_function, loader

    for module in (loader, jit_function):
        monkeypatch.setattr(module, "unknown_layout", lambda: "this layout is unknown")


@pytest.mark.usefixtures("unknown")
class TestWithoutNativeCalls:
    def test_calls_with_arguments_of_each_kind(self) -> None:
        class Model:
            scale = tf.Variable([2.0, 3.0])

        def step(model: Any, x: Any, parts: Any, named: Any, n: int) -> Any:
            model.scale.assign_add(x)
            return {"y": x * n + parts[0], "z": (model.scale + named["k"], n)}

        model, x = Model(), tf.constant([1.0, 2.0])
        f = compiled(step, model, x, [x], {"k": x}, n=2)
        for _ in range(3):
            found = f(model, x, [x], {"k": x}, n=2)
        assert not goes_shortest(f, model, x, [x], {"k": x}, n=2)
        assert found["y"].numpy().tolist() == [3.0, 6.0]
        assert found["z"][0].numpy().tolist() == [8.0, 15.0]
        assert model.scale.numpy().tolist() == [8.0, 15.0]

    @pytest.mark.parametrize("kind", ["F", "step", "reverse", "swapped", "empty", "subclass", "unaligned"])
    def test_arrays_that_the_kernel_cannot_read_where_they_are(self, kind: str) -> None:
        plain = np.arange(6.0).reshape(2, 3)
        array: Any = {
            "F": np.asfortranarray(plain),
            "step": plain[:, ::2],
            "reverse": plain[::-1, ::-1],
            "swapped": plain.astype(">f8"),
            "empty": plain[:0],
            "subclass": plain.view(np.matrix),
            "unaligned": np.frombuffer(b"." + plain.tobytes(), offset=1).reshape(2, 3),
        }[kind]
        f = compiled(lambda x: x * 2.0 + 1.0, tf.zeros([2, 3], tf.float64))
        for _ in range(2):
            np.testing.assert_array_equal(f(array), np.asarray(array) * 2.0 + 1.0)
        np.testing.assert_array_equal(array, np.asarray(array))

    def test_a_check_that_fails_says_what_the_plan_says(self) -> None:
        f = compiled(lambda x, i: tf.gather(x, i), tf.constant([1.0, 2.0]), tf.constant(0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="indices = 7 is not in"):
            f(tf.constant([1.0, 2.0]), tf.constant(7))

    def test_a_long_loop_can_be_interrupted(self) -> None:
        def endless(n: Any) -> Any:
            while n >= 0:
                n = (n + 1) % 1000
            return n

        f = compiled(endless, tf.constant(-1))
        threading.Timer(0.2, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            f(tf.constant(0))

    def test_operations_that_call_their_kernels(self) -> None:
        a = tf.constant([0.5, 0.25], tf.float64)
        f = compiled(lambda a: tf.math.betainc(a, a, a) + a, a)
        np.testing.assert_array_equal(f(a), tf.math.betainc(a, a, a) + a)


PROGRAM = """
import agc.runtime.executors.llvm.call.cpython_layout as objects
objects.LIST_ITEMS += 8
import agc.runtime as tf
v = tf.Variable(1.0)
f = tf.function(lambda x, more: (v.assign_add(tf.reduce_sum(x)), [x + 1.0 for x in more]), jit_compile=True)
x = tf.constant([1.0, 2.0])
for _ in range(4):
    found = f(x, [x])
assert float(v) == 13.0 and found[1][0].numpy().tolist() == [2.0, 3.0]
"""


def test_a_process_whose_lists_have_another_layout() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env={**os.environ, "AGC_JIT": "0"})
