"""A plugin of pytest that records the outcome of each test of a library, with TensorFlow or with agc in its place.

AGC_OUTCOMES=file        one line of JSON for each test: its name, its outcome, its error or the numbers that it records
AGC_AS_TENSORFLOW=1      `import tensorflow` gives agc

A test that runs longer than `LIMIT` seconds fails. The plugin runs in other environments than the project's, so it
imports nothing of the project but the runtime.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import types
from typing import Any

import pytest

LIMIT = 120
KEPT = 300  # characters of a long error, from its start and from its end
NUMBERS = "numbers"
"""The property under which a test records the numbers that both sides must agree on."""

if os.environ.get("AGC_AS_TENSORFLOW"):
    import agc.runtime

    agc.runtime.install_as_tensorflow()


def skip_if_backend(backend: str, reason: str) -> pytest.MarkDecorator:
    """Return the mark of tests that a backend of Keras does not pass."""
    return pytest.mark.skipif(backend == "tensorflow", reason=reason)


def record(name: str, outcome: str, detail: str = "") -> None:
    """Append an outcome, and its error or its numbers, to the file of outcomes."""
    with open(os.environ["AGC_OUTCOMES"], "a", encoding="utf-8") as file:
        if outcome != "passed" and len(detail) > 2 * KEPT:
            detail = f"{detail[:KEPT]} … {detail[-KEPT:]}"
        file.write(json.dumps([name, outcome, detail]) + "\n")


def pytest_configure(config: Any) -> None:
    """Add what the tests of Keras expect from a file that its archive lacks."""
    config.addinivalue_line("markers", "requires_trainable_backend: Keras's mark of tests that train")
    if os.environ.get("AGC_TESTS_OF_KERAS"):
        sys.modules["conftest"] = types.SimpleNamespace(skip_if_backend=skip_if_backend)  # type: ignore[assignment]


def pytest_collectreport(report: Any) -> None:
    """Record a file that cannot be imported."""
    if report.failed:
        record(report.nodeid, "failed", str(report.longrepr))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """Record that a test starts, in case that it ends the process, and limit its time."""
    record(item.nodeid, "started")
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def stop(number: int, frame: Any) -> None:
    """Fail the running test."""
    raise TimeoutError(f"the test takes more than {LIMIT} seconds")


def pytest_runtest_logreport(report: Any) -> None:
    """Record the outcome of a test, and a failure before or after it."""
    if report.when == "call" or not report.passed:
        crash = getattr(report.longrepr, "reprcrash", None)
        numbers = dict(report.user_properties).get(NUMBERS, "")
        record(report.nodeid, report.outcome, crash.message if crash else str(report.longrepr or numbers))
