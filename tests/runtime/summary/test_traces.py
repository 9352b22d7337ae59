"""`trace_on` collects the graphs of functions, which `trace_export` writes."""

import agc.runtime as tf
import pytest


@pytest.fixture
def writer(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        yield writer


def content(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*events*"))


def test_graphs_are_written(writer, tmp_path):
    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=tmp_path / "profile")
    tf.function(lambda x: tf.linalg.matmul(x, x))(tf.ones([2, 2]))
    tf.summary.trace_export("product", step=0)
    writer.flush()
    assert b"matmul" in content(tmp_path)
    assert list((tmp_path / "profile").rglob("*.trace.json.gz"))


def test_a_trace_that_is_off_writes_nothing(writer, tmp_path):
    tf.summary.trace_on()
    tf.summary.trace_off()
    tf.function(lambda x: tf.linalg.matmul(x, x))(tf.ones([2, 2]))
    with pytest.raises(ValueError, match=r"Must enable trace before export through tf\.summary\.trace_on"):
        tf.summary.trace_export("product", step=0)
    writer.flush()
    assert b"matmul" not in content(tmp_path)


def test_an_export_needs_a_step(writer):
    tf.summary.trace_on()
    with pytest.raises(ValueError, match="No step set"):
        tf.summary.trace_export("product")
    tf.summary.trace_off()


def test_scopes_of_summaries_have_the_enclosing_names():
    with tf.name_scope("layer"), tf.summary.experimental.summary_scope("loss") as (tag, _):
        assert tag == "layer/loss"
    with tf.summary.experimental.summary_scope(None, "default") as (tag, _):
        assert tag == "default"
