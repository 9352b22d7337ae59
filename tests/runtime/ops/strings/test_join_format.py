"""Strings: parts, joins along axes, texts with values, numbers, hash buckets. Results are TensorFlow 2.21's."""

import math

import agc.runtime as tf
import pytest
from support.each_case import each_case

S = tf.strings
STAGED = pytest.mark.parametrize("staged", [False, True])


def run(staged, call, *args):
    return (tf.function(call) if staged else call)(*args).numpy()


@STAGED
@pytest.mark.parametrize(
    "text, pos, length, unit, expected",
    [
        ("hello", 1, 3, "BYTE", b"ell"),
        ("hello", -3, 2, "BYTE", b"ll"),
        ("hello", 2, 100, "BYTE", b"llo"),
        ("hello", 5, 1, "BYTE", b""),
        ("hello", -5, 2, "BYTE", b"he"),
        ("héllo", 1, 2, "UTF8_CHAR", "él".encode()),
        ("héllo", -4, 2, "UTF8_CHAR", "él".encode()),
        ("héllo", 1, 2, "BYTE", "é".encode()),
    ],
)
def test_substr(staged, text, pos, length, unit, expected):
    assert run(staged, lambda t: S.substr(t, pos, length, unit=unit), tf.constant(text)) == expected


@each_case("at", [-3, -2, 0, 2, 3])
@each_case("count", [-1, 0, 1, 2, 3, 9])
def test_substr_of_a_batch(at, count):
    texts = ["abc", "defgh"]
    expected = [
        text[at % len(text) if at < 0 else at :][: count if count >= 0 else None].encode() for text in texts
    ]
    assert S.substr(texts, at, count).numpy().tolist() == expected
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range for string b'x'"):
        S.substr([*texts, "x"], at or 2, count)


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
def test_substr_of_many_strings_is_that_of_each(unit):
    texts = [
        text * n for n in range(1, 8) for text in ("añ", "€", "xyz")
    ]  # more than are cut one after another
    for at, count in ((0, 2), (1, -1), (-1, 3), (1, 0)):
        each = [S.substr(text, at, count, unit=unit).numpy() for text in texts]
        assert S.substr(texts, at, count, unit=unit).numpy().tolist() == each


def test_substr_broadcasts():
    assert S.substr(["abc", "defg"], [[0], [1]], [[1], [2]]).numpy().tolist() == [
        [b"a", b"d"],
        [b"bc", b"ef"],
    ]
    assert S.substr(["abc", "de"], [1, 0], [2, 1]).numpy().tolist() == [b"bc", b"d"]


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
def test_substr_past_the_ends(unit):
    for pos in (6, -6):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=f"pos {pos} out of range for string b'hello'"
        ):
            S.substr("hello", pos, 1, unit=unit)


@STAGED
@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, b"abcd"),
        ({"axis": 0}, [b"ac", b"bd"]),
        ({"axis": 1, "separator": "-"}, [b"a-b", b"c-d"]),
        ({"axis": -1, "keepdims": True}, [[b"ab"], [b"cd"]]),
        ({"axis": [0, 1]}, b"acbd"),
        ({"axis": [1, 0]}, b"abcd"),
        ({"axis": []}, [[b"a", b"b"], [b"c", b"d"]]),
        ({"axis": [1, 0], "keepdims": True, "separator": "."}, [[b"a.b.c.d"]]),
    ],
)
def test_reduce_join(staged, options, expected):
    joined = run(staged, lambda t: S.reduce_join(t, **options), tf.constant([["a", "b"], ["c", "d"]]))
    assert (joined.tolist() if hasattr(joined, "tolist") else joined) == expected


def test_reduce_join_of_nothing():
    assert S.reduce_join(tf.zeros([0], tf.string)).numpy() == b""
    assert S.reduce_join(tf.zeros([2, 0], tf.string), axis=1).numpy().tolist() == [b"", b""]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate"):
        S.reduce_join([["a"]], axis=[0, 0])


@STAGED
def test_unsorted_segment_join(staged):
    def join(t):
        return S.unsorted_segment_join(t, [0, 1, 0], 3, separator="-")

    assert run(staged, join, tf.constant(["a", "b", "c"])).tolist() == [b"a-c", b"b", b""]
    pairs = S.unsorted_segment_join([["a", "b"], ["c", "d"]], [0, 0], 1, separator=".")
    assert pairs.numpy().tolist() == [[b"a.c", b"b.d"]]
    assert S.unsorted_segment_join([["a", "b"], ["c", "d"]], [[0, 1], [1, 0]], 2).numpy().tolist() == [
        b"ad",
        b"bc",
    ]
    for wrong in ([-1, 0, 0], [0, 3, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="segment_ids"):
            S.unsorted_segment_join(["a", "b", "c"], wrong, 3)


@STAGED
def test_format(staged):
    assert run(staged, lambda t: S.format("a {} b {}", (t, 1.5)), tf.constant([1, 2])) == b"a [1 2] b 1.5"
    assert run(staged, lambda t: S.format("{}", t, summarize=2), tf.range(10)) == b"[0 1 ... 8 9]"
    assert run(staged, lambda t: S.format("a @ b", t, placeholder="@"), tf.constant("s")) == b'a "s" b'
    with pytest.raises(ValueError if staged else tf.errors.InvalidArgumentError, match="expects 2 tensors"):
        run(staged, lambda t: S.format("{} {}", t), tf.constant(1))


@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda: S.as_string(3, width=5, fill="-"), b"3    "),
        (lambda: S.as_string(3, width=5, fill="+"), b"   +3"),
        (lambda: S.as_string(tf.constant(0.1, tf.float64), precision=20), b"0.10000000000000000555"),
        (lambda: S.as_string(float("-inf")), b"-inf"),
        (lambda: S.as_string("abc", width=5), b"  abc"),
        (lambda: S.as_string(tf.constant(1 + 2j), width=6), b"(1.000000,2.000000)"),
        (lambda: S.as_string(tf.constant(2**63, tf.uint64)), b"9223372036854775808"),
        (lambda: S.lower("ABÉ", encoding="utf-8"), "abé".encode()),
        (lambda: S.upper("abéß", encoding="utf-8"), "ABÉSS".encode()),
    ],
)
def test_forms_of_numbers_and_letters(call, expected):
    assert call().numpy() == expected


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: S.as_string(3, fill="ab"), "one or fewer characters"),
        (lambda: S.as_string(3.5, fill="x"), "Fill argument not supported"),
        (lambda: S.as_string(3, precision=2), "precision not supported for datatype int32"),
        (lambda: S.as_string(3, scientific=True), "scientific and shortest format not supported"),
        (lambda: S.as_string(1.5, scientific=True, shortest=True), "both scientific and shortest"),
        (lambda: S.lower("A", encoding="x"), "only utf-8"),
        (lambda: S.length("a", unit="X"), "not in the list of allowed values"),
        (lambda: S.substr("abc", 1.0, 1.0), "float32"),
        (lambda: S.substr(1, 1, 1), "int32"),
        (lambda: S.to_number(1), "int32"),
        (lambda: S.to_number("1", tf.uint8), "not in the list of allowed values"),
        (lambda: S.to_hash_bucket_fast("a", 0), "must be at least minimum 1"),
        (lambda: S.to_hash_bucket_strong("a", 10, [1]), "Key must have 2 elements"),
        (lambda: S.unsorted_segment_join(["a"], [0], -1), "non-negative"),
    ],
)
@STAGED
def test_refused(staged, call, message):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError, TypeError), match=message):
        (tf.function(call) if staged else call)()


@pytest.mark.parametrize(
    "text, dtype, expected",
    [
        ("3.5", tf.float32, 3.5),
        (" 1e3\n", tf.float32, 1000.0),
        ("0x1p3", tf.float32, 8.0),
        (".5", tf.float32, 0.5),
        ("1.", tf.float32, 1.0),
        ("-Infinity", tf.float32, -math.inf),
        ("1e40", tf.float32, math.inf),
        ("0.1", tf.float64, 0.1),
        ("  5 ", tf.int32, 5),
        ("+5", tf.int32, 5),
        ("99999999999", tf.int64, 99999999999),
        ("18446744073709551615", tf.uint64, 2**64 - 1),
        ("abc", tf.float32, None),
        ("", tf.float32, None),
        ("1e", tf.float32, None),
        ("1_0", tf.int32, None),
        ("1.5", tf.int32, None),
        ("0x10", tf.int32, None),
        ("99999999999", tf.int32, None),
        ("-5", tf.uint64, None),
        ("\u0661", tf.int32, None),
    ],
)
def test_to_number(text, dtype, expected):
    if expected is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
            S.to_number(text, out_type=dtype)
    else:
        number = S.to_number([text], out_type=dtype)
        assert (number.dtype, number.numpy().tolist()) == (dtype, [expected])
    assert math.isnan(S.to_number("NaN").numpy())


@pytest.mark.parametrize(
    "text, fast, plain, strong",
    [
        ("", 1936946117179621455, 105434511174508091, 443797209252341627),
        ("a", 3694432073954588131, 2996632905371535868, 546566331822570742),
        ("hello", 3786372426573024488, 1331861223480393034, 2957200328589801622),
        ("abcdefghi", 3687479239766293058, 2154505082538699157, 545485191183657959),
        ("y" * 17, 426471879119003573, 1430365920931554667, 1541948060395825868),
        ("w" * 33, 1065610773926128234, 614313809260747414, 1083027582118548111),
        ("u" * 65, 2057610113469281983, 3411358958328266995, 425419901140110831),
        ("0123456789" * 30, 4542588636679321795, 3314240917884117545, 4393460464155500286),
    ],
)
def test_hash_buckets_are_tensorflows(text, fast, plain, strong):
    assert S.to_hash_bucket_fast(text, 2**62).numpy() == fast
    assert S.to_hash_bucket(text, 2**62).numpy() == plain
    assert S.to_hash_bucket_strong(text, 2**62, key=[1, 2]).numpy() == strong


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_in_graphs_of_unknown_shapes(executor):
    @tf.function(experimental_executor=executor, input_signature=[tf.TensorSpec(None, tf.string)])
    def f(t):
        halves = S.join([S.substr(t, 0, 1), S.upper(t)], separator="/")
        return (
            halves,
            S.to_number(S.regex_replace(t, "[a-z]", "1")),
            S.reduce_join(t, axis=-1),
            S.to_hash_bucket(t, 2),
        )

    halves, numbers, joined, buckets = f(tf.constant([["ab", "c"]]))
    assert halves.numpy().tolist() == [[b"a/AB", b"c/C"]]
    assert numbers.numpy().tolist() == [[11.0, 1.0]]
    assert joined.numpy().tolist() == [b"abc"]
    assert buckets.shape == [1, 2]
    assert f(tf.zeros([0, 2], tf.string))[0].shape == [0, 2]
