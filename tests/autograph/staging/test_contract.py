"""The page about backends lists the members of the protocol, and the backends have them."""

import inspect
import re
from pathlib import Path

from agc.arrays import ArrayBackend
from agc.autograph.staging import Backend, PythonBackend

PAGE = Path(__file__).parents[3] / "docs" / "backends.md"


def members(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


def test_the_page_lists_the_members_of_the_protocol():
    contract = PAGE.read_text().partition("## The contract")[2]
    listed = re.findall(r"^\| `(\w+)", contract, re.M)
    assert set(listed) == members(Backend)
    assert len(listed) == 11
    assert "these eleven members" in contract


def test_the_signatures_are_those_of_the_protocol():
    for name, method in vars(Backend).items():
        if not name.startswith("_") and inspect.isfunction(method):
            wanted = list(inspect.signature(method).parameters)
            for kind in (PythonBackend, ArrayBackend):
                assert list(inspect.signature(getattr(kind, name)).parameters) == wanted
