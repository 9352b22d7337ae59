"""`agc.progress` outside of notebooks."""

import io

import agc
import agc.runtime as tf
import pytest
from agc.explorer.progress_bar import State


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Make stderr a terminal, and return it; pytest has one of its own for each phase of a test."""

    def start():
        found = Terminal()
        monkeypatch.setattr("sys.stderr", found)
        return found

    return start


def last_line(text):
    return text.split("\r")[-1].removeprefix("\x1b[K")


def test_terminals_show_one_line_that_is_rewritten(terminal):
    stderr = terminal()
    assert list(agc.progress(range(500), name="rows")) == [*range(500)]
    text = stderr.getvalue()
    assert text.count("\n") == 1 and text.count("\r") < 500
    assert last_line(text).startswith("▇" * 24 + "  rows  500 of 500  ")


def test_sizes_may_be_unknown(terminal):
    stderr = terminal()
    assert len(list(agc.progress(tf.data.Dataset.range(9).filter(lambda x: x > 3)))) == 5
    assert last_line(stderr.getvalue()).startswith("5 items  ")


def test_loops_that_end_early_show_how_far_they_came(terminal):
    stderr = terminal()
    for x in agc.progress(range(10)):
        if x == 3:
            break
    assert "  3 of 10  " in last_line(stderr.getvalue())


def test_files_get_nothing(capsys):
    assert sum(agc.progress([1, 2])) == 3
    assert capsys.readouterr() == ("", "")


def test_each_iteration_counts_anew_and_lengths_are_kept():
    shown = agc.progress([1, 2])
    assert list(shown) == list(shown) == [1, 2] and len(shown) == 2
    with pytest.raises(TypeError, match="unknown"):
        len(agc.progress(iter([1])))


def test_traced_loops_stay_one_operation():
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in agc.progress(dataset):
            found += x
        return found

    assert total(tf.data.Dataset.range(5)).numpy() == 10


def test_names_are_escaped():
    assert "a &lt;b&gt;" in State("a <b>", 1, 2, 0.0)._repr_html_()
