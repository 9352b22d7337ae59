"""Work on many files: results in the order of the files, without the garbage collector."""

from __future__ import annotations

import gc

import pytest
from agc.cli import parallel


def collects(file: str) -> tuple[str, bool]:
    if file == "bad":
        raise ValueError(file)
    return file, gc.isenabled()


@pytest.mark.parametrize("jobs", [1, 2])
def test_nothing_is_collected_during_the_work_on_a_file(jobs: int) -> None:
    assert list(parallel.results(collects, ["a", "b", "c"], jobs)) == [
        ("a", False),
        ("b", False),
        ("c", False),
    ]


def test_the_collector_runs_again_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="bad"):
        list(parallel.results(collects, ["a", "bad"]))
    assert gc.isenabled()
