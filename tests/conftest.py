"""Options that all tests share."""

from __future__ import annotations

import gc
import importlib.util
import linecache
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from support import each_case, native_extension
from support.fresh_state import forget

if importlib.util.find_spec("torch") is None:  # `make torch` installs it, `make test` does not
    collect_ignore = ["torch_backend"]

# The time of a case depends on the load of the machine.
settings.register_profile("agc", settings(), deadline=None)
settings.load_profile("agc")

# Hypothesis would parse each imported file of agc, in each worker, to draw the constants of its source.
providers._get_local_constants = lambda: providers._local_constants

# A script that runs tests in the background lets them ignore Ctrl-C, and what they start too; some tests wait for it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Disable garbage collection while tests are collected, and exclude their objects from it while they run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000)  # reference counts free most objects of tests
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    each_case.selected = config.getoption("--case")
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Brief())
        config.pluginmanager.register(BeginWithLongFiles())
    else:
        config.option.loadscopereorder = False  # BeginWithLongFiles has sorted the files
        native_extension.build()


class Brief:
    """Report only the outcome of a test from a worker, not each of its steps.

    The controller shares the cores with the workers. Seven messages for each test would cost it half a minute.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                report.keywords = {}  # no plugin here reads them
                item.ihook.pytest_runtest_logreport(report=report)
        return True


LONG = {
    "test_documents.py": 19,
    "framework/test_conformance.py": 18,
    "jax_backend/test_gradients.py": 17,
    "llvm/test_examples.py": 16,
    "test_benchmarks.py": 16,
    "autodiff/test_checkpoints.py": 6,
    "agreement/test_grammar.py": 16,
    "jax_backend/test_libraries.py": 8,
    "agreement/test_random_programs.py": 6,
    "agreement/test_scopes.py": 6,
    "codegen/test_reroll_calls.py": 6,
    "agreement/test_corpus.py": 5,
    "distribute/test_devices.py": 5,
    "jax_backend/test_algorithms.py": 5,
}
"""The seconds of files that take much longer than others with as many tests."""


class BeginWithLongFiles:
    """Give the longest files to workers first: a worker that got one of them last would end after the others."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        seconds = {path: number / 25 for path, number in Counter(item.path for item in items).items()}
        for path in seconds:
            seconds[path] = next((time for name, time in LONG.items() if path.match(name)), seconds[path])
        items.sort(key=lambda item: (-seconds[item.path], item.path))


def pytest_runtest_setup() -> None:
    forget()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the results of golden cases anew")
    parser.addoption(
        "--case", default="", help="check only the cases with this text in their names (each_case)"
    )


@pytest.fixture(autouse=True)
def room_for_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let caches of eager calls take all new calls: those that other tests have filled would take few."""
    for name in ("cached_dispatch", "kept_calls", "op"):
        module = sys.modules.get(f"agc.runtime.ops.framework.{name}")
        if module is not None:
            monkeypatch.setattr(module, "MOST", 1 << 20)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[Any]:
    """Separate the tests from their surroundings. Fixtures would do so too, but be looked up for each test."""
    with pytest.MonkeyPatch.context() as patch:
        share_byte_code(patch, session.config)
        own_cache(patch, session.config)
        if hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", 0):
            compile_anew(patch)
        skip_checks_of_files(patch)
        keep_programs_of_xla(session.config)
        return (yield)


def own_cache(patch: pytest.MonkeyPatch, config: pytest.Config) -> None:
    """Keep the converted code of tests out of the user's cache."""
    patch.setitem(os.environ, "AGC_CACHE_DIR", str(config._tmp_path_factory.mktemp("cache")))
    patch.setitem(os.environ, "AGC_JIT", "0")  # tests choose what is compiled; no measurement does


def compile_anew(patch: pytest.MonkeyPatch) -> None:
    """Convert each function and lower each graph anew: tests replace parts of it. Processes they start use caches."""
    from agc.autograph.conversion import stored_code
    from agc.runtime.executors.llvm import unit_cache

    patch.setattr(unit_cache, "key", lambda *_: None)
    patch.setattr(stored_code, "_entry", lambda *_: None)


def keep_programs_of_xla(config: pytest.Config) -> None:
    """Let XLA compile each program once in this process, though JAX sees each closure of a test as a new function."""
    if (jax := sys.modules.get("jax")) is not None:
        jax.config.update("jax_compilation_cache_dir", str(config._tmp_path_factory.mktemp("xla")))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def share_byte_code(patch: pytest.MonkeyPatch, config: pytest.Config) -> None:
    """Share a folder of byte code between the processes that tests start, if Python writes none next to files."""
    if sys.dont_write_bytecode:
        patch.delitem(os.environ, "PYTHONDONTWRITEBYTECODE", raising=False)
        folder = config._tmp_path_factory.getbasetemp()
        folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
        patch.setitem(os.environ, "PYTHONPYCACHEPREFIX", str(folder / "bytecode"))


def skip_checks_of_files(patch: pytest.MonkeyPatch) -> None:
    """Skip the check of all source files for changes, which doctest's debugger makes for each docstring."""
    of_files = linecache.checkcache
    patch.setattr(linecache, "checkcache", lambda filename=None: filename and of_files(filename))
