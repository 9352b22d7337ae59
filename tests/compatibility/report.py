"""Write docs/compatibility.md: how many programs of each suite pass, and why the others do not."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from .comparison import Comparison

INTRODUCTION = """\
# Compatibility

The tests and examples of libraries for TensorFlow run twice: with TensorFlow {tensorflow}, and with agc in its place
(`install_as_tensorflow`). This command writes the page:

```bash
make compatibility PEER=path/to/python      # the Python of an environment with TensorFlow; make peer builds one
```

A test *counts* if it passes with TensorFlow. The tests of Keras {keras} are those in its own package. Scripts train for
20 steps, and pass if their losses are the same up to 1 %. The command downloads the libraries; the project contains
nothing of them. The tests of TensorFlow Probability are own ones, whose numbers must be the same up to 1 %.

| programs | count | pass with agc | share |
|---|--:|--:|--:|
"""

CAUSES = """
## What fails, and why

A test that only TensorFlow runs is *skipped* or *not run*.

"""


def text(comparisons: Sequence[Comparison], versions: dict[str, str], missing: Sequence[str] = ()) -> str:
    """Return the document; `missing` are the suites that were not run."""
    groups = {suite.partition("/")[0]: [] for suite, _, _ in comparisons}  # type: dict[str, list[Comparison]]
    for found in comparisons:
        groups[found.suite.partition("/")[0]].append(found)
    rows = [row(f"**{name}**" if len(parts) > 1 else name, parts) for name, parts in groups.items()]
    return "".join([
        INTRODUCTION.format(**versions), *rows, row("**all**", comparisons),
        *("\n" + details(name, parts) for name, parts in groups.items() if len(parts) > 1),
        *([f"\nNot run for this table: {', '.join(missing)}.\n"] if missing else []),
        CAUSES, *causes(comparisons),
    ])  # fmt: skip


def details(name: str, parts: Sequence[Comparison]) -> str:
    """Return the suites of one library: a table of those with failures, and the names of the others."""
    rows = [row(part.suite.partition("/")[2], [part]) for part in parts if part.failures]
    whole = [f"{part.suite.partition('/')[2]} ({part.counted:,})" for part in parts if not part.failures]
    table = (
        "".join(["| group | count | pass with agc | share |\n|---|--:|--:|--:|\n", *rows, "\n"])
        if rows
        else ""
    )
    passed = textwrap.fill(f"All tests of these groups pass: {', '.join(whole)}.", 130) if whole else ""
    return f"## {name}\n\n{table}{passed}".rstrip() + "\n"


def row(name: str, parts: Iterable[Comparison]) -> str:
    """Return the counts of some suites as a row of a table.

    >>> row("einops", [Comparison("einops", 56, [])])
    '| einops | 56 | 56 | 100.0 % |\\n'
    """
    parts = list(parts)
    counted = sum(part.counted for part in parts)
    passed = counted - sum(len(part.failures) for part in parts)
    share = f"{int(1000 * passed / counted) / 10} %" if counted else "-"
    return f"| {name} | {counted:,} | {passed:,} | {share} |\n"


def causes(comparisons: Iterable[Comparison]) -> list[str]:
    """Return the reasons of failures as a list, the most frequent ones first."""
    found: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for suite, _, failures in comparisons:
        for test, reason in failures:
            key = suite.partition("/")[0], general(reason)
            found[key] += 1
            examples.setdefault(key, test.rpartition("::")[2])
    if not found:
        return ["Nothing.\n"]
    head = ["| programs | tests | reason | for example |\n|---|--:|---|---|\n"]
    return head + [
        f"| {library} | {count} | {reason} | `{examples[library, reason]}` |\n"
        for (library, reason), count in sorted(found.items(), key=lambda item: (item[0][0], -item[1]))
    ]


def general(reason: str) -> str:
    """Return a reason without what differs from run to run, quoted as a cell of a table.

    >>> general("ValueError: <agc.Tensor at 0x7f60> | `x`")
    "`ValueError: <agc.Tensor at …> \\\\| 'x'`"
    """
    short = re.sub(r"0x[0-9a-f]+", "…", re.sub(r"/[\w./-]+/", "…/", " ".join(reason.split())))
    short = (short if len(short) < 160 else short[:157] + "…").replace("|", r"\|").replace("`", "'")
    return f"`{short}`"
