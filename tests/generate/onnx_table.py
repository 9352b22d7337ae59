"""The table of operations in docs/onnx.md: how each is written in ONNX, or why it is not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from agc.runtime.formats.onnx import model  # noqa: F401  # registers the rules
from agc.runtime.formats.onnx.graph_writer import IGNORED
from agc.runtime.formats.onnx.inexpressible import REASONS
from agc.runtime.formats.onnx.registry import RULES, SINGLE
from agc.runtime.formats.onnx.rules import list_gradients, lists, random

from .tables import DOCS, with_table


def files() -> dict[Path, str]:
    """Return the text of the page with a new table."""
    how = {
        lists.__name__: "the stack of the elements",
        list_gradients.__name__: "the stack of the elements",
        random.__name__: "with `allow_random=True`",
    }
    written = defaultdict(list)
    for name in sorted(set(RULES) - set(SINGLE)):
        written[how.get(RULES[name].__module__, "a composition of operators")].append(name)
    rows = [
        ("the same operator", sorted(SINGLE)),
        *((text, written[text]) for text in ("a composition of operators", *dict.fromkeys(how.values()))),
        ("left out, with a warning", sorted(IGNORED)),
        *((f"refused: {why}", sorted(names.split())) for why, names in REASONS.items()),
    ]
    return with_table(DOCS / "onnx.md", "ONNX", rows)
