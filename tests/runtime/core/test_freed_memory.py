"""Arrays get the memory of freed ones, without page faults."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from agc.runtime.core.freed_memory import keep_freed_memory

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


RETURN = """
import os
import numpy as np
import agc.runtime
from agc.runtime.core.freed_memory import return_freed_memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

parts = [np.ones(1 << 18) for _ in range(50)]  # 100 MB
end = np.ones(100)
del parts
before = resident()
return_freed_memory()
assert end.sum() == 100
print(before - resident())
"""


def test_freed_memory_can_be_returned() -> None:
    """In a process of its own: a large one has so much free memory that glibc returns some at once."""
    if keep_freed_memory():
        done = subprocess.run([sys.executable, "-c", RETURN], capture_output=True, text=True, check=True)
        assert int(done.stdout) > 50 << 20
