"""The hook definition of pre-commit names a command that takes files."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def test_the_hook_checks_the_files_that_it_gets(python, tmp_path):
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (entry,) = re.findall(r"^  entry: agc (.+)$", text, re.M)
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "bad.py").write_text("def f(x:\n")
    done = python("-m", "agc", *entry.split(), "good.py", "bad.py")
    assert done.returncode == 1 and "bad.py:1" in done.stdout
    assert python("-m", "agc", *entry.split(), "good.py").returncode == 0
