"""split, bytes_split, ngrams and the Unicode functions of several texts: results are those of TensorFlow 2.21."""

import agc.runtime as tf
import numpy as np
import pytest

S = tf.strings
STAGED = pytest.mark.parametrize("staged", [False, True])


def run(staged, call, *args):
    result = (tf.function(call) if staged else call)(*args)
    return result.to_list() if isinstance(result, tf.RaggedTensor) else result.numpy().tolist()


@STAGED
@pytest.mark.parametrize(
    "text, options, expected",
    [
        ("a b  c", {}, [b"a", b"b", b"c"]),
        (" a  b ", {}, [b"a", b"b"]),
        ("", {}, []),
        ("a,b,,c", {"sep": ","}, [b"a", b"b", b"", b"c"]),
        ("", {"sep": ","}, [b""]),
        ("a||b", {"sep": "||"}, [b"a", b"b"]),
        ("a,b,c", {"sep": ",", "maxsplit": 1}, [b"a", b"b,c"]),
        ("a  b  ", {"maxsplit": 1}, [b"a", b"b  "]),
        (" a b  ", {"maxsplit": 2}, [b"a", b"b", b""]),
        (" a b", {"maxsplit": 0}, [b" a b"]),
        (["a,b", ""], {"sep": ",", "maxsplit": 0}, [[b"a,b"], [b""]]),
        (["a b", "c"], {}, [[b"a", b"b"], [b"c"]]),
        ([["a b"], ["c"]], {}, [[[b"a", b"b"]], [[b"c"]]]),
    ],
)
def test_split(staged, text, options, expected):
    assert run(staged, lambda t: S.split(t, **options), tf.constant(text)) == expected


@pytest.mark.parametrize("sep", [None, "a", "b ", "aa", "aba", "é"])
def test_texts_of_a_batch_are_split_apart(sep):
    """The strings are joined to be split at once; no part may cross their ends."""
    rng = np.random.default_rng(0)
    letters = [b"a", b"b", b" ", b"\t", b"\x0b", b"\x85", b"\x00", "é".encode()]
    texts = [b"".join(letters[i] for i in rng.integers(0, 8, size)) for size in rng.integers(0, 9, 200)]
    found = S.split(tf.constant(texts), sep)
    assert found.to_list() == [text.split(sep.encode() if sep else None) for text in texts]
    assert S.split(tf.constant([], tf.string), sep).to_list() == []


@STAGED
def test_bytes_split(staged):
    assert run(staged, S.bytes_split, tf.constant("abc")) == [b"a", b"b", b"c"]
    assert run(staged, S.bytes_split, tf.constant(["ab", "c", ""])) == [[b"a", b"b"], [b"c"], []]
    assert run(staged, S.bytes_split, tf.ragged.constant([["ab"], []], tf.string)) == [[[b"a", b"b"]], []]


@STAGED
@pytest.mark.parametrize(
    "data, width, options, expected",
    [
        (["a", "b", "c"], 2, {}, [b"a b", b"b c"]),
        (["a", "b", "c"], [1, 2], {}, [b"a", b"b", b"c", b"a b", b"b c"]),
        (["a", "b"], 3, {"pad_values": "P"}, [b"P P a", b"P a b", b"a b P", b"b P P"]),
        (
            ["a", "b"],
            3,
            {"pad_values": ("L", "R"), "separator": "|"},
            [b"L|L|a", b"L|a|b", b"a|b|R", b"b|R|R"],
        ),
        (["a", "b", "c"], 3, {"pad_values": "P", "padding_width": 1}, [b"P a b", b"a b c", b"b c P"]),
        (["a"], 3, {}, []),
        (["a"], 3, {"preserve_short_sequences": True}, [b"a"]),
        ([["a", "b", "c"], ["d", "e", "f"]], 2, {}, [[b"a b", b"b c"], [b"d e", b"e f"]]),
    ],
)
def test_ngrams(staged, data, width, options, expected):
    assert run(staged, lambda t: S.ngrams(t, width, **options), tf.constant(data)) == expected


def test_ngrams_of_ragged_rows():
    rows = tf.ragged.constant([["a", "b", "c"], ["d"], []])
    assert S.ngrams(rows, 2).to_list() == [[b"a b", b"b c"], [], []]
    assert S.ngrams(rows, 2, preserve_short_sequences=True).to_list() == [[b"a b", b"b c"], [b"d"], []]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: S.ngrams(["a"], 0), "greater than 0"),
        (lambda: S.ngrams("a", 2), "rank>0"),
        (lambda: S.ngrams(["a"], 2, padding_width=1), "pad_values must be provided"),
        (lambda: S.split(1), "int32"),
        (lambda: S.bytes_split([1]), "int32"),
    ],
)
@STAGED
def test_refused(staged, call, message):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError), match=message):
        (tf.function(call) if staged else call)()


@STAGED
def test_characters_of_several_texts(staged):
    texts = tf.constant(["é€", "", "a"])
    assert run(staged, lambda t: S.unicode_decode(t, "UTF-8"), texts) == [[233, 8364], [], [97]]
    assert run(staged, lambda t: S.unicode_split(t, "UTF-8"), texts) == [
        ["é".encode(), "€".encode()],
        [],
        [b"a"],
    ]
    assert run(staged, lambda t: S.unicode_decode_with_offsets(t, "UTF-8")[1], texts) == [[0, 2], [], [0]]
    back = run(staged, lambda t: S.unicode_encode(S.unicode_decode(t, "UTF-8"), "UTF-8"), texts)
    assert back == ["é€".encode(), b"", b"a"]
    square = tf.constant([["é"], ["ab"]])
    assert run(staged, lambda t: S.unicode_decode(t, "UTF-8"), square) == [[[233]], [[97, 98]]]


def test_an_unknown_number_of_texts():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def words(t):
        return S.split(t).row_lengths(), S.unicode_split(t, "UTF-8").flat_values

    counts, characters = words(tf.constant(["a b", "c"]))
    assert counts.numpy().tolist() == [2, 1]
    assert characters.numpy().tolist() == [b"a", b" ", b"b", b"c"]
    assert words(tf.constant([], tf.string))[0].shape == [0]
