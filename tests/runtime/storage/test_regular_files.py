"""Files that an index names are regular files inside its folder, whatever the index says."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.storage import checksummed_json, regular_files
from support.sealed_files import changed

SECRET = b"secret"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    (path / "inner").mkdir(parents=True)
    (path / "inner" / "plain").write_bytes(b"plain")
    return path


def test_regular_files_are_read(folder: Path) -> None:
    with regular_files.open_inside(folder, "inner/plain") as stream:
        assert stream.read() == b"plain"
    with pytest.raises(tf.errors.NotFoundError, match="there is no file"):
        regular_files.open_inside(folder, "inner/other")


@pytest.mark.parametrize(
    "name",
    [
        "..", "../secret.txt", "inner/../../secret.txt", "inner/..", ".", "", "/", "/etc/passwd", "inner//plain",
        "inner/", "./inner/plain", "inner/plain\0", "\0", "\ud800", "x" * 300, "inner", 5, None, ["inner"], {},
    ],
)  # fmt: skip
def test_names_outside_of_the_folder_are_refused(folder: Path, secret: Path, name: Any) -> None:
    with pytest.raises(tf.errors.DataLossError):
        regular_files.open_inside(folder, name)


def bound(place: Path) -> None:
    """Make a socket."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(place))  # which has fewer characters than the system's limit


@pytest.mark.parametrize(
    "make",
    [
        lambda place, secret: place.symlink_to(secret),
        lambda place, secret: place.symlink_to("/dev/zero"),
        lambda place, secret: place.symlink_to(place),
        lambda place, secret: place.mkdir(),
        lambda place, secret: os.mkfifo(place),
        lambda place, secret: bound(place),
    ],
    ids=["link", "device", "circle", "folder", "fifo", "socket"],
)
def test_special_files_are_refused_without_blocking(
    folder: Path, secret: Path, make: Callable[[Path, Path], Any]
) -> None:
    make(folder / "inner" / "other", secret)
    with pytest.raises(tf.errors.DataLossError, match=r"not a regular file|is a link"):
        regular_files.open_inside(folder, "inner/other")


def test_folders_that_are_links_are_refused(folder: Path, tmp_path: Path, secret: Path) -> None:
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(tf.errors.DataLossError, match="links out of a folder are not followed"):
        regular_files.open_inside(folder, "link/secret.txt")
    (tmp_path / "mine").symlink_to(folder)  # the folder itself is the program's choice
    with regular_files.open_inside(tmp_path / "mine", "inner/plain") as stream:
        assert stream.read() == b"plain"


def test_an_index_that_is_a_device_or_a_fifo_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for place in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(tf.errors.DataLossError, match="not a regular file"):
            checksummed_json.read(place, "dataset", 1)


class Words(tf.Module):
    """A module with an asset, a variable and a function."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.asset = tf.saved_model.Asset(path)
        self.v = tf.Variable(1.0)

    @tf.function(input_signature=[])
    def read(self) -> Any:
        return tf.io.read_file(self.asset.asset_path), self.v + 1.0


def named(name: str, checksum: str) -> Callable[[dict[str, Any]], None]:
    """Let every file of a saved model, in turn, have this name."""

    def change(content: dict[str, Any]) -> None:
        for node in content["nodes"]:
            if node["kind"] == "asset":
                node["asset"] = name
        content["files"][name] = checksum

    return change


@pytest.mark.parametrize(
    "name", ["../../secret.txt", "{secret}", "assets/../../../secret.txt", "assets/a\0b", "assets"]
)
def test_a_saved_model_names_no_foreign_file(tmp_path: Path, secret: Path, name: str) -> None:
    folder = tmp_path / "model"
    tf.saved_model.save(Words(secret), folder)
    name = name.format(secret=secret)
    changed(folder / "saved_model.json", named(name, sha256(SECRET).hexdigest()))
    with pytest.raises(tf.errors.DataLossError):
        tf.saved_model.load(folder)


@pytest.mark.parametrize(
    "folder_name", ["..", "../model", ".", "", "/tmp", -1, None, "model", "a/b", "٣", [], 10**30]
)
def test_a_saved_model_names_no_foreign_folder(tmp_path: Path, secret: Path, folder_name: Any) -> None:
    folder = tmp_path / "model"
    tf.saved_model.save(Words(secret), folder)
    changed(folder / "saved_model.json", lambda content: content.update(folder=folder_name))
    with pytest.raises(tf.errors.DataLossError, match="names a folder"):
        tf.saved_model.load(folder)
    tf.saved_model.save(Words(secret), folder)  # which such an index does not hinder
    assert tf.saved_model.load(folder).read()[0] == SECRET


def test_links_among_the_files_of_a_saved_model_are_refused(tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "model"
    tf.saved_model.save(Words(secret), folder)
    (place,) = folder.glob("model-*")
    for path in [*(path for path in place.rglob("*")), place]:
        path.rename(tmp_path / "moved")
        path.symlink_to(tmp_path / "moved")
        with pytest.raises(tf.errors.DataLossError, match="links out of a folder are not followed"):
            tf.saved_model.load(folder)
        path.unlink()
        (tmp_path / "moved").rename(path)
    assert tf.saved_model.load(folder).read()[0] == SECRET


def test_an_asset_that_is_a_link_is_not_saved(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "link").symlink_to(secret)
    with pytest.raises(tf.errors.InvalidArgumentError, match="name the file itself"):
        tf.saved_model.save(Words(tmp_path / "link"), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["../secret.txt", "{secret}", "a\0b", "", "..", 3])
def test_a_checkpoint_names_no_foreign_data(tmp_path: Path, secret: Path, name: Any) -> None:
    prefix = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "inner" / "ck")
    name = name.format(secret=secret) if isinstance(name, str) else name
    changed(Path(f"{prefix}.index"), lambda content: content["data"].update(file=name))
    with pytest.raises(tf.errors.DataLossError):
        tf.train.load_checkpoint(prefix)


def test_data_of_a_checkpoint_that_are_a_link_are_refused(tmp_path: Path) -> None:
    prefix = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ck")
    data = Path(f"{prefix}.data-00000-of-00001")
    data.rename(tmp_path / "moved")
    data.symlink_to(tmp_path / "moved")
    with pytest.raises(tf.errors.DataLossError, match="links out of a folder are not followed"):
        tf.train.load_checkpoint(prefix)


PLACES: dict[str, Callable[[Path], Any]] = {
    "d/elements.rows": lambda folder: list(tf.data.Dataset.load(str(folder / "d"))),
    "d/spec.json": lambda folder: tf.data.Dataset.load(str(folder / "d")),
    "ck.index": lambda folder: tf.train.load_checkpoint(folder / "ck"),
    "ck.data-00000-of-00001": lambda folder: tf.train.load_checkpoint(folder / "ck"),
    "model/saved_model.json": lambda folder: tf.saved_model.load(folder / "model"),
    "model/*/variables.safetensors": lambda folder: tf.saved_model.load(folder / "model"),
    "model/*/functions/0-read.json": lambda folder: tf.saved_model.load(folder / "model"),
    "model/*/assets/secret.txt": lambda folder: tf.saved_model.load(folder / "model"),
}


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["fifo", "device"]
)
@pytest.mark.parametrize("place", PLACES)
def test_no_loader_waits_for_a_fifo_or_reads_a_device(
    place: str, make: Callable[[Path], Any], tmp_path: Path, secret: Path
) -> None:
    tf.data.Dataset.range(3).save(str(tmp_path / "d"))
    tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ck")
    tf.saved_model.save(Words(secret), tmp_path / "model")
    (path,) = tmp_path.glob(place)
    path.unlink()
    make(path)
    with pytest.raises((tf.errors.DataLossError, tf.errors.NotFoundError, FileNotFoundError)):
        PLACES[place](tmp_path)
