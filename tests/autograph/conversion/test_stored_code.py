"""Converted functions are kept on disk: another process takes them from there, as long as they mean the same."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import helper as h
from helper import *
from agc import autograph

def count(n):
    total = 0
    for i in range(len([0] * n)):
        if h.is_odd(i):
            total += 1
    return total

print(autograph.convert(count)(5), not {"gast", "agc.autograph.passes"}.isdisjoint(sys.modules))
"""


@pytest.fixture
def run(tmp_path):
    """Return the function that runs the program in a new process, and returns what it prints."""
    (tmp_path / "helper.py").write_text("def is_odd(i):\n    return i % 2 == 1\n")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def run(**variables):
        env = {**os.environ, "AGC_CACHE_DIR": str(tmp_path / "cache"), **variables}
        done = subprocess.run(
            [sys.executable, str(program)], env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.split()

    return run


def test_the_second_process_converts_nothing(run, tmp_path):
    """Nor does it load what conversion needs."""
    assert run() == ["2", "True"]
    assert run() == ["2", "False"]
    assert run(AGC_CACHE="0") == ["2", "True"]
    assert run(AUTOGRAPH_VERBOSITY="3") == ["2", "True"]  # which prints what the code became


def test_a_function_is_converted_again_when_its_file_has_changed(run, tmp_path):
    run()
    (tmp_path / "program.py").write_text(PROGRAM.replace("+= 1", "+= 10"))
    assert run() == ["20", "True"]


def test_a_function_is_converted_again_when_its_names_mean_something_else(run, tmp_path):
    run()
    assert run(AGC_DO_NOT_CONVERT="helper") == ["2", "True"]
    assert run(AGC_DO_NOT_CONVERT="helper") == ["2", "False"]
    (tmp_path / "helper.py").write_text("from builtins import range\n\n\ndef is_odd(i):\n    return True\n")
    assert run() == ["5", "True"]


def test_an_entry_is_of_one_version_of_the_compiler(monkeypatch):
    from agc.autograph import code_cache, passes

    folders = []
    monkeypatch.setattr(code_cache, "sources", lambda *given: folders.extend(given) or b"")
    code_cache._version.__wrapped__()
    assert all(os.path.dirname(passes.__file__).startswith(folder) for folder in folders)
