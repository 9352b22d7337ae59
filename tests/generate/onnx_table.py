"""The table of operations in docs/onnx.md: how each is written in ONNX, or why it is not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from agc.runtime.formats.onnx import model  # noqa: F401  # registers the rules
from agc.runtime.formats.onnx.graph_writer import IGNORED
from agc.runtime.formats.onnx.inexpressible import REASONS
from agc.runtime.formats.onnx.registry import RULES, SINGLE
from agc.runtime.formats.onnx.rules import lists, random

PATH = Path(__file__).parent.parent.parent / "docs" / "onnx.md"
START, END = "<!-- begin of the generated table -->\n", "<!-- end of the generated table -->\n"


def files() -> dict[Path, str]:
    """Return the text of the page with a new table."""
    before, _, rest = PATH.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    return {PATH: f"{before}{START}{table()}{END}{after}"}


def table() -> str:
    rows = [("the same operator", [f"`{name}`" for name in sorted(SINGLE)])]
    by_module = defaultdict(list)
    for name in sorted(set(RULES) - set(SINGLE)):
        by_module[RULES[name].__module__].append(f"`{name}`")
    special = {lists.__name__: "the stack of the elements", random.__name__: "with `allow_random=True`"}
    composed = [name for module, names in by_module.items() if module not in special for name in names]
    rows.append(("a composition of operators", sorted(composed)))
    rows += [(text, by_module[module]) for module, text in special.items()]
    rows.append(("left out, with a warning", [f"`{name}`" for name in sorted(IGNORED)]))
    rows += [
        (f"refused: {why}", [f"`{name}`" for name in sorted(names.split())]) for why, names in REASONS.items()
    ]
    lines = [f"| {how} ({len(names)}) | {' '.join(names)} |" for how, names in rows]
    return "\n".join(["", "| in ONNX | operations |", "|---|---|", *lines, "", ""])
