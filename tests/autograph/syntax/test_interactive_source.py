"""Where the text of a function is found: files, archives, cells, doctests; and what is said when there is none."""

import doctest
import importlib
import linecache
import pickle
import sys
import textwrap
import types
import zipfile

import pytest
from agc.autograph import ConversionError, compile_source, convert, to_code
from agc.autograph.syntax import interactive_source

TEXT = """\
def count(n):
    k = 0
    while n > 1:
        n = n // 2
        k += 1
    return k
"""


def is_staged(f):
    return "ag__.while_loop(" in to_code(f) and convert(f)(40) == 5


def test_a_module_in_an_archive(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as archive:
        archive.writestr("zipped_model/__init__.py", "")
        archive.writestr("zipped_model/part.py", TEXT)
    monkeypatch.syspath_prepend(str(tmp_path / "models.zip"))
    part = importlib.import_module("zipped_model.part")
    monkeypatch.delitem(sys.modules, "zipped_model.part")
    monkeypatch.delitem(sys.modules, "zipped_model")
    assert is_staged(part.count)


def test_a_doctest():
    example = textwrap.indent(TEXT, "... ").replace("... def", ">>> def", 1)
    check = ">>> from agc.autograph import to_code\n>>> 'while_loop' in to_code(count)\nTrue\n"
    test = doctest.DocTestParser().get_doctest(example + check, {}, "sample", None, 0)
    assert doctest.DocTestRunner().run(test) == doctest.TestResults(failed=0, attempted=3)


def test_a_cell_of_a_notebook(monkeypatch):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    try:
        shell.run_cell("x = 1")
        shell.run_cell(TEXT)
        first = shell.user_ns["count"]
        shell.run_cell(TEXT.replace("k += 1", "k += 2"))  # the cell is edited and run again
        second = shell.user_ns["count"]
        assert is_staged(first)
        assert convert(second)(40) == 10
    finally:
        shell.history_manager.end_session()
        type(shell).clear_instance()


def executed(text, filename="<string>"):
    namespace = {"__name__": "__main__"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["count"]


def test_executed_code_has_source_only_if_it_is_kept(monkeypatch):
    with pytest.raises(ConversionError) as caught:
        convert(executed(TEXT))
    assert str(caught.value) == (
        "error[AGC101]: the source of `count` cannot be found\n"
        "  --> <string>:1, in count\n"
        "why: conversion needs the source text of a function, and Python has none for this one\n"
        "fix: give `exec` the result of `autograph.compile_source`; or save the code to a file and import it, or "
        "convert the file beforehand with `agc convert`"
    )
    monkeypatch.setitem(
        linecache.cache, "<made up>", (len(TEXT), None, TEXT.splitlines(keepends=True), "<made up>")
    )
    assert is_staged(executed(TEXT, "<made up>"))


def test_source_can_be_converted_before_exec():
    namespace = {}
    exec(compile_source(TEXT, "<string>"), namespace)
    assert list(namespace) == ["__builtins__", "count"]
    assert convert(namespace["count"]) is namespace["count"]
    assert namespace["count"](40) == 5


def test_a_module_that_was_only_compiled(tmp_path, monkeypatch):
    import py_compile

    (tmp_path / "model.py").write_text(TEXT)
    py_compile.compile(str(tmp_path / "model.py"), str(tmp_path / "compiled_model.pyc"), doraise=True)
    (tmp_path / "model.py").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("compiled_model")
    monkeypatch.delitem(sys.modules, "compiled_model")
    with pytest.raises(ConversionError, match=r"(?s)AGC101.*convert the file beforehand with `agc convert`"):
        convert(module.count)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["-c", "x = 1", "y"], "x = 1\n"),
        (["-cx = 1"], "x = 1\n"),
        (["-ISc", "x = 1"], "x = 1\n"),
        (["-Wignore", "-X", "dev", "--check-hash-based-pycs", "always", "-c", "x = 1"], "x = 1\n"),
        (["-m", "pytest", "-c", "pytest.ini"], None),
        (["-mpytest", "-c", "pytest.ini"], None),
        (["script.py", "-c", "x"], None),
        (["-", "-c", "x"], None),
        ([], None),
    ],
)
def test_the_text_on_a_command_line(monkeypatch, arguments, text):
    monkeypatch.setattr(sys, "orig_argv", ["python", *arguments])
    assert next(interactive_source._command(), None) == text


def test_only_matching_source_is_accepted(monkeypatch):
    count = executed(TEXT)
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", TEXT.replace("//", "-")])
    assert interactive_source.text_of(count.__code__) is None
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", "not Python"])
    assert interactive_source.text_of(count.__code__) is None
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", TEXT])
    assert is_staged(count)


def prompt(monkeypatch, *lines):
    """A prompt with this history."""
    readline = types.SimpleNamespace(
        get_current_history_length=lambda: len(lines), get_history_item=lambda n: lines[n - 1]
    )
    monkeypatch.setitem(sys.modules, "readline", readline)


def test_the_history_of_the_prompt(monkeypatch):
    typed = compile(TEXT, "<stdin>", "single")
    namespace = {}
    exec(typed, namespace)
    prompt(monkeypatch, *TEXT.replace("//", "-").splitlines(), "x = 1", *TEXT.splitlines(), "count(3)", "")
    assert is_staged(namespace["count"])
    prompt(monkeypatch, *TEXT.splitlines()[1:], "x = 1")
    assert interactive_source.text_of(namespace["count"].__code__) is None
    monkeypatch.delitem(sys.modules, "readline")
    assert interactive_source.text_of(namespace["count"].__code__) is None


def test_a_statement_that_ends_after_its_last_instruction(monkeypatch):
    lines = ["f = (", "    lambda x: x if x else None", "", ")"]
    namespace = {}
    exec(compile("\n".join(lines), "<stdin>", "single"), namespace)
    prompt(monkeypatch, *lines)
    assert convert(namespace["f"])(3) == 3


def decorated(f):
    return convert(f)


@decorated
def at_the_top(x):
    return x if x else None


def test_pickling():
    """Pickle by name, as Python does: the object with that name is what is pickled."""

    def inside(x):
        return x if x else None

    assert pickle.loads(pickle.dumps(at_the_top)) is at_the_top
    for f, reason in ((decorated, "not the same object"), (inside, "local object")):
        with pytest.raises((pickle.PicklingError, AttributeError), match=reason):
            pickle.dumps(convert(f))
    with pytest.raises((pickle.PicklingError, AttributeError), match="local object"):
        pickle.dumps(inside)
