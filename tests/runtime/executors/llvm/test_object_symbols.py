"""Code that needs a symbol without an address is refused: calling it would crash."""

from __future__ import annotations

import sys

import pytest
from agc.runtime.executors.llvm.llvm_engine import LinkedCode, stored
from agc.runtime.executors.llvm.object_symbols import undefined
from agc.runtime.executors.llvm.opt_levels import NONE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only the format ELF is read")

CALLER = """
declare i64 @agc_answer_of_a_test()
declare i64 @strlen(ptr)

define i64 @run(ptr %text) {
  %answer = call i64 @agc_answer_of_a_test()
  %length = call i64 @strlen(ptr %text)
  %sum = add i64 %answer, %length
  ret i64 %sum
}
"""

CALLED = """
define i64 @agc_answer_of_a_test() {
  ret i64 42
}
"""


def test_a_function_that_no_file_defines_is_refused_by_name() -> None:
    caller = stored("caller_of_a_test", NONE, lambda: CALLER)
    called = stored("called_of_a_test", NONE, lambda: CALLED)
    with pytest.raises(ImportError, match=r"symbols without an address: agc_answer_of_a_test$"):
        LinkedCode(caller)
    assert undefined([caller]) == ["agc_answer_of_a_test"] and not undefined([caller, called])
    assert LinkedCode(caller, called).function("run")
