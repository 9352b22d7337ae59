"""`agc convert FOLDER -o OUT`: a package in, a package out, or nothing at all."""

import errno
import os
import shutil
import stat

import pytest
from agc.cli.errors import FAILED, OK, USAGE

FILES = {
    "model/__init__.py": "from .layers import relu\nfrom . import deep\n",
    "model/__main__.py": "import pkgutil\nfrom . import relu, deep\n"
    "print(relu(-2), deep.sums.total(4), pkgutil.get_data('model', 'words.txt').decode())\n",
    "model/layers.py": "#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n"
    "def relu(x):\n    '''Gr\xf6\xdfe'''\n    if x > 0:\n        return x\n    return 0\n",
    "model/deep/__init__.py": "from . import sums\n",
    "model/deep/sums.py": "def total(n):\n    while n > 3:\n        n -= 1\n    return n\n",
    "model/words.txt": "words",
    "model/__pycache__/old.cpython-311.pyc": "",
    "model/.git/config": "",
    "model/env/pyvenv.cfg": "",
    "model/env/lib.py": "not python",
}


@pytest.fixture
def package(folder):
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="latin-1")
    (folder / "model" / "layers.py").chmod(0o755)
    return folder / "model"


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.usefixtures("package")
def test_the_converted_package_is_a_package(agc, python, folder):
    result = agc("convert", "model", "-o", "out")
    assert (result.returncode, result.stdout, result.stderr) == (OK, "", "")
    assert files(folder / "out") == [
        "__init__.py", "__main__.py", "deep/__init__.py", "deep/sums.py", "layers.py", "words.txt",
    ]  # fmt: skip
    expected = python("-m", "model").stdout
    shutil.rmtree(folder / "model")
    (folder / "out").rename(folder / "model")
    assert python("-m", "model").stdout == expected == "0 3 words\n"


def test_each_file_is_converted_as_if_alone(inside, package, folder):
    inside("convert", "model", "-o", "out")
    for path in ("layers.py", "deep/sums.py", "__init__.py"):
        assert (folder / "out" / path).read_text("utf-8") == inside("convert", f"model/{path}").stdout
    assert stat.S_IMODE((folder / "out" / "layers.py").stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "out").stat().st_mode) == stat.S_IMODE(package.stat().st_mode)


def test_links_stay_links(inside, package, folder):
    (package / "same").symlink_to("deep")
    (package / "other.txt").symlink_to("words.txt")
    inside("convert", "model", "-o", "out")
    assert os.readlink(folder / "out" / "same") == "deep"
    assert os.readlink(folder / "out" / "other.txt") == "words.txt"


@pytest.mark.usefixtures("package")
def test_a_difference_of_all_modules(inside):
    result = inside("convert", "model", "--diff")
    heads = [line.split("\t")[0] for line in result.stdout.splitlines() if line.startswith("---")]
    assert heads == ["--- model/layers.py", "--- model/deep/sums.py"]  # the others would not change
    assert "+from agc.autograph import operators as ag__\n" in result.stdout


def test_nothing_is_written_when_a_module_cannot_be_converted(inside, package, folder):
    (package / "broken.py").write_text("def f(:\n")
    (package / "latin.py").write_bytes(b"x = '\xe9'\n")
    before = sorted(os.listdir(folder))
    result = inside("convert", "model", "-o", "out")
    assert result.returncode == FAILED
    assert [line[:14] for line in result.stderr.splitlines() if line.startswith("error")] == [
        "error[AGC303]:",
        "error[AGC302]:",
    ]
    assert sorted(os.listdir(folder)) == before


def test_nothing_is_left_of_a_disk_that_is_full(inside, package, folder, monkeypatch):
    def full(*arguments, **settings):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = sorted(os.listdir(folder))
    monkeypatch.setattr(shutil, "copy2", full)
    result = inside("convert", "model", "-o", "out")
    assert (result.returncode, result.stderr) == (
        USAGE,
        "error[AGC307]: cannot write `out`: no space left on device\n",
    )
    assert sorted(os.listdir(folder)) == before


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["model"],
            "error[AGC300]: `model` is a folder: convert it into another, or see what would change\n"
            "fix: agc convert model -o OUT, or agc convert model --diff\n",
        ),
        (["model", "--diff", "-o", "out"], "error[AGC300]: `model` is a folder: convert it into another"),
        (["model::relu", "-o", "out"], "error[AGC300]: `model` is a folder, and `relu` is in a file\n"),
        (
            ["model", "-o", "model"],
            "error[AGC307]: cannot write `model`: it exists and is not empty\n"
            "fix: remove it first, or name another\n",
        ),
        (["model", "-o", "collatz.py"], "error[AGC307]: cannot write `collatz.py`: it is not a directory\n"),
        (["model", "-o", "no/where"], "error[AGC307]: cannot write `no/where`: there is no directory `no`\n"),
        (["model/.git", "-o", "out"], "error[AGC300]: there is no Python file in `model/.git`\n"),
    ],
)
def test_wrong_usage(inside, folder, arguments, expected):
    result = inside("convert", *arguments)
    assert result.stderr.startswith(expected)
    assert result.returncode == USAGE
    assert not (folder / "out").exists()


@pytest.mark.usefixtures("package")
def test_an_empty_folder_may_be_filled(inside, folder):
    (folder / "out").mkdir()
    assert inside("convert", "model", "-o", "out/").returncode == OK
    assert "layers.py" in files(folder / "out")


REFUSED = "def g(x):\n    if x:\n        try:\n            return 2\n        finally:\n            return 1\n"


@pytest.mark.usefixtures("package")
def test_keep_going_copies_and_lists_unconvertible_files(agc, folder):
    (folder / "model" / "refused.py").write_text(REFUSED)
    (folder / "model" / "wrong.py").write_text("def f(:\n")
    result = agc("convert", "model", "-o", "out", "--keep-going", "--jobs", "2")
    assert result.returncode == FAILED
    assert "AGC110" in result.stderr and "AGC303" in result.stderr
    assert result.stderr.endswith("left as they are, 2 of 7 modules:\n  refused.py\n  wrong.py\n")
    assert (folder / "out" / "refused.py").read_text() == REFUSED
    assert "ag__" in (folder / "out" / "deep" / "sums.py").read_text()


@pytest.mark.usefixtures("package")
def test_parallel_jobs_write_the_same_files(agc, folder):
    for jobs in ("1", "2"):
        assert agc("convert", "model", "-o", f"out{jobs}", "--jobs", jobs).returncode == OK
    for name in files(folder / "out1"):
        assert (folder / "out1" / name).read_bytes() == (folder / "out2" / name).read_bytes()


def test_progress_is_for_terminals(monkeypatch, capsys):
    import sys

    from agc.cli import parallel

    assert list(parallel.results(len, ["a.py", "bc.py"])) == [4, 5]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert list(parallel.results(len, ["a.py", "bc.py"])) == [4, 5]
    shown = capsys.readouterr().err.split("\r\x1b[K")
    assert shown == ["", "[1/2] a.py", "[2/2] bc.py", ""]
