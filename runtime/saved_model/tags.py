"""The tags of the graphs of a saved model, by which `load` chooses one."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

SERVING = "serve"
"""The tag of every model that `save` writes."""

Tags = frozenset[str]


def chosen(tags: Any, known: Collection[Tags], path: Path) -> Tags:
    """Return the tags of one of several graphs: those asked for, else of the only graph, else `{"serve"}`.

    Raises ValueError if no graph has exactly these tags.

    >>> sorted(chosen(None, [frozenset(["serve", "gpu"])], Path("folder")))
    ['gpu', 'serve']
    >>> chosen("b", [frozenset(["a"])], Path("folder"))
    Traceback (most recent call last):
    ValueError: Got an incompatible argument to `tags`: 'b'. The saved model at folder has graphs with the tags [['a']]
    """
    if tags is None:
        wanted = next(iter(known)) if len(known) == 1 else frozenset([SERVING])
    else:
        wanted = frozenset([tags] if isinstance(tags, str) else tags)
    if wanted not in known:
        raise ValueError(
            f"Got an incompatible argument to `tags`: {tags!r}. The saved model at {path} has graphs with the tags "
            f"{[sorted(each) for each in known]}"
        )
    return wanted
