"""The table of operations in docs/tensorflow-formats.md: how each is written, or why it is not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from agc.runtime.formats.tensorflow import rules  # noqa: F401  # registers the rules
from agc.runtime.formats.tensorflow.rule_registry import CHANGED_NUMBERS, DIRECT, REFUSED, RULES, STRUCTURES
from agc.runtime.ops.framework.op import REGISTRY, find

PATH = Path(__file__).parent.parent.parent / "docs" / "tensorflow-formats.md"
START, END = "<!-- begin of the generated table -->\n", "<!-- end of the generated table -->\n"


def files() -> dict[Path, str]:
    """Return the text of the page with a new table."""
    before, _, rest = PATH.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    return {PATH: f"{before}{START}{table()}{END}{after}"}


def table() -> str:
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
    lines = [f"| {how} ({len(names)}) | {' '.join(f'`{name}`' for name in names)} |" for how, names in rows]
    return "\n".join(["", "| in TensorFlow | operations |", "|---|---|", *lines, "", ""])
