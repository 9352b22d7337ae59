"""Graphs as pictures: `dot` for Graphviz and `mermaid` for Markdown."""

import shutil
import subprocess

import agc.runtime as tf
import pytest


@tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
def halved(n):
    while n > 10:
        n = n // 2
    return n


def test_a_loop_is_a_group_in_mermaid(tmp_path):
    tf.export.mermaid(halved, tmp_path / "f.mmd")
    assert (
        (tmp_path / "f.mmd").read_text()
        == """\
flowchart TD
  subgraph n1["halved"]
    n2(["n: int32[]"])
    subgraph n4["n = while"]
      n3["while n"]
      subgraph n5["test"]
        n6(["n: int32[]"])
        n7["greater n, 10"]
        n8(["greater"])
      end
      subgraph n9["body"]
        n10(["n: int32[]"])
        n11["floordiv n, 2"]
        n12(["n"])
      end
    end
    n13(["n"])
  end
  n2 -->|"n: int32[]"| n3
  n6 -->|"n: int32[]"| n7
  n7 --> n8
  n10 -->|"n: int32[]"| n11
  n11 --> n12
  n3 --> n13
"""
    )


def test_texts_are_quoted(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def tagged(x):
        return x + '<b>"\\'

    tf.export.mermaid(tagged, tmp_path / "f.mmd")
    tf.export.dot(tagged, tmp_path / "f.dot")
    assert "#60;b#62;" in (tmp_path / "f.mmd").read_text()
    assert r"<b>" in (tmp_path / "f.dot").read_text()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("text", ["n", 'a"b', "a\\", "<i>", "\\N"])
def test_graphviz_reads_the_picture(text, tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def tagged(x):
        return x + text

    tf.export.dot(tagged, tmp_path / "f.dot")
    run = subprocess.run(["dot", "-Tplain", tmp_path / "f.dot"], capture_output=True, text=True, check=True)
    assert run.stdout.count("\nnode ") == 3
    assert run.stdout.count("\nedge ") == 2
    assert run.stderr == ""
