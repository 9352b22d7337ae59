"""Check the list of converted packages, which can be changed, and the log of conversions."""

import statistics
import subprocess
import sys

import pytest
from agc import autograph
from agc.autograph import operators, policy
from agc.autograph.import_hook.hook import module_code


def helper(x):
    return x if x > 0 else -x


@autograph.do_not_convert
def plain(x):
    return x if x > 0 else -x


def main(x):
    return helper(x) + plain(x) + statistics.median([x])


@pytest.fixture
def restored():
    yield
    policy.switch(["statistics", __name__, "agc.runtime"], None)
    operators.converter.forget()


def is_converted(f):
    return operators.converter.converted(f) is not f


def test_the_log_lists_converted_and_skipped_functions():
    median = statistics.median  # called by a name of its own: that of a module is not even looked at
    autograph.convert(lambda x: main(x) + median([x]))(3)
    files = (__file__, statistics.__file__)
    found = {entry.function: entry for entry in autograph.conversions() if entry.file in files}
    assert found["main"].outcome == found["helper"].outcome == "converted"
    assert (found["helper"].file, found["helper"].line) == (__file__, helper.__code__.co_firstlineno)
    assert (found["plain"].outcome, found["plain"].why) == ("left alone", "do_not_convert")
    assert (found["median"].outcome, found["median"].why) == ("left alone", "a library's")
    assert str(found["helper"]) == f"converted           helper, at {__file__}:{found['helper'].line}"


def test_replaced_code_is_not_in_the_log():
    text = "from agc import autograph\n@autograph.do_not_convert\ndef plain(x):\n    return x\n"
    code = module_code(text, "left_alone.py", is_cached=False)  # which has the converted function as well
    module = {}
    exec(code, module)
    assert autograph.convert(lambda x: module["plain"](x))(3) == 3
    found = [entry.outcome for entry in autograph.conversions() if entry.file == "left_alone.py"]
    assert found == ["left alone"]


def test_conversion_is_switched_per_package(restored):
    assert (is_converted(statistics.median), is_converted(helper)) == (False, True)
    autograph.convert_packages("statistics")
    autograph.leave_packages(__name__)
    assert (is_converted(statistics.median), is_converted(helper)) == (True, False)
    assert operators.converted(statistics.median)([3, 1, 2]) == 2


def test_agc_itself_is_never_converted(restored):
    autograph.convert_packages("agc.runtime")
    assert not policy.is_user_code(autograph.convert)


def test_the_nearest_package_decides(restored):
    policy.switch(["statistics"], True)
    assert not policy.is_library_file("/x/site-packages/statistics.py", "statistics.inner")
    assert policy.is_library_name("json")
    assert not policy.is_library_name("statistics.inner")


@pytest.mark.parametrize("name", ["", "a b", "a.", 3])
def test_an_invalid_package_name_is_refused(name):
    with pytest.raises(ValueError, match="not the name"):
        autograph.convert_packages(name)


def test_the_environment_selects_packages(monkeypatch):
    monkeypatch.setenv("AGC_CONVERT", "statistics, json")
    monkeypatch.setenv("AGC_DO_NOT_CONVERT", "mine")
    program = "from agc.autograph.policy import is_library_name as f; print(f('json.x'), f('os'), f('mine'), f('a'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False True True False\n"
