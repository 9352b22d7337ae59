"""The front door: help, version, completion, exit codes, and how little it loads."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from agc import autograph
from agc.cli.main import main


def test_version(agc):
    result = agc("--version")
    assert result.stdout == f"agc {version('agc-autograph')} (Python {sys.version.split()[0]})\n"
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("command", "examples"),
    [
        ([], ["agc convert model.py", "agc run model.py::f 27 --graph", "123  a bug in agc"]),
        (["convert"], ["agc convert model.py --diff", "cat model.py | agc convert - | python"]),
        (["run"], ["agc run -m package.tool --verbose", "0:float32[2,3]", "n=py:10"]),
        (["completion"], ['eval "$(agc completion bash)"']),
    ],
)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_has_examples(capsys, command, examples, option):
    assert main([*command, option]) == 0
    said = capsys.readouterr().out
    assert all(example in said for example in examples)


def test_no_command_is_wrong_usage_and_shows_help(capsys):
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Usage: agc [OPTIONS]")


def test_the_installed_command_is_the_module(agc):
    command = os.path.join(os.path.dirname(sys.executable), "agc")
    if not os.path.exists(command):
        pytest.skip("agc is not installed beside this Python")
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert said == agc("--version").stdout


@pytest.mark.parametrize(
    ("shell", "line"),
    [("bash", "_AGC_COMPLETE=bash_complete"), ("zsh", "#compdef agc"), ("fish", "--command agc")],
)
def test_completion_prints_the_shells_script(capfdbinary, shell, line):
    assert main(["completion", shell]) == 0
    assert line in capfdbinary.readouterr().out.decode()


def test_completion_offers_commands_options_and_passes(agc):
    def offered(words):
        words = ["agc", *words]
        env = {
            "_AGC_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        return [line.partition(",")[2] for line in agc(env=env).stdout.splitlines()]

    assert offered(["con"]) == ["convert"]
    assert "--annotate" in offered(["convert", "--a"])
    assert offered(["convert", "a.py", "--after", "lower_b"]) == ["lower_break"]
    assert offered(["run", "a.py::f", "--graph", "--after", "cs"]) == ["cse"]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["convert", "collatz.py"]])
def test_neither_numpy_nor_the_runtime_is_loaded_for_nothing(python, arguments):
    program = (
        "import sys; from agc.cli.main import main; code = main(sys.argv[1:])\n"
        "loaded = [name for name in ('numpy', 'agc.runtime') if name in sys.modules]\n"
        "sys.exit(f'loaded: {loaded}' if loaded else code)"
    )
    result = python("-c", program, *arguments)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_fault_of_agc_is_one_line(folder, monkeypatch, capsys):
    monkeypatch.setattr(autograph, "convert_source", fail)
    monkeypatch.delenv("AGC_FULL_TRACEBACK", raising=False)
    assert main(["convert", str(folder / "collatz.py")]) == 123
    assert capsys.readouterr().err == (
        "error[AGC399]: agc itself failed: KeyError: 'lost' (AGC_FULL_TRACEBACK=1 shows the traceback)\n"
    )


def test_a_fault_of_agc_with_its_traceback(folder, monkeypatch, capsys):
    monkeypatch.setattr(autograph, "convert_source", fail)
    monkeypatch.setenv("AGC_FULL_TRACEBACK", "1")
    assert main(["convert", str(folder / "collatz.py")]) == 123
    message = capsys.readouterr().err
    assert message.startswith("Traceback (most recent call last):\n")
    assert message.endswith("KeyError: 'lost'\nerror[AGC399]: agc itself failed: KeyError: 'lost'\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted")
def test_a_deleted_folder_is_no_fault_of_agc(folder, monkeypatch, capsys):
    gone = folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    message = "error[AGC301]: the current folder was deleted\nfix: change to a folder that exists\n"
    commands = (
        ["convert", "m.py"],
        ["run", "m.py"],
        ["run", "-m", "m"],
        ["run", "m.py::f"],
        ["explore", "m.py::f"],
    )
    for command in commands:
        assert main(command) == 2
        assert capsys.readouterr().err == message
    assert main(["check", str(folder / "collatz.py")]) == 2
    assert "error[AGC301]: the current folder was deleted" in capsys.readouterr().out


def test_an_interrupted_conversion(folder, monkeypatch):
    monkeypatch.setattr(autograph, "convert_source", interrupt)
    assert main(["convert", str(folder / "collatz.py")]) == 130


def fail(*arguments, **settings):
    raise KeyError("lost")


def interrupt(*arguments, **settings):
    raise KeyboardInterrupt


def test_python_runs_the_package_as_the_command():
    root = Path(__file__).parents[2]
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    main = (
        root / settings["package-dir"]["agc"] / "__main__.py"
    )  # what `python -m agc` runs once agc is installed
    result = subprocess.run(
        [sys.executable, str(main), "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("agc ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no such device")
@pytest.mark.parametrize("arguments", [["--version"], ["run", "--help"], ["run", "program.py"]], ids=" ".join)
def test_a_full_disk_below_stdout(folder, arguments):
    (folder / "program.py").write_text("print(1)\n")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "agc", *arguments]
        env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=folder, env=env)
    assert done.stderr == "error[AGC307]: cannot write `stdout`: no space left on device\n"
    assert done.returncode == 2
