"""Tests of many small cases, each of which takes less time than pytest around it: one test checks all of them.

    @each_case("x", [0, 3, 20])             test_a_square: one test, which checks all three, and then fails with the
    def test_a_square(x): ...               errors of all that fail, each with the name of its case

    pytest --case 20 FILE                   check only the cases whose names contain the text

The arguments and the names are those of `pytest.mark.parametrize`. All cases share the fixtures of the one test.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from .fresh_state import forget

selected = ""
"""The text of the option `--case`."""

Test = Callable[..., None]
Cases = Mapping[str, Mapping[str, Any]]
Ids = Iterable[str | None] | Callable[[Any], Any] | None


def each_case(
    parameters: str | Sequence[str], rows: Iterable[Any], ids: Ids = None
) -> Callable[[Test], Test]:
    """Check each row of arguments in one test. Several of these decorators check all combinations of their rows."""
    names = [name.strip() for name in parameters.split(",")] if isinstance(parameters, str) else [*parameters]
    table = _table(names, [*rows], ids)

    def decorate(test: Test) -> Test:
        function = getattr(test, "function", test)
        cases = _combined(test.cases, table) if hasattr(test, "cases") else table
        signature = inspect.signature(function)

        @functools.wraps(function)
        def check(*args: Any, **kwargs: Any) -> None:
            _check(
                {name: functools.partial(function, *args, **kwargs, **case) for name, case in cases.items()}
            )

        given = {name for case in cases.values() for name in case}
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in given]
        vars(check).update(
            cases=cases, function=function, __signature__=signature.replace(parameters=fixtures)
        )
        return check

    return decorate


def _table(names: Sequence[str], rows: Sequence[Any], ids: Ids) -> Cases:
    """Return the arguments of each row by its name. A number tells rows of the same name apart."""
    texts = [None] * len(rows) if ids is None or callable(ids) else [*ids]
    shown = ids if callable(ids) else None
    count: Counter[str] = Counter()
    found: dict[str, Mapping[str, Any]] = {}
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        if isinstance(row, type(pytest.param())):
            assert not row.marks, "marks are for whole tests"
            row, text = (row.values if len(names) > 1 else row.values[0]), row.id or text
        case = dict(zip(names, row if len(names) > 1 else [row], strict=True))
        name = text or "-".join(_shown(*item, number, shown) for item in case.items())
        count[name] += 1
        found[name if count[name] == 1 else f"{name}_{count[name]}"] = case
    assert len(found) == len(rows), "two cases have one name"
    return found


def _shown(parameter: str, value: Any, number: int, shown: Callable[[Any], Any] | None) -> str:
    text = None if shown is None else shown(value)
    if text is None and (value is None or isinstance(value, (str, int, float, complex))):
        text = value
    return str(
        getattr(value, "__name__", f"{parameter}{number}") if text is None and value is not None else text
    )


def _combined(inner: Cases, outer: Cases) -> Cases:
    cases = {f"{a}-{b}": {**x, **y} for b, y in outer.items() for a, x in inner.items()}
    assert len(cases) == len(inner) * len(outer), "two cases have one name"
    return cases


def _check(cases: Mapping[str, Callable[[], None]]) -> None:
    """Run the selected cases. Raise the error of the one that fails, or a group of the errors of all that fail."""
    chosen = {name: case for name, case in cases.items() if selected in name}
    failed: dict[str, BaseException] = {}
    skipped = [] if chosen else [f"no case contains {selected!r}"]
    for name, case in chosen.items():
        forget()
        try:
            case()
        except pytest.skip.Exception as reason:
            skipped.append(str(reason))
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"The case {name!r}, one of {len(cases)}. To check it alone: --case {name!r}")
            failed[name] = error
    if len(failed) > 1:
        message = f"{len(failed)} of {len(cases)} cases fail: {', '.join(failed)}"
        raise BaseExceptionGroup(message, [*failed.values()])
    for error in failed.values():
        raise error
    if len(skipped) >= max(1, len(chosen)):
        pytest.skip(skipped[0])
