"""Errors of a full disk name the file: /dev/full refuses all that is written to it."""

import os

import agc.runtime as tf
import pytest
from support.each_case import each_case

FULL = "/dev/full"
pytestmark = pytest.mark.skipif(not os.path.exists(FULL), reason="the system has no such device")


def with_gfile(mode, content, *finish):
    def write():
        with tf.io.gfile.GFile(FULL, mode) as file:
            file.write(content)
            for name in finish:
                getattr(file, name)()

    return write


def with_records(compression):
    def write():
        with tf.io.TFRecordWriter(FULL, compression) as writer:
            writer.write(os.urandom(1 << 20))

    return write


def profile():
    with tf.profiler.Profiling() as profiling:
        tf.sin(1.0)
    return profiling.report


WRITERS = {
    "a file": with_gfile("wb", b"text"),
    "a text": with_gfile("w", "text"),
    "a large file": with_gfile("wb", bytes(1 << 20)),
    "flush": with_gfile("wb", b"text", "flush"),
    "size": with_gfile("wb", b"text", "size"),
    "write_file": lambda: tf.io.write_file(FULL, "text"),
    "records": with_records(""),
    "records gzip": with_records("GZIP"),
    "records zlib": with_records("ZLIB"),
    "print": lambda: tf.print("text", output_stream=f"file://{FULL}"),
    "a trace": lambda: profile().write_trace(FULL),
    "a page": lambda: profile().write_page(FULL),
}


@each_case("write", WRITERS.values(), ids=WRITERS.keys())
def test_errors_of_a_full_disk_name_the_file(write):
    with pytest.raises(tf.errors.ResourceExhaustedError, match=f"{FULL}; No space left on device"):
        write()


def test_errors_of_reading_name_the_file(tmp_path):
    with pytest.raises(tf.errors.FailedPreconditionError, match=f"{tmp_path}; Is a directory"):
        tf.io.gfile.GFile(str(tmp_path)).read()
    with pytest.raises(tf.errors.OpError, match="/proc/self/mem; Input/output error"):
        tf.io.read_file("/proc/self/mem")
