"""No way to change something in a staged block gives another result than Python: it is carried, refused, or warned of.

`AGC_FUZZ=1 pytest tests/runtime/agreement/test_mutations.py` tries all ways in all kinds of blocks.
"""

import os
from pathlib import Path

import pytest
from support.mutations import BLOCKS, Judge, ways

SHARE = 1 if os.environ.get("AGC_FUZZ") else 60

PLAIN = (
    "attribute set", "attribute updated by a method", "attribute set by setattr", "nonlocal", "closure of a counter",
    "list item", "dict item", "dict update", "dict in dict", "dataclass field", "class attribute", "objects in a dict",
    "weakref target attribute", "weakref of a parent", "ContextVar set", "two attributes exchanged",
)  # fmt: skip


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    return Judge(Path(tmp_path_factory.mktemp("ways")))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")  # of some ways
@pytest.mark.parametrize("kind", BLOCKS)
def test_a_change_in_a_block_is_never_silently_lost(kind, judge):
    chosen = [
        way for number, way in enumerate(ways()) if (number + 7 * list(BLOCKS).index(kind)) % SHARE == 0
    ]
    verdicts = {way.name: verdict for way in chosen for _, verdict in judge.verdicts(way, [kind])}
    assert not {name: found for name, found in verdicts.items() if found.outcome in ("WRONG", "fault")}
    assert chosen


def test_ordinary_changes_are_carried(judge):
    ordinary = [way for way in ways() if way.name in PLAIN]
    verdicts = [
        (way.name, verdict)
        for way in ordinary
        for kind, verdict in judge.verdicts(way, ["if", "helper in a loop"])
    ]
    assert len(ordinary) == len(PLAIN)
    assert not [(name, found) for name, found in verdicts if found.outcome != "right"]
