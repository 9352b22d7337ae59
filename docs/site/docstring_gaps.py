"""List the public names whose docstring has no example: `python -m docs.site.docstring_gaps`.

tf.lookup: 1 of 5 without example: TextFileIndex
"""

from __future__ import annotations

import inspect
from typing import Any

from . import entries, reference


def gaps(page: reference.Page, names: dict[int, str]) -> list[str]:
    """Return the names without an example; exceptions and values of other libraries need none."""
    return [
        key
        for key, value in page.members.items()
        if names.get(id(value)) == f"{page.name}.{key}"
        and not _is_exception(value)
        and str(getattr(value, "__module__", "")).startswith("agc")
        and not has_example(value)
    ]


def has_example(value: Any) -> bool:
    """Return whether a docstring has an example."""
    return ">>>" in (inspect.getdoc(value) or "")


def _is_exception(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def main() -> None:
    """Print the gaps of each namespace."""
    found = reference.pages()
    names = reference.canonical(found)
    for page in found:
        missing = gaps(page, names)
        described = sum(map(entries.is_described, page.members.values()))
        if missing:
            print(f"{page.name}: {len(missing)} of {described} without example: {', '.join(missing)}")


if __name__ == "__main__":
    main()
