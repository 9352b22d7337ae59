"""What Python decides by itself in converted code cannot wait for a tensor: the error names it, and the way out."""

import contextlib

import agc.runtime as tf
import pytest
from agc import autograph
from agc.autograph import StagingError


def searched(x, xs):
    if x in xs:
        return 1
    return 0


def searched_in_a_list(x, xs):
    return x not in [xs[0], xs[1] + 1][:1]


def compared_as_a_pair(x, xs):
    return (1, x) == (1, xs[0])


def filtered_generator(x, xs):
    chosen = (k for k in range(3) if x > k)
    return sum(chosen)


def below(x):
    for k in range(3):
        if x > k:
            yield k


def from_a_generator(x, xs):
    return sum(below(x))


async def halved(x):
    while x > 1:
        x = await divided(x)
    return x


async def divided(x):
    return x // 2


def in_a_coroutine(x, xs):
    with contextlib.closing(halved(x)) as coroutine:
        coroutine.send(None)


def in_a_class(x, xs):
    class Scaled:
        factor = 2 if x > 0 else 3

    return Scaled.factor


def assigned_in_a_list(x, xs):
    return [x, (y := x * 2) if x > 0 else (y := x), y]


def evaluated(x, xs):
    return eval("x * 2") if x > 0 else x


CASES = [
    (searched, "`in`", "tf.reduce_any(xs == x)"),
    (searched_in_a_list, "`in`", "tf.reduce_any(xs == x)"),
    (compared_as_a_pair, "a comparison of containers", "tf.reduce_all"),
    (filtered_generator, "a generator expression", "[... for ... in ... if ...]"),
    (from_a_generator, "the generator `below`", "in an ordinary function"),
    (in_a_coroutine, "the coroutine `halved`", "without `await`"),
    (in_a_class, "the body of the class `Scaled`", "before the class statement"),
    (assigned_in_a_list, "an expression with `:=`", "before the expression"),
    (evaluated, "`evaluated`, which calls `eval`,", "in a separate function"),
]


def converted_in_a_class(x, xs):
    class Scaled:
        factor = (y := int(x)) + y

    return Scaled.factor


def test_numbers_have_their_own_error():
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"Use tf.cast\(x, tf.int32\)"):
        tf.function(converted_in_a_class)(tf.constant(3), tf.constant([1, 2, 3]))


@pytest.mark.parametrize(("program", "what", "fix"), CASES)
def test_the_error_names_the_python_construct_and_a_fix(program, what, fix):
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as caught:
        tf.function(program)(tf.constant(3), tf.constant([1, 2, 3]))
    diagnostic = caught.value.diagnostic
    assert diagnostic.code == "AGC282"
    assert diagnostic.title == f"{what} needs the value of a traced tensor"
    assert diagnostic.where.file == __file__
    assert fix in diagnostic.fix


def test_code_converted_ahead_of_time_gets_the_same_error():
    printed = autograph.convert_source("def f(x):\n    return abs(x) in [y for y in (x, 2)]\n")
    module = {"__name__": "printed"}
    exec(compile(printed, "printed.py", "exec"), module)
    with pytest.raises(StagingError, match="AGC282"):
        tf.function(module["f"], autograph=False)(tf.constant(3))


def test_an_unknown_number_of_rows_makes_no_difference():
    signature = [tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)]
    with pytest.raises(StagingError, match="AGC282"):
        tf.function(searched, input_signature=signature)(tf.constant(3), tf.constant([1, 2]))


class Bag:
    def __init__(self, items):
        self.items = items

    def __contains__(self, sought):
        return any(sought == item for item in self.items)


def test_in_with_a_users_class_proposes_a_call_of_its_method():
    def searched(n):
        return 7 in Bag([n, n + 4])

    def called(n):
        return Bag([n, n + 4]).__contains__(7)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"or xs\.__contains__\(x\)"):
        tf.function(searched)(tf.constant(3))
    assert [bool(tf.function(called)(tf.constant(n))) for n in (3, 4)] == [True, False]
