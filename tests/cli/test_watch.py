"""`agc convert --watch`: saved files are converted again; errors do not end it."""

import os
import pathlib

import pytest
from agc.cli import watch
from agc.cli.convert import _watched, convert
from agc.cli.convert_package import Way

BEFORE = "def f(x):\n    return x if x > 0 else -x\n"
AFTER = "def g(x):\n    return 1 if x else 2\n"


@pytest.fixture
def saving(monkeypatch):
    """Let each pause save one of these files; then Ctrl-C is pressed."""

    def prepare(*saves):
        left = list(enumerate(saves, 1))

        def pause(seconds):
            if not left:
                raise KeyboardInterrupt
            number, (path, text) = left.pop(0)
            pathlib.Path(path).write_text(text)
            os.utime(path, (number, number))

        monkeypatch.setattr(watch.watch, "__defaults__", (pause,))

    return prepare


def watched(file, out):
    job = lambda: convert(str(file), out=str(out), way=Way())  # noqa: E731
    return _watched(job, str(file), None, str(out), False, Way())


def test_saved_files_are_converted_again(tmp_path, saving, capsys):
    source, out = tmp_path / "model.py", tmp_path / "out.py"
    source.write_text(BEFORE)
    saving((source, "def f(x:\n"), (source, AFTER))
    assert watched(source, out) == 0
    assert "def g(x)" in out.read_text() and "ag__" in out.read_text()
    said = capsys.readouterr().err
    assert "error[AGC" in said and said.count("converted ") == 1


def test_modules_of_a_folder_are_converted_one_by_one(tmp_path, saving):
    package, out = tmp_path / "package", tmp_path / "out"
    (package / "deep").mkdir(parents=True)
    (package / "a.py").write_text(BEFORE)
    (package / "deep" / "b.py").write_text(BEFORE)
    saving((package / "deep" / "b.py", AFTER), (package / "c.py", AFTER))
    assert watched(package, out) == 0
    assert "def f(x)" in (out / "a.py").read_text()
    assert "def g(x)" in (out / "deep" / "b.py").read_text()
    assert "def g(x)" in (out / "c.py").read_text()


def test_stdin_cannot_be_watched(inside):
    result = inside("convert", "-", "--watch")
    assert result.returncode == 2 and "--watch needs a file or folder" in result.stderr
