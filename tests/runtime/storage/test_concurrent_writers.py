"""Several writers and readers of one place: what is read is whole, and what killed writers leave is removed.

`AGC_FUZZ=2000 pytest tests/runtime/storage/test_concurrent_writers.py` kills writers of each kind 20 times.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.saved_model import file_format as model_files
from agc.runtime.storage import atomic_files, locks
from support.sealed_files import changed

SIZE = 3000
KILLED = int(os.environ.get("AGC_FUZZ", "0")) // 100


class Model(tf.Module):
    """A module all of whose values are one number: a mixture of two models shows."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.v = tf.Variable(np.full(SIZE, number, np.float32))
        self.k = tf.Variable(number)

    @tf.function(input_signature=[])
    def whole(self) -> Any:
        return tf.reduce_all(self.v == tf.cast(self.k, tf.float32))


def save_model(place: Path, number: int) -> None:
    tf.saved_model.save(Model(number), place)


def load_model(place: Path) -> bool:
    return bool(tf.saved_model.load(place).whole())


def save_checkpoint(place: Path, number: int) -> None:
    tf.train.Checkpoint(m=Model(number)).write(place / "ck")


def load_checkpoint(place: Path) -> bool:
    reader = tf.train.load_checkpoint(place / "ck")
    end = "/.ATTRIBUTES/VARIABLE_VALUE"
    return bool((reader.get_tensor("m/v" + end) == reader.get_tensor("m/k" + end)).all())


def save_with_manager(place: Path, number: int) -> None:
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(m=Model(number)), place, 2)
    manager.save(checkpoint_number=number)


def load_latest(place: Path) -> bool:
    """The latest may be deleted before it is read where two managers are at work, but is never torn."""
    model = Model(0)
    path = tf.train.latest_checkpoint(place)
    assert path is not None
    tf.train.Checkpoint(m=model).read(path).expect_partial()
    return bool(model.whole())


def save_dataset(place: Path, number: int) -> None:
    tf.data.Dataset.from_tensor_slices(np.full((10, 50), number)).save(place)


def load_dataset(place: Path) -> bool:
    rows = np.array([row.numpy() for row in tf.data.Dataset.load(place)])
    return rows.shape == (10, 50) and rows.min() == rows.max()


KINDS: dict[str, tuple[Callable[[Path, int], None], Callable[[Path], bool]]] = {
    "saved_model": (save_model, load_model),
    "checkpoint": (save_checkpoint, load_checkpoint),
    "manager": (save_with_manager, load_latest),
    "dataset": (save_dataset, load_dataset),
}
FILES = {"saved_model": 4, "checkpoint": 2, "manager": 5, "dataset": 2}
"""How many files are there in the end: one model, one checkpoint, two checkpoints and their list."""


def files_in(place: Path) -> list[str]:
    return [str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()]


@pytest.mark.parametrize("kind", ["saved_model", "checkpoint", "dataset"])
def test_readers_see_whole_values_during_concurrent_writes(kind: str, tmp_path: Path) -> None:
    save, load = KINDS[kind]
    save(tmp_path, 1)
    is_over = threading.Event()

    def write(start: int) -> None:
        for number in range(start, start + 4):
            save(tmp_path, number)

    def read(_: int) -> int:
        found = 0
        while not is_over.is_set():
            assert load(tmp_path)
            found += 1
        return found

    with ThreadPoolExecutor(4) as executor:
        readers = [executor.submit(read, number) for number in range(2)]
        try:
            list(executor.map(write, (100, 200)))
        finally:
            is_over.set()
        assert all(reader.result() for reader in readers)
    save(tmp_path, 7)
    assert load(tmp_path)
    assert len(files_in(tmp_path)) == FILES[kind]


SCRIPT = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[1]).parents[1])]
from test_concurrent_writers import KINDS
save = KINDS[sys.argv[2]][0]
for number in range(int(sys.argv[4]), 10**9):
    save(Path(sys.argv[3]), number)
    print(number, flush=True)
"""


if KILLED:

    @pytest.mark.parametrize(
        ("kind", "writers"),
        [(kind, count) for kind in KINDS for count in (1, 2)],
    )
    def test_killed_writers_leave_a_whole_value_and_removable_files(
        kind: str, writers: int, tmp_path: Path
    ) -> None:
        save, load = KINDS[kind]
        here = os.path.dirname(os.path.abspath(__file__))
        save(tmp_path, 1)
        for attempt in range(KILLED):
            started = [
                subprocess.Popen(
                    [
                        sys.executable,
                        "-c",
                        SCRIPT,
                        here,
                        kind,
                        str(tmp_path),
                        str(1000 * attempt + 500000 * writer),
                    ],
                    stdout=subprocess.PIPE,
                )
                for writer in range(writers)
            ]
            for process in started:
                assert process.stdout is not None
                assert process.stdout.readline()
            threading.Event().wait(random.random() * 0.2)
            for process in started:
                process.kill()
            for process in started:
                process.communicate()
            if kind != "manager" or writers == 1:
                assert load(tmp_path)
        save(tmp_path, 10**8)
        if kind != "manager":
            assert len(files_in(tmp_path)) == FILES[kind]
        assert not [name for name in files_in(tmp_path) if name.endswith(".tmp")]


def leave_model(place: Path) -> None:
    """What a writer of a model leaves that is killed: its lock is free."""
    writer = model_files.Writer(place)
    writer.variables({"v": np.zeros(3)})
    writer._write("functions/0-f.json", b"half of it")
    (writer._place / "assets").mkdir()
    leave_draft(writer._place / "assets" / "words.txt")
    writer._close()


def leave_draft(path: Path) -> None:
    """What `replacing` leaves when it is killed."""
    draft = atomic_files.Draft(path)
    draft.stream.write(b"half of it")
    draft.stream.close()
    draft._lock.close()


@pytest.mark.parametrize("kind", KINDS)
def test_leftovers_of_killed_writers_are_removed_by_the_next_save(kind: str, tmp_path: Path) -> None:
    save, load = KINDS[kind]
    if kind == "saved_model":
        leave_model(tmp_path)
        leave_draft(tmp_path / "saved_model.json")
    elif kind == "dataset":
        leave_draft(tmp_path / "elements.rows")
    else:
        for name in ("ck.index", "ck.data-00000-of-00001", "ckpt-77.data-00000-of-00001"):
            leave_draft(tmp_path / name)
    assert files_in(tmp_path)
    save(tmp_path, 1)
    save(tmp_path, 2)
    assert len(files_in(tmp_path)) == FILES[kind]
    assert load(tmp_path)


def test_leftovers_in_formats_of_others_are_removed_by_the_next_save(tmp_path: Path) -> None:
    checkpoint, model = tf.train.Checkpoint(m=Model(1)), Model(1)
    options = tf.train.CheckpointOptions(experimental_format="tensorflow")
    writers: dict[str, Callable[[], Any]] = {
        "checkpoint/ck.index": lambda: checkpoint.write(tmp_path / "checkpoint" / "ck", options),
        "checkpoint/ck.data-00000-of-00001": lambda: checkpoint.write(
            tmp_path / "checkpoint" / "ck", options
        ),
        "checkpoint/ck.data-00000-of-00002": lambda: checkpoint.write(
            tmp_path / "checkpoint" / "ck", options
        ),
        "function/f.txt": lambda: tf.export.text(model.whole, tmp_path / "function" / "f.txt"),
        "model/variables/variables.index": lambda: tf.saved_model.save(
            model, tmp_path / "model", options=tf.saved_model.SaveOptions(experimental_format="tensorflow")
        ),
    }
    for name, write in writers.items():
        leave_draft(tmp_path / name)
        write()
        assert not [name for name in files_in(tmp_path) if name.endswith(".tmp")]


def test_files_of_a_live_writer_are_not_removed(tmp_path: Path) -> None:
    writer = model_files.Writer(tmp_path)
    writer.variables({"v": np.zeros(3)})
    with atomic_files.drafted(tmp_path / "saved_model.json") as draft:
        save_model(tmp_path, 1)
        assert draft._path.exists()
    assert (writer._place / model_files.VARIABLES).exists()
    writer.abandon()
    assert len(files_in(tmp_path)) == FILES["saved_model"]


FOREIGN = [
    "2023/photo.jpg", "1/photo.jpg", "7/variables.safetensors", "model-1/a", "model-0123456789abcdef/photo.jpg",
    "model-0123456789abcdef/assets/deep/photo.jpg", "assets/a", ".a.tmp", ".saved_model.json.tmp", "notes.txt",
    "ck-12345678.data-00000-of-00001", "ck.txt", "ck.0123456789abcdef.index", "ck.0123456789abcdef.data-00000-of-00001",
    "ck.data", ".ck.index.tmp", "checkpoint.bak", "ckpt-9.index.bak", "other-1.index", "elements.rows.bak",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_saving_deletes_only_its_own_files(kind: str, tmp_path: Path) -> None:
    for name in FOREIGN:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("precious")
    (tmp_path / "8").symlink_to(tmp_path / "2023")
    (tmp_path / "model-00000000000000ff").symlink_to(tmp_path / "2023")
    save, load = KINDS[kind]
    for number in range(1, 5):
        save(tmp_path, number)
    assert load(tmp_path)
    gone = [name for name in FOREIGN if not (tmp_path / name).exists()]
    assert gone == []


def test_the_folder_that_a_hostile_index_names_keeps_foreign_files(tmp_path: Path) -> None:
    save_model(tmp_path, 1)
    (tmp_path / "2023" / "functions").mkdir(parents=True)
    foreign = ["2023/photo.jpg", "2023/functions/photo.jpg", "notes.txt"]
    for name in foreign:
        (tmp_path / name).write_text("precious")
    named = {"photo.jpg": "", "../notes.txt": "", "functions/../photo.jpg": ""}
    changed(tmp_path / "saved_model.json", lambda content: content.update(folder="2023", files=named))
    save_model(tmp_path, 2)
    assert [name for name in foreign if not (tmp_path / name).exists()] == []
    assert load_model(tmp_path)


def test_a_hostile_index_of_a_checkpoint_has_nothing_deleted(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    for name in ("thesis.tex", "ck2.data-00000-of-00001"):
        save_checkpoint(tmp_path, 1)
        (tmp_path / "ck2.data-00000-of-00001").write_text("precious")
        changed(tmp_path / "ck.index", lambda content, name=name: content["data"].update(file=name))
        save_checkpoint(tmp_path, 2)
        assert load_checkpoint(tmp_path)
        assert (tmp_path / "thesis.tex").exists()
        assert (tmp_path / "ck2.data-00000-of-00001").exists()


@pytest.mark.parametrize(
    "named", ["{there}/mine", "../there/mine", "mine", "mine-1", "x/../../there/mine", "ckpt-x"]
)
def test_a_manager_deletes_no_checkpoint_that_is_not_its_own(named: str, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    named = named.format(there=there)
    for folder in (here, there):
        folder.mkdir()
    for path in (there / "mine", here / named):
        path.parent.mkdir(parents=True, exist_ok=True)
        tf.train.Checkpoint(v=tf.Variable(1.0)).write(path)
    (here / "checkpoint").write_text(f"all_model_checkpoint_paths: {json.dumps(named)}\n")
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(2.0)), here, max_to_keep=1)
    for number in range(5, 8):
        manager.save(checkpoint_number=number)
    assert (there / "mine.index").exists()
    assert Path(f"{here / named}.index").exists()
    assert manager.checkpoints == [str(here / "ckpt-7")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_system_without_locks_saves_and_replaces(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "fcntl", None)
    save, load = KINDS[kind]
    for number in range(1, 4):
        save(tmp_path, number)
        assert load(tmp_path)
    assert len(files_in(tmp_path)) == FILES[kind]


def test_waiting_for_a_locked_folder_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_PATIENCE", 0.02)
    save_checkpoint(tmp_path, 1)
    with (
        locks.exclusive(tmp_path),
        pytest.raises(tf.errors.UnavailableError, match="another process has been writing"),
    ):
        save_checkpoint(tmp_path, 2)
    assert load_checkpoint(tmp_path)
    assert len(files_in(tmp_path)) == FILES["checkpoint"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_keeps_the_old_value(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, load = KINDS[kind]
    save(tmp_path, 1)
    before = sorted(files_in(tmp_path))
    original = open

    def full(path: Any, mode: str = "r", **rest: Any) -> Any:
        if mode != "xb":
            return original(path, mode, **rest)
        original(path, mode).close()
        return original("/dev/full", "wb")

    with monkeypatch.context() as patch:
        patch.setattr(atomic_files, "open", full, raising=False)
        with pytest.raises(OSError, match=rf"No space left on device: '{tmp_path}/.*(?<!tmp)'"):
            save(tmp_path, 2)
    assert sorted(files_in(tmp_path)) == before
    assert load(tmp_path)


def test_an_asset_that_is_in_use_outlives_the_next_model(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("hello")

    class Words(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.asset = tf.saved_model.Asset(tmp_path / "words.txt")

    tf.saved_model.save(Words(), tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    for _ in range(2):
        tf.saved_model.save(loaded, tmp_path / "model")
    assert Path(os.fspath(loaded.asset)).read_text() == "hello"
    del loaded
    save_model(tmp_path / "model", 1)
    assert len(files_in(tmp_path / "model")) == FILES["saved_model"]
