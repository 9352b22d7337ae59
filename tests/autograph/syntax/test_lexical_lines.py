"""Comments, strings and logical lines are found as Python's own tokenizer finds them."""

from __future__ import annotations

import argparse
import enum
import inspect
import tokenize
from types import ModuleType

import pytest
from agc.autograph.syntax.lexical_lines import LexicalLines, lexical_lines, tokenized


@pytest.mark.parametrize("module", [argparse, enum, inspect, tokenize])
def test_search_and_tokenizer_agree_on_the_standard_library(module: ModuleType) -> None:
    lines = inspect.getsource(module).split("\n")
    assert lexical_lines(lines) == tokenized(lines)


def test_quotes_and_hashes_inside_of_strings_and_comments_mean_nothing() -> None:
    lines = ['s = r"\\" "', "#'''", "t = '\\'#' # it's", 'u = """a\\"""', '# b""" # c', "v = ('#',", ")"]
    assert lexical_lines(lines) == tokenized(lines)
    assert lexical_lines(lines).comments == {2: 0, 3: 10, 5: 7}


def test_a_statement_goes_on_after_a_backslash() -> None:
    lines = ["x = 1 + \\", "    2  # three", "y = 'a\\", "b'"]
    assert lexical_lines(lines) == LexicalLines({2: 7}, {4}, [2, 4])


def test_f_strings_may_contain_their_own_quotes_where_python_can_read_them() -> None:
    lines = ["x = f'{d['#']}' if 0 else f'''", "{d}''' # c"]
    try:
        expected = tokenized(lines)
    except tokenize.TokenError:
        pytest.skip("this Python cannot read such f-strings")
    assert lexical_lines(lines) == expected
