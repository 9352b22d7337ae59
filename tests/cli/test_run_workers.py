"""`agc run --workers`: each worker knows which one it is, and none outlives the others or the launcher."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from agc.cli import run_workers

PROGRAM = """\
import json, os, sys, time

task = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
print("argument", sys.argv[1], flush=True)
if sys.argv[1] == "fail" and task == 1:
    print("bad", file=sys.stderr)
    sys.exit(7)
if sys.argv[1] == "fail once" and task == 1 and not os.path.exists("failed"):
    open("failed", "w")
    os.kill(os.getpid(), 9)
if sys.argv[1] in ("fail", "wait"):
    open(f"{task}.pid", "w").write(str(os.getpid()))
    time.sleep(60)
"""


@pytest.fixture
def start(folder):
    """Start a launcher of two workers in the folder."""
    (folder / "program.py").write_text(PROGRAM)

    def started(argument, *options):
        command = [sys.executable, "-m", "agc.cli", "run", "--workers", "2", *options, "program.py", argument]
        return subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    return started


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, limit=30.0):
    end = time.monotonic() + limit
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_lines_have_the_name_of_their_worker(start):
    out, err = start("end").communicate(timeout=60)
    assert sorted(out.splitlines()) == ["[worker 0] argument end", "[worker 1] argument end"]
    assert err == ""


def test_a_failing_worker_ends_the_others(start):
    process = start("fail")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 7
    assert "[worker 1] bad" in err.splitlines()
    assert "agc run: worker 1 failed with exit code 7: the other workers are ended" in err.splitlines()


def test_all_workers_start_again_after_a_failure(start):
    process = start("fail once", "--restarts", "2")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.count("[worker 1] argument fail once") == 2
    assert "agc run: worker 1 was ended by signal 9" in err
    assert "agc run: all workers start again (1 restarts are left)" in err.splitlines()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_no_worker_outlives_the_launcher(start, folder, number):
    process = start("wait")
    files = [folder / f"{index}.pid" for index in range(2)]
    try:
        assert wait_until(lambda: all(file.exists() and file.read_text() for file in files))
        workers = [int(file.read_text()) for file in files]
        assert all(map(is_alive, workers))
    finally:
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == (130 if number != signal.SIGKILL else -signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_alive, workers)))


def test_one_worker_may_be_started_alone(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "")
    run_workers.become("host0:1,host1:2", 1)
    expected = {"cluster": {"worker": ["host0:1", "host1:2"]}, "task": {"type": "worker", "index": 1}}
    assert json.loads(os.environ["TF_CONFIG"]) == expected
    run_workers.become("2", 0)
    assert json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"] == ["127.0.0.1:29500", "127.0.0.1:29501"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--workers", "two"), "--workers takes a number or addresses, not `two`"),
        (("--workers", "0"), "--workers takes a number or addresses, not `0`"),
        (("--workers", "a:1,b:2"), "--workers with addresses starts one of them"),
        (("--workers", "2", "--worker-index", "2"), "--worker-index 2 is none of 2 workers"),
        (("--restarts", "2"), "--restarts is for workers of one launcher"),
        (("--worker-index", "0"), "--worker-index is one of several --workers"),
    ],
)
def test_wrong_usage_is_refused(inside, arguments, message):
    refused = inside("run", *arguments, "collatz.py")
    assert refused.returncode == 2
    assert message in refused.stderr


def test_ports_are_free_and_differ():
    with run_workers.reserved_ports(3) as ports:
        assert len(set(ports)) == 3
