"""`each_case` checks all cases of a test, reports each that fails by its name, and runs one alone."""

from __future__ import annotations

import inspect

import pytest
from support import each_case as module
from support.each_case import each_case


@pytest.fixture(autouse=True)
def all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check all cases of the functions here, whichever `--case` selects."""
    monkeypatch.setattr(module, "selected", "")


def test_all_combinations_are_checked_whichever_fail() -> None:
    checked = []

    @each_case("x", [1, 2, 3])
    @each_case(("name", "y"), [("a", 10), pytest.param("b", 20, id="twenty")])
    def check(x: int, name: str, y: int, fixture: str) -> None:
        checked.append((fixture, x, name, y))
        assert x != 2

    assert [*inspect.signature(check).parameters] == ["fixture"]
    with pytest.raises(ExceptionGroup, match="2 of 6 cases fail: a-10-2, twenty-2") as caught:
        check(fixture="f")
    assert checked == [("f", x, *row) for x in (1, 2, 3) for row in (("a", 10), ("b", 20))]
    assert "--case 'twenty-2'" in caught.value.exceptions[1].__notes__[0]


def test_one_failure_is_raised_as_it_is() -> None:
    check = each_case("x", [0, 1])(lambda x: 1 / x)
    with pytest.raises(ZeroDivisionError) as caught:
        check()
    assert caught.value.__notes__ == ["The case '0', one of 2. To check it alone: --case '0'"]


def test_cases_are_named_as_tests_are() -> None:
    rows = [None, "text", 1.5, len, [1], [2], "text"]
    assert [*each_case("x", rows)(print).cases] == ["None", "text", "1.5", "len", "x4", "x5", "text_2"]
    assert [*each_case("x", [1, 2], ids=["one", None])(print).cases] == ["one", "2"]
    assert [*each_case("x", [[1], [2]], ids=len)(print).cases] == ["1", "1_2"]
    with pytest.raises(AssertionError, match="two cases have one name"):
        each_case("x", ["a", "a", "a_2"])


def test_a_case_is_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []
    monkeypatch.setattr(module, "selected", "2")
    each_case("x", [1, 2, 12])(lambda x: checked.append(x))()
    assert checked == [2, 12]
    with pytest.raises(pytest.skip.Exception, match="no case contains '2'"):
        each_case("x", [1])(lambda x: checked.append(x))()


def test_a_test_is_skipped_if_all_cases_are() -> None:
    def check(x: int) -> None:
        if x:
            pytest.skip("not here")

    each_case("x", [0, 1])(check)()
    with pytest.raises(pytest.skip.Exception, match="not here"):
        each_case("x", [1, 2])(check)()
