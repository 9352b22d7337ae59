"""Signs of life of workers, with a store and rounds that the test runs: no clock decides."""

from types import SimpleNamespace

import agc.runtime as tf
import pytest
from agc.runtime.distribute import worker_health
from agc.runtime.distribute.worker_health import ALIVE, WorkerHealth

ADDRESSES = ["a:1", "b:2", "c:3"]


class Store:
    """A key-value store with the methods of JAX's client."""

    def __init__(self):
        self.texts = {}

    def key_value_set(self, key, text, allow_overwrite=False):
        self.texts[key] = text

    def blocking_key_value_get(self, key, limit):
        return self.texts[key]

    def key_value_dir_get(self, folder):
        return [(key, text) for key, text in self.texts.items() if key.startswith(folder)]


@pytest.fixture
def health(monkeypatch):
    """The health of workers as worker 0 sees it, which loses a worker after four silent rounds, or two seconds."""
    monkeypatch.setenv("AGC_WORKER_SILENCE", "2")
    monkeypatch.setattr(WorkerHealth, "_follow", lambda self: None)
    return WorkerHealth(Store(), ADDRESSES, 0, worker_health.silence_limit())


def rounds(health, count, *living):
    """Run rounds in which some workers give signs of life."""
    for _ in range(count):
        for worker in living:
            health._client.key_value_set(f"{ALIVE}/{worker}", str(health._rounds + 1))
        health._run_round()


def test_a_silent_worker_is_lost_after_the_limit(health):
    rounds(health, 3, 1, 2)
    assert health.lost() == []
    rounds(health, 3, 2)
    assert health.lost() == []
    rounds(health, 1, 2)
    assert health.lost() == [1]
    rounds(health, 1, 1, 2)
    assert health.lost() == []


def test_the_error_names_the_silent_worker(health, monkeypatch):
    monkeypatch.setattr(worker_health, "EVERY", 0.0)  # do not wait for more rounds
    rounds(health, 1, 1, 2)
    rounds(health, 6, 1)
    with pytest.raises(
        tf.errors.UnavailableError,
        match=r"worker 2 \(c:3\) has ended or cannot be reached: worker 0 waits for it in sum of float32\[1\]",
    ):
        health.check("sum of float32[1]", 0.0)


def test_a_worker_that_has_ended_is_lost_at_once(health):
    rounds(health, 1, 1, 2)
    health._client.key_value_set(f"{ALIVE}/1", worker_health.ENDED)
    rounds(health, 1, 2)
    assert health.lost() == [1]


def test_the_chief_is_lost_when_its_store_gives_no_answer(health):
    health._relay = SimpleNamespace(has_ended=False)
    for _ in range(3):
        health.watch_store()
    assert health.lost() == []
    health.watch_store()
    assert health.lost() == [0]
    health._run_round()
    assert health.lost() == []
    health._relay.has_ended = True
    assert health.lost() == [0]


def test_all_workers_name_the_lines_of_different_collectives(health, monkeypatch):
    other = WorkerHealth(health._client, ADDRESSES, 2, 4)
    for one, line in ((health, "a.py:1"), (other, "a.py:2")):
        one.agree(1, "sum of float32[1]", line)
    health.agree(2, "sum of float32[2]", "a.py:3")
    expected = (
        r"sum of float32\[2\], called at a.py:3; worker 2 runs gather of float32\[2\], called at a.py:4"
    )
    with pytest.raises(tf.errors.FailedPreconditionError, match=expected):
        other.agree(2, "gather of float32[2]", "a.py:4")
    health._run_round()
    with pytest.raises(tf.errors.FailedPreconditionError, match=expected):
        health.check("sum of float32[2]", 0.0)


@pytest.mark.parametrize(
    ("text", "rounds"), [(None, 60), ("", 60), ("1", 2), ("0.5", None), ("nan", None), ("soon", None)]
)
def test_the_limit_is_a_number_of_seconds(monkeypatch, text, rounds):
    if text is None:
        monkeypatch.delenv("AGC_WORKER_SILENCE", raising=False)
    else:
        monkeypatch.setenv("AGC_WORKER_SILENCE", text)
    if rounds is None:
        with pytest.raises(
            ValueError, match=f"AGC_WORKER_SILENCE is a number of seconds, at least 1, not '{text}'"
        ):
            worker_health.silence_limit()
    else:
        assert worker_health.silence_limit() == rounds
