"""The interface to LLVM: target machine, pass pipelines, object files and loading.

    IR text ──partition──► texts ──parse──► modules ──passes, emit──► object files ──load──► addresses
                                                                           │
                                                               kept on disk (object_cache.py)

llvmlite is imported at the first compilation.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import object_cache
from .codegen_switches import few_passes
from .opt_levels import ALL, COLD, Level
from .parallel_codegen import Tasks, emitted, run_passes

if TYPE_CHECKING:
    from .module_partition import ModulePart

_loading = threading.Lock()


@functools.cache
def _binding() -> Any:
    _load_without_gil()
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _load_without_gil() -> None:
    """Load LLVM's library. The import of llvmlite would load it with the GIL, while another thread traces a graph."""
    package = importlib.util.find_spec("llvmlite")
    if package is not None and package.origin is not None and sys.platform == "linux":
        path = os.path.join(os.path.dirname(package.origin), "binding", "libllvmlite.so")
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).dlopen(path.encode(), os.RTLD_NOW)  # if this fails, the import reports it


@functools.cache
def _processor() -> tuple[str, str]:
    """Return the name and the features of the host CPU. Loads of single elements beat gather instructions."""
    binding = _binding()
    features = binding.get_host_cpu_features()
    known = features.flatten()
    return binding.get_host_cpu_name(), f"{known},+prefer-no-gather" if features.get("avx2") else known


@functools.cache
def vector_bytes() -> int:
    """Return the width in bytes of the vectors that this machine computes with at full speed."""
    features = _binding().get_host_cpu_features()
    return 64 if features.get("avx512vl") else 32 if features.get("avx2") else 16


_HOW = {"reloc": "default", "codemodel": "jitdefault", "jit": True}
"""Options of code generation. Relocations are resolved at load time, also between files that are loaded together."""


def _machine(codegen: int = ALL.codegen) -> Any:
    cpu, features = _processor()
    target = _binding().Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=codegen, **_HOW)


@functools.cache
def _host() -> str:
    """Return everything that object files depend on, besides the IR text."""
    import llvmlite

    from ...version import GIT_VERSION

    return "\n".join([GIT_VERSION, llvmlite.__version__, *_processor(), str(_HOW), sys.version])


def optimized(text: str, level: Level = ALL) -> str:
    """Return the optimized LLVM IR of a text."""
    with _optimized(text, level, _machine()) as module:
        return str(module)


def assembled(parts: Sequence[ModulePart], level: Level, tasks: Tasks) -> dict[str, bytes]:
    """Return the object files of modules, of which `tasks` may have some, by their keys in the object cache."""
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
    tasks.add(name, functools.partial(stored, name, level, lambda: part.text))
    return name


def stored(name: str, level: Level, write: Callable[[], str]) -> bytes:
    """Return the object file with this key in the object cache, or else of the IR text that `write` returns."""
    data = object_cache.read(name)
    if data is None:
        machine = _machine(level.codegen)
        with _optimized(write(), level, machine) as module, few_passes(level.packs):
            data = emitted(machine, module)
        object_cache.write(name, data)
    return data


def key(text: str) -> str:
    """Return the key of code for this machine in the object cache; `text` is all that the code depends on besides."""
    return hashlib.sha256(f"{_host()}\n{text}".encode()).hexdigest()


@contextlib.contextmanager
def _optimized(text: str, level: Level, machine: Any) -> Iterator[Any]:
    """Yield the optimized module of an IR text. It has its own context, so that no type of it stays in memory."""
    binding = _binding()
    context = binding.create_context()
    with contextlib.closing(context), contextlib.closing(binding.parse_assembly(text, context)) as module:
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
        tuning = binding.create_pipeline_tuning_options(speed_level=level.speed)
        tuning.slp_vectorization = level.packs
        tuning.loop_vectorization = tuning.loop_interleaving = True
        tuning.loop_unrolling = False  # only on request in loop metadata (codegen/function_builder.py)
        passes = binding.create_pass_builder(machine, tuning)
        run_passes(passes.getModulePassManager(), module, passes)
        # Functions called in vectorized loops (libm/slow_paths.py) are inlined after vectorization.
        after = binding.create_new_module_pass_manager()
        after.add_always_inliner_pass()
        after.run(module, passes)
        yield module


def known_as(name: str, address: int) -> None:
    """Register the address of a symbol with the loader."""
    _binding().add_symbol(name, address)


class LinkedCode:
    """Loaded object files, linked with each other. Their addresses are valid during the lifetime of this object."""

    def __init__(self, *files: bytes) -> None:
        binding = _binding()
        with _loading:
            self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine())
            for data in files:
                self._engine.add_object_file(binding.ObjectFileRef.from_data(data))
            self._engine.finalize_object()

    def function(self, name: str) -> int:
        """Return the address of a function."""
        return int(self._engine.get_function_address(name))

    def variable(self, name: str) -> int:
        """Return the address of a global variable."""
        return int(self._engine.get_global_value_address(name))
