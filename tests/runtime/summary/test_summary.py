"""Summaries: TensorBoard's own reader finds in the files what was written.

Results, errors and the contents of files are those of TensorFlow 2.21, whose files agree but for the writer's name and
the compression of images.
"""

import os
import struct
import subprocess
import sys
import threading
import zlib

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import COMPLETE
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2
from tensorboard.util import tensor_util


@pytest.fixture
def writer(tmp_path):
    made = tf.summary.create_file_writer(tmp_path)
    yield made
    made.close()


def events(folder):
    """The events of all files of a folder, without those that begin the files."""
    found = []
    for name in sorted(os.listdir(folder)):
        loaded = list(RawEventFileLoader(os.path.join(folder, name)).Load())
        found += [event_pb2.Event.FromString(record) for record in loaded]
    return [event for event in found if not event.file_version]


def written(folder):
    """(tag, step, plug-in, data) of each summary."""
    return [
        (
            value.tag,
            event.step,
            value.metadata.plugin_data.plugin_name,
            tensor_util.make_ndarray(value.tensor),
        )
        for event in events(folder)
        for value in event.summary.value
    ]


def only(folder):
    ((_, _, plugin, data),) = written(folder)
    return plugin, data


def test_a_number_at_a_step(writer, tmp_path):
    with writer.as_default():
        assert tf.summary.scalar("loss", 0.1, step=42)
        assert tf.summary.scalar("count", 3, step=tf.Variable(7), description="of *things*")
    one, two = written(tmp_path)
    assert one == ("loss", 42, "scalars", np.float32(0.1))
    assert two == ("count", 7, "scalars", np.float32(3))
    assert events(tmp_path)[1].summary.value[0].metadata.summary_description == "of *things*"


def test_name_scopes_prefix_the_tag(writer, tmp_path):
    @tf.function
    def inner(x):
        tf.summary.scalar("traced", x, step=1)

    with writer.as_default(), tf.name_scope("outer"):
        tf.summary.scalar("eager", 1.0, step=1)
        tf.summary.write("exactly", 1.0, step=1)
        inner(tf.constant(1.0))
    assert [tag for tag, *_ in written(tmp_path)] == ["outer/eager", "exactly", "traced"]


def test_numbers_have_no_axes(writer):
    with writer.as_default(), pytest.raises(ValueError, match=r"Expected scalar shape, saw shape: \(2,\)"):
        tf.summary.scalar("loss", [1.0, 2.0], step=0)


def test_a_histogram_has_buckets_of_equal_width(writer, tmp_path):
    with writer.as_default():
        tf.summary.histogram("numbers", [1.0, 2.0, 2.0, 5.0], step=1, buckets=4)
    plugin, data = only(tmp_path)
    assert plugin == "histograms"
    assert data.tolist() == [[1.0, 2.0, 1.0], [2.0, 3.0, 2.0], [3.0, 4.0, 0.0], [4.0, 5.0, 1.0]]


@pytest.mark.parametrize(("numbers", "last"), [([], [0.0, 0.0, 0.0]), ([7, 7], [7.0, 7.0, 2.0])])
def test_histograms_of_no_and_of_one_value(writer, tmp_path, numbers, last):
    with writer.as_default():
        tf.summary.histogram("numbers", numbers, step=1)
    data = only(tmp_path)[1]
    assert data.shape == (30, 3)
    assert data[-1].tolist() == last
    assert data[:-1, 2].sum() == 0


def test_texts(writer, tmp_path):
    with writer.as_default():
        tf.summary.text("words", ["héllo", "w"], step=2)
        with pytest.raises(TypeError, match=r"must be of type tf\.string; got tf\.int32"):
            tf.summary.text("words", 3, step=2)
    assert only(tmp_path)[1].tolist() == ["héllo".encode(), b"w"]


def pixels(png):
    """Width, height and the rows of a PNG file without filters."""
    width, height, _, color = struct.unpack(">IIBB", png[16:26])
    start = png.index(b"IDAT") + 4
    length = int.from_bytes(png[start - 8 : start - 4], "big")
    rows = np.frombuffer(zlib.decompress(png[start : start + length]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, {0: 1, 4: 2, 2: 3, 6: 4}[color])


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_images_are_png_files(writer, tmp_path, channels):
    images = np.arange(2 * 4 * 3 * channels, dtype=np.uint8).reshape(2, 4, 3, channels)
    with writer.as_default():
        tf.summary.image("pictures", images, step=3)
    plugin, (width, height, *files) = only(tmp_path)
    assert (plugin, width, height) == ("images", b"3", b"4")
    assert all(np.array_equal(pixels(png), image) for png, image in zip(files, images, strict=True))


def test_floats_of_images_reach_from_0_to_1(writer, tmp_path):
    with writer.as_default():
        tf.summary.image("picture", tf.constant([[[[-1.0], [0.5], [1.0], [2.0]]]]), step=0)
    assert pixels(only(tmp_path)[1][2]).ravel().tolist() == [0, 127, 255, 255]


def test_max_outputs_bounds_the_images(writer, tmp_path):
    with writer.as_default():
        tf.summary.image("pictures", np.zeros((9, 2, 2, 1)), step=0, max_outputs=2)
        with pytest.raises(ValueError, match="must have rank 4"):
            tf.summary.image("pictures", np.zeros((2, 2)), step=0)
    assert len(only(tmp_path)[1]) == 2 + 2


def test_sounds_are_wav_files(writer, tmp_path):
    with writer.as_default():
        tf.summary.audio("sounds", np.array([[[0.0], [1.0], [-2.0]]], np.float32), 8000, step=4)
        with pytest.raises(ValueError, match="Unknown encoding: 'mp3'"):
            tf.summary.audio("sounds", np.zeros((1, 2, 1)), 8000, step=4, encoding="mp3")
    plugin, data = only(tmp_path)
    assert (plugin, data.shape) == ("audio", (1, 2))
    assert data[0, 0].startswith(b"RIFF")
    assert np.frombuffer(data[0, 0][-6:], "<i2").tolist() == [0, 32767, -32767]


@pytest.mark.parametrize("executor", COMPLETE)
def test_summaries_are_written_at_each_run(writer, tmp_path, executor):
    step = tf.Variable(9)

    @tf.function(experimental_executor=executor)
    def train(x):
        for i in tf.range(2):
            tf.summary.scalar("inner", x * tf.cast(i, tf.float32), step=step + i)
        return tf.summary.scalar("outer", x, step=step)

    with writer.as_default():
        assert train(tf.constant(2.0))
    step.assign(20)
    assert train(tf.constant(3.0))  # the writer is that of the trace
    writer.flush()
    assert [(tag, at, float(data)) for tag, at, _, data in written(tmp_path)] == [
        ("inner", 9, 0.0), ("inner", 10, 2.0), ("outer", 9, 2.0),
        ("inner", 20, 0.0), ("inner", 21, 3.0), ("outer", 20, 3.0),
    ]  # fmt: skip


def test_the_innermost_default_step_is_used(writer, tmp_path):
    with writer.as_default(step=100):
        tf.summary.scalar("of the writer", 1.0)
        tf.summary.scalar("its own", 1.0, step=1)
        assert tf.summary.experimental.get_step() == 100
    tf.summary.experimental.set_step(7)
    with writer.as_default():
        tf.summary.scalar("set", 1.0)
        tf.summary.experimental.set_step(None)
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("none", 1.0)
    assert [step for _, step, _, _ in written(tmp_path)] == [100, 1, 7]


def test_without_a_writer_nothing_is_written(writer, tmp_path):
    assert not tf.summary.scalar("lost", 1.0, step=1)
    with tf.summary.create_noop_writer().as_default():
        assert not tf.summary.should_record_summaries()
        assert not tf.summary.scalar("lost", 1.0, step=1)
    assert written(tmp_path) == []


@pytest.mark.parametrize(
    "condition", [False, lambda: tf.constant(False), tf.Variable(False)], ids=["bool", "call", "v"]
)
def test_recording_can_be_conditional(writer, tmp_path, condition):
    with writer.as_default():
        with tf.summary.record_if(condition):
            assert not tf.summary.scalar("off", 1.0, step=1)
        assert tf.summary.scalar("on", 1.0, step=1)
    assert [tag for tag, *_ in written(tmp_path)] == ["on"]


def test_any_tensor_can_be_written(writer, tmp_path):
    with writer.as_default():
        tf.summary.write("raw", lambda: tf.constant([1, 2]), step=5)
    assert only(tmp_path)[1].tolist() == [1, 2]


def test_a_graph_is_drawn_with_its_regions(writer, tmp_path):
    from tensorboard.compat.proto import graph_pb2

    @tf.function
    def collatz(n):
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        return n

    with writer.as_default():
        tf.summary.graph(collatz.get_concrete_function(tf.constant(3)).graph)
        with pytest.raises(ValueError, match="graph_data"):
            tf.summary.graph(3)
    graph = graph_pb2.GraphDef.FromString(events(tmp_path)[0].graph_def)
    names = [node.name for node in graph.node]
    assert len(names) == len(set(names))
    known = {*names}
    assert all(source.partition(":")[0] in known for node in graph.node for source in node.input)
    assert {"while", "cond", "multiply"} <= {node.op for node in graph.node}


def test_a_closed_writer_is_not_used(writer):
    writer.close()
    writer.close()
    with pytest.raises(RuntimeError, match="is already closed"), writer.as_default():
        pass


def test_events_reach_the_disk_in_time(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path, max_queue=2)
    writer.set_as_default()
    try:
        for step in range(3):
            assert written(tmp_path) == []
            tf.summary.scalar("x", 1.0, step=step)
        assert len(written(tmp_path)) == 3
    finally:
        tf.summary.state.current().writer = None
        writer.close()


def test_buffered_events_are_written_at_exit(tmp_path):
    program = (
        "import sys, agc.runtime as tf\n"
        "tf.summary.create_file_writer(sys.argv[1]).set_as_default()\n"
        "tf.summary.scalar('x', 1.0, step=1)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert len(written(tmp_path)) == 1


def test_threads_share_a_writer(writer, tmp_path):
    def work(number):
        with writer.as_default():
            for step in range(50):
                tf.summary.scalar(f"thread {number}", step, step=step)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(written(tmp_path)) == 200


def test_two_writers_have_files_of_their_own(tmp_path):
    for _ in range(2):
        with tf.summary.create_file_writer(tmp_path, filename_suffix=".mine").as_default():
            tf.summary.scalar("x", 1.0, step=1)
    names = os.listdir(tmp_path)
    assert len(names) == 2
    assert all(name.startswith("events.out.tfevents.") and name.endswith(".mine") for name in names)
