"""The benchmarks run, and their results are equal; what they find out is not a test's matter."""

import doctest
import json
import pathlib
import subprocess
import sys
from xml.etree import ElementTree

import agc.runtime as tf
import pytest

ROOT = pathlib.Path(__file__).parent.parent

sys.path.insert(0, str(ROOT))

from benchmarks import figures, measuring, picture, report, tables, targets  # noqa: E402
from benchmarks.contestants import CONTESTANTS, REFERENCE  # noqa: E402
from benchmarks.worker import answer  # noqa: E402
from benchmarks.workloads import MODELS, TABLE, WORKLOADS  # noqa: E402

OURS = [c for c in CONTESTANTS if c.is_ours and c.is_here()]
OF_PROGRAMS = [c for c in OURS if not c.is_eager]


class Here:
    """A contestant that runs in this process."""

    def __init__(self, contestant):
        self._contestant = contestant

    def ask(self, *request, within=None):
        return json.loads(json.dumps(answer(self._contestant, list(request))))


@pytest.fixture(autouse=True)
def _graphs_afterwards():
    """The mode "agc eager" runs functions eagerly from then on."""
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize("workload", [*TABLE, *MODELS])
def test_results_of_a_workload_are_equal(workload):
    """Each of our modes, and NumPy by hand."""
    module = WORKLOADS[workload].load()
    taking = [c for c in (OURS if getattr(module, "ONLY_EAGER", False) else OF_PROGRAMS) if c.takes(module)]
    asked = {c.name: Here(c) for c in CONTESTANTS if c in taking or c.name == REFERENCE}
    found = figures.Figures({})
    measuring.Measurement(found, asked, "tiny").compare(workload, "cold" if workload in MODELS else "first")
    assert not found.missing
    assert not found.unequal
    assert (found.colds or found.firsts)[workload].keys() == {c.name for c in taking}


def test_a_workload_is_measured_and_reported(tmp_path):
    path = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "--rounds", "2", "--first-calls", "1", "--size", "tiny"]
    command += ["--only", "Collatz", "--contestant", "agc plan", "--json", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[3].split() == ["agc", "plan", "NumPy"]
    kept = figures.Figures.read(path)
    assert len(kept.calls["Collatz"]["agc plan"]) == 2
    assert report.text(kept) + "\n" == done.stdout
    assert ElementTree.fromstring(path.with_suffix(".svg").read_text()).tag.endswith("svg")


MISCOUNTING = """
import agc.runtime
from agc.runtime import *

def constant(value, *dtype):
    return agc.runtime.constant(value - 1, *dtype)
"""


def _miscounting(folder):
    """An interpreter whose TensorFlow makes numbers that are one less."""
    (folder / "tensorflow.py").write_text(MISCOUNTING)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


class Wrong(Here):
    """Return wrong results, as with an off-by-one error."""

    def ask(self, *request, within=None):
        return {"seconds": 1.0, "overhead": 0.5, "result": [[110]]}


class Dying(Here):
    def ask(self, *request, within=None):
        raise RuntimeError("JAX cannot first Collatz tiny:\nTraceback\nSegmentation fault")


def test_contestants_with_wrong_or_no_results_are_left_out():
    by_hand = Here(next(c for c in CONTESTANTS if c.name == REFERENCE))
    asked = {"agc plan": Here(OURS[0]), "TF XLA": Wrong(None), "JAX": Dying(None), REFERENCE: by_hand}
    found = figures.Figures({})
    measurement = measuring.Measurement(found, asked, "tiny")
    measurement.compare("Collatz")
    measurement.measure("Collatz", found.calls)
    assert found.unequal == {
        "Collatz": {"TF XLA": "100.00% of the numbers differ, at most 0.00%: [110], not [111]"}
    }
    assert found.missing == {"Collatz": {"JAX": "Segmentation fault"}}
    assert found.calls["Collatz"].keys() == {"agc plan", REFERENCE}


class Silent(Here):
    def ask(self, *request, within=None):
        return {"error": "no answer within 300 s"}


def test_a_contestant_that_fails_twice_is_skipped():
    by_hand = Here(next(c for c in CONTESTANTS if c.name == REFERENCE))
    found = figures.Figures({})
    measurement = measuring.Measurement(found, {"JAX": Silent(None), REFERENCE: by_hand}, "tiny")
    for workload in ("Collatz", "jumps", "scalar call"):
        measurement.compare(workload)
    assert [row["JAX"].partition(",")[0] for row in found.missing.values()] == [
        "no answer within 300 s",
        "no answer within 300 s",
        "left out: it has not answered before",
    ]


def test_unequal_results_are_reported_at_the_end(tmp_path):
    """A library that counts one too few is left out, and the command's exit code is 1."""
    command = [sys.executable, "-m", "benchmarks", "--rounds", "1", "--first-calls", "1", "--size", "tiny"]
    command += ["--only", "scalar call", "--contestant", "TF graph", "--peer", str(_miscounting(tmp_path))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "other results than NumPy: TF graph for scalar call\n")
    assert (
        "other results\nscalar call  TF graph  error of 0.4, at most 0.0001: [1.5], not [2.5]" in done.stdout
    )


def test_targets_are_read_off_the_figures():
    measured = figures.Figures(
        {}, calls={"Collatz": {"agc native": [3.0, 3.2], "limit": [2.0, 2.0], "TF XLA": [2.0, 2.0]}}
    )
    first, second = targets.verdicts(measured)
    assert (first.what, first.value, first.word) == ("Collatz: agc native over limit", 1.55, "pass")
    assert (second.what, second.value, second.word) == ("Collatz: agc native over TF XLA", 1.55, "MISS")


def test_kept_figures_have_their_picture():
    results = ROOT / "benchmarks/results"
    for path in results.glob("*.json"):
        assert path.with_suffix(".svg").read_text() == picture.drawn(figures.Figures.read(path))


def test_the_table_of_models_shows_the_kept_figures():
    text = tables.DOCUMENT.read_text()
    assert tables.BEGIN in text
    assert tables.written(text, figures.Figures.read(ROOT / "benchmarks/results/latest.json")) == text


def test_a_model_is_measured_alone_and_with_a_busy_neighbor(tmp_path):
    path = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "--models", "--rounds", "2", "--size", "tiny"]
    command += ["--only", "LSTM", "--contestant", "agc plan", "--json", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    kept = figures.Figures.read(path)
    for table in kept.calls, kept.busy, kept.colds, kept.peaks:
        assert table["LSTM"]["agc plan"][0] > 0
    assert len(kept.busy["LSTM"]["agc plan"]) == len(kept.calls["LSTM"]["agc plan"]) == 2
    assert "models: times as long next to spinning processes" in done.stdout
    assert "LSTM" in path.with_suffix(".svg").read_text()


def test_the_fastest_library_of_a_model_is_bold():
    rows = {"agc automatic": [3e3, 2e3, 2e3], "TF graph": [4e3], "limit": [1e3]}
    found = figures.Figures(
        {}, {"CNN": "CNN"}, {"CNN": rows}, colds={"CNN": {"agc automatic": [90], "TF graph": [300]}}
    )
    table = tables.markdown(found).splitlines()
    assert "| model | agc | TensorFlow | BLAS |" in table
    assert "| CNN | **2** (0.09 s) | 4 (0.3 s) | 1 |" in table


def test_targets_of_models_compare_with_peers():
    """The machine is half as fast in the second round, of which a slow contestant has no figure."""
    rows = {
        "agc automatic": [2.0, 4.0, 2.0],
        "agc native": [1.0, 2.0, 1.0],
        "TF graph": [4.0, 8.0, 4.0],
        "JAX": [1.0],
    }
    busy = {"agc automatic": [8.0, 24.0, 8.0], "TF graph": [8.0, 16.0, 8.0]}
    found = list(targets.verdicts(figures.Figures({}, calls={"CNN": rows}, busy={"CNN": busy})))
    assert [(verdict.what, verdict.value, verdict.word) for verdict in found] == [
        ("CNN: agc automatic over JAX", 2.0, "MISS"),
        ("CNN: agc automatic over agc native", 2.0, "MISS"),
        ("CNN: agc automatic, slowdown next to spinning processes, over TF graph", 2.0, "MISS"),
    ]
    assert found[-1].spread == 0.25  # of the rounds' ratios 2, 3 and 2


@pytest.mark.parametrize("module", [figures, report], ids=["figures", "report"])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_a_case_of_the_compiler_is_measured_and_reported(tmp_path):
    path = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.compiler", "--rounds", "2", "--only", "Collatz"]
    done = subprocess.run([*command, "--json", str(path)], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    header, row = done.stdout.splitlines()
    assert header.split() == ["case", "for", "one", "unit", "agc", "target"]
    assert row.startswith("while: Collatz  iteration  µs")
    (figures,) = json.loads(path.read_text())["rows"]
    assert len(figures["figures"]["agc"]) == 2
    assert figures["medians"]["agc"] > 0


def test_results_of_the_compiler_must_be_equal(tmp_path):
    """A second library whose results differ ends the run. Here it is one that counts one too few."""
    command = [sys.executable, "-m", "benchmarks.compiler", "--only", "counting"]
    command += ["--peer", str(_miscounting(tmp_path))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("while: counting: the results differ:\n1000\n999")


def test_the_stages_of_graphs_of_several_sizes_are_reported():
    command = [sys.executable, "-m", "benchmarks.scale", "--only", "cells", "--sizes", "40", "80"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    title, header, *rows = done.stdout.splitlines()
    assert title.startswith("cells: An unrolled recurrent network")
    assert header.split()[-2:] == ["40", "80"]
    assert {"plan: trace", "plan: write", "native: lower", "native: LLVM"} <= {
        row[2:36].strip() for row in rows
    }


def test_a_cell_of_a_table_has_the_times_the_memory_and_the_result() -> None:
    program = "lambda tf, jit_compile: tf.function(lambda: tf.constant(2.0), jit_compile=jit_compile)"
    text = f"from benchmarks.columns import main\nmain('tables', None, {{'two': {program}}}, warm=0.0)"
    command = [sys.executable, "-c", text, "--cell", "two", "agc native"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    first, best, megabytes, result = json.loads(output)
    assert 0 < best < first
    assert megabytes > 10
    assert result == 2.0
