"""Loops whose state is None before the first iteration."""

import agc.runtime as tf
import pytest
from agc import autograph
from agc.runtime.optimize import optimize
from support.each_case import each_case

both_executors = pytest.mark.parametrize("executor", ["plan", "interpret"])
ANY_LENGTH = [tf.TensorSpec([None], tf.int32)]


class Box:
    value = None


def total(xs):
    state = None
    for x in xs:
        state = x if state is None else state + x
    return state


def guarded(xs):
    state = None
    for x in xs:
        if state is not None:
            state = state - x
        else:
            state = x * 10
            state += 1
    return state


def largest(xs):
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    return -1 if best is None else best


def rises(xs):
    previous, count = None, 0
    i = 0
    while i < tf.size(xs):
        if previous is not None and xs[i] > previous:
            count += 1
        previous = xs[i]
        i += 1
    return count


def in_a_cell(xs):
    def cell(x, state):
        if state is None:
            state = (tf.zeros_like(x), [tf.ones_like(x)])
        total, (power,) = state
        return total + x, (total + x, [power * 2])

    outputs, state = [], None
    for x in xs:
        output, state = cell(x, state)
        outputs.append(output)
    return tf.stack(outputs), state


def in_an_attribute(xs):
    box = Box()
    for x in xs:
        box.value = x if box.value is None else box.value * x
    return box.value


def in_an_item(xs):
    state = {"first": None, "n": 0}
    for x in xs:
        state["first"] = x if state["first"] is None else state["first"]
        state["n"] += 1
    return state


def in_two_steps(xs):
    one = two = None
    count = 0
    for x in xs:
        if one is not None and one < two:
            count += 1
        one, two = two, x
    return count


def in_nested_loops(xs):
    best = None
    for x in xs:
        for y in xs:
            if best is None or x * y > best:
                best = x * y
    return best


def last_before_a_break(xs):
    found = None
    for x in xs:
        found = x
        if x > 2:
            break
    return found


FUNCTIONS = [
    total, guarded, largest, rises, in_a_cell, in_an_attribute, in_an_item, in_two_steps, in_nested_loops,
    last_before_a_break,
]  # fmt: skip


def plain(value):
    return tf.nest.map_structure(lambda leaf: tf.convert_to_tensor(leaf).numpy().tolist(), value)


@both_executors
@each_case("function", FUNCTIONS)
@each_case("xs", [[7], [1, 2], [2, 1, 5, 4]])
def test_the_graph_computes_what_python_computes(function, xs, executor):
    graph = tf.function(function, input_signature=ANY_LENGTH, experimental_executor=executor)
    assert plain(graph(tf.constant(xs))) == plain(function(tf.constant(xs)))


@both_executors
@pytest.mark.parametrize("function", [total, largest, in_an_attribute, in_nested_loops])
def test_a_loop_without_iterations_fails_if_the_value_is_used(function, executor):
    graph = tf.function(function, input_signature=ANY_LENGTH, experimental_executor=executor)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is still None after the loop"):
        graph(tf.zeros([0], tf.int32))


@both_executors
@pytest.mark.parametrize("function", [rises, in_two_steps])
def test_a_value_that_is_not_used_later_may_remain_none(function, executor):
    graph = tf.function(function, input_signature=ANY_LENGTH, experimental_executor=executor)
    assert graph(tf.zeros([0], tf.int32)).numpy() == 0


@pytest.mark.parametrize("function", [rises, in_two_steps])
def test_a_function_with_its_own_code_uses_no_value_later_in_the_other_version(function):
    graph = tf.function(autograph.convert(function), input_signature=ANY_LENGTH)
    assert graph(tf.zeros([0], tf.int32)).numpy() == 0


def test_a_variable_first_assigned_in_the_loop_is_unbound_without_iterations():
    @tf.function(input_signature=ANY_LENGTH)
    def doubled_last(xs):
        state = None
        for x in xs:
            doubled = x * 2
            state = x if state is None else state
        return doubled

    assert doubled_last(tf.constant([1, 2])).numpy() == 4
    with pytest.raises(UnboundLocalError, match="doubled"):
        doubled_last(tf.zeros([0], tf.int32))


def test_known_iterations_need_no_condition():
    graph = tf.function(total).get_concrete_function(tf.constant([1, 2])).graph
    assert " cond " not in str(optimize(graph))


def test_each_round_over_a_dataset():
    @tf.function
    def product(numbers):
        state = None
        for number in numbers:
            state = number if state is None else state * number
        return state

    assert product(tf.data.Dataset.range(1, 5)).numpy() == 24
    with pytest.raises(tf.errors.InvalidArgumentError, match="`state` is still None"):
        product(tf.data.Dataset.range(0))


def test_the_first_iteration_has_a_gradient():
    @tf.function
    def product(xs):
        state = None
        for i in tf.range(tf.size(xs)):
            state = xs[i] * xs[i] if state is None else state * xs[i]
        return state

    xs = tf.constant([2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(xs)
        result = product(xs)
    assert tape.gradient(result, xs).numpy().tolist() == [48.0, 16.0, 12.0]


def test_options_of_the_loop_hold_for_all_iterations():
    @tf.function
    def bounded(n):
        state, i = None, 0
        while i < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            state = i if state is None else state + 10
            i += 1
        return state

    assert bounded(tf.constant(9)).numpy() == 10


def test_the_body_has_effects_once_in_each_iteration(capsys):
    @tf.function
    def counted(n):
        state = None
        for i in tf.range(n):
            tf.print("round", i)
            state = i if state is None else state + i
        return n

    counted(tf.constant(3))
    counted(tf.constant(0))
    captured = capsys.readouterr()
    assert (captured.out + captured.err).split("\n") == ["round 0", "round 1", "round 2", ""]


def test_none_may_become_a_ragged_tensor():
    @tf.function
    def repeated(n):
        state = None
        for _ in tf.range(n):
            state = tf.ragged.constant([[1, 2], [3]]) if state is None else tf.concat([state, [[4]]], 0)
        return state

    assert repeated(tf.constant(2)).to_list() == [[1, 2], [3], [4]]


def test_a_tensor_cannot_become_none():
    @tf.function
    def toggled(xs):
        state = None
        for x in xs:
            state = x if state is None else None
        return state

    with pytest.raises(TypeError, match=r"AGC204.*`state` from int32\[\] to None"):
        toggled(tf.constant([1, 2]))
