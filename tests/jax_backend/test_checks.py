"""`raise` and `assert` in staged code: `agc.jax.jit` raises the exception itself, elsewhere a callback does."""

import sys

import agc.jax
import jax
import jax.numpy as jnp
import pytest
from agc.autograph.errors import StagingError
from jax import lax


class OwnError(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


def total(xs):
    result = 0.0
    for x in xs:
        if x < 0:
            raise ValueError("a negative number")
        result += x
    assert result < 100, "too much"
    return result


GOOD, NEGATIVE, MUCH = jnp.array([1.0, 2.0]), jnp.array([1.0, -2.0]), jnp.array([99.0, 2.0])


def test_the_exception_of_the_program_is_raised_after_the_call():
    staged = agc.jax.jit(total)
    assert staged(GOOD) == 3
    with pytest.raises(ValueError, match="a negative number") as raised:
        staged(NEGATIVE)
    assert "raise ValueError" in str(raised.traceback[-1].statement)  # the user's line
    with pytest.raises(AssertionError, match="too much"):
        staged(MUCH)
    assert staged(GOOD) == 3


def test_the_first_failure_counts():
    @agc.jax.jit
    def checked(x):
        assert x < 10, "first"
        assert x < 5, "second"
        return x

    with pytest.raises(AssertionError, match="first"):
        checked(20)
    with pytest.raises(AssertionError, match="second"):
        checked(7)
    assert checked(3) == 3


def test_an_exit_ends_the_program_only_where_it_is_reached():
    @agc.jax.jit
    def checked(x):
        if x > 0:
            sys.exit(3)
        return x

    assert checked(-1) == -1
    with pytest.raises(SystemExit):
        checked(1)


def test_exceptions_keep_their_class_and_attributes():
    @agc.jax.jit
    def refused(x):
        if x > 0:
            raise OwnError(7)
        return x

    with pytest.raises(OwnError) as raised:
        refused(1)
    assert raised.value.code == 7
    assert refused(-1) == -1


def test_a_function_may_raise_on_every_path():
    @agc.jax.jit
    def never(x):
        if x > 0:
            raise ValueError("positive")
        if x > -5:
            raise KeyError("other")
        else:  # noqa: RET506
            raise OSError("last")

    with pytest.raises(ValueError, match="positive"):
        never(1)
    with pytest.raises(KeyError, match="other"):
        never(-1)
    with pytest.raises(OSError, match="last"):
        never(-7)


def test_an_exception_after_a_check_comes_second():
    @agc.jax.jit
    def never(x):
        if x > 0:
            raise ValueError("positive")
        raise KeyError("other")

    with pytest.raises(ValueError, match="positive"):
        never(1)
    with pytest.raises(KeyError, match="other"):
        never(-1)


def test_loops_end_when_a_check_fails():
    @agc.jax.jit
    def down(n):
        assert n >= 0
        while n != 0:  # would never end for a negative number
            n -= 1
        return n

    @agc.jax.jit
    def endless(n):
        while n < 1_000_000_000:
            n += 1
            if n > 5:
                raise StopIteration("enough")

    assert down(3) == 0
    with pytest.raises(AssertionError):
        down(-3)
    with pytest.raises(StopIteration, match="enough"):
        endless(0)


def test_a_test_with_checks_runs_as_often_as_in_python():
    def positive(x):
        assert x > -2, "too far"
        return x > 0

    @agc.jax.jit
    def down(x, step):
        while positive(x):
            x -= step
        return x

    assert down(3, 2) == -1
    with pytest.raises(AssertionError, match="too far"):
        down(3, 10)


def test_an_unbound_variable_raises_the_error_of_python():
    @agc.jax.jit
    def unbound(x):
        if x > 0:
            y = x
        return y

    assert unbound(3) == 3
    with pytest.raises(UnboundLocalError, match="'y'"):
        unbound(-3)


def test_nested_functions_hand_their_failures_on():
    inner = agc.jax.jit(total)
    outer = agc.jax.jit(lambda xs: inner(xs) + agc.jax.autograph(total)(xs))
    assert outer(GOOD) == 6
    with pytest.raises(ValueError, match="negative"):
        outer(NEGATIVE)


def test_under_vmap_only_elements_that_fail_count():
    batch = agc.jax.jit(lambda rows: jax.vmap(total)(rows))
    assert batch(jnp.stack([GOOD, GOOD])).tolist() == [3, 3]
    with pytest.raises(jax.errors.JaxRuntimeError, match="a negative number"):
        jax.block_until_ready(batch(jnp.stack([GOOD, NEGATIVE])))


def test_jax_own_jit_reports_by_a_callback():
    staged = jax.jit(agc.jax.autograph(total))
    assert staged(GOOD) == 3
    with pytest.raises(jax.errors.JaxRuntimeError, match="a negative number"):
        jax.block_until_ready(staged(NEGATIVE))


def test_checks_in_a_body_of_scan_report_by_a_callback():
    def step(total, x):
        assert x > 0, "not positive"
        return total + x, None

    @agc.jax.jit
    def summed(xs):
        return lax.scan(step, 0.0, xs)[0]

    assert summed(GOOD) == 3
    with pytest.raises(jax.errors.JaxRuntimeError, match="not positive"):
        jax.block_until_ready(summed(NEGATIVE))


def test_gradients_of_functions_with_checks():
    assert jax.grad(agc.jax.jit(total))(GOOD).tolist() == [1, 1]


def test_an_except_around_a_staged_raise_is_refused():
    @agc.jax.jit
    def caught(x):
        try:
            if x > 0:
                raise ValueError("positive")
        except ValueError:
            return 2
        return 1

    with pytest.raises(StagingError, match=r"AGC260.*`except` cannot catch this ValueError"):
        caught(1)


def test_an_except_around_the_call_catches():
    staged = agc.jax.jit(total)
    try:
        staged(NEGATIVE)
    except ValueError as error:
        assert str(error) == "a negative number"
    else:
        raise AssertionError("no exception")
