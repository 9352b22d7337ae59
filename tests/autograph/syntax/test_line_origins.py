"""Each line of generated code has the line of the user's file that it comes from."""

import ast

import pytest
from agc import autograph
from agc.autograph.syntax.line_origins import line_origins

SOURCE = '''\
"""A module."""


@decorated
def odd_total(n, limit):
    """The total
    of odd numbers."""
    total = 0
    # count down
    while n > 0:
        n -= 1
        if n % 2 == 0:
            continue
        total += max(
            n,
            limit,
        )
    return total
'''


@pytest.fixture
def listing():
    return autograph.source_listing(SOURCE, "odd.py", "odd_total")


def line_of(listing, text):
    (found,) = [
        line for line, each in zip(listing.lines, listing.text.splitlines(), strict=True) if text in each
    ]
    return found


def test_unchanged_lines_come_from_themselves(listing):
    lines = SOURCE.splitlines()
    for line, text in zip(listing.lines, listing.text.splitlines(), strict=True):
        if text.strip() and text in lines and line is not None:
            assert lines[line - 1].strip() == text.strip()
    assert line_of(listing, "total = 0") == 8
    assert line_of(listing, "return total") == 18


def test_generated_lines_come_from_their_statement(listing):
    assert line_of(listing, "def loop_body") == 10
    assert line_of(listing, "ag__.while_loop") == 10
    assert line_of(listing, "def if_true") == 12
    assert line_of(listing, "total += ") == 14


def test_imports_that_are_added_come_from_no_line(listing):
    assert line_of(listing, "import operators") is None


def test_lists_of_live_functions_have_the_lines_of_their_file():
    def absolute(x):
        if x < 0:
            x = -x
        return x

    first = absolute.__code__.co_firstlineno
    listing = autograph.code_listing(absolute)
    assert listing.text == autograph.to_code(absolute)
    assert line_of(listing, "x = -x") == first + 2
    assert line_of(listing, "return x") == first + 3


def test_trees_of_different_shape_share_what_agrees():
    tree = ast.parse("x = 1\ny = f(2)\n")
    assert line_origins(tree, "x = 1\ny = g.h\nz = 3\n") == (1, 2, None)
