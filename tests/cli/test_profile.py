"""`agc run --profile`: tables on stderr, a trace and a page in files."""

import json
import os

import pytest

PROGRAM = """\
import sys
import agc.runtime as tf


@tf.function
def doubled(x):
    while x < 100:
        x = x * 2
    return x


if __name__ == "__main__":
    print(doubled(tf.constant(3)).numpy())
    sys.exit(3)
"""


@pytest.fixture
def program(folder):
    (folder / "program.py").write_text(PROGRAM)
    return folder


def rows(text):
    """(calls, what, line) of the rows of the tables."""
    table = [line.split() for line in text.splitlines() if "%" in line]
    return {(cells[5], cells[8], cells[-3]) for cells in table}


def test_a_program_and_its_files(agc, program):
    done = agc("run", "--profile", "--profile-trace", "out.json", "--profile-page", "out.html", "program.py")
    assert (done.stdout, done.returncode) == ("192\n", 3)
    found = rows(done.stderr)
    assert {("1", "while", "program.py:7,"), ("6", "multiply", "program.py:8,")} <= found
    assert ("6", "x", "program.py:8,") in found  # the line itself: x = x * 2
    names = [event["name"] for event in json.loads((program / "out.json").read_text())["traceEvents"]]
    assert names.count("multiply → x") == 6
    assert (program / "out.html").read_text().startswith("<!DOCTYPE html>")


def test_one_function(agc, program):
    done = agc("run", "program.py::doubled", "60", "--profile")
    assert done.stdout == "tf.Tensor(120, shape=(), dtype=int32)\n"
    assert ("1", "multiply", "program.py:8,") in rows(done.stderr)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--profile", "--eager"], "error[AGC300]: --eager builds no graph that could be profiled"),
        (
            ["--profile-page", "no/out.html"],
            "error[AGC307]: cannot write `no/out.html`: there is no directory `no`",
        ),
    ],
)
def test_wrong_options(agc, program, options, message):
    done = agc("run", *options, "program.py")
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.splitlines()[0] == message


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no such device")
def test_a_trace_that_cannot_be_written(agc, program):
    done = agc("run", "--profile-trace", "/dev/full", "program.py")
    assert done.stdout == "192\n"
    assert done.stderr.splitlines()[-1] == "error[AGC307]: cannot write `/dev/full`: no space left on device"
    assert done.returncode == 2
