"""Code that all compiled graphs share, such as matrix products: one object file for each kind, linked by name.

    product.begin()                   a background thread compiles it, while the graph is lowered
    e.call("agc_product_float", …)
    load(unit.symbols)                wait for the code of these names, and register their addresses with the loader

With one processor nothing is compiled in the background.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping

from ...core.thread_counts import processors
from .background_compiler import helper
from .external_symbols import declare
from .llvm_engine import LinkedCode, known_as, stored
from .lowering_key import lowering_key
from .opt_levels import Level
from .parallel_codegen import frequent_switches

_OWNERS: dict[str, SharedCode] = {}
"""The code of each symbol."""


class SharedCode:
    """The code of some symbols, which is compiled and loaded once in a process.

    `write` returns its IR text, which depends on `name`, on the sources of agc, and on the surroundings only. `symbols`
    maps the symbols to the names of functions in the code.
    """

    def __init__(self, name: str, level: Level, write: Callable[[], str], symbols: Mapping[str, str]) -> None:
        self._name, self._level = name, level
        self._write = write
        self._symbols = symbols
        self._loading = threading.Lock()
        self._code: LinkedCode | None = None
        self._has_begun = False
        _OWNERS.update(dict.fromkeys(symbols, self))

    def begin(self) -> None:
        """Compile the code in the background, unless that has begun."""
        if not self._has_begun and processors() > 1:
            self._has_begun = True
            helper.ask(self._prepare)

    def _prepare(self) -> None:
        with contextlib.suppress(Exception), frequent_switches():  # `load` raises the error
            self.load()

    def load(self) -> LinkedCode:
        """Return the code, after a wait if another thread compiles it."""
        with self._loading:
            if self._code is None:
                declare()
                key = lowering_key(f"{self._name} {tuple(self._level)}")
                code = LinkedCode(stored(key, self._level, self._write))
                for symbol, name in self._symbols.items():
                    known_as(symbol, code.function(name))
                self._code = code
            return self._code


def names() -> Iterable[str]:
    """Return the symbols of all shared code."""
    return _OWNERS.keys()


def load(symbols: Iterable[str]) -> None:
    """Load the code of those symbols that have any here."""
    for owner in {id(owner): owner for symbol in symbols if (owner := _OWNERS.get(symbol))}.values():
        owner.load()
