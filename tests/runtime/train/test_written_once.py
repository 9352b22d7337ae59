"""Files of several processes: the first one writes those that all have, and each its own."""

import agc.runtime as tf
import pytest
from agc.runtime.kernels import collectives
from agc.runtime.train.written_once import computed_by_all, written_once
from support.threads_as_processes import run_in_threads


def test_the_first_process_writes_a_path_of_all(tmp_path):
    written = []
    results, _ = run_in_threads(2, lambda rank: written_once("a", lambda: written.append(rank)))
    assert (results, written) == ([True, False], [0])


def test_each_process_writes_its_own_path():
    results, _ = run_in_threads(2, lambda rank: written_once(f"a{rank}", lambda: None))
    assert results == [True, True]


def test_all_processes_compute_what_the_first_one_keeps(tmp_path):
    path = tmp_path / "sum.txt"

    def run(rank):
        def write(place):
            with open(place, "w") as file:
                file.write(str(collectives.sizes_of(rank + 1)))

        computed_by_all(str(path), write)

    run_in_threads(2, run)
    assert path.read_text() == "[1, 2]"
    assert [file.name for file in tmp_path.iterdir()] == ["sum.txt"]


def test_processes_hear_that_the_first_one_cannot_write():
    def write():
        raise OSError("the disk is full")

    def run(rank):
        with pytest.raises(OSError if rank == 0 else tf.errors.AbortedError):
            written_once("a", write)
        return collectives.sizes_of(rank)

    results, _ = run_in_threads(2, run)
    assert results == [[0, 1]] * 2
