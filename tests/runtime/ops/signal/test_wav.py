"""Sound files: bytes and samples of TensorFlow 2.21."""

import agc.runtime as tf
import numpy as np
import pytest

SOUND = tf.constant([[0.5, -1.0], [1.2, 0.25], [-0.3, 0.0]])
FILE = (
    b"RIFF0\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00@\x1f\x00\x00\x00}\x00\x00\x04\x00\x10\x00data\x0c\x00"
    b"\x00\x00\x00@\x00\x80\xff\x7f\x00 \x9a\xd9\x00\x00"
)
SAMPLES = np.array([[0.5, -1.0], [0.9999695, 0.25], [-0.2999878, 0.0]], np.float32)


def test_files_are_those_of_tensorflow():
    assert tf.audio.encode_wav(SOUND, 8000).numpy() == FILE
    audio, rate = tf.audio.decode_wav(FILE)
    np.testing.assert_allclose(audio.numpy(), SAMPLES)
    assert int(rate) == 8000


def test_graphs_code_and_decode():
    @tf.function
    def passed(sound):
        return tf.audio.decode_wav(tf.audio.encode_wav(sound, 8000)).audio

    np.testing.assert_allclose(passed(SOUND).numpy(), SAMPLES)


def test_channels_and_samples_are_added_or_left_out():
    assert tf.audio.decode_wav(FILE, desired_channels=1).audio.shape == (3, 1)
    wide = tf.audio.decode_wav(FILE, desired_channels=3, desired_samples=5).audio.numpy()
    np.testing.assert_allclose(wide[:3, 2], SAMPLES[:, 1])
    assert not wide[3:].any()
    assert tf.audio.decode_wav(FILE, desired_samples=2).audio.shape == (2, 2)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"abc", "Data too short"),
        (FILE[:30], "Data too short"),
        (b"RIFX" + FILE[4:], "Header mismatch"),
        (FILE[:20] + b"\x03" + FILE[21:], r"Expected 1 \(PCM\), but got 3"),
        (FILE[:34] + b"\x08" + FILE[35:], "only read 16-bit WAV files, but received 8"),
        (FILE[:22] + b"\x01" + FILE[23:], "1 channels at rate 8000 have 2 bytes a sample"),
    ],
)
def test_other_files_are_refused(content, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.audio.decode_wav(content)


@pytest.mark.parametrize(
    ("sound", "rate", "text"),
    [
        ([1.0], 8000, "2-dimensional"),
        (np.zeros((2, 0), np.float32), 8000, "one channel"),
        ([[1.0]], 0, "sample_rate"),
    ],
)
def test_sounds_without_a_file_are_refused(sound, rate, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.audio.encode_wav(sound, rate)


def test_float64_samples_are_rounded():
    samples = np.array([[0.5], [-0.25]])
    assert tf.audio.encode_wav(samples, 8000) == tf.audio.encode_wav(samples.astype("f"), 8000)
