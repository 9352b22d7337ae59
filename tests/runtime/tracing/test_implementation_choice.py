"""Functions with the same `api_implements`: a graph calls the one for the CPU."""

import agc.runtime as tf
import pytest


def implementations(general, on_cpu, device="CPU"):
    attributes = {"api_implements": "answer"}
    return (
        tf.function(general, experimental_attributes=attributes),
        tf.function(on_cpu, experimental_attributes={**attributes, "api_preferred_device": device}),
    )


def answer(general, on_cpu, x, **options):
    @tf.function(**options)
    def called(x):
        y = general(x)
        on_cpu.get_concrete_function(x).add_to_graph()
        on_cpu.get_concrete_function(x).add_gradient_functions_to_graph()
        return y

    return called(x)


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"experimental_executor": "interpret"}])
def test_the_function_for_the_cpu_is_called(options):
    functions = implementations(lambda x: x + 1, lambda x: x * 10)
    assert answer(*functions, tf.constant(4.0), **options) == 40.0


def test_derivatives_are_those_of_the_function_that_is_called():
    functions = implementations(lambda x: x + 1, lambda x: x * 10)
    x = tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = answer(*functions, x)
    assert tape.gradient(y, x) == 10.0


@pytest.mark.parametrize(
    ("general", "on_cpu", "device"),
    [
        (lambda x: x + 1, lambda x: x * 10, "GPU"),
        (lambda x: x + 1, lambda x: tf.cast(x, tf.int32), "CPU"),
        (lambda x: x + 1, lambda x: tf.stack([x, x]), "CPU"),
    ],
)
def test_one_for_another_device_or_with_other_results_is_not_called(general, on_cpu, device):
    assert answer(*implementations(general, on_cpu, device), tf.constant(4.0)) == 5.0


def test_one_with_captures_is_not_called():
    v = tf.Variable(2.0)
    assert answer(*implementations(lambda x: x + 1, lambda x: x * v), tf.constant(4.0)) == 5.0


def test_other_names_and_eager_calls_are_not_concerned():
    general, on_cpu = implementations(lambda x: x + 1, lambda x: x * 10)
    other = tf.function(lambda x: x - 1, experimental_attributes={"api_implements": "other"})
    x = tf.constant(4.0)
    on_cpu.get_concrete_function(x).add_to_graph()
    assert general(x) == 5.0
    assert answer(other, on_cpu, x) == 3.0
    assert tf.function(lambda x: general(x))(x) == 5.0


def test_effects_of_the_function_that_is_called_happen(capfd):
    def prints(x):
        tf.print("on the CPU")
        return x

    general, on_cpu = implementations(lambda x: x + 1, prints)

    @tf.function
    def f(x):
        general(x)
        on_cpu.get_concrete_function(x).add_to_graph()
        return x

    (call,) = f.get_concrete_function(tf.constant(4.0)).graph.get_operations()
    assert call.stateful
    f(tf.constant(4.0))
    assert "on the CPU" in capfd.readouterr().err
