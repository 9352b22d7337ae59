"""Profiles as XSpace messages, read back by the field numbers of TensorFlow's `xplane.proto`."""

import agc.runtime as tf
import pytest
from agc.runtime.profiler import xplane
from agc.runtime.storage.messages import Message


class Stat(Message):
    FIELDS = "int64 metadata_id = 1; int64 int64 = 4; string str = 5;"


class Event(Message):
    FIELDS = "int64 metadata_id = 1; int64 offset_ps = 2; int64 duration_ps = 3; repeated Stat stats = 4;"


class Line(Message):
    FIELDS = "int64 id = 1; string name = 2; repeated Event events = 4;"


class Metadata(Message):
    FIELDS = "int64 id = 1; string name = 2;"


class Entry(Message):
    FIELDS = "int64 key = 1; Metadata value = 2;"


class Plane(Message):
    FIELDS = """
        string name = 2; repeated Line lines = 3; repeated Entry event_metadata = 4;
        repeated Entry stat_metadata = 5;
    """


class Space(Message):
    FIELDS = "repeated Plane planes = 1; repeated string hostnames = 4;"


@tf.function
def doubled(x, rounds):
    for _ in tf.range(rounds):
        x = tf.concat([x, x], 0)
    return x


def names_of(entries):
    assert all(each.key == each.value.id for each in entries)
    return {each.key: each.value.name for each in entries}


@pytest.fixture(scope="module")
def plane():
    report = tf.profiler.profile(doubled, tf.ones([2]), tf.constant(3))
    (found,) = Space.FromString(xplane.encoded(report)).planes
    return found


def test_events_have_names_of_operations_and_lines_of_the_program(plane):
    assert plane.name == "/host:CPU"
    (line,) = plane.lines
    names, kinds = names_of(plane.event_metadata), names_of(plane.stat_metadata)
    counts = [names[event.metadata_id] for event in line.events]
    assert counts.count("concat/x:concat") == 3 and counts.count("doubled") == 1
    (event, *_) = [each for each in line.events if names[each.metadata_id] == "concat/x:concat"]
    where = f"test_xplane.py:{doubled.python_function.__code__.co_firstlineno + 3}, in doubled"
    assert [(kinds[stat.metadata_id], stat.str.endswith(where)) for stat in event.stats] == [("line", True)]


def test_nested_events_are_within_those_around_them(plane):
    (line,) = plane.lines
    open_until = []
    for event in line.events:
        end = event.offset_ps + event.duration_ps
        while open_until and open_until[-1] <= event.offset_ps:
            open_until.pop()
        assert event.duration_ps > 0 and all(end <= each for each in open_until)
        open_until.append(end)


def test_a_profiled_run_has_the_file_that_the_plug_in_looks_for(tmp_path):
    with tf.profiler.experimental.Profile(str(tmp_path)):
        doubled(tf.ones([2]), tf.constant(1))
    (path,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
    space = Space.FromString(path.read_bytes())
    assert [*space.hostnames] == [path.name.removesuffix(".xplane.pb")]
