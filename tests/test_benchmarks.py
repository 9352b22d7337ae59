"""The benchmarks run; what they find out is not a test's matter."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent

MISCOUNTING = """
import agc.runtime
from agc.runtime import *

def constant(value):
    return agc.runtime.constant(value - 1)
"""


def test_one_case_is_measured_and_reported(tmp_path):
    path = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "--rounds", "2", "--only", "Collatz", "--json", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    header, row = done.stdout.splitlines()
    assert header.split() == ["case", "for", "one", "unit", "agc", "target"]
    assert row.startswith("while: Collatz  iteration  µs")
    (figures,) = json.loads(path.read_text())["rows"]
    assert len(figures["figures"]["agc"]) == 2
    assert figures["medians"]["agc"] > 0


def test_results_must_be_equal(tmp_path):
    """A second library whose results differ ends the run. Here it is one that counts one too few."""
    (tmp_path / "tensorflow.py").write_text(MISCOUNTING)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    command = [sys.executable, "-m", "benchmarks", "--only", "counting", "--peer", str(python)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("while: counting: the results differ:\n1000\n999")
