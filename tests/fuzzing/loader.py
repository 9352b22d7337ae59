"""A reader of files: how a good one is made, how it is read, and how it is mutated.

    Loader("csv", {"*": mutations.damaged}, write=…, read=…)

`write(folder)` makes the files; `read(folder)` reads them to the end. `kinds` say how a file is mutated, by its name.
"""

import fnmatch
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from . import mutations


class Loader(NamedTuple):
    """A way to read files that others may have written."""

    write: Callable[[Path], Any]
    read: Callable[[Path], Any]
    kinds: dict[str, Any] = {"*": mutations.mutated}  # never changed
    seal: Callable[[Path], None] | None = None
    names_file: bool = True
    """Whether errors name the file."""
    has_bounded_memory: bool = True
    """Whether memory is bounded by the size of the files."""
    change: Callable[[Path, Any], None] | None = None
    """The mutation of a folder, instead of that of one of its files."""

    def damage(self, folder, rng):
        """Mutate one file of a folder; its checksums fit again, most of the time."""
        if self.change is not None:
            self.change(folder, rng)
            return
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        path = rng.choice(files)
        kind = next(self.kinds[pattern] for pattern in self.kinds if fnmatch.fnmatch(path.name, pattern))
        path.write_bytes(kind(path.read_bytes(), rng))
        if self.seal is not None and rng.random() < 0.7:
            self.seal(folder)
