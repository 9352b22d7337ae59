"""Compressed strings, and those of another form."""

import gzip
import zlib

import agc.runtime as tf
import pytest
from support.everywhere import everywhere


@pytest.mark.parametrize(
    ("kind", "compress"), [("ZLIB", zlib.compress), ("GZIP", gzip.compress), ("", lambda x: x)]
)
def test_contents_are_returned_by_each_executor(kind, compress):
    packed = tf.constant([[compress(b"a" * 99)], [compress(b"")]])
    assert everywhere(lambda x: tf.io.decode_compressed(x, kind), packed).tolist() == [[b"a" * 99], [b""]]


def test_other_strings_and_kinds_are_refused():
    with pytest.raises(tf.errors.DataLossError, match="decode_compressed"):
        tf.io.decode_compressed(["plain"], "ZLIB")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Only ZLIB, GZIP or NONE are supported"):
        tf.io.decode_compressed(["plain"], "LZ4")
