"""Find the symbols that object files need and that no address is known for.

LLVM's loader would give them the address 0: a call of one would crash, and a load from one would read there.
Only files in the format ELF are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .processor import binding

_SYMBOL = np.dtype([("name", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2"), ("rest", "u8", 2)])
"""An entry of the table of symbols. The section of an undefined symbol is 0."""

_BINDING, _LOCAL = 4, 0
"""The place of a symbol's binding in `info`, and the binding of symbols that other files do not see."""


def undefined(files: Sequence[bytes]) -> list[str]:
    """Return the names that are neither defined in one of the files nor known to the loader.

    Those of the process are known once there is an execution engine.
    """
    symbols = [(name, is_defined) for data in files for name, is_defined in _symbols(data)]
    defined = {name for name, is_defined in symbols if is_defined}
    address_of = binding().address_of_symbol
    needed = dict.fromkeys(name for name, _ in symbols if name not in defined)
    return [name for name in needed if not address_of(name)]


def _symbols(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the global symbols of a file, and whether the file defines them."""
    if not data.startswith(b"\x7fELF\x02\x01"):
        return
    file = binding().ObjectFileRef.from_data(data)
    tables = {each.name(): each.data() for each in file.sections() if each.name() in (b".symtab", b".strtab")}
    names = tables[b".strtab"]
    for name, info, _, section, *_ in np.frombuffer(tables[b".symtab"], _SYMBOL).tolist():
        if info >> _BINDING != _LOCAL:
            yield names[name : names.index(b"\0", name)].decode(), section != 0
