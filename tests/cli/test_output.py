"""Files are replaced as a whole or not at all."""

import os
import stat
import threading

import pytest
from agc.cli import output
from agc.cli.errors import CommandError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_has_the_usual_permissions(tmp_path):
    output.write(str(tmp_path / "new.py"), "x = 'é'\n")
    (tmp_path / "usual").touch()
    assert (tmp_path / "new.py").read_bytes() == "x = 'é'\n".encode()
    assert (tmp_path / "new.py").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert names(tmp_path) == ["new.py", "usual"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640])
def test_an_old_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "old.py"
    path.write_text("old")
    path.chmod(mode)
    output.write(str(path), "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.py").write_text("old")
    (tmp_path / "link.py").symlink_to("real.py")
    output.write(str(tmp_path / "link.py"), "new")
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_text() == "new"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    def fail(source, target):
        raise OSError(28, "No space left on device")

    (tmp_path / "old.py").write_text("old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(CommandError, match="no space left on device"):
        output.write(str(tmp_path / "old.py"), "new")
    assert (tmp_path / "old.py").read_text() == "old"
    assert names(tmp_path) == ["old.py"]


def test_a_pipe_is_fed_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    output.write(str(pipe), "text")
    reader.join()
    assert received == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# -*- coding: latin-1 -*-\nx\n", "# -*- coding: utf-8 -*-\nx\n"),
        (
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n",
            "#!/usr/bin/python\n# vim: set fileencoding=utf-8 :\n",
        ),
        ("x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n"),
        ("\n\n# coding: latin-1\n", "\n\n# coding: latin-1\n"),
        ("", ""),
    ],
)
def test_the_coding_line_follows_the_coding(text, expected):
    assert output.in_utf8(text) == expected
