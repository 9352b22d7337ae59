"""The interface to LLVM: target machine, pass pipelines, object files and loading.

    IR text ──partition──► texts ──parse──► modules ──passes, emit──► object files ──load──► addresses
                                                                           │
                                                               kept on disk (object_cache.py)

LLVM itself is loaded at the first compilation (processor.py).
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agc.autograph.disk_cache import digest

from . import codegen_switches, object_cache
from .object_symbols import undefined
from .opt_levels import ALL, COLD, Level
from .parallel_codegen import Tasks, emitted, run_passes
from .processor import binding, name_and_features

if TYPE_CHECKING:
    from .module_partition import ModulePart

_SHORT = 10_000
"""The length of a text below which code generation is quick with all passes, too."""

_loading = threading.Lock()


_HOW = {"reloc": "default", "codemodel": "jitdefault", "jit": True}
"""Options of code generation. Relocations are resolved at load time, also between files that are loaded together."""


def _machine(codegen: int = ALL.codegen) -> Any:
    cpu, features = name_and_features()
    target = binding().Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=codegen, **_HOW)


class _Targets(threading.local):
    """The target machines of a thread, by level of code generation, since two threads must not use one at once."""

    def __init__(self) -> None:
        self.machine = functools.cache(_machine)


_targets = _Targets()


@functools.cache
def _layout() -> tuple[str, str]:
    """Return the triple and the data layout of the host."""
    machine = _targets.machine(ALL.codegen)
    return machine.triple, str(machine.target_data)


@functools.cache
def _host() -> str:
    """Return everything that object files depend on, besides the IR text."""
    import llvmlite

    from ...version import GIT_VERSION

    return "\n".join([GIT_VERSION, llvmlite.__version__, *name_and_features(), str(_HOW), sys.version])


def optimized(text: str, level: Level = ALL) -> str:
    """Return the optimized LLVM IR of a text."""
    with _optimized(text, level) as module:
        return str(module)


def assembled(parts: Sequence[ModulePart], level: Level, tasks: Tasks) -> dict[str, bytes]:
    """Return the object files of modules, of which `tasks` may have some, by their keys in the object cache.

    The heaviest are compiled first, so that no thread waits long for another one at the end.
    """
    names = [_add(tasks, part, level) for part in parts]
    return dict(zip(names, tasks.results(names), strict=True))


def begin(part: ModulePart, level: Level, tasks: Tasks) -> None:
    """Compile a module in the background, if there is a second processor."""
    _add(tasks, part, level)
    tasks.begin()


def _add(tasks: Tasks, part: ModulePart, level: Level) -> str:
    """Add the task to compile a module; return the key of its object file."""
    level = COLD if part.is_cold else level
    name = key(f"{tuple(level)}\n{part.text}")
    tasks.add(name, functools.partial(stored, name, level, lambda: part.text), part.weight)
    return name


def stored(name: str, level: Level, write: Callable[[], str]) -> bytes:
    """Return the object file with this key in the object cache, or else of the IR text that `write` returns."""
    data = object_cache.read(name)
    if data is None:
        text = write()
        kept = codegen_switches.FEW if level.packs else codegen_switches.FEWEST
        if level == ALL and len(text) < _SHORT:
            kept = codegen_switches.ALL
        with _optimized(text, level) as module, codegen_switches.passes(kept):
            data = emitted(_targets.machine(level.codegen), module)
        object_cache.write(name, data)
    return data


def key(text: str) -> str:
    """Return the key of code for this machine in the object cache; `text` is all that the code depends on besides."""
    return digest(_host().encode(), text.encode()).hex()


@contextlib.contextmanager
def _optimized(text: str, level: Level) -> Iterator[Any]:
    """Yield the optimized module of an IR text. It has its own context, so that no type of it stays in memory."""
    llvm = binding()
    context = llvm.create_context()
    with contextlib.closing(context), contextlib.closing(llvm.parse_assembly(text, context)) as module:
        module.triple, module.data_layout = _layout()
        module.verify()
        tuning = llvm.create_pipeline_tuning_options(speed_level=level.speed)
        tuning.slp_vectorization = level.packs
        tuning.loop_vectorization = tuning.loop_interleaving = True
        tuning.loop_unrolling = False  # only on request in loop metadata (codegen/loop_hints.py)
        builder = llvm.create_pass_builder(_targets.machine(level.codegen), tuning)
        passes = builder.getModulePassManager()
        # Functions called in vectorized loops (libm/slow_paths.py) are inlined after vectorization.
        passes.add_always_inliner_pass()
        run_passes(passes, module, builder)
        yield module


def known_as(name: str, address: int) -> None:
    """Register the address of a symbol with the loader."""
    binding().add_symbol(name, address)


class LinkedCode:
    """Loaded object files, linked with each other. Their addresses are valid during the lifetime of this object.

    Symbols of other code must have an address: the loader would give them the address 0.
    """

    def __init__(self, *files: bytes) -> None:
        llvm = binding()
        with _loading:
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
            if missing := undefined(files):
                raise ImportError(f"compiled code needs symbols without an address: {', '.join(missing)}")
            for data in files:
                self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
            self._engine.finalize_object()

    def function(self, name: str) -> int:
        """Return the address of a function."""
        return int(self._engine.get_function_address(name))

    def variable(self, name: str) -> int:
        """Return the address of a global variable."""
        return int(self._engine.get_global_value_address(name))
