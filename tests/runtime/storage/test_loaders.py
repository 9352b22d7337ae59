"""Damaged and hostile files: each reader reads them or refuses them by name, in little time and memory.

`AGC_FUZZ=10000 pytest tests/runtime/storage/test_loaders.py` runs that many mutations of each reader instead of a few.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import agc.runtime as tf
import pytest
from fuzzing.hostile import HOSTILE
from fuzzing.loaders import LOADERS
from support.each_case import each_case

COUNT = int(os.environ.get("AGC_FUZZ", 3))
TESTS = Path(__file__).parents[2]


def outcomes(*arguments):
    """Run a child. Return its lines, with one for a crash."""
    # One arena and one thread: the limit of memory is one of addresses, of which others take much.
    alone = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-m", "fuzzing.child", *map(str, arguments)]
    child = subprocess.run(command, capture_output=True, text=True, env=os.environ | alone, cwd=TESTS)
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    if child.returncode:
        lines.append(
            {"loader": str(arguments), "error": f"exit status {child.returncode}: {child.stderr[-2000:]}"}
        )
    return lines


@pytest.mark.parametrize(
    "names", [[name] for name in LOADERS] if "AGC_FUZZ" in os.environ else [list(LOADERS)], ids=str
)
def test_damaged_files_are_read_or_refused(names):
    found = outcomes(0, COUNT, *names)
    assert [line for line in found if "error" in line] == []
    assert [line["loader"] for line in found] == names
    assert all(line["counts"]["read"] + line["counts"]["refused"] == COUNT for line in found)


def test_hostile_files_are_refused():
    found = outcomes("hostile")
    assert [line for line in found if line.get("outcome") != "refused"] == []
    assert [line["loader"] for line in found] == list(HOSTILE)


NAMES = {
    "a name with a null": "a\0b",
    "a name that is too long": "a" * 5000,
    "a folder": "/",
    "no file": "no such",
}
READERS = {
    "onnx": tf.onnx.load,
    "lines": lambda name: list(tf.data.TextLineDataset(name)),
    "records": lambda name: list(tf.data.TFRecordDataset(name)),
    "csv": lambda name: list(tf.data.experimental.CsvDataset(name, [""])),
    "saved dataset": tf.data.Dataset.load,
    "checkpoint": tf.train.load_checkpoint,
    "saved model": tf.saved_model.load,
    "read_file": tf.io.read_file,
    "vocabulary": lambda name: tf.random.fixed_unigram_candidate_sampler(
        [[0]], 1, 1, True, 1, vocab_file=name
    ),
}


@each_case("name", NAMES.values(), ids=NAMES.keys())
@each_case("read", READERS.values(), ids=READERS.keys())
def test_paths_that_are_no_files_are_refused(read, name):
    with pytest.raises((tf.errors.OpError, ValueError, FileNotFoundError)):
        read(name)
