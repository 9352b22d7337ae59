"""Trace a converted function from the outside: its result, and its checks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from agc.autograph import api, staging
from agc.autograph.errors import StagingError
from agc.autograph.experimental import Feature

from . import failures
from .explanations import explained
from .library import Library

F = TypeVar("F", bound=Callable[..., Any])
Traced = Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, failures.Checks]]


def converted(function: Callable[..., Any], library: Library) -> Traced:
    """Return a function that runs converted, and returns its result and its checks."""
    code = api.convert(function, optional_features=Feature.BUILTIN_FUNCTIONS)  # `print` prints values

    def run(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, failures.Checks]:
        with (
            staging.live(),
            api.converting_reachable(function, args, kwargs),
            library.tracing(),
            staging.reported(),
            failures.outermost(library) as checks,
        ):
            try:
                result = _outcome(code, args, kwargs, checks)
            except Exception as error:
                reason = explained(error, library)
                if reason is error:
                    raise
                cause = error.__cause__ if isinstance(error, StagingError) else error
                raise reason.with_traceback(error.__traceback__) from cause
        if checks.refusals:
            raise checks.refusals[0]
        return result, checks

    return run


def staged(function: F, library: Library) -> F:
    """Return the function converted, with its checks staged while the library traces it."""
    run = converted(function, library)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result, checks = run(args, kwargs)
        failures.leave(checks)
        return result

    return cast(F, call)


def _outcome(
    code: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], checks: failures.Checks
) -> Any:
    """Return the result, or None if the function always raises; the exception is among the checks then."""
    try:
        return code(*args, **kwargs)
    except failures.Never:
        return None
    except (Exception, SystemExit) as error:
        if checks.code is None or checks.refusals or not staging.raised_by_user(error):
            raise
        failures.fail(error)  # unless an earlier check fails when the program runs
        return None
