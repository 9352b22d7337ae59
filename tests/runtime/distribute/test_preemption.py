"""Programs that must end soon save a checkpoint before their next step."""

import os
import signal

import agc.runtime as tf
import pytest

experimental = tf.distribute.experimental


@pytest.fixture(autouse=True)
def _restored_signal():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


class Program:
    """A program that counts its steps, from those in the folder on."""

    def __init__(self, folder, **options):
        self.step = tf.Variable(0)
        config = experimental.TerminationConfig(**options)
        checkpoint = tf.train.Checkpoint(step=self.step)
        self.handler = experimental.PreemptionCheckpointHandler(None, checkpoint, folder, config)

    def run(self, stop, ends_in=None):
        while self.handler.total_run_calls < stop:
            self.handler.run(self._step, ends_in)
        return int(self.step)

    def _step(self, ends_in):
        if int(self.step.assign_add(1)) == ends_in:
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_program_exits_before_the_next_step_and_goes_on(tmp_path):
    with pytest.raises(SystemExit) as ended:
        Program(tmp_path).run(6, ends_in=3)
    assert ended.value.code == 42
    again = Program(tmp_path)
    assert (again.handler.total_run_calls, int(again.step)) == (3, 3)
    assert again.run(6) == 6


def test_a_program_trains_on_in_the_grace_period(tmp_path, monkeypatch):
    ended, saved = [], []
    program = Program(tmp_path, grace_period=1000.0, exit_fn=lambda: ended.append(int(program.step)))
    monkeypatch.setattr(program.handler, "_save", lambda: saved.append(int(program.step)))
    program.run(6, ends_in=3)
    assert (saved, ended) == ([3], [])
    program.handler._deadline = 0.0
    program.run(7)
    assert (saved, ended) == ([3, 6], [6])


def test_a_watcher_may_give_the_notice(tmp_path):
    ends, handler = [], signal.getsignal(signal.SIGTERM)
    program = Program(tmp_path, termination_watcher_fn=lambda: True, exit_fn=lambda: ends.append(True))
    assert signal.getsignal(signal.SIGTERM) is handler
    while not ends:
        program.handler.run(lambda: None)
    assert ends == [True]


def test_loops_without_run_save_after_a_step(tmp_path):
    saved = []
    program = Program(tmp_path, save_fn=lambda *args: saved.append(args), exit_fn=lambda: None)
    program._step(1)
    program.handler.save_checkpoint_if_preempted(7)
    assert saved == [(7,)]
    assert program.handler.total_run_calls == 1


def test_a_checkpoint_needs_a_folder():
    with pytest.raises(tf.errors.InvalidArgumentError, match="checkpoint_dir must be passed"):
        experimental.PreemptionCheckpointHandler(None, tf.train.Checkpoint())
