"""A sample of `make stdlib`: CPython's tests of a few of its modules, which must not notice the conversion."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SAMPLE = ["bisect", "fnmatch", "shlex", "textwrap"]

has_tests = all(
    importlib.util.find_spec(name) is not None for name in ("test", "test.support", "test.test_bisect")
)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.stdlib", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)


@pytest.mark.skipif(not has_tests, reason="this Python was installed without CPython's tests")
def test_a_sample_of_the_standard_library_passes_its_tests_converted():
    done = run(*SAMPLE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    *rows, _, functions, tests, _ = done.stdout.splitlines()
    assert sorted(row.split()[0] for row in rows) == SAMPLE
    assert all(int(row.split()[1]) > 0 and " 0 breaks" in row for row in rows)
    assert functions.endswith("functions and none of them refused.")
    assert tests.endswith("and 0 break.")


BROKEN_CONVERTER = """
from agc import autograph

def compile_source(text, filename):
    return compile(text.replace("1.0/6.0", "1.0/5.0"), filename, "exec")

autograph.compile_source = compile_source
"""


@pytest.mark.skipif(not has_tests, reason="this Python was installed without CPython's tests")
def test_a_breaking_change_is_detected(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(BROKEN_CONVERTER)
    done = run("colorsys", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "failed: test.test_colorsys.ColorsysTest." in done.stdout


def test_a_python_without_its_tests_is_reported(tmp_path):
    """As on Debian, where `test` is a package with `libregrtest` and little else, or none."""
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "__init__.py").touch()
    done = run("colorsys", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "was installed without CPython's tests: it has no package `test.support`" in done.stderr
