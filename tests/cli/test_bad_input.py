"""Whatever is wrong, the command says what, where and what to do, and ends with the code for it."""

import errno
import os

import pytest
from agc.cli import sources
from agc.cli.main import main

FAILED, USAGE = 1, 2


def complaint(result, exit_code):
    """The message, when the command failed as it should: nothing on stdout, nothing of agc's inside."""
    assert (result.returncode, result.stdout) == (exit_code, ""), result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


FILES = {
    "missing.py": (
        None,
        USAGE,
        "error[AGC301]: cannot read `missing.py`: no such file\nfix: check the path\n",
    ),
    "colatz.py": (
        None,
        USAGE,
        "error[AGC301]: cannot read `colatz.py`: no such file\nfix: did you mean `collatz.py`?\n",
    ),
    "nowhere/a.py": (
        None,
        USAGE,
        "error[AGC301]: cannot read `nowhere/a.py`: no such file\nfix: there is no directory `nowhere`\n",
    ),
    "binary.py": (
        b"\x7fELF\n\x00\x01",
        FAILED,
        """\
error[AGC302]: `binary.py` is not Python source: it contains zero bytes
  --> binary.py:2
fix: give the .py file, not a compiled or binary one
""",
    ),
    "latin.py": (
        b"x = 1\n\ny = 'caf\xe9'\n",
        FAILED,
        """\
error[AGC302]: `latin.py` is not Python source: byte 0xe9 is not UTF-8
  --> latin.py:3
fix: save it as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-
""",
    ),
    "head.py": (
        b"x = '\xe9'\n",
        FAILED,
        """\
error[AGC302]: `head.py` is not Python source: byte 0xe9 is not UTF-8
  --> head.py:1
fix: save it as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-
""",
    ),
    "cookie.py": (
        b"# coding: klingon\nx = 1\n",
        FAILED,
        """\
error[AGC302]: `cookie.py` is not Python source: unknown encoding: klingon
  --> cookie.py:1
fix: correct the coding line
""",
    ),
    "undefined.py": (
        b"# coding: undefined\nx = 1\n",
        FAILED,
        """\
error[AGC302]: `undefined.py` is not Python source: its coding line names no encoding of text
  --> undefined.py:1
fix: correct the coding line
""",
    ),
    "hex.py": (
        b"# coding: hex\nx = 1\n",
        FAILED,
        """\
error[AGC302]: `hex.py` is not Python source: its coding line names no encoding of text
  --> hex.py:1
fix: correct the coding line
""",
    ),
    "open.py": (
        b"x = 1\ny = (x,\n",
        FAILED,
        """\
error[AGC303]: syntax error: '(' was never closed
  --> open.py:2:5
 2 | y = (x,
   |     ^
""",
    ),
    "prose.py": (
        b"Dear reader,\n",
        FAILED,
        """\
error[AGC303]: syntax error: invalid syntax
  --> prose.py:1:6
 1 | Dear reader,
   |      ^^^^^^
""",
    ),
    "late.py": (
        b"def f():\n    return 1\n\nreturn 2\n",
        FAILED,
        """\
error[AGC303]: syntax error: 'return' outside function
  --> late.py:4:1
 4 | return 2
   | ^^^^^^^^
""",
    ),
    "indent.py": (
        b"if 1:\n    a = 1\n  b = 2\n",
        FAILED,
        """\
error[AGC303]: indentation error: unindent does not match any outer indentation level
  --> indent.py:3:8
 3 |   b = 2
   |        ^
""",
    ),
}


@pytest.mark.parametrize("command", ["convert", "run"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used(inside, folder, name, command):
    data, exit_code, expected = FILES[name]
    if data is not None:
        (folder / name).write_bytes(data)
    assert complaint(inside(command, name), exit_code) == expected


@pytest.mark.parametrize(
    ("target", "reason", "module"),
    [
        ("collatz", "no such file", "collatz"),
        ("package.tool", "no such file", "package.tool"),
        ("collatz::collatz", "no such file", "collatz::collatz"),
        ("package::f", "it is a directory", "package::f"),
        ("./package/inner::f", "it is a directory", "package.inner::f"),
    ],
)
def test_a_module_is_run_by_its_name(inside, folder, target, reason, module):
    for package in ("package", "package/inner"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()
    result = inside("run", target)
    file = target.partition("::")[0]
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        f"error[AGC301]: cannot read `{file}`: {reason}\nfix: a module is run by its name: agc run -m {module}\n"
    )


def test_a_directory(inside, folder):
    (folder / "package").mkdir()
    expected = "error[AGC301]: cannot read `package`: it is a directory\nfix: name a .py file in it\n"
    assert complaint(inside("run", "package"), USAGE) == expected


def test_a_file_that_may_not_be_read(folder, monkeypatch, capsys):
    def deny(path, *arguments, **settings):  # root may read everything, so the system refuses nothing
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(sources, "open", deny, raising=False)
    assert main(["convert", str(folder / "collatz.py")]) == USAGE
    assert capsys.readouterr().err.endswith("collatz.py`: permission denied\n")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_an_endless_file(inside):
    expected = "error[AGC302]: `/dev/zero` is not Python source: it contains zero bytes"
    assert complaint(inside("convert", "/dev/zero"), FAILED).splitlines()[0] == expected


def test_a_loop_of_links(inside, folder):
    (folder / "loop.py").symlink_to("loop.py")
    assert "cannot read `loop.py`: " in complaint(inside("convert", "loop.py"), USAGE)


def test_code_nested_too_deeply(inside, folder):
    (folder / "deep.py").write_text("x = " + "(" * 500 + "1" + ")" * 500)
    assert "deep.py" in complaint(inside("convert", "deep.py"), FAILED)


def test_a_function_that_does_not_exist(agc, inside):
    expected = (
        "error[AGC304]: there is no function `colatz`\n  --> collatz.py\n"
        "why: the functions are: collatz{others}\nfix: did you mean `collatz`?\n"
    )
    others = ", Counter, Counter.__init__, Counter.down"
    for words in (["collatz.py", "--function", "colatz"], ["collatz.py::colatz"]):
        assert complaint(inside("convert", *words), USAGE) == expected.format(others=others)
    assert complaint(agc("run", "collatz.py::colatz"), USAGE) == expected.format(others="")


def test_the_functions_of_a_file_are_listed(inside):
    assert (
        complaint(inside("convert", "collatz.py::zzz"), USAGE)
        == """\
error[AGC304]: there is no function `zzz`
  --> collatz.py
why: the functions are: collatz, Counter, Counter.__init__, Counter.down
"""
    )


def test_a_pass_that_does_not_exist(inside):
    message = complaint(inside("convert", "collatz.py", "--after", "lower_brake"), USAGE)
    assert message.startswith(
        "error[AGC300]: there is no pass `lower_brake`\nwhy: the passes are, in order: "
    )
    assert "fix: did you mean `lower_break`" in message


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("no/where.py", "`no/where.py`: there is no directory `no`\nfix: mkdir -p no\n"),
        (".", "`.`: it is a directory\nfix: name a file\n"),
        ("collatz.py", "`collatz.py`: it is the file that is converted\nfix: write to another file\n"),
        ("./collatz.py", "`./collatz.py`: it is the file that is converted\nfix: write to another file\n"),
        ("link.py", "`link.py`: it is the file that is converted\nfix: write to another file\n"),
    ],
)
def test_a_destination_that_cannot_be_written(inside, folder, out, expected):
    (folder / "link.py").symlink_to("collatz.py")
    before = (folder / "collatz.py").read_bytes()
    message = complaint(inside("convert", "collatz.py", "-o", out), USAGE)
    assert message == "error[AGC307]: cannot write " + expected
    assert (folder / "collatz.py").read_bytes() == before


def test_nothing_is_written_when_the_conversion_fails(inside, folder):
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "out.py").write_text("precious = True\n")
    complaint(inside("convert", "broken.py", "-o", "out.py"), FAILED)
    assert (folder / "out.py").read_text() == "precious = True\n"
    assert sorted(path.name for path in folder.iterdir()) == ["broken.py", "collatz.py", "out.py"]


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (["convert"], "missing argument 'FILE'"),
        (["convert", "a.py", "b.py"], "got unexpected extra argument (b.py)"),
        (["convert", "a.py", "--nonsense"], "no such option"),
        (["convert", "a.py", "--color", "maybe"], "invalid value for '--color'"),
        (["convert", "a.py::f", "--function", "g"], "two functions are named: `f` and `g`"),
        (["compile", "a.py"], "no such command 'compile'"),
        (["run"], "missing argument 'FILE[::FUNCTION]'"),
        (["run", "--nonsense", "a.py"], "no such option"),
        (["run", "--graph", "a.py"], "--graph is for one function, and `a.py` names none"),
        (["run", "--arg", "1", "a.py"], "--arg is for one function, and `a.py` names none"),
        (["run", "a.py::f", "--graph", "--eager"], "--eager builds no graph that --graph could print"),
        (["completion"], "missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish\n"),
        (["completion", "tcsh"], "invalid value for '{bash|zsh|fish}'"),
    ],
)
def test_wrong_usage(inside, arguments, title):
    message = complaint(inside(*arguments), USAGE)
    assert message.startswith(f"error[AGC300]: {title}")
    assert "\nfix: " in message


def test_a_misspelled_command_names_the_similar_one(inside):
    message = complaint(inside("conver", "a.py"), USAGE)
    assert message.startswith("error[AGC300]: no such command 'conver'")
    assert message.endswith("\nfix: did you mean `convert`?\n")


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (["convert"], "missing argument 'FILE'"),
        (["convert", "a.py", "--color"], "option '--color' requires an argument"),
    ],
)
def test_usage_errors_name_the_help_command(inside, arguments, title):
    assert (
        complaint(inside(*arguments), USAGE)
        == f"error[AGC300]: {title}\nfix: `agc convert --help` shows the usage\n"
    )
