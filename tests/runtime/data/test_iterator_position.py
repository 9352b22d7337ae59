"""Checkpoints save the position of an iterator; restoring moves it, or one of an equal dataset."""

import subprocess
import sys

import agc.runtime as tf
import pytest
from agc.runtime.data.iterator_state import Walk

PIPELINES = {
    "batches": lambda: tf.data.Dataset.range(10).map(lambda x: x * x).batch(2),
    "repeated": lambda: tf.data.Dataset.range(3).repeat().batch(2).take(6).prefetch(2),
    "generated": lambda: tf.data.Dataset.from_generator(
        lambda: iter(range(7)), output_signature=tf.TensorSpec([], tf.int32)
    ),
    "shuffled": lambda: tf.data.Dataset.range(8).shuffle(3).batch(1),
    "shuffled again": lambda: tf.data.Dataset.range(4).cache().shuffle(3).repeat(3).prefetch(2),
    "random": lambda: tf.data.Dataset.random(seed=1, rerandomize_each_iteration=True).take(3).repeat(2),
    "sampled": lambda: tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(9).shuffle(5)] * 2),
    "shuffled in a function": lambda: shuffled_in_a_function(seed=3),
}


def rest(iterator):
    return [element.numpy().tolist() for element in iterator]


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_an_iterator_goes_on_from_its_position(make, tmp_path):
    iterator = iter(make())
    next(iterator), next(iterator)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.write(tmp_path / "point")
    expected = rest(iterator)
    assert len(expected) > 2
    checkpoint.read(path).assert_consumed()
    assert rest(iterator) == expected
    other = iter(make())
    tf.train.Checkpoint(iterator=other).read(path)
    assert rest(other) == expected


def test_elements_that_graphs_take_are_counted(tmp_path):
    iterator = iter(tf.data.Dataset.range(6))
    taken = tf.function(lambda it: next(it) + next(it))
    assert int(taken(iterator)) == 1
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.write(tmp_path / "point")
    assert int(taken(iterator)) == 5
    checkpoint.read(path)
    assert int(taken(iterator)) == 5


def test_a_shuffled_dataset_goes_on_in_another_process(tmp_path):
    """Without seeds, each process draws others, so the checkpoint holds those of the iteration."""
    script = tmp_path / "iterate.py"
    script.write_text(
        "import sys\n"
        "import agc.runtime as tf\n"
        "iterator = iter(tf.data.Dataset.range(5).shuffle(3).repeat())\n"
        "checkpoint = tf.train.Checkpoint(it=iterator)\n"
        "if sys.argv[1] == 'save':\n"
        "    [next(iterator) for _ in range(7)]\n"
        "    checkpoint.write(sys.argv[2])\n"
        "else:\n"
        "    checkpoint.read(sys.argv[2])\n"
        "print([int(next(iterator)) for _ in range(40)])\n"
    )

    def run(*arguments):
        command = [sys.executable, script, *arguments, tmp_path / "point"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert run("save") == run("restore")


def test_other_iterators_over_a_shuffled_dataset_do_not_change_what_is_repeated(tmp_path):
    dataset = tf.data.Dataset.range(4).shuffle(4).repeat()
    iterator = iter(dataset)
    given = [next(iterator) for _ in range(3)]
    other = iter(dataset)  # draws the seeds that would have been those of the next epoch
    next(other)
    given += [next(iterator) for _ in range(3)]
    checkpoint = tf.train.Checkpoint(it=iterator)
    path = checkpoint.write(tmp_path / "point")
    expected = [int(next(iterator)) for _ in range(9)]
    restored = iter(dataset)
    tf.train.Checkpoint(it=restored).read(path)
    assert [int(next(restored)) for _ in range(9)] == expected


def test_a_checkpoint_can_be_saved_while_an_element_is_computed(tmp_path):
    def numbers():
        for i in range(5):
            if i == 3:
                checkpoint.write(tmp_path / "point")
            yield i

    dataset = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32))
    iterator = iter(dataset.shuffle(1))
    checkpoint = tf.train.Checkpoint(it=iterator)
    assert rest(iterator) == [0, 1, 2, 3, 4]
    plain = iter(tf.data.Dataset.range(5).shuffle(1))
    tf.train.Checkpoint(it=plain).read(tmp_path / "point")
    assert rest(plain) == [3, 4]


def test_many_epochs_need_no_more_memory():
    walk = Walk(tf.data.Dataset.range(2).shuffle(2).repeat()._stage)
    for _ in range(2000):
        walk.next()
    assert len(walk.state()) == 9


def test_iterators_are_repeated_after_another_one_has_been_restored(tmp_path):
    """Restoring gives the dataset the saved seeds, from which its other iterators draw as well."""
    saved = tf.train.Checkpoint(it=iter(tf.data.Dataset.range(5).shuffle(5).repeat())).write(
        tmp_path / "saved"
    )
    dataset = tf.data.Dataset.range(5).shuffle(5).repeat()
    restored, other = iter(dataset), iter(dataset)
    given = [int(next(other)) for _ in range(7)]
    tf.train.Checkpoint(it=restored).read(saved)
    given += [int(next(other)) for _ in range(7)]
    path = tf.train.Checkpoint(it=other).write(tmp_path / "other")
    expected = [int(next(other)) for _ in range(12)]
    again = iter(tf.data.Dataset.range(5).shuffle(5).repeat())
    tf.train.Checkpoint(it=again).read(path)
    assert [int(next(again)) for _ in range(12)] == expected


def shuffled_in_a_function(**options):
    numbers = tf.data.Dataset.range(3)
    return numbers.flat_map(lambda n: tf.data.Dataset.range(n + 3).shuffle(5, **options))


REFUSED = {
    "cache after shuffle": lambda: tf.data.Dataset.range(9).shuffle(3).cache(),
    "shuffle in a function": shuffled_in_a_function,
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_orders_in_memory_are_refused(make):
    with pytest.raises(
        ValueError, match=r"position of the iterator `it`: the order of its elements is random"
    ):
        tf.train.Checkpoint(it=iter(make()))


def test_the_position_of_another_pipeline_is_refused(tmp_path):
    path = tf.train.Checkpoint(it=iter(tf.data.Dataset.range(9).shuffle(3))).write(tmp_path / "point")
    other = tf.data.Dataset.range(9).shuffle(3).shuffle(4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="this one has 2 stages with random choices"):
        tf.train.Checkpoint(it=iter(other)).read(path)


@pytest.mark.parametrize(
    "numbers", [[3], [3, 1, 2, 1, 9], [3, 1, 2, -1, 0], [3, 1, 2, 1, -1], [3, 1, 2, 1, 0, 5]]
)
def test_damaged_positions_are_refused(numbers):
    walk = Walk(tf.data.Dataset.range(9).shuffle(3)._stage)
    with pytest.raises(tf.errors.InvalidArgumentError, match="position is of another pipeline"):
        walk.move_to(numbers)
