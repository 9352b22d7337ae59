"""`agc.show` in a terminal."""

import os
import subprocess
import sys

import agc
import agc.runtime as tf
import pytest


def test_shows_source_code_and_graphs_as_plain_text(capsys, program):
    function, arguments = program
    agc.show(function, *arguments)
    text = capsys.readouterr().out
    titles = [line for line in text.splitlines() if line in ("Source", "Generated code", "Graph")]
    assert titles[:2] == ["Source", "Generated code"] and set(titles[2:]) == {"Graph"}
    assert "@tf.function\ndef settle(x, rounds):" in text and "ag__.for_loop" in text
    assert "graph settle(x: float32[1, 2]" in text


def test_functions_without_traces_have_no_graph(capsys):
    agc.show(lambda x: x + 1)
    assert "Graph" not in capsys.readouterr().out


def test_code_without_a_file_says_so(capsys):
    space = {}
    exec("def f(x):\n    return x + 1", space)
    agc.show(space["f"], tf.constant(1))
    text = capsys.readouterr().out
    assert "Source\n" not in text and "AGC101" in text and "add = add x, 1" in text


def test_terminals_show_colors(tmp_path):
    pty = pytest.importorskip("pty")
    pytest.importorskip("rich")
    program = "import agc, sys; from collatz import collatz; agc.show(collatz)"
    (tmp_path / "collatz.py").write_text("def collatz(n):\n    return n + 1\n")
    here, there = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, stdout=there, env=environment, check=True)
    os.close(there)
    text = os.read(here, 1 << 16).decode()
    os.close(here)
    assert "Source " in text and "─" in text and "\x1b[" in text and "collatz" in text
