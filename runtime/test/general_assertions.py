"""Assertions of absl's test cases, which programs find in `tf.test.TestCase`."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import subprocess
import unittest
import urllib.parse
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set, Sized
from typing import Any


class GeneralAssertions(unittest.TestCase):
    """Assertions on collections, texts and ranges."""

    def assertLen(self, container: Sized, expected_len: int, msg: str | None = None) -> None:
        """Assert the length of a container."""
        if len(container) != expected_len:
            self.fail(
                self._formatMessage(
                    msg, f"{container!r} has length of {len(container)}, expected {expected_len}."
                )
            )

    def assertEmpty(self, container: Sized, msg: str | None = None) -> None:
        """Assert that a container is empty."""
        if len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of {len(container)}."))

    def assertNotEmpty(self, container: Sized, msg: str | None = None) -> None:
        """Assert that a container has elements."""
        if not len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of 0."))

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """Assert that a value is at least `minv` and at most `maxv`."""
        if not minv <= value <= maxv:
            self.fail(self._formatMessage(msg, f"{value!r} unexpectedly not between {minv!r} and {maxv!r}"))

    def assertSameElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: Any = None
    ) -> None:
        """Assert that two sequences, which are not texts, have the same elements, in any order and number."""
        if isinstance(expected_seq, (str, bytes)) or isinstance(actual_seq, (str, bytes)):
            self.fail(self._formatMessage(msg, "assertSameElements compares no texts: use assertEqual"))
        expected, actual = list(expected_seq), list(actual_seq)
        lacking = [item for item in expected if item not in actual]
        more = [item for item in actual if item not in expected]
        if lacking or more:
            self.fail(self._formatMessage(msg, f"Missing: {lacking}; unexpected: {more}"))

    def assertContainsSubset(
        self, expected_subset: Iterable[Any], actual_set: Iterable[Any], msg: str | None = None
    ) -> None:
        """Assert that a set has all elements of another one."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self.fail(self._formatMessage(msg, f"Missing elements {missing}"))

    def assertNoCommonElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: str | None = None
    ) -> None:
        """Assert that two collections have no element in common."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            self.fail(self._formatMessage(msg, f"Common elements {common}"))

    def assertSequenceStartsWith(
        self, prefix: Sequence[Any], whole: Sequence[Any], msg: str | None = None
    ) -> None:
        """Assert that a sequence begins with another one, which is empty only if the sequence is."""
        if list(whole[: len(prefix) or 1]) != list(prefix):
            self.fail(self._formatMessage(msg, f"prefix: {prefix!r} not found at start of whole: {whole!r}."))

    def assertSequenceAlmostEqual(
        self, expected_seq: Sequence[Any], actual_seq: Sequence[Any], places: int | None = None, msg: str | None = None,
        delta: float | None = None,
    ) -> None:  # fmt: skip
        """Assert that the numbers of two sequences are almost equal."""
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for expected, actual in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(expected, actual, places, msg, delta)  # type: ignore[arg-type]

    def assertContainsInOrder(self, strings: Sequence[str], target: str, msg: str | None = None) -> None:
        """Assert that a text contains others that begin in this order; they may overlap."""
        position = 0
        for text in [strings] if isinstance(strings, str) else strings:
            position = target.find(text, position)
            if position < 0:
                self.fail(self._formatMessage(msg, f"Did not find {text!r} in order in {target!r}"))

    def assertContainsExactSubsequence(
        self, container: Sequence[Any], subsequence: Sequence[Any], msg: str | None = None
    ) -> None:
        """Assert that a sequence contains another one without gaps."""
        size = len(subsequence)
        if not any(
            list(container[i : i + size]) == list(subsequence) for i in range(len(container) - size + 1)
        ):
            self.fail(self._formatMessage(msg, f"{container!r} does not contain {subsequence!r}"))

    def assertContainsSubsequence(
        self, container: Iterable[Any], subsequence: Iterable[Any], msg: str | None = None
    ) -> None:
        """Assert that a sequence contains the items of another one in their order, perhaps with gaps."""
        items = iter(container)
        if not all(item in items for item in subsequence):
            self.fail(
                self._formatMessage(msg, f"{subsequence!r} is not a subsequence of container {container!r}")
            )

    def assertEndsWith(self, actual: str, expected_end: str, msg: str | None = None) -> None:
        """Assert that a text ends with another one."""
        if not actual.endswith(expected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} does not end with {expected_end!r}"))

    def assertItemsEqual(self, first: Iterable[Any], second: Iterable[Any], msg: str | None = None) -> None:
        """Assert that two collections have the same elements, each as often, in any order."""
        self.assertCountEqual(first, second, msg)

    def assertNotStartsWith(self, actual: str, unexpected_start: str, msg: str | None = None) -> None:
        """Assert that a text does not begin with another one."""
        if actual.startswith(unexpected_start):
            self.fail(self._formatMessage(msg, f"{actual!r} starts with {unexpected_start!r}"))

    def assertNotEndsWith(self, actual: str, unexpected_end: str, msg: str | None = None) -> None:
        """Assert that a text does not end with another one."""
        if actual.endswith(unexpected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} ends with {unexpected_end!r}"))

    def assertIsSubclass(self, cls: type, superclass: type, msg: str | None = None) -> None:
        """Assert that a class is derived from another one."""
        if not issubclass(cls, superclass):
            self.fail(self._formatMessage(msg, f"{cls!r} is not a subclass of {superclass!r}"))

    def assertNotIsSubclass(self, cls: type, superclass: type, msg: str | None = None) -> None:
        """Assert that a class is not derived from another one."""
        if issubclass(cls, superclass):
            self.fail(self._formatMessage(msg, f"{cls!r} is a subclass of {superclass!r}"))

    def assertRegexMatch(self, actual_str: str, regexes: Collection[str], message: str | None = None) -> None:
        """Assert that one of the patterns matches a part of a text."""
        if isinstance(regexes, (str, bytes)) or not regexes:
            self.fail(self._formatMessage(message, f"regexes is {regexes!r}, not a list of patterns"))
        self.assertRegex(actual_str, "|".join(f"(?:{regex})" for regex in regexes), message)

    def assertTotallyOrdered(self, *groups: Collection[Any], msg: str | None = None) -> None:
        """Assert that members of a group are equal, and less than those of later ones, by all comparisons."""
        for i, group in enumerate(groups):
            for one, other in itertools.product(group, group):
                self.assertEqual(one, other, msg)
                self.assertLessEqual(one, other, msg)
                self.assertGreaterEqual(one, other, msg)
            for small, great in itertools.product(group, itertools.chain(*groups[i + 1 :])):
                self.assertNotEqual(small, great, msg)
                self.assertLess(small, great, msg)
                self.assertLessEqual(small, great, msg)
                self.assertGreater(great, small, msg)
                self.assertGreaterEqual(great, small, msg)

    def assertSameStructure(
        self, a: Any, b: Any, aname: str = "a", bname: str = "b", msg: str | None = None
    ) -> None:
        """Assert that two nests of dicts, sequences and sets have the same keys, lengths and values."""
        found = [
            f"{aname}{path} is {one} but {bname}{path} is {other}" for path, one, other in _differences(a, b)
        ]
        if found:
            self.fail(self._formatMessage(msg, "; ".join(found)))

    def assertJsonEqual(self, first: str, second: str, msg: str | None = None) -> None:
        """Assert that two texts are the same JSON."""
        self.assertSameStructure(json.loads(first), json.loads(second), "first", "second", msg)

    def assertUrlEqual(self, a: str, b: str, msg: str | None = None) -> None:
        """Assert that two URLs have the same parts, with the parameters in any order."""
        one, other = map(_parts_of_url, (a, b))
        self.assertEqual(one, other, msg)

    def assertMappingEqual(
        self, a: Mapping[Any, Any], b: Mapping[Any, Any], msg: str | None = None, mapping_type: type = Mapping,
        check_values_equality: Callable[[Any, Any], tuple[bool, Any]] = lambda x, y: (x == y, None),
    ) -> None:  # fmt: skip
        """Assert that two mappings have the same keys, and values that a function accepts."""
        self.assertIsInstance(a, mapping_type, msg)
        self.assertIsInstance(b, mapping_type, msg)
        self.assertSetEqual(set(a), set(b), msg)
        for key in a:
            is_equal, reason = check_values_equality(a[key], b[key])
            if not is_equal:
                found = f"{key!r}: {a[key]!r} != {b[key]!r}{'' if reason is None else f' ({reason})'}"
                self.fail(self._formatMessage(msg, found))

    def assertDictAlmostEqual(
        self, a: Mapping[Any, Any], b: Mapping[Any, Any], places: int | None = None, msg: str | None = None,
        delta: float | None = None,
    ) -> None:  # fmt: skip
        """Assert that two dicts have the same keys and values, where numbers may be almost equal."""

        def compared(x: Any, y: Any) -> tuple[bool, Any]:
            if not (isinstance(x, float) or isinstance(y, float)):
                return x == y, None
            try:
                self.assertAlmostEqual(x, y, places, None, delta)  # type: ignore[arg-type]
            except (AssertionError, TypeError) as error:
                return False, error
            return True, None

        self.assertMappingEqual(a, b, msg, dict, compared)

    def assertDataclassEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Assert that two objects of one dataclass have equal fields, as far as those are compared."""
        self.assertTrue(dataclasses.is_dataclass(first) and dataclasses.is_dataclass(second), msg)
        self.assertIs(type(first), type(second), msg)
        for field in dataclasses.fields(first):
            if field.compare:
                one, other = getattr(first, field.name), getattr(second, field.name)
                self.assertEqual(one, other, self._formatMessage(msg, f"field {field.name!r}"))
        self.assertEqual(first, second, msg)

    def assertCommandSucceeds(
        self, command: Any, regexes: Iterable[bytes | str] = (b"",), env: Mapping[str, str] | None = None,
        close_fds: bool = True, msg: str | None = None,
    ) -> None:  # fmt: skip
        """Assert that a command, a text for the shell or a list, returns 0 and prints a match of a pattern."""
        self._check_command(command, regexes, env, close_fds, msg, succeeds=True)

    def assertCommandFails(
        self, command: Any, regexes: Iterable[bytes | str], env: Mapping[str, str] | None = None,
        close_fds: bool = True, msg: str | None = None,
    ) -> None:  # fmt: skip
        """Assert that a command returns a code other than 0 and prints a match of a pattern."""
        self._check_command(command, regexes, env, close_fds, msg, succeeds=False)

    def _check_command(
        self,
        command: Any,
        regexes: Iterable[bytes | str],
        env: Any,
        close_fds: bool,
        msg: Any,
        succeeds: bool,
    ) -> None:
        done = subprocess.run(
            command, shell=isinstance(command, (str, bytes)), env=env or {}, close_fds=close_fds,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        output = done.stdout.decode(errors="replace")
        if (done.returncode == 0) is not succeeds:
            self.fail(self._formatMessage(msg, f"{command!r} returned {done.returncode}: {output}"))
        texts = [regex if isinstance(regex, str) else regex.decode() for regex in regexes]
        self.assertRegexMatch(output, texts, msg)

    def enter_context(self, manager: contextlib.AbstractContextManager[Any]) -> Any:
        """Enter a context, which is left after the test's `tearDown`; return its value."""
        return self.enterContext(manager)

    def assertRaisesWithLiteralMatch(
        self, expected_exception: Any, expected_exception_message: str, callable_obj: Callable[..., Any] | None = None,
        *args: Any, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Assert that an exception with exactly this text is raised; without a callable return a context."""
        context = _LiteralMatch(self, expected_exception, expected_exception_message)
        if callable_obj is None:
            return context
        with context:
            callable_obj(*args, **kwargs)
        return None


def _parts_of_url(url: str) -> dict[str, Any]:
    parts = urllib.parse.urlparse(url)._asdict()
    query = urllib.parse.parse_qs(parts["query"], keep_blank_values=True)
    return {**parts, "query": query, "params": sorted(parts["params"].split(";"))}


def _differences(a: Any, b: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the path of each difference between two nests, and what both have there."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        one, other = dict(a), dict(b)
    elif all(isinstance(nest, Sequence) and not isinstance(nest, (str, bytes, bytearray)) for nest in (a, b)):
        one, other = dict(enumerate(a)), dict(enumerate(b))
    else:
        alike = any(isinstance(a, kind) and isinstance(b, kind) for kind in (Set, int, type(a)))
        if not alike or a != b:
            yield path, repr(a), repr(b)
        return
    for key in {**one, **other}:
        here = f"{path}[{key!r}]"
        if key in one and key in other:
            yield from _differences(one[key], other[key], here)
        else:
            yield here, _shown(one, key), _shown(other, key)


def _shown(nest: dict[Any, Any], key: Any) -> str:
    return repr(nest[key]) if key in nest else "missing"


class _LiteralMatch:
    def __init__(self, test: unittest.TestCase, kind: Any, text: str) -> None:
        self.test, self.kind, self.text = test, kind, text

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        if kind is None:
            self.test.fail(f"{self.kind.__name__} not raised")
        if not issubclass(kind, self.kind):
            return False
        self.test.assertEqual(self.text, str(error))
        return True
