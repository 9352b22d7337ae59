"""Profiles of graphs: what ran how often, on which line, in what, and how it is shown. No time is looked at."""

import gzip
import json
import re
import threading
from xml.etree import ElementTree

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.plan.plan import Plan, plans
from agc.runtime.profiler import recorder
from agc.runtime.profiler.session import running
from agc.runtime.tracing.concrete_function import ConcreteFunction

PROGRAM = """\
import agc.runtime as tf


@tf.function
def settled(x, w):
    rounds = 0
    while tf.reduce_max(x) > 0.1:
        x = tf.tanh(x @ w) * 0.5
        if rounds > 1:
            x = tf.abs(x)
        rounds += 1
    return x, rounds
"""


@pytest.fixture
def settled(tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(PROGRAM, str(tmp_path / "program.py"), "exec"), names)
    return names["settled"]


@pytest.fixture
def report(settled):
    return tf.profiler.profile(settled, tf.ones([2, 3]), tf.eye(3))


def without_numbers(text):
    """The tables with their figures left out, but for the calls; rows in the order of the alphabet."""
    rows = re.sub(
        r"^ *[\d.]+% +[\d.e+]+ [a-zµ]+ +[\d.e+]+ [a-zµ]+ +(\d+) +[\d.]+ \w+", r"\1", text, flags=re.M
    )
    return [" ".join(row.split()) for row in sorted(rows.splitlines()) if row[:1].isdigit()]


def test_the_text(report):
    assert without_numbers(report.text()) == sorted(
        [
            "1 settled program.py:7, in settled",
            "1 while program.py:7, in settled",
            "4 reduce_max program.py:7, in settled",
            "4 greater program.py:7, in settled",
            "3 matmul program.py:8, in settled",
            "3 tanh program.py:8, in settled",
            "3 multiply program.py:8, in settled",
            "3 greater program.py:9, in settled",
            "3 cond program.py:9, in settled",
            "1 abs program.py:10, in settled",
            "3 add program.py:11, in settled",
            "10 while tf.reduce_max(x) > 0.1: program.py:7, in settled",
            "9 x = tf.tanh(x @ w) * 0.5 program.py:8, in settled",
            "6 if rounds > 1: program.py:9, in settled",
            "1 x = tf.abs(x) program.py:10, in settled",
            "3 rounds += 1 program.py:11, in settled",
            report.text().splitlines()[0],
        ]
    )


def test_rows_add_up(report):
    assert report.result[1].numpy() == 3
    assert sum(row.own for row in report.rows) == report.in_graphs == sum(row.own for row in report.lines)
    (function,) = [row for row in report.rows if row.name == "settled"]
    assert function.total == report.in_graphs <= report.wall
    assert all(0 <= row.own <= row.total for row in report.rows)
    assert [row.own for row in report.rows] == sorted((row.own for row in report.rows), reverse=True)


def test_only_new_arrays_count_as_allocated_bytes():
    f = tf.function(lambda x: tf.reshape(x + 1, [6]))
    rows = {row.name: row.bytes for row in tf.profiler.profile(f, tf.zeros([2, 3])).rows}
    assert rows["add"] == 24
    assert rows["reshape"] == 0


def test_blocks_nest(report):
    (root,) = report.recorders
    tree = {(node.spot.name, node.parent.spot.name) for node in report.nodes()}
    assert root.root.children and ("settled", root.thread) in tree
    assert {("while", "settled"), ("tanh", "while"), ("cond", "while"), ("abs", "cond")} <= tree


def test_the_trace_is_of_the_format(report, tmp_path):
    report.write_trace(str(tmp_path / "out.json"))
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    assert events[0] == {
        "ph": "M", "name": "thread_name", "pid": events[0]["pid"], "tid": 1, "args": {"name": "MainThread"},
    }  # fmt: skip
    calls = events[1:]
    assert all(event["ph"] == "X" and event["dur"] >= 0 and event["ts"] >= 0 for event in calls)
    assert [event["ts"] for event in calls] == sorted(event["ts"] for event in calls)
    assert len(calls) == sum(node.calls for node in report.nodes())
    tanh = next(event for event in calls if event["name"] == "tanh")
    assert tanh["args"] == {"line": "program.py:8, in settled"} and tanh["cat"] == "operation"
    open_until = []  # calls lie within each other, or behind
    for event in calls:
        end = event["ts"] + event["dur"]
        while open_until and open_until[-1] <= event["ts"]:
            open_until.pop()
        assert not open_until or end <= open_until[-1] + 1e-3
        open_until.append(end)


def test_the_page_is_self_contained(report, tmp_path):
    report.write_page(str(tmp_path / "out.html"))
    page = (tmp_path / "out.html").read_text()
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    drawing = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + len("</svg>")])
    hover = [bar.text.splitlines() for bar in drawing.iter("title")]
    assert hover[0][:2] == ["settled", "program.py:7, in settled"]
    widths = [float(bar.get("width")) for bar in drawing.iter("rect")]
    assert widths[0] == pytest.approx(1200) and max(widths) == widths[0]
    assert "while tf.reduce_max(x) &gt; 0.1:" in page


def test_many_calls_are_counted_but_not_all_kept(monkeypatch):
    monkeypatch.setattr(recorder, "MOST_EVENTS", 5)
    f = tf.function(lambda x: tf.while_loop(lambda x: x < 20, lambda x: x + 1, [x]))
    report = tf.profiler.profile(f, tf.constant(0))
    assert len(report.trace()["traceEvents"]) == 1 + 5
    assert {row.name: row.calls for row in report.rows}["add"] == 20
    assert "only counted" in report.text()


def test_calls_of_functions_gradients_and_threads():
    v = tf.Variable(2.0)
    half = tf.function(lambda x: x * 0.5)

    @tf.function
    def loss(x):
        return half(x * v) ** 2

    def step():
        with tf.GradientTape() as tape:
            y = loss(tf.constant(3.0))
        v.assign_sub(0.1 * tape.gradient(y, v))

    def both():
        threads = [threading.Thread(target=loss, args=(tf.constant(1.0),), name="other")]
        threads[0].start()
        step()
        threads[0].join()

    step()  # plans that were there before, and such as come while it runs, take part alike
    report = tf.profiler.profile(both)
    assert {each.thread for each in report.recorders} == {"MainThread", "other"}
    assert {row.name for row in report.rows} >= {"multiply", "square"}  # which a power of 2 is


def test_other_executors_are_profiled_as_one_event():
    f = tf.function(lambda x: x * 2 + 1, experimental_executor="interpret")
    x = tf.constant([0.5])
    before = f(x).numpy()
    report = tf.profiler.profile(f, x)
    assert report.result.numpy().tolist() == before.tolist()
    assert [(row.name, row.calls) for row in report.rows] == [("lambda_", 1)]
    assert [node.spot.kind for node in report.nodes()] == ["interpret"]
    assert f(x).numpy().tolist() == before.tolist()


def test_profiling_changes_no_results_or_errors(settled):
    x, w = tf.ones([2, 3]), tf.eye(3)
    plain = settled(x, w)
    programs = {plan: plan.swap() for plan in plans}
    profiled = tf.profiler.profile(settled, x, w).result
    np.testing.assert_array_equal(plain[0], profiled[0])
    assert Plan.watch is None and ConcreteFunction.watch is None and running() is None
    assert {plan: plan.swap() for plan in programs} == programs

    @tf.function
    def picked(i):
        return tf.gather([1, 2, 3], i) * 2

    with pytest.raises(tf.errors.InvalidArgumentError) as failure:
        picked(tf.constant(7))
    with pytest.raises(tf.errors.InvalidArgumentError) as watched, tf.profiler.Profiling() as profiling:
        picked(tf.constant(7))
    assert str(watched.value) == str(failure.value)
    assert {row.name: row.calls for row in profiling.report.rows} == {"picked": 1, "gather": 1}


class TestTensorFlowsNames:
    def test_files_are_written(self, tmp_path, settled):
        options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3)
        with tf.profiler.experimental.Profile(str(tmp_path), options):
            for number in range(2):
                with tf.profiler.experimental.Trace("step", step_num=number, _r=1) as trace:
                    settled(tf.ones([1, 3]), tf.eye(3))
                    trace.set_metadata(size=3)
        (folder,) = (tmp_path / "plugins" / "profile").iterdir()
        assert sorted(path.name.partition(".")[2] for path in folder.iterdir()) == [
            "flame.html", "profile.txt", "trace.json.gz", "xplane.pb",
        ]  # fmt: skip
        (packed,) = folder.glob("*.trace.json.gz")
        events = json.loads(gzip.decompress(packed.read_bytes()))["traceEvents"]
        steps = [event["name"] for event in events if event.get("cat") == "trace"]
        assert steps == ["step → step_num=0, size=3", "step → step_num=1, size=3"]

    def test_only_one_profiler_runs_at_a_time(self, tmp_path):
        experimental = tf.profiler.experimental
        with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
            experimental.stop()
        experimental.start(str(tmp_path))
        with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
            experimental.start(str(tmp_path))
        experimental.stop(save=False)
        assert list(tmp_path.iterdir()) == []

    def test_a_trace_without_a_profile_does_nothing(self):
        with tf.profiler.experimental.Trace("step") as trace:
            trace.set_metadata(number=1)
        report = tf.profiler.profile(tf.function(lambda x: x + 1), tf.zeros([2]))
        assert [row.name for row in report.rows if row.name in ("add", "step")] == ["add"]
