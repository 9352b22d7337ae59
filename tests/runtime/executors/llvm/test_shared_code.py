"""Code that graphs share is compiled once in a process, in the background; errors are raised where it is needed."""

from __future__ import annotations

import sys
import threading

import agc.runtime as tf
import pytest
from agc.runtime.executors.llvm import shared_code
from agc.runtime.executors.llvm.opt_levels import NONE
from agc.runtime.executors.llvm.shared_code import SharedCode

SEVEN = """
define i64 @seven() {
  ret i64 7
}
"""


@pytest.fixture(autouse=True)
def own_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_code, "_OWNERS", {})
    monkeypatch.setattr(shared_code, "processors", lambda: 2)


def test_code_is_compiled_once_by_one_of_many_threads() -> None:
    threads = []

    def write() -> str:
        threads.append(threading.current_thread().name)
        return SEVEN

    symbols = {"agc_seven_of_a_test": "seven"}
    code, before = SharedCode("once", NONE, write, symbols), sys.getswitchinterval()
    code.begin(), code.begin()
    shared_code.load(["unknown", "agc_seven_of_a_test"])
    assert len(threads) == 1 and code.load() is code.load()
    assert shared_code.helper.ask(lambda: None).done.wait(60.0)
    assert sys.getswitchinterval() == before


def test_an_error_in_the_background_is_raised_where_the_code_is_needed() -> None:
    tried = threading.Event()

    def write() -> str:
        tried.set()
        raise RuntimeError("no code")

    code = SharedCode("never", NONE, write, {"agc_nothing_of_a_test": "nothing"})
    code.begin()
    assert tried.wait(60.0)
    with pytest.raises(RuntimeError, match="no code"):
        shared_code.load(["agc_nothing_of_a_test"])


def test_one_processor_compiles_nothing_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(shared_code, "processors", lambda: 1)
    monkeypatch.setattr(shared_code.helper, "ask", asked.append)
    SharedCode("none", NONE, lambda: pytest.fail("compiled"), {}).begin()  # type: ignore[arg-type]
    assert not asked


def test_nothing_is_compiled_in_the_background_before_a_graph_is_lowered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = []
    monkeypatch.setattr("agc.runtime.executors.llvm.runtime_library.begin", lambda: order.append("library"))
    monkeypatch.setattr("agc.runtime.executors.llvm.unit_cache.read", lambda key: None)

    @tf.function(jit_compile=True)
    def traced(x: tf.Tensor) -> tf.Tensor:
        order.append("trace")
        return x + 1

    assert traced(tf.constant(1)).numpy() == 2
    assert order == ["trace", "library"]
