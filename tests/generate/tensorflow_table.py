"""The table of operations in docs/tensorflow-formats.md: how each is written, or why it is not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from agc.runtime.formats.tensorflow import rules  # noqa: F401  # registers the rules
from agc.runtime.formats.tensorflow.rule_registry import CHANGED_NUMBERS, DIRECT, REFUSED, RULES, STRUCTURES
from agc.runtime.ops.framework.op import REGISTRY, find

from .tables import DOCS, with_table


def files() -> dict[Path, str]:
    """Return the text of the page with a new table."""
    find("")  # imports all operations
    reasons = defaultdict(list)
    for name, reason in REFUSED.items():
        if name in REGISTRY:
            reasons[reason].append(name)
    rows: list[tuple[str, list[str]]] = [
        ("the same operation", sorted(DIRECT)),
        ("one operation with computed attributes, or several", sorted({*RULES} - CHANGED_NUMBERS)),
        ("functional control flow", sorted(op.name for op in STRUCTURES)),
        ("with a warning: other random numbers", sorted(CHANGED_NUMBERS & {*RULES})),
        *((f"refused: {why}", sorted(names)) for why, names in sorted(reasons.items())),
    ]
    return with_table(DOCS / "tensorflow-formats.md", "TensorFlow", rows)
