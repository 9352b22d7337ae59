"""The table of the operations for which each module has rules of native code."""

from __future__ import annotations

import importlib
import pkgutil
import textwrap
from collections import defaultdict
from pathlib import Path

from agc.runtime.executors.llvm import lowering
from agc.runtime.executors.llvm.codegen.rule_registry import ELEMENTWISE, LOWERINGS

PATH = Path(__file__).parent.parent.parent / "runtime/executors/llvm/codegen/rule_modules.py"
HEAD = '''"""The modules of lowering rules, by operation; written by `make generate`."""

_OPERATIONS = {
'''
TAIL = """}

MODULES = {name: module for module, names in _OPERATIONS.items() for name in names.split()}
"""


def files() -> dict[Path, str]:
    """Return the text of the file."""
    for module in pkgutil.iter_modules(lowering.__path__):
        importlib.import_module(f"{lowering.__name__}.{module.name}")
    found = defaultdict(list)
    for name, rule in (LOWERINGS | {name: rule.write for name, rule in ELEMENTWISE.items()}).items():
        package, _, module = rule.__module__.rpartition(".")
        if package == lowering.__name__:  # not the rule of a formula
            found[module].append(name)
    return {PATH: HEAD + "".join(row(module, sorted(found[module])) for module in sorted(found)) + TAIL}


def row(module: str, names: list[str]) -> str:
    lines = textwrap.wrap(" ".join(names), 100, break_long_words=False)
    if len(lines) == 1:
        return f'    "{module}": "{lines[0]}",\n'
    *first, last = lines
    return "".join(
        [
            f'    "{module}": (\n',
            *(f'        "{line} "\n' for line in first),
            f'        "{last}"\n',
            "    ),\n",
        ]
    )
