"""`match`: Python's own meaning on Python's values, and the same on tensors in graphs."""

from __future__ import annotations

import enum
from typing import Any

import agc.runtime as tf
import gast
import pytest
from agc import autograph
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.agreement import EXECUTORS, agrees
from support.random_matches import SURROUNDINGS, Grower
from support.semantics import PREFIXES, converted_text, module_of


def behavior(module: dict[str, Any], subject: Any) -> tuple[str, list[Any]]:
    """Return what a subject gives, and the log of the calls that the match made."""
    module["log"].clear()
    try:
        end = f"returned {module['program'](subject)!r}"
    except Exception as error:
        end = f"raised {type(error).__name__}: {error}"
    return end, list(map(repr, module["log"]))


@given(st.data())
@settings(max_examples=40)
def test_a_lowered_match_behaves_as_in_python(data: st.DataObject) -> None:
    text = Grower(lambda n: data.draw(st.integers(0, n - 1))).program()
    try:
        compile(text, "<match>", "exec")
    except SyntaxError:
        assume(False)
    for after in ("lower_match", "stage_blocks", PREFIXES[-1]):
        new = converted_text(text, after)
        plain, lowered = module_of(SURROUNDINGS + text), module_of(SURROUNDINGS + new, "<converted>")
        for subject, same in zip(plain["subjects"](), lowered["subjects"](), strict=True):
            assert behavior(lowered, same) == behavior(plain, subject), f"{subject!r}\n{text}\n{new}"


# On tensors.


class Color(enum.IntEnum):
    RED = 3
    BLUE = 4


def test_literals_alternatives_captures_and_guards() -> None:
    def f(x):
        match x:
            case 0:
                y = 100
            case 1 | 2 | -3:
                y = x * 10
            case Color.RED:
                y = 3
            case n if n < 0:
                y = -n
            case Color.BLUE | 5 as n if n > 4:
                y = n + 1
            case n if n % 2 == 0:
                y = n // 2
            case _:
                y = 1
        return y

    agrees(f, *range(-5, 9))


def test_return_break_and_continue_leave_a_match() -> None:
    def f(n):
        total = 0
        for i in range(n):
            match i % 5:
                case 0:
                    continue
                case 1 if total > 20:
                    break
                case 4 if total > 15:
                    return -total
                case k:
                    total += k
        return total

    agrees(f, 0, 3, 7, 9, 30)


def test_a_tuple_of_tensors() -> None:
    def f(x, y):
        match x, y:
            case 0, 0:
                return 0
            case (0, b) | (b, 0):
                return b
            case a, 1 | 2:
                return a * 100
            case a, b if a > b:
                return a - b
            case t:
                return t[0] + t[1]

    agrees(f, (0, 0), (0, 5), (5, 0), (7, 2), (7, 4), (4, 7))


def test_a_name_bound_only_by_a_capture_is_local() -> None:
    text = """
def program():
    match d:
        case 0 | 1:
            return 0
        case d:
            return d
"""
    for after in (None, "lower_match", "stage_blocks", PREFIXES[-1]):
        module = module_of(text if after is None else converted_text(text, after), "<converted>")
        module["d"] = 5
        with pytest.raises(UnboundLocalError, match="'d'"):
            module["program"]()


def test_a_capture_outlives_its_guard() -> None:
    def f(x):
        n = 1
        match x:
            case 0:
                pass
            case n if n > 5:
                n += 1
        return n

    agrees(f, 0, 3, 9)


def sequences(xs):
    match xs:
        case []:
            return 0
        case [a]:
            return a
        case [0, b]:
            return b * 10
        case [a, b] if a > b:
            return a - b
        case [first, *_, last] if last > 2:
            return first + last
        case [first, *rest]:
            return first + len(rest) * 100


@pytest.mark.parametrize("xs", [[], [4], [0, 5], [7, 5], [5, 7], [1, 2, 3], [1, 2, 0]])
def test_sequences_of_known_length(xs: list[int]) -> None:
    for options in EXECUTORS:
        assert int(tf.function(sequences, **options)(tf.constant(xs, tf.int32))) == sequences(xs)
        assert int(tf.function(sequences, **options)([tf.constant(x) for x in xs])) == sequences(xs)


def test_rows_are_sequences_too() -> None:
    @tf.function
    def f(m):
        match m:
            case [[a, _], [0, b]]:
                return a + b
            case [[a, *_], *_]:
                return a
            case _:
                return 0

    assert [int(f(tf.constant(m))) for m in ([[1, 2], [0, 4]], [[1, 2], [3, 4]], [[5, 6, 7]], 3)] == [
        5,
        1,
        5,
        0,
    ]


def test_a_sequence_of_unknown_length_is_refused() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        match x:
            case [a, b]:
                return a + b
        return 0.0

    with pytest.raises(autograph.StagingError, match=r"AGC270.*known number of rows.*\(None,\)"):
        f(tf.constant([1.0, 2.0]))


def test_truth_values_match_by_value_in_a_graph() -> None:
    @tf.function
    def f(flag):
        match flag:
            case True:
                return 1
            case False:
                return 2
            case _:
                return 3

    assert [int(f(tf.constant(flag))) for flag in (True, False)] == [1, 2]
    assert int(f(tf.constant(1))) == 3  # `1 is True` does not hold either
    assert f(True) == 1


def test_numbers_inside_of_classes_and_mappings() -> None:
    class Point:
        __match_args__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    @tf.function
    def f(x, y):
        match {"at": Point(x, y)}:
            case {"at": Point(0, y=b)}:
                return b
            case {"at": Point(a, 0 | 1), **others} if not others:
                return a * 10
            case {"at": int()}:
                return -1
            case {"at": p}:
                return p.x + p.y

    results = [int(f(tf.constant(x), tf.constant(y))) for x, y in ((0, 5), (3, 1), (3, 2))]
    assert results == [5, 30, 5]


def test_one_match_becomes_one_table_of_cases() -> None:
    text = autograph.to_code(classified)
    assert text.count("ag__.cases(") == 1 and "matched" not in text


def classified(x):
    match x:
        case 0:
            return 1
        case n if n > 7:
            return n
        case n if n < -7:
            return -n
        case other:
            return other * 2


def test_errors_are_located_at_the_line_of_their_pattern() -> None:
    source = "def f(x, y):\n    match x:\n        case 1:\n            pass\n        case y.name:\n            pass\n"
    tree = pipeline.run(gast.parse(source), Context(source=source))
    lines = {
        node.id: node.lineno for node in gast.walk(tree) if isinstance(node, gast.Name) and node.id == "y"
    }
    first = min(
        n.lineno for n in gast.walk(tree) if isinstance(n, gast.Name) and n.id == "x" and n.lineno > 1
    )
    assert lines == {"y": 5} and first == 2


def test_functions_that_inspect_their_frame_keep_their_match() -> None:
    source = "def f(x):\n    match x:\n        case 0:\n            return locals()\n"
    assert converted_text(source) == source
    source = "def f(x):\n    match x:\n        case 0:\n            yield x\n"
    assert converted_text(source) == source
