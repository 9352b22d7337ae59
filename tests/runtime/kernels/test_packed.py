"""Byte strings become one array of bytes and are cut from it, with and without the extension."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.kernels.strings import packed
from support.each_case import each_case

TEXTS = [b"", b"a\0b", "wörd€".encode(), b"\xff\x80", b"\x80x", b"plain", b""]


@pytest.fixture(params=["native", "python"], autouse=True)
def _extension(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(packed, "native", None)
    elif packed.native is None:
        pytest.skip("the extension is not built")


def vector(items: list[Any]) -> Any:
    return np.array([*items, None], object)[:-1]


@pytest.mark.parametrize("texts", [[], [b""], TEXTS])
def test_packed_strings_are_cut_again(texts: list[bytes]) -> None:
    items = vector(texts)
    sizes, whole = packed.lengths(items), packed.packed(items)
    assert sizes.tolist() == [len(text) for text in texts]
    assert whole.tobytes() == b"".join(texts)
    ends = np.cumsum(sizes)
    assert packed.cut(whole, ends - sizes, ends).tolist() == texts


def test_other_objects_and_strided_vectors() -> None:
    assert packed.lengths(vector(TEXTS)[::2]).tolist() == [0, 8, 2, 0]
    for function in (packed.lengths, packed.packed):
        with pytest.raises(TypeError):
            function(vector([b"a", None]))


@pytest.mark.parametrize(("at", "count"), [(0, 2), (0, -1), (-1, 5), (1, 0), (0, 2**31 - 1)])
def test_substr_counts_bytes_or_characters(at: int, count: int) -> None:
    texts = ["añb", "€uro", "x"]
    found = tf.strings.substr(texts, at, count, unit="UTF8_CHAR").numpy().tolist()
    wanted = [text[at:][: None if count < 0 else count] for text in texts]
    assert [text.decode() for text in found] == wanted
    found = tf.strings.substr([text.encode() for text in texts], at, count).numpy().tolist()
    assert found == [text.encode()[at:][: None if count < 0 else count] for text in texts]


def test_characters_of_invalid_utf_8_begin_at_bytes_that_do_not_continue() -> None:
    texts = tf.constant([b"a\x80\x80b", b"\x80ab", b"\xffa"])
    assert tf.strings.length(texts, "UTF8_CHAR").numpy().tolist() == [2, 2, 2]
    assert tf.strings.substr(texts, 0, 1, "UTF8_CHAR").numpy().tolist() == [b"a\x80\x80", b"a", b"\xff"]
    assert tf.strings.substr(texts, [1, 2, -1], [9, 9, 9], "UTF8_CHAR").numpy().tolist() == [b"b", b"", b"a"]


def test_substr_names_the_first_string_that_is_too_short() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 2 out of range for string b'b'"):
        tf.strings.substr(["abc", "b", "c"], [1, 2, 3], [1, 1, 1])


@pytest.mark.parametrize(
    ("texts", "dtype", "wanted"),
    [
        ([b"7", b"-12", b"+007"], tf.int32, [7, -12, 7]),
        ([b"0" * 30 + b"7", b" 8 "], tf.int64, [7, 8]),
        ([b"9223372036854775807", b"-9223372036854775808"], tf.int64, [2**63 - 1, -(2**63)]),
        ([b"1", b"18446744073709551615"], tf.uint64, [1, 2**64 - 1]),
        ([b".5", b"-1e3", b"2.", b"1e400"], tf.float64, [0.5, -1000.0, 2.0, np.inf]),
        ([b"1e39", b"0x10", b"-inf"], tf.float32, [np.inf, 16.0, -np.inf]),
    ],
)
def test_numbers_of_many_forms(texts: list[bytes], dtype: tf.DType, wanted: list[Any]) -> None:
    assert tf.strings.to_number(texts, dtype).numpy().tolist() == wanted


@each_case(
    ("text", "dtype"),
    [
        *((text, tf.int32) for text in (b"", b"-", b"1.0", b"1\0", b"2147483648", b"1_0", b"--1")),
        *((text, tf.uint32) for text in (b"-0", b"+5", b"4294967296")),
        *((text, tf.float32) for text in (b"", b".", b"1e", b"1\0", b"1_0", b"1-1")),
    ],
)
def test_texts_that_are_no_numbers(text: bytes, dtype: tf.DType) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
        tf.strings.to_number([b"1", text], dtype)
