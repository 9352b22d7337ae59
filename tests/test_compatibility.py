"""A sample of `make compatibility`: tests of Keras itself, and how outcomes become the table of the document."""

from __future__ import annotations

import sys

import pytest
from compatibility import comparison, report, running
from compatibility.comparison import Comparison, Failure
from compatibility.suites import Suite

SAMPLE = (
    "activations/activations_test.py",
    "constraints/constraints_test.py",
    "losses/loss_test.py",
    "metrics/accuracy_metrics_test.py",
    "regularizers/regularizers_test.py",
)


def test_a_sample_of_the_tests_of_keras_passes(tmp_path):
    sample = Suite("keras/sample", tuple(f"src/{file}" for file in SAMPLE), "keras")
    side = running.Side("agc", sys.executable, is_agc=True)
    running.run(sample, side, tmp_path)
    outcomes = comparison.read(running.outcomes_file(sample.name, side, tmp_path))
    assert {
        name: outcome for name, outcome in outcomes.items() if outcome[0] not in ("passed", "skipped")
    } == {}
    assert sum(outcome == "passed" for outcome, _ in outcomes.values()) > 100


def test_tests_count_that_pass_with_tensorflow():
    theirs = {
        "a": ("passed", ""),
        "b": ("passed", ""),
        "c": ("passed", ""),
        "d": ("failed", "jax is missing"),
    }
    ours = {"a": ("passed", ""), "b": ("failed", "ValueError: no\nmore"), "d": ("failed", "")}
    found = comparison.compare("library", theirs, ours)
    assert found == Comparison("library", 3, [Failure("b", "ValueError: no"), Failure("c", "not run")])


def test_a_script_passes_with_the_same_losses():
    theirs = {"a.py": ("passed", "2.0 1.0"), "b.py": ("passed", "2.0 1.0")}
    ours = {"a.py": ("passed", "2.0 1.001"), "b.py": ("passed", "2.0 1.5")}
    assert comparison.compare("scripts", theirs, ours).failures == [Failure("b.py", "other numbers")]


@pytest.mark.parametrize(
    ("outcome", "error", "reason"),
    [
        ("failed", "AssertionError: \nNot equal\n 1 2", "AssertionError: Not equal"),
        ("failed", "file.py:3: in <module>\n    import x\nE   ImportError: no x", "E   ImportError: no x"),
        ("started", "", "the process ended in it"),
        ("skipped", "", "skipped"),
    ],
)
def test_a_reason_is_one_line(outcome, error, reason):
    assert comparison.reason_of(outcome, error) == reason


def test_the_document_has_rows_by_library_and_by_cause():
    failures = [Failure("a_test.py::A::test", "ValueError: <T at 0x7f00> | 1")] * 2
    parts = [
        Comparison("keras/ops", 8, failures),
        Comparison("keras/tree", 2, []),
        Comparison("einops", 56, []),
    ]
    text = report.text(parts, {"tensorflow": "2.21.0", "keras": "3.15.1"}, ["sonnet"])
    assert "| **keras** | 10 | 8 | 80.0 % |\n" in text
    assert "| ops | 8 | 6 | 75.0 % |\n" in text
    assert "| einops | 56 | 56 | 100.0 % |\n" in text
    assert "| keras | 2 | `ValueError: <T at …> \\| 1` | `test` |\n" in text
    assert "Not run for this table: sonnet.\n" in text
