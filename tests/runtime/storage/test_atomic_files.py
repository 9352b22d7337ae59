"""Files are there completely or not at all."""

import os
import stat

import pytest
from agc.runtime.storage.atomic_files import replacing, write_files


def test_the_old_content_stays_when_writing_fails(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), replacing(path) as stream:
        stream.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["values"]


def test_a_reader_sees_the_old_content_until_the_end(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_files_have_the_usual_permissions(tmp_path):
    with replacing(tmp_path / "values") as stream:
        stream.write(b"")
    (tmp_path / "usual").write_bytes(b"")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("values", "usual")}
    assert len(modes) == 1


def test_no_file_of_a_folder_is_replaced_when_one_cannot_be_written(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(b"old")
    with pytest.raises(OSError, match=f"/{'n' * 250}'$"):  # the name of its draft is too long
        write_files(tmp_path, {"first": b"new", "n" * 250: b"new", "second": b"new"})
    assert [(tmp_path / name).read_bytes() for name in ("first", "second")] == [b"old", b"old"]
    assert sorted(os.listdir(tmp_path)) == ["first", "second"]
    write_files(tmp_path, {"first": b"new", "second": b"new"})
    assert [(tmp_path / name).read_bytes() for name in ("first", "second")] == [b"new", b"new"]


@pytest.mark.parametrize("last", ["first", "second", "third"])
def test_a_writer_that_ends_early_leaves_no_files_of_two_models_under_their_names(
    last, tmp_path, monkeypatch
):
    names = "first", "second", "third"
    write_files(tmp_path, dict.fromkeys(names, b"old"))
    replace = os.replace

    def interrupted(source, target):
        if target == tmp_path / last:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, dict.fromkeys(names, b"new"))
    assert "first" not in os.listdir(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_pipes_devices_and_folders_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.mkdir(tmp_path / "folder")
    os.symlink(os.devnull, tmp_path / "null")  # such as /dev/stdout
    for name in ("pipe", "folder", "null"):
        with pytest.raises(FileExistsError, match=f"not a regular file: '{tmp_path}/{name}'"):
            write_files(tmp_path, {name: b"new"})
    assert sorted(os.listdir(tmp_path)) == ["folder", "null", "pipe"]
    assert os.path.islink(tmp_path / "null")
