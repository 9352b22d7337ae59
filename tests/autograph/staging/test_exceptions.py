"""Exceptions that blocks raise: what a backend receives, and that plain Python behaves as before."""

import contextlib
import sys
import traceback

import pytest
from agc import autograph
from agc.autograph import staging
from support import recording

# ruff: noqa: RET506, SIM105  (programs as people write them)


def classified(f):
    try:
        f()
    except BaseException as error:
        return staging.raised_by_user(error)


def library():
    int("x")


def test_user_raised_exceptions_are_classified():
    def stated():
        raise ValueError

    def asserted():
        assert not stated, "no"

    def called():
        stated()

    def caught_and_raised():
        try:
            library()
        except ValueError as error:
            raise error

    def in_a_callback():
        sorted([1, 2], key=lambda x: stated())

    def left():
        sys.exit("in C")

    for f in (stated, asserted, called, caught_and_raised, in_a_callback, left):
        assert classified(f) is True, f

    def passed_on():
        try:
            library()
        except ValueError:
            raise

    def cleaned_up():
        try:
            library()
        finally:
            len("")

    def wrapping():
        try:
            autograph.convert(3)
        except autograph.ConversionError as error:
            raise ValueError from error

    for f in (library, passed_on, cleaned_up, wrapping, lambda: 1 // 0, lambda: next(iter(()))):
        assert classified(f) is False, f
    assert classified(lambda: None) is None


# Who would have caught it


def around(error=None):
    found = staging.surroundings(ValueError() if error is None else error, None)
    return None if found.catching is None else found.catching.text().strip()


def test_the_nearest_handler_that_fits():
    try:
        try:
            assert around() == "except (KeyError, ValueError):  # outer"
            assert around(RecursionError()) is None
        except LookupError:
            pass
    except (KeyError, ValueError):  # outer
        pass
    try:
        library()
    except ValueError:
        assert around() is None
    else:
        assert around() is None


def test_handlers_of_callers():
    class Own(Exception):  # noqa: N818
        pass

    def inner():
        return around(Own())

    try:
        assert inner() == "except Own:"
    except Own:
        pass
    try:
        late = inner
    except Own:
        pass
    assert late() is None
    with contextlib.suppress(KeyError, Own):
        assert inner() == "with contextlib.suppress(KeyError, Own):"


def test_a_computed_handler_may_catch_anything():
    def kinds():
        return (KeyError,)

    try:
        assert around() == "except kinds():"
    except kinds():
        pass


# Another backend


def test_a_branch_that_raises_has_no_results():
    def f(x):
        if x < 0:
            raise ValueError(f"bad {x:+d}")
        elif x == 0:
            y = 1
        else:
            for i in range(x):
                if i > 3:
                    raise IndexError(f"{i:d}", 7)
            y = x
        return y

    staged = recording.staged(autograph.convert(f), "x")
    assert [staged(x) for x in (0, 2)] == [1, 2]
    with pytest.raises(ValueError, match=r"bad -2"):
        staged(-2)
    with pytest.raises(IndexError) as caught:
        staged(9)
    assert caught.value.args == ("4", 7)


# Plain Python


def failing(x):
    if x > 1:
        with contextlib.nullcontext():
            try:
                raise KeyError(x)
            except KeyError as error:
                raise ValueError("outer") from error
            finally:
                x = 0
    for _ in range(x):
        if x < 2:
            raise IndexError([x])


@pytest.mark.parametrize("x", [1, 2])
def test_tracebacks_are_pythons(x):
    shown = []
    for f in (failing, autograph.convert(failing)):
        with pytest.raises(Exception) as caught:
            f(x)
        error = autograph.strip_frames(caught.value)
        shown.append("".join(traceback.format_exception(error)).partition("in failing")[2])
    assert shown[0] == shown[1] != ""
