"""Tools are started as a user starts them: another process, in a folder of its own."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def python(tmp_path):
    """Start Python in a folder of its own, with lines on its stdin."""

    def start(*arguments, lines=(), env=None):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            input="".join(f"{line}\n" for line in lines),
            cwd=tmp_path,
            env={
                **os.environ,
                "NO_COLOR": "1",
                "PYTHON_COLORS": "0",
                "IPYTHONDIR": str(tmp_path),
                **(env or {}),
            },
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return start
