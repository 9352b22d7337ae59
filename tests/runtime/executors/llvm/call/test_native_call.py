"""Native code is called by the C extension or by ctypes, with the same results."""

from __future__ import annotations

import _thread
import logging
import os
import subprocess
import sys
import threading
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.argument_pattern import ArgumentPattern
from agc.runtime.core.fast_path_guard import busy
from agc.runtime.core.tensor import EagerTensor
from agc.runtime.executors.llvm.call import native_call
from support.shortest_calls import compiled, goes_shortest, needs_extension


def read(kind: str) -> Any:
    """An array that a kernel for float64[2, 3] cannot read where it is."""
    plain = np.arange(6.0).reshape(2, 3)
    return {
        "F": np.asfortranarray(plain),
        "step": plain[:, ::2],
        "reverse": plain[::-1, ::-1],
        "swapped": plain.astype(">f8"),
        "empty": plain[:0],
        "subclass": plain.view(np.matrix),
        "unaligned": np.frombuffer(b"." + plain.tobytes(), offset=1).reshape(2, 3),
        "broadcast": np.broadcast_to(plain[:1], (2, 3)),
    }[kind]


KINDS = ["F", "step", "reverse", "swapped", "empty", "subclass", "unaligned", "broadcast"]


@pytest.fixture(params=["extension", "ctypes"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How native code that is compiled from now on is called."""
    if request.param == "ctypes":
        monkeypatch.setattr(native_call, "extension", lambda: "it is switched off")
    elif not native_call.is_available():
        pytest.skip(f"no C extension: {native_call.extension()}")
    return str(request.param)


@pytest.mark.usefixtures("way")
class TestBothWays:
    def test_calls_with_arguments_of_each_kind(self, way: str) -> None:
        class Model:
            scale = tf.Variable([2.0, 3.0])

        def step(model: Any, x: Any, parts: Any, named: Any, n: int) -> Any:
            model.scale.assign_add(x)
            return {"y": x * n + parts[0], "z": (model.scale + named["k"], n)}

        model, x = Model(), tf.constant([1.0, 2.0])
        f = compiled(step, model, x, [x], {"k": x}, n=2)
        for _ in range(3):
            found = f(model, x, [x], {"k": x}, n=2)
        assert goes_shortest(f, model, x, [x], {"k": x}, n=2) == (way == "extension")
        assert found["y"].numpy().tolist() == [3.0, 6.0]
        assert found["z"][0].numpy().tolist() == [8.0, 15.0]
        assert model.scale.numpy().tolist() == [8.0, 15.0]

    @pytest.mark.parametrize("kind", KINDS)
    def test_arrays_that_the_kernel_cannot_read_where_they_are(self, kind: str) -> None:
        array = read(kind)
        f = compiled(lambda x: x * 2.0 + 1.0, tf.zeros([2, 3], tf.float64))
        for _ in range(2):
            np.testing.assert_array_equal(f(array), np.asarray(array) * 2.0 + 1.0)

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "swapped"])
    def test_tensors_of_such_arrays(self, kind: str) -> None:
        array = np.asarray(read(kind))
        f = compiled(lambda x: x * 2.0 + 1.0, tf.zeros([2, 3], tf.float64))
        for _ in range(3):
            np.testing.assert_array_equal(f(EagerTensor(array)), array * 2.0 + 1.0)

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
        assert int(f(tf.constant(-3))) == -3

    def test_operations_that_call_their_kernels(self) -> None:
        a = tf.constant([0.5, 0.25], tf.float64)
        f = compiled(lambda a: tf.math.betainc(a, a, a) + a, a)
        np.testing.assert_array_equal(f(a), tf.math.betainc(a, a, a) + a)

    def test_more_arrays_than_fit_on_the_stack(self) -> None:
        xs = [tf.constant(float(i)) for i in range(60)]
        f = compiled(lambda xs: [x + 1.0 for x in xs], xs)
        for _ in range(3):
            assert [float(x) for x in f(xs)] == [i + 1.0 for i in range(60)]

    def test_a_variable_whose_shape_changes_with_each_call(self) -> None:
        v = tf.Variable([1.0], shape=[None])

        def doubled() -> Any:
            v.assign(tf.concat([v, v], 0))
            return tf.size(v)

        f = tf.function(doubled, jit_compile=True)
        for _ in range(4):
            v.assign([1.0])
            assert [int(f()) for _ in range(5)] == [2, 4, 8, 16, 32]
            assert v.numpy().tolist() == [1.0] * 32


@needs_extension
class TestWhatTheExtensionRefuses:
    """It is called by agc only, but no argument may corrupt memory."""

    def test_kernels(self) -> None:
        kernel = native_call.extension().Kernel
        scalar, result = (np.dtype("f4"), ()), (np.dtype("f4"), (), 0, 0)
        for arguments in (
            (0, False, (scalar,), (result,), len, len, None),
            (1, False, (("f4", ()),), (result,), len, len, None),
            (1, False, ((np.dtype("f4"), [1]),), (result,), len, len, None),
            (1, False, ((np.dtype("f4"), (-1,)),), (result,), len, len, None),
            (1, False, ((np.dtype("f4"), (1,) * 65),), (result,), len, len, None),
            (1, False, ((np.dtype("f4"), (1 << 70,)),), (result,), len, len, None),
            (1, False, (scalar,), ((np.dtype("f4"), (), 2, 0),), len, len, None),
            (1, False, (scalar,), ((np.dtype("f4"), (), -1, 0),), len, len, None),
            (1, False, (scalar,), ((np.dtype("f4"), (), 0, 3),), len, len, None),
            (1, False, (scalar,), (scalar,), len, len, None),
            (1.5, False, (scalar,), (result,), len, len, None),
        ):
            with pytest.raises((TypeError, ValueError, OverflowError)):
                kernel(*arguments)
        made = kernel(1, False, (scalar,), (), len, len, "owner")
        assert (made.__self__, made([]), made((1, 2))) == ("owner", 0, 2)  # both are a mismatch, for `len`
        for arguments in ((), ([], [])):
            with pytest.raises(TypeError, match="one list"):
                made(*arguments)
        with pytest.raises(TypeError, match="one list"):
            made([], n=1)

    def test_fast_paths(self) -> None:
        extension = native_call.extension()
        scalar = (np.dtype("f4"), ())
        kernel = extension.Kernel(1, False, (scalar,), ((*scalar, 1, 0),), len, len, None)
        tensor = ArgumentPattern(EagerTensor)
        for arguments in (
            (kernel, (tensor,), (), (), (), ("kind", "more"), tensor, len),
            (kernel, (tensor,), ("x", "y"), (), (), ("kind",), tensor, len),
            (kernel, (tensor,), (), ("v", "w"), (-1, -1), ("kind",), tensor, len),
            (kernel, (), (), ("v",), (), ("kind",), tensor, len),
            (kernel, (), (), ("v",), (0,), ("kind",), tensor, len),
            (kernel, (), (), ("v",), (9,), ("kind",), tensor, len),
            (kernel, (), (), ("v",), ("no number",), ("kind",), tensor, len),
            (kernel, (ArgumentPattern(EagerTensor, number=1),), (), (), (), ("kind",), tensor, len),
            (kernel, (ArgumentPattern(EagerTensor, number=-1),), (), (), (), ("kind",), tensor, len),
            (kernel, (ArgumentPattern(set),), (), (), (), ("kind",), tensor, len),
            (kernel, (ArgumentPattern(dict, ("a",)),), (), (), (), ("kind",), tensor, len),
            (kernel, ([EagerTensor],), (), (), (), ("kind",), tensor, len),
            (kernel, (tensor,), (), (), (), ("kind",), ArgumentPattern(EagerTensor, number=1), len),
        ):
            with pytest.raises((TypeError, ValueError)):
                extension.FastPath(*arguments)
        with pytest.raises(TypeError):
            extension.FastCall((kernel,), len)
        missing = extension.FastPath(kernel, (), (), (), (), ("kind",), tensor, len)
        assert extension.FastCall((missing,), lambda: "no input")() == "no input"
        with pytest.raises(TypeError, match="no slot"):
            extension.register(type("Other", (), {"_array": 3, "_kind": 4}), busy, 2)
        with pytest.raises(AttributeError):
            extension.register(int, busy, 2)
        assert extension.FastCall((), len)("four") == 4


def test_the_reason_can_be_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "agc.runtime.executors.llvm.call._native_call", None)
    monkeypatch.delattr("agc.runtime.executors.llvm.call._native_call", raising=False)
    ask = native_call.extension.__wrapped__
    assert "_native_call" in ask()
    assert not caplog.records  # by default nothing is said
    with caplog.at_level(logging.INFO, "agc"):
        ask()
    assert "Native code is called through ctypes" in caplog.text


PROGRAM = """
import agc.runtime as tf
from agc.runtime.executors.llvm.call import native_call
v = tf.Variable(1.0)
f = tf.function(lambda x, more: (v.assign_add(tf.reduce_sum(x)), [x + 1.0 for x in more]), jit_compile=True)
x = tf.constant([1.0, 2.0])
for _ in range(4):
    found = f(x, [x])
assert float(v) == 13.0 and found[1][0].numpy().tolist() == [2.0, 3.0]
assert not native_call.is_available() and native_call.extension() == "AGC_NATIVE_CALLS=0 is set"
"""


def test_a_process_without_the_extension() -> None:
    environment = {**os.environ, "AGC_JIT": "0", "AGC_NATIVE_CALLS": "0"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)
