"""tf.strings."""

import agc.runtime as tf
import numpy as np
import pytest

S = tf.strings


def test_join_is_elementwise() -> None:
    assert tf.strings.join(["a", "b"], "-").numpy() == b"a-b"
    assert tf.strings.join([["a", "b"], "x"]).numpy().tolist() == [b"ax", b"bx"]
    assert tf.function(lambda t: tf.strings.join([t, "!"]))(tf.constant("a")).numpy() == b"a!"
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Input shapes do not match: \[2\] vs\. \[3\]"):
        tf.strings.join([["a", "c"], ["b", "d", "e"]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (tf.strings.as_string(3), b"3"),
        (tf.strings.as_string(1.5), b"1.500000"),
        (tf.strings.as_string(True), b"true"),
        (tf.strings.as_string(3.14159, precision=2), b"3.14"),
        (tf.strings.as_string(1e10, shortest=True), b"1e+10"),
        (tf.strings.as_string(1.5, scientific=True), b"1.500000e+00"),
        (tf.strings.as_string(3, width=5, fill="0"), b"00003"),
        (tf.strings.as_string(1 + 2j), b"(1.000000,2.000000)"),
        (tf.strings.as_string("a"), b"a"),
    ],
)
def test_as_string_writes_numbers_as_c_does(text: tf.Tensor, expected: bytes) -> None:
    assert text.numpy() == expected


def test_strings_are_bytes() -> None:
    assert tf.strings.length(["héllo", ""]).numpy().tolist() == [6, 0]
    assert tf.strings.length("héllo", unit="UTF8_CHAR").numpy() == 5
    assert tf.strings.lower("ABÉ").numpy() == "abÉ".encode()
    assert tf.strings.upper("abé").numpy() == "ABé".encode()
    assert tf.strings.strip(tf.constant(" a b ")).numpy() == b"a b"
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="int32"):
        tf.strings.length(1)


def test_equality_of_strings() -> None:
    assert (tf.constant(["a", "b"]) == "a").numpy().tolist() == [True, False]


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_scalar_strings_stay_tensors_in_graphs(executor: str) -> None:
    @tf.function(experimental_executor=executor)
    def texts(text: tf.Tensor) -> tuple[tf.Tensor, ...]:
        twice = text + text
        return twice, tf.reshape(twice, [1]), tf.stack([twice, text]), tf.broadcast_to(twice, [2])

    twice, one, both, repeated = texts(tf.constant("a"))
    assert (twice.dtype, twice.numpy()) == (tf.string, b"aa")
    assert one.numpy().tolist() == [b"aa"]
    assert both.numpy().tolist() == [b"aa", b"a"]
    assert repeated.numpy().tolist() == [b"aa", b"aa"]


def test_lists_of_strings_and_tensors_are_flat_arrays() -> None:
    assert [type(item) for item in tf.stack([tf.constant("a"), "b"]).numpy()] == [bytes, bytes]
    assert [type(item) for item in tf.concat([["a"], [tf.constant("b")]], 0).numpy()] == [bytes, bytes]


def test_a_variable_of_strings_grows() -> None:
    log = tf.Variable("a")
    log.assign(log + "b")
    with pytest.raises(tf.errors.InvalidArgumentError, match="assign_add does not take string"):
        log.assign_add("c")
    assert (log.numpy(), log.value().dtype) == (b"ab", tf.string)


LONG = {
    "to_number": lambda n: S.to_number("1" * n + "x"),
    "to_number of a fraction": lambda n: S.to_number("." + "1" * n + "e"),
    "to_number of hexadecimal digits": lambda n: S.to_number("0x" + "f" * n + "x"),
    "to_number of an integer": lambda n: S.to_number("1" * n, tf.int64),
    "to_number of a large float": lambda n: S.to_number("1" * n),
    "decode_csv of digits": lambda n: tf.io.decode_csv(["1" * n + "x"], [0.0]),
    "decode_csv of quotes": lambda n: tf.io.decode_csv(['"' * n + '"'], [""]),
    "decode_csv of fields": lambda n: tf.io.decode_csv(["," * (n // 8)], [""]),
    "unicode_decode of damaged text": lambda n: S.unicode_decode(b"\xff\xe3" * (n // 16), "UTF-8"),
    "unicode_transcode of damaged text": lambda n: S.unicode_transcode(
        b"\xff\xe3a" * (n // 16), "UTF-8", "UTF-16-BE"
    ),
    "split": lambda n: S.split("a," * n, ","),
    "strip": lambda n: S.strip(" " * n + "x" + " " * n),
    "regex_replace": lambda n: S.regex_replace("a" * (n // 20), "a", "bb"),
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG.keys())
def test_long_texts_take_linear_time(call):
    """Quadratic time would be minutes."""
    try:
        call(400_000)
    except tf.errors.InvalidArgumentError as error:
        assert len(str(error)) < 1000


@pytest.mark.parametrize("text, dtype, expected", [
    ("0" * 10_000 + "7", tf.int32, 7), ("0" * 10_000 + "7", tf.float32, 7.0), ("-" + "9" * 400, tf.float64, -np.inf),
    ("0x" + "f" * 1000, tf.float32, np.inf), ("-0x" + "f" * 1000, tf.float32, -np.inf), ("-0", tf.int64, 0),
    ("9223372036854775807", tf.int64, 2**63 - 1), ("18446744073709551615", tf.uint64, 2**64 - 1),
])  # fmt: skip
def test_long_numbers(text, dtype, expected):
    assert S.to_number(text, dtype).numpy() == expected


@pytest.mark.parametrize("attr", ["width", "precision"])
def test_sizes_of_texts_are_int32(attr):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{attr} has value 10000000000 out of range"):
        S.as_string(1.5, **{attr: 10**10})


@pytest.mark.parametrize("encoding", ["zlib", "rot13", "idna", "hex", "no such", "a\0b"])
def test_an_unknown_encoding_is_refused(encoding):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="converter for input encoding"):
        S.unicode_decode("a", encoding)


def test_one_long_string_does_not_pad_the_others():
    texts = tf.constant([b"x" * 10**6] + [b""] * 10**5)  # 100 GB if each took as much
    assert texts.shape == (10**5 + 1,)
