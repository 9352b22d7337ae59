"""`GradientTape` does what TensorFlow's does; the numbers and messages were compared with TensorFlow 2.21."""

from __future__ import annotations

import logging
from typing import Any

import agc.runtime as tf
import pytest


def test_the_gradient_of_a_watched_tensor() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.0


def test_unwatched_and_unconnected_sources_have_no_gradient() -> None:
    x, z = tf.constant(3.0), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(x)
        w = 2.0 * x
        tape.watch(z)
    assert tape.gradient(y, x) is None
    assert tape.gradient(w, z) is None
    with tf.GradientTape() as other:
        other.watch(x)
        product = x * z
    assert other.gradient(product, z) is None
    assert tape.gradient(w, z, unconnected_gradients=tf.UnconnectedGradients.ZERO).numpy() == 0.0
    assert tape.gradient(w, z, unconnected_gradients="zero").numpy() == 0.0
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'some'"):
        tape.gradient(w, z, unconnected_gradients="some")


def test_a_source_that_is_a_target_needs_no_watching() -> None:
    """As in TensorFlow: the derivative of a tensor by itself is its output gradient, ones by default."""
    x, z = tf.constant([3.0, 4.0]), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    assert tape.gradient(x, x).numpy().tolist() == [1.0, 1.0]
    assert tape.gradient([x, z], [z, x], output_gradients=[tf.constant([5.0, 6.0]), None])[
        1
    ].numpy().tolist() == [5.0, 6.0]
    itself, other = tape.gradient(y, [y, x])
    assert itself.numpy().tolist() == [1.0, 1.0] and other is None
    assert tf.function(lambda a: tape_of_nothing().gradient(a, a))(x).numpy().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("mode", [lambda f: f, tf.function], ids=["eager", "graph"])
def test_an_unwatched_source_that_another_target_reads_has_no_gradient(mode) -> None:
    """As in TensorFlow, also if it is a target itself: the tape has not recorded how the target depends on it."""

    def none_of(x, z):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            product = x * z
            unread = x * x
        by_x, by_z = tape.gradient([tf.exp(product), product, z], [x, z])
        assert by_x is not None and by_z is None
        grads = [tape.gradient([unread, z], z), tape.gradient(z, z), tape.gradient([product, x], x)]
        return [*grads, by_x]

    found = mode(none_of)(tf.constant(3.0), tf.constant(2.0))
    assert [float(each) for each in found] == [1.0, 1.0, 3.0, 2.0]


def tape_of_nothing() -> tf.GradientTape:
    with tf.GradientTape() as tape:
        pass
    return tape


def test_reading_a_trainable_variable_watches_it() -> None:
    v, frozen = tf.Variable(2.0), tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * frozen * v
    assert tape.watched_variables() == (v,)
    dv, df = tape.gradient(y, [v, frozen])
    assert dv.numpy() == 20.0
    assert df is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None


def test_a_variable_that_changes_in_between_has_the_gradients_of_all_its_reads() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        y += v * 3.0
    assert tape.gradient(y, v).numpy() == 7.0


def test_nests_of_targets_and_sources() -> None:
    x, v = tf.constant(3.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x])
        y = x * v
    assert {k: g.numpy() for k, g in tape.gradient({"a": y}, {"x": x, "v": v}).items()} == {
        "x": 2.0,
        "v": 3.0,
    }
    assert [g.numpy() for g in tape.gradient([y, v], [x, v])] == [2.0, 4.0]
    assert tape.gradient(x, x).numpy() == 1.0


def test_output_gradients_weigh_the_targets() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x, 2 * x])
    assert tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0])).numpy() == 21.0


def test_a_tape_that_is_not_persistent_is_used_once() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        tape.gradient(y, x)


def test_a_persistent_tape_is_used_often_also_for_intermediate_results() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, x).numpy() == 108.0
    assert tape.gradient(z, y).numpy() == 18.0
    assert tape.gradient(y, x).numpy() == 6.0


def test_stop_recording_and_reset() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = x * x
        tape.reset()
        tape.watch(x)
        w = x * 5.0
    assert [tape.gradient(t, x) is None for t in (y, z, w)] == [True, True, False]
    with pytest.raises(ValueError, match="Tape is not recording"):
        tape.reset()
    with pytest.raises(ValueError, match="Tape is still recording"), tape, tape:
        pass


def _stopped_in_a_branch(x: Any, count: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        if count > 0:
            with tape.stop_recording():
                z = x * x
            y = y * z
    return tape.gradient(y, x)


def _stopped_in_a_loop(x: Any, count: Any) -> Any:
    v = _two
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        i = 0
        while True:
            with tape.stop_recording():
                z = v * x
                if z > 3.0:
                    z = z * x
            if i >= count:
                break
            y = y * z * v
            i += 1
    return tape.gradient(y, [x, v])


def _stopped_for_the_outer_tape(x: Any, count: Any) -> Any:
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x
            for _ in tf.range(count):
                with outer.stop_recording():
                    z = x * x
                y = y * z
        inside = inner.gradient(y, x)
    return inside, outer.gradient(y, x)


_two = tf.Variable(2.0)


@pytest.mark.parametrize(
    "program",
    [_stopped_in_a_branch, _stopped_in_a_loop, _stopped_for_the_outer_tape],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_stop_inside_a_staged_block_counts_as_it_does_eagerly(program: Any, compiled: bool) -> None:
    arguments = tf.constant(3.0), tf.constant(2)
    eager = tf.nest.flatten(program(*arguments))
    staged = tf.nest.flatten(tf.function(program, jit_compile=compiled)(*arguments))
    assert [float(x) for x in staged] == [float(x) for x in eager]


def test_integers_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.constant(3)
    with caplog.at_level(logging.WARNING, logger="agc"), tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None
    assert caplog.messages == [
        "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32"
    ]


def test_reading_integer_variables_does_not_warn(caplog: pytest.LogCaptureFixture) -> None:
    """Ignore an integer counter among the weights silently, in functions too, as TensorFlow does."""
    weight, count = tf.Variable(2.0), tf.Variable(3)

    @tf.function
    def inner(x: Any) -> Any:
        return x * tf.cast(count.assign_add(1), tf.float32)

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) * 3.0

    with caplog.at_level(logging.WARNING, logger="agc"), tf.GradientTape() as tape:
        y = outer(weight) + tf.cast(count, tf.float32)
    assert tape.watched_variables() == (weight,)
    assert [None if dy is None else dy.numpy() for dy in tape.gradient(y, [weight, count])] == [12.0, None]
    assert caplog.messages == []


@pytest.mark.parametrize("wrong", [3.0, "a", None])
def test_a_source_that_is_no_tensor_is_refused(wrong: Any) -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape, pytest.raises(ValueError, match="Passed in object"):
        tape.watch(wrong)
    with pytest.raises(TypeError, match="must be tensors or variables"):
        tape.gradient(x, wrong)
    with pytest.raises(TypeError, match="must be tensors or variables"):
        tape.gradient(wrong, x)


def test_tapes_in_tapes_give_derivatives_of_higher_order() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as middle:
            middle.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**4
            first = inner.gradient(y, x)
        second = middle.gradient(first, x)
    third = outer.gradient(second, x)
    assert [d.numpy() for d in (first, second, third)] == [108.0, 108.0, 72.0]


def test_a_gradient_requested_inside_the_tapes_block() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        slope = tape.gradient(x**3, x)
    assert tape.gradient(slope, x).numpy() == 18.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert tape.gradient(x * x, x).numpy() == 6.0


def test_complex_gradients_are_conjugated() -> None:
    c = tf.constant([1.0 + 2.0j])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        square = c * c
        size = tf.abs(c)
    assert tape.gradient(square, c).numpy().tolist() == [2.0 - 4.0j]
    assert tape.gradient(size, c).numpy() == pytest.approx([(1 + 2j) / 5**0.5])


def test_stop_gradient_makes_a_constant() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.stop_gradient(x)
    assert tape.gradient(y, x).numpy() == 3.0


def test_an_operation_without_a_gradient_raises_lookup_error() -> None:
    from agc.runtime.ops.framework.op import Input, op

    @op
    def doubled(x: Input) -> Any:
        return x.spec

    @doubled.kernel
    def _(x: Any) -> Any:
        return 2 * x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = doubled(x)
    with pytest.raises(LookupError, match="no gradient is defined for the operation 'doubled'"):
        tape.gradient(y, x)


def test_tapes_while_a_graph_is_built() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def slopes(x: Any) -> Any:
        constant = tf.constant(5.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, constant])
            y = x * x * v * constant
        return tape.gradient(y, [x, v, constant]), tf.gradients(y, [x])

    grads, (again,) = slopes(tf.constant(3.0))
    assert [g.numpy() for g in grads] == [60.0, 45.0, 18.0]
    assert again.numpy() == 60.0
    with pytest.raises(RuntimeError, match=r"tf\.gradients is not supported when eager execution is enabled"):
        tf.gradients(v, v)


def test_unknown_shapes() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([None, None])])
    def slopes(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.reduce_sum(tf.reduce_mean(x * y + tf.transpose(y)[0], axis=-1) ** 2)
        return tape.gradient(z, [x, y])

    x, y = tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.reduce_sum(tf.reduce_mean(x * y + tf.transpose(y)[0], axis=-1) ** 2)
    for one, other in zip(slopes(x, y), tape.gradient(z, [x, y]), strict=True):
        assert one.numpy().tolist() == other.numpy().tolist()


@pytest.mark.parametrize("persistent", [False, True])
def test_a_tape_that_was_never_entered_has_no_gradients(persistent):
    tape = tf.GradientTape(persistent=persistent)
    x = tf.constant(1.0)
    for derive in (tape.gradient, tape.jacobian):
        with pytest.raises(RuntimeError, match="never entered"):
            derive(x, x)
