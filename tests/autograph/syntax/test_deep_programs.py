"""What Python compiles, however long or deep, is checked, converted and compiled."""

import sys
import threading
from collections.abc import Callable

import pytest
from agc.autograph.api import check_source, compile_source, convert_source
from agc.autograph.errors import ConversionError
from agc.autograph.syntax.nesting import deep_trees

MOST = 2500 if sys.version_info < (3, 12) else 900  # terms that each version's own compiler takes


def _returning(expression: str) -> str:
    return f"def f(x):\n    return {expression}\n"


def _cases(head: str, arm: str) -> Callable[[int], str]:
    arms = "".join(f"    elif x == {number}:\n        {arm}\n" for number in range(250))
    return lambda n: f"def f(x):\n    {head}:\n        {arm}\n{arms}    return x\n"


# name → how many, and the text with so many
LONG: dict[str, tuple[int, Callable[[int], str]]] = {
    "sum": (MOST, lambda n: _returning(" + ".join(["x"] * n))),
    "power": (400, lambda n: _returning(" ** ".join(["x"] * n))),
    "strings": (400, lambda n: _returning(" + ".join(["'a'"] * n))),
    "and": (400, lambda n: _returning(" and ".join(["x"] * n))),
    "and or": (400, lambda n: _returning(" and x or ".join(["x"] * n))),
    "comparison": (400, lambda n: _returning(" < ".join(["x"] * n))),
    "attributes": (400, lambda n: _returning("x" + ".a" * n)),
    "items": (400, lambda n: _returning("x" + "[0]" * n)),
    "methods": (90, lambda n: _returning("x" + ".a()" * n)),
    "brackets": (190, lambda n: _returning("[" * n + "]" * n)),
    "nested calls": (90, lambda n: _returning("x(" * n + ")" * n)),
    "not": (90, lambda n: _returning("not " * n + "x")),
    "minus": (400, lambda n: _returning("-" * n + "x")),
    "conditional": (90, lambda n: _returning("1 if x else " * n + "2")),
    "lambdas": (90, lambda n: _returning("lambda: " * n + "x")),
    "elif": (250, _cases("if x", "y = 1")),
    "elif return": (250, _cases("if x", "return 1")),
    "dictionary": (2000, lambda n: f"x = {{{', '.join(f'{i}: {i}' for i in range(n))}}}\n"),
    "arguments": (400, lambda n: _returning(f"f({', '.join(['x'] * n)})")),
}


@pytest.mark.parametrize("name", LONG)
def test_long_code_is_checked_converted_and_compiled(name: str) -> None:
    number, make = LONG[name]
    text = make(number)
    compile(text, "long.py", "exec")
    limit = sys.getrecursionlimit()
    assert check_source(text, "long.py", everywhere=True) == []
    compile(convert_source(text, "long.py"), "long.py", "exec")
    compile_source(text, "long.py")
    assert sys.getrecursionlimit() == limit


def test_code_too_deep_to_print_still_runs() -> None:
    text = _returning("x" + ".a()" * 300)  # each call is around the one before it
    compile_source(text, "methods.py")
    with pytest.raises(ConversionError, match=r"AGC107(.|\n)*methods\.py"):
        convert_source(text, "methods.py")


def test_code_deeper_than_the_compiler_allows_is_refused() -> None:
    text = _returning(" + ".join(["x"] * 100_000))
    assert [found.code for found in check_source(text, "deep.py")] == ["AGC107"]
    for convert in (convert_source, compile_source):
        with pytest.raises(ConversionError, match=r"AGC107(.|\n)*deep\.py"):
            convert(text, "deep.py")


def test_the_recursion_limit_is_restored_when_the_last_thread_leaves() -> None:
    before, entered, done = sys.getrecursionlimit(), threading.Event(), threading.Event()

    def other() -> None:
        with deep_trees():
            entered.set()
            done.wait()

    thread = threading.Thread(target=other)
    with deep_trees():
        thread.start()
        entered.wait()
    assert sys.getrecursionlimit() > before  # the other one is still inside
    done.set()
    thread.join()
    assert sys.getrecursionlimit() == before
