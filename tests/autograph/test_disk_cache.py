"""The caches on disk hold what this user wrote and no one else can change; all else counts as none."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agc.autograph import code_cache, disk_cache
from agc.autograph.disk_cache import Store

STORES = {"modules": Store("cpython-311", 100, 1 << 20), "objects": Store("native", 100, 1 << 20)}

has_owners = pytest.mark.skipif(not disk_cache._HAS_OWNERS, reason="the system has no owners of files")


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGC_CACHE_DIR", str(tmp_path / "shared" / "agc"))
    return tmp_path / "shared" / "agc"


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    return STORES[request.param]


def test_an_entry_is_read_only_with_the_same_context(top: Path, store: Store) -> None:
    assert store.read("a") is None
    store.write("a", b"data", b"version 1")
    assert store.read("a", b"version 1") == b"data"
    for other in ((b"version 2",), (), (b"version 1", b"")):
        assert store.read("a", *other) is None
    assert [path.name for path in (top / store.name).iterdir()] == ["a.agc"]


def test_an_entry_in_the_place_of_another_is_ignored(top: Path, store: Store) -> None:
    store.write("a", b"data")
    store.write("b", b"other data")
    os.replace(top / store.name / "a.agc", top / store.name / "b.agc")
    assert store.read("b") is None


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077, 0o777])
def test_folders_and_files_are_for_the_user_alone_whatever_the_umask(
    top: Path, store: Store, umask: int
) -> None:
    before = os.umask(umask)
    try:
        store.write("a", b"data")
    finally:
        os.umask(before)
    assert store.read("a") == b"data"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (top.parent, top, *top.rglob("*"))}
    assert {path.name: mode for path, mode in modes.items()} == {
        "shared": 0o700, "agc": 0o700, store.name: 0o700, "a.agc": 0o600,
    }  # fmt: skip


PLACES: dict[str, Callable[[Path, Store], Path]] = {
    "root": lambda top, store: top,
    "folder": lambda top, store: top / store.name,
    "file": lambda top, store: top / store.name / "a.agc",
}


@has_owners
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mode", [0o020, 0o002, 0o022])
def test_entries_writable_by_others_are_ignored(top: Path, store: Store, place: str, mode: int) -> None:
    store.write("a", b"data")
    path = PLACES[place](top, store)
    own = stat.S_IMODE(path.stat().st_mode)
    path.chmod(own | mode)
    assert store.read("a") is None
    path.chmod(own)
    assert store.read("a") == b"data"


@has_owners
@pytest.mark.parametrize("place", PLACES)
def test_entries_owned_by_another_user_are_ignored(
    top: Path, store: Store, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write("a", b"data")
    watched = PLACES[place](top, store).stat().st_ino
    original = os.fstat

    def of_another(handle: int) -> os.stat_result:
        found = original(handle)
        if found.st_ino != watched:
            return found
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    monkeypatch.setattr(os, "fstat", of_another)
    assert store.read("a") is None
    monkeypatch.undo()


@has_owners
@pytest.mark.parametrize("place", ["folder", "file"])
def test_links_are_ignored(top: Path, store: Store, place: str, tmp_path: Path) -> None:
    store.write("a", b"data")
    path = PLACES[place](top, store)
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert store.read("a") is None


@has_owners
def test_nothing_is_written_where_others_can_write(top: Path, store: Store) -> None:
    top.mkdir(parents=True)
    top.chmod(0o777)
    store.write("a", b"data")
    assert list(top.iterdir()) == []


@has_owners
def test_a_fifo_in_the_place_of_an_entry_does_not_hang(top: Path, store: Store) -> None:
    store.write("a", b"data")
    (top / store.name / "a.agc").unlink()
    os.mkfifo(top / store.name / "a.agc", 0o600)
    assert store.read("a") is None


@pytest.mark.parametrize("folder", [None, "native", "cpython-311"])
def test_a_disk_that_cannot_be_written_to_is_no_error(top: Path, store: Store, folder: str | None) -> None:
    place = top if folder is None else top / folder
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file where a folder would be")
    store.write("a", b"data")
    assert store.read("a") == (None if folder in (None, store.name) else b"data")


def test_entries_are_read_from_a_disk_that_cannot_be_written_to(
    top: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container may bring a warm cache, in which times of use cannot be noted."""

    def refuse(handle: int) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    store.write("entry", b"data")
    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "supports_fd", {refuse})
    assert store.read("entry") == b"data"


def test_a_write_that_is_interrupted_leaves_no_draft(
    top: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise SystemExit

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(SystemExit):
        store.write("entry", b"data")
    assert [path for path in top.rglob("*") if path.is_file()] == []


def test_least_recently_used_entries_are_evicted_first(top: Path) -> None:
    few = Store("few", files=8, size=1 << 20)
    for number in range(8):
        few.write(str(number), b"data")
        os.utime(top / "few" / f"{number}.agc", (number, number))
    assert few.read("0") == b"data"  # so 1 and 2 are the oldest
    few.write("8", b"data")
    assert sorted(path.stem for path in (top / "few").iterdir()) == ["0", "4", "5", "6", "7", "8"]


def test_files_that_are_not_of_the_cache_are_not_evicted(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user may name a folder that has other files, which may be as private as those of the cache."""
    monkeypatch.setattr(os, "urandom", bytes)  # this process looks at once
    small = Store("small", files=1, size=1 << 20)
    (top / "small").mkdir(parents=True, mode=0o700)
    others = ["0.c", "1.o", "agc", "model.agc.bak", "x.tmp"]
    for name in others:
        (top / "small" / name).touch(mode=0o600)
    small.write("one", b"data")
    small.write("two", b"data")
    assert {path.name for path in (top / "small").iterdir()} - {"one.agc", "two.agc"} == set(others)


@has_owners
def test_a_disk_with_fixed_modes_has_a_cache_with_limits(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network disks, and those of cameras, give all files the same mode."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    usual = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, mode=0, **where: usual(path, flags, 0o755, **where))
    monkeypatch.setattr(os, "chmod", refuse)
    monkeypatch.setattr(os, "fchmod", refuse)
    monkeypatch.setattr(os, "urandom", bytes)  # this process looks at once
    few = Store("few", files=8, size=1 << 20)
    for number in range(20):
        few.write(str(number), b"data")
        assert few.read(str(number)) == b"data"
    assert len(list((top / "few").iterdir())) <= 8


def test_few_writes_look_at_the_other_entries(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[object] = []
    found = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: (looks.append(folder), found(folder))[1])
    small = Store("small", 100, 20 * 40)
    for number in range(20):
        small.write(str(number), b"8 bytes.")  # and 32 of the digest
    assert len(looks) == 1
    small.write("one too many", b"8 bytes.")
    assert len(looks) == 2
    assert len(found(top / "small")) == 15


def test_one_process_in_eight_looks_at_the_other_entries_at_its_first_write(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others write little without a look, since that takes long in a full folder."""
    looks: list[object] = []
    found = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: (looks.append(folder), found(folder))[1])
    for number in range(256):
        monkeypatch.setattr(os, "urandom", lambda size, first=number: bytes([first] * size))
        process = Store("processes", files=128, size=1 << 20)
        process.write(str(number), b"data")
        assert len(found(top / "processes")) <= 128 + 8
    assert len(looks) == 32
    process.write("as many as may be written without a look", b"data")
    assert len(looks) == 32
    process.write("one more", b"data")
    assert len(looks) == 33


def test_storing_many_functions_looks_at_the_other_entries_once(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", bytes)  # this process looks at once
    looks: list[object] = []
    found = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: (looks.append(folder), found(folder))[1])
    code = compile("x = 1", "module.py", "exec")
    for number in range(20):
        code_cache.Entry("x = 1", "module.py", part=number).write(code, {})
    assert len(looks) == 1
    assert len(list(top.glob("*/*.agc"))) == 20


@pytest.fixture
def no_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("AGC_CACHE", "AGC_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return


@pytest.mark.usefixtures("no_names")
@pytest.mark.skipif(sys.platform != "linux", reason="other platforms have other folders")
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({}, "{home}/.cache/agc"),
        ({"XDG_CACHE_HOME": "{home}/xdg"}, "{home}/xdg/agc"),
        ({"XDG_CACHE_HOME": "not/absolute"}, "{home}/.cache/agc"),
        ({"XDG_CACHE_HOME": ""}, "{home}/.cache/agc"),
        ({"AGC_CACHE_DIR": "{home}/own", "XDG_CACHE_HOME": "{home}/xdg"}, "{home}/own"),
        ({"AGC_CACHE_DIR": "{home}/own", "AGC_CACHE": "0"}, None),
        ({"HOME": "relative"}, None),
    ],
)
def test_the_cache_folder_follows_the_environment(
    names: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in names.items():
        monkeypatch.setenv(name, value.format(home=tmp_path))
    assert disk_cache.root() == (expected and expected.format(home=tmp_path))


def test_a_poisoned_entry_does_not_run(tmp_path: Path) -> None:
    """A cache that a team shares: one of them exchanges an entry, with the right digest, which is no secret."""
    (tmp_path / "prog.py").write_text("print('the program')\n")
    program = (
        "import marshal, os, sys\n"
        "from agc.autograph import code_cache as cache\n"
        "entry = cache.Entry(open('prog.py').read(), os.path.abspath('prog.py'))\n"
        "entry.write(compile(\"print('poison')\", 'prog.py', 'exec'), {})\n"
        "assert entry.read(lambda name: False) is not None\n"
        "for folder, _, files in os.walk('cache'):\n"
        "    os.chmod(folder, 0o777)\n"
        "assert entry.read(lambda name: False) is None\n"
    )
    env = {**os.environ, "AGC_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, check=True)
