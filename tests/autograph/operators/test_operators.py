"""The operators, called as generated code calls them: first with Python values, then with symbols."""

import itertools
import textwrap

import pytest
from agc.autograph import StagingError, staging
from agc.autograph import operators as ag__
from support.recording import Symbol, recording, staged, written


def program(text):
    return textwrap.dedent(text).lstrip()


def fail():
    raise AssertionError("this must not be called")


def test_python_reads_operators_quickly():
    assert not hasattr(ag__, "__getattr__")  # which keeps the interpreter from its quick path for attributes


# Python values.


def test_cond_calls_one_branch_with_the_state_values():
    assert ag__.cond(True, lambda a, b: (a,), fail, (1, 2), names=("a",)) == (1,)
    assert ag__.cond([], fail, lambda a, b: (b,), (1, 2), names=("a",)) == (2,)


def test_keep_returns_the_state_unchanged():
    assert ag__.cond(False, fail, ag__.keep, (1, 2), names=("a", "b")) == (1, 2)


def test_while_tests_once_before_each_iteration_and_once_at_the_end():
    tests = []

    def test(n):
        tests.append(n)
        return n > 0

    assert ag__.while_loop(test, lambda n: (n - 1,), (2,)) == (0,)
    assert tests == [2, 1, 0]


def test_loops_without_state_have_a_body_that_returns_nothing():
    seen = []
    assert ag__.for_loop("ab", seen.append) == ()
    assert ag__.while_loop(lambda: len(seen) < 4, lambda: seen.append("c")) == ()
    assert seen == ["a", "b", "c", "c"]


def test_for_takes_any_iterable():
    def body(item, total):
        a, b = item
        return (total + a * b,)

    assert ag__.for_loop({1: 2, 3: 4}.items(), body, (0,)) == (14,)
    assert ag__.for_loop((pair for pair in [(1, 2)]), body, (0,)) == (2,)


def test_for_until_pulls_nothing_after_the_break():
    pulled = []

    def items():
        for i in range(10):
            pulled.append(i)
            yield i

    def body(i, stop):
        return (i == 2,)

    assert ag__.for_loop(items(), body, (False,), until="stop") == (True,)
    assert pulled == [0, 1, 2]
    assert ag__.for_loop(items(), body, (True,), until="stop") == (True,)
    assert pulled == [0, 1, 2]


def test_until_of_the_intermediate_trees_agrees_with_for_loop():
    seen = []
    for i in ag__.until(range(10), lambda: len(seen) == 3):
        seen.append(i)
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("a", [0, 1, "", "x"])
@pytest.mark.parametrize("b", [0, 2, None])
def test_and_and_or_return_the_deciding_operand(a, b):
    assert ag__.and_(a, lambda: b) == (a and b)
    assert ag__.or_(a, lambda: b) == (a or b)
    assert ag__.and_(a, lambda: b, lambda: 3) == (a and b and 3)
    assert ag__.or_(a, lambda: b, lambda: 3) == (a or b or 3)


def test_and_and_or_evaluate_no_further_than_needed():
    assert ag__.and_(1, lambda: 0, fail) == 0
    assert ag__.or_(0, lambda: 1, fail) == 1


def test_compare_evaluates_each_operand_once():
    calls = []

    def operand(value):
        calls.append(value)
        return value

    assert ag__.compare(1, "<", lambda: operand(2), "<=", lambda: operand(2), "!=", lambda: operand(3))
    assert calls == [2, 2, 3]
    assert ag__.compare(1, ">", lambda: 2, "<", fail) is False
    assert ag__.compare(1, "in", lambda: [1], "is not", lambda: None)
    assert ag__.compare(1, "not in", lambda: [2])


def test_check_is_the_truth_of_the_assertion():
    empty = []
    assert ag__.check(empty) is empty
    assert ag__.check(3, fail) == 3


def test_ld_raises_what_python_raises():
    def python():
        if not python:
            y = 1
        return y

    with pytest.raises(UnboundLocalError) as expected:
        python()
    with pytest.raises(UnboundLocalError) as got:
        ag__.ld(ag__.Undefined("y"), "y")
    assert str(got.value) == str(expected.value)
    assert ag__.ld(3, "y") == 3


def test_state_locations_are_not_read_in_plain_python():
    place = ag__.attr(fail, "x")
    assert ag__.cond(True, lambda: None, ag__.keep, places=(place, ag__.item(fail, fail))) is None


def test_the_plain_path_is_python_s_own_backend():
    python = staging.PYTHON
    assert python.cond(1, ag__.keep, fail, (1,)) == (1,)
    assert python.while_loop(lambda n: n > 0, lambda n: (n - 1,), (3,)) == (0,)
    assert python.for_loop(range(9), lambda i, n: (i,), (0,), ("n",), None) == (8,)
    assert python.for_loop(range(9), lambda i, n: (i == 5,), (0,), ("n",), "n") == (True,)
    assert [python.logical(op, 0, lambda: 2) for op in ("and", "or")] == [0, 2]
    assert python.logical("not", 0, None) is True
    with pytest.raises(AssertionError, match="no"):
        python.check(0, lambda: "no")


# Symbols.


def test_staged_if():
    def f(x):
        def if_true():
            return (x * 2,)

        (y,) = ag__.cond(x > 0, if_true, lambda: (0,), names=("y",))
        return y

    assert written(f, "x") == program("""
        def staged(x):
            if (x > 0):
                y_1 = (x * 2)
            else:
                y_1 = 0
            return y_1
    """)


def test_state_and_results_need_not_be_the_same_variables():
    def f(x, a):
        return ag__.cond(x > 0, lambda a: (a + 1, a), lambda a: (a, 0), (a,), names=("b", "c"))

    assert staged(f, "x", "a")(1, 5) == (6, 5)
    assert staged(f, "x", "a")(0, 5) == (5, 0)


def test_staged_while_is_named_after_the_parameters_of_its_body():
    def gcd(a, b):
        def loop_body(a, b):
            return (b, a % b)

        (a, b) = ag__.while_loop(lambda a, b: b != 0, loop_body, (a, b))
        return a

    assert written(gcd, "a", "b") == program("""
        def staged(a, b):
            a_1, b_2 = a, b
            while True:
                if not (b_2 != 0): break
                a_1, b_2 = b_2, (a_1 % b_2)
            return a_1
    """)
    assert staged(gcd, "a", "b")(48, 36) == 12


def test_a_loop_that_starts_in_python_continues_staged():
    def f(x):
        def loop_body(n, more):
            return (n + 1, x > n)

        return ag__.while_loop(lambda n, more: more, loop_body, (0, True))[0]

    lines = written(f, "x").splitlines()
    assert lines[1].strip() == "n_1, more_2 = 1, (x > 0)"
    assert [staged(f, "x")(x) for x in (0, 3, 10)] == [1, 4, 11]


def test_the_first_test_result_is_passed_to_the_backend():
    calls = []

    def f(x):
        def test(n):
            calls.append(n)
            return n < x

        def loop_body(n):
            return (n + 1,)

        return ag__.while_loop(test, loop_body, (0,))

    with recording() as recorder:
        f(Symbol("x"))
    assert repr(recorder.options[0]["first"]) == "(x > 0)"
    assert repr(calls) == "[0, n_1]"


def test_a_rotated_loop_tests_as_often_as_a_python_loop():
    log = []

    def test(n):
        log.append(n)
        return n < 3

    state = (0,)
    test_, body_, state_ = staging.rotated(test, lambda n: (n + 1,), state, test(0))
    assert staging.PYTHON.while_loop(test_, body_, state_) == (False, 3)
    assert log == [0, 1, 2, 3]


def test_staged_for_with_a_break():
    def find(xs, wanted):
        def loop_body(x, count, stop):
            return (count + 1, x == wanted)

        (count, stop) = ag__.for_loop(xs, loop_body, (0, False), until="stop")  # noqa: RUF059
        return count

    assert written(find, "xs", "wanted") == program("""
        def staged(xs, wanted):
            count_1, stop_2 = 0, False
            for item_3 in xs:
                if stop_2: break
                count_1, stop_2 = (count_1 + 1), (item_3 == wanted)
            return count_1
    """)
    assert staged(find, "xs", "wanted")([5, 6, 7], 6) == 2


def test_a_python_for_with_a_staged_break_is_unrolled():
    def find(wanted):
        def loop_body(x, count, stop):
            return (count + 1, x == wanted)

        return ag__.for_loop([5, 6, 7], loop_body, (0, False), until="stop")[0]

    assert written(find, "wanted").count("else:") == 2  # the first round is certain
    assert [staged(find, "wanted")(x) for x in (5, 6, 7, 8)] == [1, 2, 3, 3]


@pytest.mark.parametrize("numbers", [itertools.count, lambda: range(10**9), lambda: range(10**30)])
def test_an_infinite_for_needs_a_break_decided_in_python(numbers):
    """Treat a range that is too long to finish as endless, too."""

    def count_to(limit):
        def loop_body(i, stop):
            return (i == limit,)

        return ag__.for_loop(numbers(), loop_body, (False,), until="stop")

    assert count_to(5) == (True,)
    with pytest.raises(StagingError, match=r"AGC250(.|\n)*test_operators.py:\d+:\d+, in count_to"):
        written(count_to, "limit")


def test_staged_logic():
    def f(a, b):
        return ag__.or_(ag__.and_(a > 0, lambda: b > 0), lambda: ag__.not_(a == b))

    program_ = staged(f, "a", "b")
    for a, b in [(1, 1), (1, 0), (0, 0), (0, 1)]:
        assert program_(a, b) == ((a > 0 and b > 0) or a != b)


def test_a_python_operand_short_circuits_in_python():
    assert written(lambda a: ag__.and_(True, lambda: a), "a") == "def staged(a):\n    return a\n"
    assert written(lambda a: ag__.and_(False, lambda: a), "a") == "def staged(a):\n    return False\n"


def test_staged_comparisons_in_a_chain():
    f = staged(lambda a, b: ag__.compare(0, "<", lambda: a, "<=", lambda: b), "a", "b")
    assert [f(1, 2), f(2, 1), f(0, 2)] == [True, False, False]


def test_staged_ternary():
    f = staged(lambda x: ag__.if_exp(x > 0, lambda: x, lambda: -x), "x")
    assert [f(3), f(-3)] == [3, 3]


def test_staged_assertion():
    def f(x):
        assert ag__.check(x > 0, lambda: "x must be positive"), "x must be positive"
        return x

    assert staged(f, "x")(1) == 1
    with pytest.raises(AssertionError, match="x must be positive"):
        staged(f, "x")(0)


def test_builtins_dispatch_to_the_backend_of_an_argument():
    assert written(lambda x: ag__.converted(abs)(x), "x") == "def staged(x):\n    return abs(x)\n"
    assert written(lambda x: ag__.converted(max)(1, x), "x") == "def staged(x):\n    return max(1, x)\n"
    assert ag__.converted(abs)(-3) == 3
    assert ag__.converted(max)([1, 2], key=lambda n: -n) == 1
    assert ag__.converted(range)(3) == range(3)


def test_a_builtin_without_a_backend_version_is_unchanged():
    assert ag__.converted(print) is print
    assert ag__.converted(dict) is dict


def test_an_undefined_variable_passes_through_a_block():
    def f(x):
        (y,) = ag__.cond(x > 0, lambda y: (1,), ag__.keep, (ag__.Undefined("y"),), names=("y",))
        return ag__.ld(y, "y")

    assert staged(f, "x")(1) == 1
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
        staged(f, "x")(0)


# Places.


class Box:
    pass


def test_an_attribute_is_state_of_the_staged_block():
    box = Box()
    box.value = 5

    def f(x):
        def if_true():
            box.value = x

        ag__.cond(x > 0, if_true, ag__.keep, places=(ag__.attr(lambda: box, "value"),))
        return box.value

    assert written(f, "x") == program("""
        def staged(x):
            if (x > 0):
                box_value_1 = x
            else:
                box_value_1 = 5
            return box_value_1
    """)


def test_an_attribute_may_be_created_in_one_branch():
    box = Box()

    def f(x):
        def if_true():
            box.value = x

        def if_false():
            assert not hasattr(box, "value")
            box.value = 0

        ag__.cond(x > 0, if_true, if_false, places=(ag__.attr(lambda: box, "value"),))
        return box.value

    program_ = staged(f, "x")
    assert [program_(x) for x in (3, -3)] == [3, 0]


def test_an_item_is_state_of_the_staged_loop():
    counts = {"all": 0}
    key = "all"

    def f(xs):
        def loop_body(x):
            counts[key] = counts[key] + x

        ag__.for_loop(xs, loop_body, places=(ag__.item(lambda: counts, lambda: key),))
        return counts[key]

    assert staged(f, "xs")([1, 2, 3]) == 6
    assert counts["all"].text.startswith("counts__all__")


def test_a_cell_is_state_of_the_staged_loop_and_of_its_test():
    def f(x):
        n = 0

        def set_n(value):
            nonlocal n
            n = value

        def show():
            return n

        def loop_body():
            nonlocal n
            n = show() + 2

        ag__.while_loop(lambda: n < x, loop_body, places=(ag__.cell(lambda: n, set_n),))
        return show()

    assert [staged(f, "x")(x) for x in (0, 3, 4)] == [0, 4, 4]


def test_state_locations_are_restored_when_a_branch_fails():
    box = Box()
    box.value = 5

    def f(x):
        def if_true():
            box.value = x
            int("not a number")

        ag__.cond(x > 0, if_true, ag__.keep, places=(ag__.attr(lambda: box, "value"),))

    with pytest.raises(ValueError):
        written(f, "x")
    assert box.value == 5
