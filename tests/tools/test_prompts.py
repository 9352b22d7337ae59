"""Functions that are typed: at Python's prompt, in IPython, in a notebook cell, after `python -c`."""

import os
import pty
import select
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")

CELL = """\
def count(n):
    k = 0
    while n > 1:
        n = n // 2
        k += 1
    return k
"""
RUN = "print('it is', tf.function(count)(tf.constant(40)))"
FOUND = "it is tf.Tensor(5, shape=(), dtype=int32)"


def at_a_terminal(command, lines, folder):
    """What a program says that is talked to over a terminal, one line after the other."""
    mine, its = pty.openpty()
    env = {**os.environ, "TERM": "dumb", "PYTHON_BASIC_REPL": "1", "PYTHONSTARTUP": "", "HOME": str(folder)}
    process = subprocess.Popen(
        command, stdin=its, stdout=its, stderr=its, cwd=folder, env=env, close_fds=True
    )
    os.close(its)
    os.write(mine, "".join(f"{line}\n" for line in lines).encode())
    said = b""
    while select.select([mine], [], [], 60)[0]:
        try:
            data = os.read(mine, 65536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        said += data
    os.close(mine)
    assert process.wait(60) == 0
    return said.decode().replace("\r\n", "\n")


def test_python_s_prompt_at_a_terminal(tmp_path):
    lines = ["import readline", "import agc.runtime as tf", *CELL.splitlines(), "", RUN, "exit()"]
    assert FOUND in at_a_terminal([sys.executable, "-i"], lines, tmp_path)


def test_the_last_definition_at_the_prompt_is_used(tmp_path):
    lines = [
        "import readline", "import agc.runtime as tf",
        *CELL.splitlines(), "",
        *CELL.replace("k += 1", "k += 2").splitlines(), "",
        RUN, "exit()",
    ]  # fmt: skip
    assert "it is tf.Tensor(10, shape=(), dtype=int32)" in at_a_terminal(
        [sys.executable, "-i"], lines, tmp_path
    )


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="keeps what is typed, wherever it comes from")
def test_a_prompt_that_is_fed_from_a_pipe_keeps_nothing(python):
    done = python("-i", lines=["import agc.runtime as tf", *CELL.splitlines(), "", RUN])
    assert "error[AGC101]: the source of `count` cannot be found\n  --> <stdin>:1, in count\n" in done.stderr
    assert "fix: use IPython or Python 3.13, which keep the text of the prompt" in done.stderr


def test_a_script_followed_by_the_prompt(python, tmp_path):
    (tmp_path / "script.py").write_text("import agc.runtime as tf\n" + CELL)
    assert FOUND in python("-i", "script.py", lines=[RUN]).stdout


@pytest.mark.parametrize("options", [["-c"], ["-W", "ignore", "-Xdev", "-c"], ["-Ic"]])
def test_a_command(python, options):
    assert python(*options, f"import agc.runtime as tf\n{CELL}\n{RUN}", "-c", "no").stdout == f"{FOUND}\n"


def test_ipython(python):
    cells = ["import agc.runtime as tf", *CELL.splitlines(), "", RUN, "exit"]
    done = python("-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit", lines=cells)
    assert FOUND in done.stdout


def test_an_error_in_ipython_shows_the_line_of_the_cell(python):
    cells = [
        "import agc.runtime as tf",
        *CELL.replace("n // 2", "tf.cast(n, tf.float32)").splitlines(), "",
        RUN, "exit",
    ]  # fmt: skip
    done = python("-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit", lines=cells)
    assert "error[AGC204]" in done.stdout
    assert " 4 |         n = tf.cast(n, tf.float32)" in done.stdout
