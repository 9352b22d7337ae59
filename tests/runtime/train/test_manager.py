"""CheckpointManager keeps the last few checkpoints, also those of an earlier run."""

import os

import agc.runtime as tf
import pytest


@pytest.fixture
def checkpoint():
    return tf.train.Checkpoint(v=tf.Variable(0))


def names(manager):
    return [os.path.basename(path) for path in manager.checkpoints]


def test_max_to_keep_deletes_older_checkpoints(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None
    for _ in range(4):
        latest = manager.save()
    assert names(manager) == ["ckpt-3", "ckpt-4"]
    assert manager.latest_checkpoint == latest == tf.train.latest_checkpoint(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint",
        *(f"ckpt-{number}.{end}" for number in (3, 4) for end in ("data-00000-of-00001", "index")),
    ]


def test_the_state_file_has_tensorflows_format(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=None)
    manager.save()
    manager.save(checkpoint_number=7)
    lines = (tmp_path / "checkpoint").read_text().splitlines()
    assert lines[:3] == [
        'model_checkpoint_path: "ckpt-7"',
        'all_model_checkpoint_paths: "ckpt-1"',
        'all_model_checkpoint_paths: "ckpt-7"',
    ]


def test_a_new_manager_continues_the_list_of_an_earlier_one(checkpoint, tmp_path):
    tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2).save()
    later = tf.train.Checkpoint(v=tf.Variable(5))
    manager = tf.train.CheckpointManager(later, tmp_path, max_to_keep=2)
    assert manager.restore_or_initialize() == manager.latest_checkpoint
    assert int(later.v) == 0
    manager.save()
    assert names(manager) == ["ckpt-1", "ckpt-2"]


def test_saves_wait_for_the_interval(checkpoint, tmp_path):
    step = tf.Variable(0)
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=9, step_counter=step, checkpoint_interval=2
    )
    saved = []
    for number in range(5):
        step.assign(number)
        saved.append(manager.save() is not None)
    assert saved == [True, False, True, False, True]
    assert manager.save(check_interval=False) is None  # this step is saved
    step.assign_add(1)
    assert manager.save(check_interval=False) is not None


def test_keep_checkpoint_every_n_hours_keeps_one_forever(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=0)
    first = manager.save()
    manager.save()
    assert names(manager) == ["ckpt-2"]
    assert os.path.exists(f"{first}.index")


def test_nothing_to_restore_calls_the_initializer(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=1, init_fn=lambda: checkpoint.v.assign(9)
    )
    assert manager.restore_or_initialize() is None
    assert int(checkpoint.v) == 9


def test_bad_arguments_are_refused(checkpoint, tmp_path):
    with pytest.raises(ValueError, match="positive integer or None for `max_to_keep`, got 0"):
        tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=0)
    with pytest.raises(ValueError, match="`step_counter` should be passed"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 1, checkpoint_interval=2)


def test_a_damaged_list_of_checkpoints_is_refused(tmp_path):
    (tmp_path / "checkpoint").write_text("nonsense\n")
    with pytest.raises(tf.errors.DataLossError, match="not a list of checkpoints"):
        tf.train.latest_checkpoint(tmp_path)


@pytest.mark.parametrize("make", [os.mkdir, lambda path: path.touch()], ids=["a folder", "an empty file"])
def test_a_list_without_content_is_refused(make, checkpoint, tmp_path):
    """A program that continues from the latest checkpoint must not start again as if there were none."""
    make(tmp_path / "checkpoint")
    with pytest.raises(
        tf.errors.DataLossError, match=f"{tmp_path}/checkpoint is (damaged|not a regular file)"
    ):
        tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=3)


def test_new_checkpoints_are_seen_as_they_appear(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=3)
    manager.save()
    seen = []
    for path in tf.train.checkpoints_iterator(tmp_path, timeout=0):
        seen.append(os.path.basename(path))
        if len(seen) < 3:
            manager.save()
    assert seen == ["ckpt-1", "ckpt-2", "ckpt-3"]


def test_functions_of_graphs_refuse_by_the_name_of_the_call(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    path = manager.save()
    calls = {
        "CheckpointManager.save": manager.save,
        "Checkpoint.save": lambda: checkpoint.save(tmp_path / "other"),
        "Checkpoint.restore": lambda: checkpoint.restore(path),
        "Checkpoint.read": lambda: checkpoint.read(path),
    }
    for name, call in calls.items():
        with pytest.raises(NotImplementedError, match=f"^{name} writes or reads files now"):
            tf.function(call)()
    assert manager.checkpoints == [path]
