"""Regular expressions in RE2's syntax: what matches and what is replaced is what TensorFlow 2.21 says.

Everything holds for both engines: for RE2, where it is installed, and for Python's `re`.
"""

import random

import agc.runtime as tf
import pytest
from agc.runtime.kernels.strings import regex_engines
from support.each_case import each_case

S = tf.strings
ENGINES = [True, False] if regex_engines.has_re2() else [False]


@pytest.fixture(autouse=True, params=ENGINES, ids=lambda has_re2: "re2" if has_re2 else "python")
def has_re2(request, monkeypatch):
    monkeypatch.setattr(regex_engines, "has_re2", lambda: request.param)
    regex_engines.compiled.cache_clear()
    yield request.param
    regex_engines.compiled.cache_clear()


@each_case(
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
        (b"\xff", "x", False),
    ],
)
@each_case("staged", [False, True])
def test_full_match(text, pattern, expected, staged):
    matches = tf.function(S.regex_full_match) if staged else S.regex_full_match
    if text == "AbC":
        text, expected = "AB", True
    assert matches(tf.constant([text]), pattern).numpy().tolist() == [expected]


@each_case(
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


@each_case(
    "pattern",
    ["(", ")", "[a", r"(a)\1", "a(?=b)", "(?<!a)b", r"a\Z", "a**", "a++", "*a", "(?P=x)", "a{1001}", r"\pQ",
     "[[:what:]]", "a\\", "[a-", "[z-a]", "(?z)a"],
)  # fmt: skip
@each_case("staged", [False, True])
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


ONLY_RE2 = [
    (r"\C\C", "é"), ("(?i)é", "É"), (r"\p{Greek}", "λ"), ("(?U)a+", "aa"), ("(" * 900 + ")" * 900, ""),
]  # fmt: skip


@pytest.mark.parametrize("pattern, text", ONLY_RE2)
def test_patterns_that_only_re2_takes(pattern, text, has_re2):
    if has_re2:
        assert S.regex_full_match(text, pattern).numpy()
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
            S.regex_full_match(text, pattern)


BACKTRACKING = [
    "(a+)+b", "(a|aa)+b", "(a*)*b", "a*a*a*a*b", "(.*,){9}b", "(a?){30}b", "([^b]|a)*b", "(?i)(A+a+)+b",
    "(a|b|ab)*c",
]  # fmt: skip


@pytest.mark.parametrize("pattern", BACKTRACKING)
def test_a_pattern_that_may_backtrack_is_run_by_re2_or_refused(pattern, has_re2):
    text = "a" * 100_000
    if has_re2:
        assert not S.regex_full_match(text, pattern).numpy()
    else:
        with pytest.raises(tf.errors.UnimplementedError, match=r"install google-re2.*agc-autograph\[re2\]"):
            S.regex_full_match(text, pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "a+b",
        ".*foo.*",
        "(foo|bar)*x",
        r"\s*(\w+)\s*=\s*(\w+)",
        r"^\s+|\s+$",
        "(cat|dog)+",
        "(?i)[a-z]+@[a-z]+",
    ],
)
def test_a_pattern_that_cannot_backtrack_for_long_needs_no_re2(pattern):
    assert S.regex_full_match("a" * 1000 + "!", pattern).numpy() in (True, False)


def _pattern(rng, depth):
    kind = rng.random() if depth else 0
    if kind < 0.3:
        return rng.choice(["a", "b", "é", "[ab]", ".", "a", "[^a]", r"\b", "$"])
    if kind < 0.55:
        return _pattern(rng, depth - 1) + _pattern(rng, depth - 1)
    if kind < 0.7:
        return f"({_pattern(rng, depth - 1)}|{_pattern(rng, depth - 1)})"
    return f"({_pattern(rng, depth - 1)})" + rng.choice(["*", "+", "?", "{2,3}", "*?", "+?"])


@each_case("seed", range(60) if regex_engines.has_re2() else ())
def test_both_engines_agree(seed):
    rng = random.Random(seed)
    pattern = rng.choice(["", "", "(?m)", "(?s)", "(?i)"]) + _pattern(rng, rng.randrange(1, 5))
    if "(?i)" in pattern and "é" in pattern:
        return
    texts = ["".join(rng.choices("abAé\n", k=rng.randrange(8))).encode() for _ in range(10)]
    python = regex_engines.PythonMatcher(pattern.encode())
    if not python.is_bounded:
        return
    re2 = regex_engines.Re2Matcher(pattern.encode())
    assert re2.are_full_matches(texts) == python.are_full_matches(texts), (pattern, texts)
    for parts, is_global in (((b"<", 0, b"\\>"), True), ((b"-", re2.groups), False)):
        replaced = [matcher.replaced(texts, parts, is_global) for matcher in (re2, python)]
        assert replaced[0] == replaced[1], (pattern, texts)


@pytest.mark.parametrize("pattern", ["a*b", "[ab]", "a|b*", "(a|é)+"])
def test_a_batch_of_short_long_and_other_texts(pattern):
    """Python's `re` may match the short ones, RE2 the others."""
    texts = [b"ab", b"a" * 5000, "aé".encode(), b"", b"b" * 600, b"\xff"]
    batch = S.regex_replace(tf.constant(texts), pattern, "<\\0>").numpy().tolist()
    assert batch == [S.regex_replace(text, pattern, "<\\0>").numpy() for text in texts]
    matches = S.regex_full_match(tf.constant(texts), pattern).numpy().tolist()
    assert matches == [S.regex_full_match(text, pattern).numpy() for text in texts]


def test_a_long_text_is_left_to_re2(has_re2):
    """Python's `re` takes quadratic time to find that no part of it matches: 20 seconds."""
    if has_re2:
        text = "a" * 300_000
        assert S.regex_replace(text, "a*b", "").numpy() == text.encode()
