"""Two processes train like one; one of them is killed, and a new start goes on from the checkpoint.

AGC_FUZZ=1 also runs four processes, and Keras in two.
"""

import os
import subprocess

import agc.runtime as tf
import numpy as np
import pytest
from support import multi_worker_program
from support.workers import run_workers

FUZZ = bool(os.environ.get("AGC_FUZZ"))
COUNTS = (2, 4) if FUZZ else (2,)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The results of one process."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    folder = tmp_path_factory.mktemp("alone")
    parts = ("train", "fit", "guide") if FUZZ else ("train",)
    return {part: multi_worker_program.PARTS[part](strategy, folder) for part in parts}


@pytest.fixture(scope="module", params=COUNTS)
def workers(request, tmp_path_factory):
    """The results of several processes, the last of which is killed at the end; and their folder."""
    folder = tmp_path_factory.mktemp("workers")
    parts = [
        "train",
        "compiled",
        "values",
        "data",
        "save",
        "preempt",
        *(["fit", "guide"] if FUZZ else []),
        "kill_last",
    ]
    return run_workers(request.param, folder, parts), folder


def test_the_losses_of_fifty_steps_equal_those_of_one_process(alone, workers):
    ended, _ = workers
    assert len(alone["train"]["losses"]) == 50
    for found in ended.found:
        np.testing.assert_allclose(found["train"]["losses"], alone["train"]["losses"], rtol=1e-5)
        np.testing.assert_allclose(found["train"]["interpreted"], alone["train"]["losses"][:3], rtol=1e-5)
    assert all(found["train"] == ended.found[0]["train"] for found in ended.found)


@pytest.mark.parametrize("executor", ["native", "xla"])
def test_compiled_steps_communicate(alone, workers, executor):
    ended, _ = workers
    count = len(ended.found)
    rows = {
        "even": [[float(x + rank), x + rank + 1.0] for rank in range(count) for x in (0, 2)],
        "uneven": [[2.0 * x + rank, 2.0 * x + rank + 1.0] for rank in range(count) for x in range(rank + 1)],
    }
    total = np.array([sum(range(count)), sum(range(count)) + count]) * 2.0
    for found in ended.found:
        np.testing.assert_allclose(found["compiled"][executor], alone["train"]["losses"], rtol=1e-5)
        for name, expected in rows.items():
            assert found["compiled"][f"{executor} {name}"] == (np.array(expected) + total).tolist()
        assert found["compiled"]["gave up"] == []
        assert found["compiled"]["ran uneven shapes"] == ["CollectiveXlaFunction"]


def test_variables_that_are_synchronized_on_read_count_for_all_workers(alone, workers):
    ended, _ = workers
    assert [found["train"]["seen"] for found in ended.found] == [alone["train"]["seen"]] * len(ended.found)


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_replicas_reduce_gather_and_merge(workers, mode):
    ended, _ = workers
    count = len(ended.found)
    mean = (count + 1) / 2
    for rank, found in enumerate(ended.found):
        values = found["values"][mode]
        assert values["mean"] == 2.0 * mean
        assert values["gradient"] == rank + 1.0
        assert values["rows"] == [float(worker) for worker in range(count) for _ in range(worker + 1)]
        assert values["merged"] == 2.0 * count
        assert values["slices"] == [[float(row)] if row < count else [0.0] for row in range(4)]


def test_updates_of_variables_are_aggregated(workers):
    ended, _ = workers
    count = len(ended.found)
    total = sum(range(1, count + 1))
    expected = {"SUM": 1.0 + total, "MEAN": 1.0 + total / count, "ONLY_FIRST_REPLICA": 2.0}
    assert [found["values"]["variables"] for found in ended.found] == [expected] * count


def test_the_strategy_reduces_and_gathers_across_replicas(workers):
    ended, _ = workers
    numbers = [n for worker in range(len(ended.found)) for n in range(worker + 1)]
    for found in ended.found:
        assert found["values"]["axis"] == pytest.approx(sum(numbers) / len(numbers))
        assert found["values"]["gathered"] == list(range(len(ended.found)))
    assert ended.found[1]["values"]["devices"] == ["/job:worker/replica:0/task:1/device:CPU:0"]
    assert [found["values"]["chief"] for found in ended.found][:2] == [True, False]


def test_datasets_are_split_and_end_together(workers):
    ended, _ = workers
    first, second, *_ = (found["data"] for found in ended.found)
    if len(ended.found) == 2:
        assert [first["DATA"], second["DATA"]] == [[[0, 1], [4, 5], [8]], [[2, 3], [6, 7], [9]]]
        assert first["OFF"] == second["OFF"] == [[0, 1], [2, 3], [4, 5], [6, 7], [8], [9]]
        assert [first["FILE"], second["FILE"]] == [[[0], [1], [2], [20], [21]], [[10], [], [], [], []]]
        rows = [sorted(row for batch in part["interleave"] for row in batch) for part in (first, second)]
        assert rows == [[0, 1, 2, 20, 21], [10]]
        assert [first["function"], second["function"]] == [[[], []], [[0], [1]]]
    for found in ended.found:
        assert (found["data"]["cardinality"], found["data"]["local"]) == (3, 1)
    for name in ("DATA", "FILE", "interleave", "function"):
        assert len({len(found["data"][name]) for found in ended.found}) == 1
    assert sorted(row for found in ended.found for batch in found["data"]["DATA"] for row in batch) == [
        *range(10)
    ]


def test_shuffled_batches_are_those_of_one_process(workers):
    ended, _ = workers
    alone = tf.data.Dataset.range(10).shuffle(10, seed=1).batch(4)
    iter(alone)
    parts = zip(*(found["data"]["shuffled"] for found in ended.found), strict=True)
    assert [[row for part in step for row in part] for step in parts] == [b.numpy().tolist() for b in alone]


def test_checkpoints_are_written_once(workers):
    ended, folder = workers
    assert [found["save"] for found in ended.found] == [{"shared": True, "own": True}] * len(ended.found)
    assert sorted(path.name for path in (folder / "shared").iterdir() if path.suffix == ".index") == [
        "ckpt-1.index"
    ]


def test_all_workers_save_when_one_must_end(workers):
    ended, _ = workers
    expected = {"ended": [2], "files": ["ckpt-1.index"]}
    assert [found["preempt"] for found in ended.found] == [expected] * len(ended.found)


def check_failure(ended, worker, part):
    """The other workers have raised an error that names this one."""
    assert ended.codes[worker] == -9
    others = [rank for rank in range(len(ended.found)) if rank != worker]
    for rank in others:
        assert ended.codes[rank] in (0, 1)  # 1: a collective operation was still stuck when the process ended
        told = ended.found[rank][part]
        assert f"worker {worker} (127.0.0.1:" in told["error"]
        assert "has ended or cannot be reached" in told["error"]
        assert told["seconds"] < 60


def test_the_others_name_a_killed_worker(workers):
    ended, _ = workers
    check_failure(ended, len(ended.found) - 1, "kill_last")


def test_a_new_start_goes_on_from_the_checkpoint_until_the_chief_is_killed(workers):
    before, folder = workers
    ended = run_workers(len(before.found), folder, ["resume", "kill_chief"])
    check_failure(ended, 0, "kill_chief")
    for found in ended.found[1:]:
        assert found["resume"]["losses"] == before.found[0]["train"]["losses"][25:]
        assert found["resume"]["seen"] == before.found[0]["train"]["seen"]
        assert found["resume"]["step"] == 50


@pytest.mark.parametrize("part", ["stop_last", "stop_chief"])
@pytest.mark.skipif(not FUZZ, reason="waits until a worker is silent: for `make hosts`")
def test_the_others_name_a_silent_worker(workers, part):
    before, folder = workers
    ended = run_workers(len(before.found), folder, [part])
    check_failure(ended, 0 if part == "stop_chief" else len(before.found) - 1, part)


@pytest.mark.skipif(not FUZZ, reason="imports Keras in each process: for `make hosts`")
def test_models_of_keras_are_fitted(alone, workers):
    ended, _ = workers
    for found in ended.found:
        for name, series in alone["fit"]["history"].items():
            np.testing.assert_allclose(found["fit"]["history"][name], series, rtol=1e-4)
        np.testing.assert_allclose(found["fit"]["evaluated"], alone["fit"]["evaluated"], rtol=1e-4)
        np.testing.assert_allclose(found["fit"]["best"], alone["fit"]["best"], rtol=1e-4)
        np.testing.assert_allclose(found["fit"]["predicted"], alone["fit"]["predicted"], rtol=1e-3)


@pytest.mark.skipif(not FUZZ, reason="imports Keras in each process: for `make hosts`")
def test_the_loop_of_the_guides_resumes_from_a_checkpoint(alone, workers):
    before, folder = workers
    first = before.found[0]["guide"]
    np.testing.assert_allclose(first["accuracy"], alone["guide"]["accuracy"], rtol=1e-5)
    np.testing.assert_allclose(first["losses"], alone["guide"]["losses"], rtol=1e-4)
    assert [path.name for path in folder.glob("workertemp_*")] == []
    ended = run_workers(len(before.found), folder, ["guide"])
    assert ended.codes == [0] * len(before.found)
    for found in ended.found:
        assert found["guide"]["restored"] == [1, 2]
        np.testing.assert_allclose(found["guide"]["losses"], first["losses"][7:], rtol=1e-6)


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    """The results of two processes with two devices each."""
    flags = "--xla_force_host_platform_device_count=2"
    return run_workers(
        2,
        tmp_path_factory.mktemp("devices"),
        ["devices"],
        XLA_FLAGS=flags,
        PYTHONWARNINGS="error::RuntimeWarning",
    )


needs_devices = pytest.mark.skipif(not FUZZ, reason="starts two processes more: for `make hosts`")


@needs_devices
def test_several_devices_in_each_worker_train_like_one_process(alone, devices):
    assert devices.codes == [0, 0], devices.errors
    for found in (found["devices"] for found in devices.found):
        np.testing.assert_allclose(found["plan"], alone["train"]["losses"], rtol=1e-5)
        np.testing.assert_allclose(found["xla"], alone["train"]["losses"], rtol=1e-5)


@needs_devices
def test_replicas_of_several_devices_and_workers_communicate(devices):
    for worker, found in enumerate(found["devices"] for found in devices.found):
        own = [2 * worker, 2 * worker + 1]
        assert found["devices"] == [f"/job:worker/replica:0/task:{worker}/device:CPU:{i}" for i in (0, 1)]
        assert found["numbers"] == own
        assert found["even"] == [[0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0]] * 2
        assert found["uneven"] == [[0.0, 2.0, 2.0, 4.0, 4.0, 4.0, 6.0, 6.0, 6.0, 6.0]] * 2
        assert found["function"] == [[[[0], [1]], [[2], []]], [[[0], [1]], [[2], [3]]]][worker]
        for values in (found["eager"], found["graph"]):
            assert values["rows"] == [[0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]] * 2
            assert values["mean"] == [1.5, 1.5]
            assert (values["sum"], values["mean of rows"]) == (6.0, 2.0)
            assert values["gathered"] == [0.0, 1.0, 2.0, 3.0]
            assert values["variables"] == {
                "NONE": [number + 1.0 for number in own],
                "SUM": [10.0, 10.0],
                "MEAN": [2.5, 2.5],
                "ONLY_FIRST_REPLICA": [1.0, 1.0],
            }


def test_no_process_is_left(workers):
    _, folder = workers
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "ps -eo args" in listed
    assert str(folder) not in listed
