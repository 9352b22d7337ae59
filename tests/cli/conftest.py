"""The command as a user starts it: another process, in a folder of its own.

def test_version(agc):
    assert agc("--version").stdout.startswith("agc ")
"""

import io
import os
import subprocess
import sys

import pytest
from agc.cli.main import main
from support import prepared

COLLATZ = '''\
"""The Collatz sequence."""


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


class Counter:
    def __init__(self, start):
        self.value = start

    def down(self, by):
        while self.value > 0:
            self.value = self.value - by
        return self.value


if __name__ == "__main__":
    print(collatz(27))
'''


@pytest.fixture
def folder(tmp_path):
    """A folder that holds `collatz.py`."""
    (tmp_path / "collatz.py").write_text(COLLATZ)
    return tmp_path


@pytest.fixture
def python(folder):
    """Start Python in the folder; `stdin` is text, `env` is added to the environment."""

    def start(*arguments, stdin="", env=None, timeout=60):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            input=stdin,
            cwd=folder,
            env={**clean_environment(), **(env or {})},
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
        )

    return start


@pytest.fixture
def agc(folder):
    """Start `agc` in the folder."""

    def start(*arguments, stdin="", env=None):
        return prepared.run(arguments, cwd=folder, env={**clean_environment(), **(env or {})}, input=stdin)

    return start


@pytest.fixture
def inside(folder, monkeypatch):
    """`agc` in this process, which is quicker; what a program that it runs imports is not converted afterwards."""

    def start(*arguments, stdin="", env=None):
        streams = {"stdin": stdin.encode(), "stdout": b"", "stderr": b""}
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "argv", sys.argv)
            for name in ("path", "meta_path"):
                patch.setattr(sys, name, list(getattr(sys, name)))
            for name in set(os.environ) - set(clean_environment()):
                patch.delenv(name)
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            for name, data in streams.items():
                patch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""))
            code = main([str(argument) for argument in arguments])
            sys.stderr.flush()
            out, err = (stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr))
        return subprocess.CompletedProcess(arguments, code, out, err)

    return start


def clean_environment():
    """The environment without what changes agc's or Python's output; Python is given UTF-8."""
    unwanted = ("NO_COLOR", "FORCE_COLOR", "PYTHON_COLORS", "AGC_FULL_TRACEBACK", "_AGC_COMPLETE")
    kept = {key: value for key, value in os.environ.items() if key not in unwanted}
    return {**kept, "PYTHONIOENCODING": "utf-8"}
