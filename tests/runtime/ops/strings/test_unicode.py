"""Texts in the encodings of Unicode, as TensorFlow 2.21 reads and writes them."""

import agc.runtime as tf
import pytest

S = tf.strings

BROKEN = [
    (b"a\xffb", [97, 65533, 98], [0, 1, 2]),
    (b"a\xe2\x82b", [97, 65533, 98], [0, 1, 3]),
    (b"a\xf0\x9f\x98", [97, 65533], [0, 1]),
    (b"\xed\xa0\x80", [65533] * 3, [0, 1, 2]),
    (b"\xc0\xaf", [65533] * 2, [0, 1]),
    (b"\xf4\x90\x80\x80", [65533] * 4, [0, 1, 2, 3]),
    ("é€😀".encode(), [233, 8364, 128512], [0, 2, 5]),
    (b"", [], []),
]


@pytest.mark.parametrize("text, codes, places", BROKEN)
@pytest.mark.parametrize("staged", [False, True])
def test_decode(text, codes, places, staged):
    def both(t):
        return S.unicode_decode(t, "UTF-8"), *S.unicode_decode_with_offsets(t, "UTF-8")

    found = (tf.function(both) if staged else both)(tf.constant(text))
    assert [part.numpy().tolist() for part in found] == [codes, codes, places]
    assert [part.dtype for part in found] == [tf.int32, tf.int32, tf.int64]


def test_split():
    parts, places = S.unicode_split_with_offsets(tf.constant("aé€"), "UTF-8")
    assert parts.numpy().tolist() == [b"a", "é".encode(), "€".encode()]
    assert places.numpy().tolist() == [0, 1, 3]
    assert S.unicode_split(tf.constant(b"a\xffb"), "UTF-8", errors="ignore").numpy().tolist() == [b"a", b"b"]


def test_invalid_bytes_follow_the_errors_option():
    broken = tf.constant(b"a\xffb\n")
    assert S.unicode_decode(broken, "UTF-8", errors="ignore").numpy().tolist() == [97, 98, 10]
    assert S.unicode_decode(broken, "UTF-8", replacement_char=63).numpy().tolist() == [97, 63, 98, 10]
    replaced = S.unicode_decode(broken, "UTF-8", replace_control_characters=True)
    assert replaced.numpy().tolist() == [97, 65533, 98, 65533]
    for strict in (S.unicode_decode, S.unicode_split):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting on input string"):
            strict(broken, "UTF-8", errors="strict")


@pytest.mark.parametrize(
    "text, source, target, expected",
    [
        ("é€😀", "UTF-8", "UTF-16-BE", b"\x00\xe9 \xac\xd8=\xde\x00"),
        ("é", "UTF-8", "UTF-32-BE", b"\x00\x00\x00\xe9"),
        (b"\xe9", "latin-1", "UTF-8", "é".encode()),
        (b"\x00a\x00b", "UTF-16-BE", "UTF-8", b"ab"),
        (b"\x00a\x00", "UTF-16-BE", "UTF-8", "a\ufffd".encode()),
        (b"\x82\xa0", "shift_jis", "UTF-8", "あ".encode()),
        (b"a\xff", "US-ASCII", "UTF-8", "a\ufffd".encode()),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_transcode(text, source, target, expected, staged):
    transcode = lambda t: S.unicode_transcode(t, source, target)  # noqa: E731
    result = (tf.function(transcode) if staged else transcode)(tf.constant([text]))
    assert result.numpy().tolist() == [expected]


@pytest.mark.parametrize("staged", [False, True])
def test_encode(staged):
    def encode(codes):
        return S.unicode_encode(codes, "UTF-8"), S.unicode_encode(codes[0], "UTF-16-BE")

    rows, first = (tf.function(encode) if staged else encode)(tf.constant([[97, 98], [99, 233]]))
    assert rows.numpy().tolist() == [b"ab", "cé".encode()]
    assert first.numpy() == b"\x00a\x00b"
    assert S.unicode_encode(tf.zeros([2, 0], tf.int32), "UTF-8").numpy().tolist() == [b"", b""]
    assert S.unicode_encode([0xD800, 97], "UTF-8").numpy() == "\ufffda".encode()
    assert S.unicode_encode([0x110000, 97], "UTF-8", errors="ignore").numpy() == b"a"
    with pytest.raises(tf.errors.InvalidArgumentError):
        S.unicode_encode([-1], "UTF-8", errors="strict")


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: S.unicode_transcode("a", "nope", "UTF-8"), "Could not create converter"),
        (lambda: S.unicode_transcode("a", "UTF-8", "latin-1"), "not in the list of allowed values"),
        (lambda: S.unicode_decode("a", "UTF-8", errors="what"), "not in the list of allowed values"),
        (lambda: S.unicode_transcode(1, "UTF-8", "UTF-8"), "int32"),
        (lambda: S.unicode_encode(97, "UTF-8"), "rank must be at least 1"),
        (lambda: S.unicode_encode([0.5], "UTF-8"), "float32"),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_refused(call, message, staged):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError, TypeError), match=message):
        (tf.function(call) if staged else call)()
