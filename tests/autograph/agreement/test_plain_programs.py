"""The programs of the benchmarks without tensors: converted, they return the same."""

import runpy

import pytest
from agc.autograph import operators as ag__
from agc.autograph.api import convert
from support.native_extension import ROOT

PROGRAMS = runpy.run_path(str(ROOT / "benchmarks/compiler/plain_programs.py"), run_name="plain_programs")
NAMES = [name for name, value in PROGRAMS.items() if type(value) is type(pytest.fixture)]


@pytest.mark.parametrize("building", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_programs_return_the_same(name, building, monkeypatch):
    f = PROGRAMS[name]
    monkeypatch.setattr(ag__, "building", building)
    assert convert(f)() == f()
