"""`pytest --agc MODULES`: modules under test are converted; assertions and fixtures work as usual."""

import subprocess
import sys

import pytest

MODEL = """\
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
"""
TESTS = """\
import model
import pytest
from agc import autograph


@pytest.fixture
def start():
    return 27


def test_steps(start):
    assert model.collatz(start) == 111


def test_that_fails(start):
    assert model.collatz(start) == start + 1


def test_converted():
    assert (autograph.convert(model.collatz) is model.collatz) == CONVERTED
"""


@pytest.fixture
def run(tmp_path):
    """Run pytest in a folder with a module and its tests."""

    def start(*options, converted):
        (tmp_path / "model.py").write_text(MODEL)
        (tmp_path / "test_model.py").write_text(TESTS.replace("CONVERTED", str(converted)))
        others = [f"-pno:{name}" for name in ("cacheprovider", "xdist", "hypothesispytest", "jaxtyping")]
        command = [sys.executable, "-m", "pytest", "-q", *others, *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout

    return start


def test_modules_under_test_are_converted_and_assertions_explained(run):
    text = run("--agc", "model,layers", converted=True)
    assert "1 failed, 2 passed" in text
    assert "assert 111 == (27 + 1)" in text


def test_nothing_is_converted_without_the_option(run):
    assert "1 failed, 2 passed" in run(converted=False)


def test_the_plugin_imports_nothing_of_agc_without_the_option():
    program = (
        "import agc.cli.pytest_plugin, sys; print([n for n in sys.modules if n.startswith('agc.autograph')])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"
