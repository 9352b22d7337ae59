"""Arrays get the memory of freed ones, without page faults."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from agc.runtime.core.freed_memory import keep_freed_memory, return_freed_memory

PROGRAM = """
import resource
import numpy as np
import agc.runtime as tf

def step():
    parts = [x + float(i) for i in range(8)]
    return parts

x = tf.ones([400_000])
for _ in range(3):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(**environment: str) -> int:
    """Return the page faults of 160 sums of 1.6 MB, which have 400 pages each."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    return int(done.stdout)


def test_arrays_get_the_memory_of_freed_ones() -> None:
    if keep_freed_memory():
        assert faults() < 4_000 < 20_000 < faults(AGC_KEEP_MEMORY="0")


@pytest.mark.parametrize(
    ("name", "value"),
    [("AGC_KEEP_MEMORY", "0"), ("MALLOC_TRIM_THRESHOLD_", "1"), ("GLIBC_TUNABLES", "glibc.malloc.check=0")],
)
def test_settings_of_the_environment_stay(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert not keep_freed_memory()


def test_freed_memory_can_be_returned() -> None:
    if keep_freed_memory():
        parts = [np.ones(1 << 18) for _ in range(50)]  # 100 MB
        end = np.ones(100)
        del parts
        before = _resident()
        return_freed_memory()
        assert before - _resident() > 50 << 20 and end.sum() == 100


def _resident() -> int:
    """Return the bytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
