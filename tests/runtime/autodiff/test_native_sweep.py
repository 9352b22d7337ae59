"""The backward sweep in C gives what the sweep in Python gives, bit by bit, and raises what that raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import backprop, eager_gradients
from agc.runtime.autodiff.tape import GradientTape
from agc.runtime.autodiff.tape_records import Pullback

pytestmark = pytest.mark.skipif(backprop.native is None, reason="the C extension is switched off")

STEPS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * y,
    lambda x, y: x - tf.tanh(y),
    lambda x, y: tf.matmul(x, y, transpose_b=True),
    lambda x, y: tf.concat(tf.split(x, 2, axis=1)[::-1], 1) + y[0],
    lambda x, y: tf.gather(x, [2, 0, 2]) * tf.reduce_mean(y),
    lambda x, y: tf.stop_gradient(x) + tf.identity(y),
    lambda x, y: tf.where(x > y, x, tf.cast(tf.cast(y, tf.int32), tf.float32)),
    lambda x, y: tf.grad_pass_through(tf.round)(x) + y,
]


def swept_both_ways(tape: Any, target: Any, sources: list[Any]) -> list[Any]:
    """Return the gradients of the sweep in C, after a comparison with those of the sweep in Python."""
    targets = [(target, tf.ones_like(target))]
    by_python = backprop._swept(tape._records, targets, sources, tape._watched, ())
    by_c = backprop.native.sweep(tape._records, targets, sources, tape._watched)
    for one, other in zip(by_c, by_python, strict=True):
        assert type(one) is type(other)
        if one is not None:
            found, expected = (
                tf.convert_to_tensor(backprop.public(one)),
                tf.convert_to_tensor(backprop.public(other)),
            )
            assert found.dtype == expected.dtype
            assert found.numpy().tobytes() == expected.numpy().tobytes()
    return by_c


@pytest.mark.parametrize("often", [2, 1_000], ids=["plans", "gradient functions"])
def test_random_programs_have_the_same_gradients(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager_gradients, "OFTEN", often)
    for seed in range(25):
        random = np.random.default_rng(seed)
        x, y = (tf.constant(random.normal(size=(3, 4)).astype(np.float32)) for _ in range(2))
        table = tf.Variable(random.normal(size=(3, 4)).astype(np.float32))
        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            values = [x, y, table]
            for step in random.integers(len(STEPS), size=12):
                one, other = (values[i] for i in random.integers(len(values), size=2))
                if one.shape[1] == 4 and (other.shape == one.shape):
                    values.append(STEPS[step](one, other))
                if step == 0:
                    tape.watch(values[-1])  # counts from here on
            loss = tf.add_n([tf.reduce_sum(value) for value in values])
        unconnected = tf.constant(1.0)
        for _ in range(3):
            swept_both_ways(tape, loss, [x, table, unconnected, x, values[-1], values[-2], loss])


def test_a_long_tape_needs_no_recursion() -> None:
    x = tf.constant(1.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x
        for _ in range(3_000):
            y = y + x
    (grad,) = swept_both_ways(tape, y, [x])
    assert grad.numpy() == 3_001.0


def slope(back: Callable[[Any], Any]) -> Any:
    """Return the gradient of a square followed by an operation with this gradient function."""
    x = tf.constant(3.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x: (x * 2.0, back))(x * x)
    return tape.gradient(y, x)


def failing(dy: Any) -> Any:
    raise KeyError("the gradient function")


def test_gradient_functions_may_fail() -> None:
    with pytest.raises(KeyError, match="the gradient function"):
        slope(failing)
    with pytest.raises(ValueError, match="expected to return 1 gradients, but returned 2"):
        slope(lambda dy: (dy, dy))
    assert slope(lambda dy: None) is None
    assert slope(lambda dy: slope(lambda dx: dx * dy)).numpy() == 36.0


def test_pullbacks_must_return_a_cotangent_for_each_input() -> None:
    x, y = tf.constant(3.0), tf.constant(9.0)
    for found in ([], [x, x]):
        record = Pullback([x], [y], lambda grads, wanted, found=found: found)  # type: ignore[misc]
        with pytest.raises(ValueError, match=f"returned {len(found)} cotangents, not 1"):
            backprop.native.sweep([record], [(y, y)], [x], {})


def test_plans_rest_while_a_gradient_function_leaves_a_tape_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager_gradients, "OFTEN", 1)
    x, inner = tf.constant(3.0), GradientTape()

    def opening(dy: Any) -> Any:
        inner.__enter__()
        inner.watch(dy)
        return dy

    for back in (lambda dy: dy, lambda dy: dy, lambda dy: dy, opening):
        with GradientTape() as tape:
            tape.watch(x)
            y = tf.custom_gradient(lambda x, back=back: (x * 1.0, back))(tf.sin(x))
        grad = tape.gradient(y, x)
        np.testing.assert_allclose(grad.numpy(), np.cos(3.0), rtol=1e-6)
    inner.__exit__(None, None, None)
    assert [record.name for record in inner._records or ()] == ["multiply"]


def test_tensors_of_graphs_are_left_to_the_sweep_in_python() -> None:
    assert backprop.native.sweep([], [], [object()], {}) is None
    with pytest.raises(TypeError, match="sweep"):
        backprop.native.sweep((), [], [], {})


def test_records_of_later_tapes_have_the_lines_of_their_own_calls() -> None:
    def lines(shift: int) -> list[int]:
        made: dict[str, Any] = {"tf": tf}
        source = (
            "def f(x):\n    y = x * x\n    for _ in range(2):\n        y = tf.nn.moments(y, [0])[0] + y\n"
        )
        exec(compile("\n" * shift + source, "program.py", "exec"), made)
        with GradientTape() as tape:
            tape.watch(x)
            made["f"](x)
        assert tape._records is not None
        return [record.origin.line - shift for record in tape._records if record.origin]

    x = tf.constant([1.0, 2.0])
    first = lines(0)
    assert first[0] == 2 and {*first[1:]} == {4}
    for shift in range(600):  # more sites than the extension keeps
        assert lines(shift) == first
