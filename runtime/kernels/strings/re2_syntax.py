"""Translation of regular expressions from RE2's syntax, which TensorFlow uses, to Python's.

    (?i)b|c\\z          (?i:b|c\\Z)         flags of a group become a group of their own
    [[:alpha:]\\d]      [A-Za-z0-9]        ASCII classes
    a$                 a\\Z               `$` is the end of the text, not of the line before a final newline

Texts are UTF-8; an invalid byte is one character. Features that RE2 lacks (look-around, backreferences) are
refused, as are features that Python cannot match in the same way.
"""

from __future__ import annotations

import functools
import re
import string
import unicodedata
from collections.abc import Iterator

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ", "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_NEGATED = {
    "alnum": "\\x00-/:-@\\[-`{-\\U0010ffff", "alpha": "\\x00-@\\[-`{-\\U0010ffff", "ascii": "\\x80-\\U0010ffff",
    "blank": "\\x00-\\x08\\x0a-\\x1f!-\\U0010ffff", "cntrl": " -~\\x80-\\U0010ffff", "digit": "\\x00-/:-\\U0010ffff",
    "graph": "\\x00- \\x7f-\\U0010ffff", "lower": "\\x00-`{-\\U0010ffff", "print": "\\x00-\\x1f\\x7f-\\U0010ffff",
    "punct": "\\x00- 0-9A-Za-z\\x7f-\\U0010ffff", "space": "\\x00-\\x08\\x0e-\\x1f!-\\U0010ffff",
    "upper": "\\x00-@\\[-\\U0010ffff", "word": "\\x00-/:-@\\[-^`{-\\U0010ffff", "xdigit": "\\x00-/:-@G-`g-\\U0010ffff",
}  # fmt: skip
_PERL = {"d": _CLASSES["digit"], "w": _CLASSES["word"], "s": "\\t\\n\\f\\r "}
_PERL_NEGATED = {
    "D": _NEGATED["digit"],
    "W": _NEGATED["word"],
    "S": "\\x00-\\x08\\x0b\\x0e-\\x1f!-\\U0010ffff",
}
_CONTROLS = {"a": "\\x07", "f": "\\x0c", "t": "\\t", "n": "\\n", "r": "\\r", "v": "\\x0b"}
_REPEATED = re.compile(r"[*+?]|\{(\d+)(,(\d*))?\}")


def translated(pattern: str) -> str:
    """Return the pattern in Python's syntax; ValueError if RE2 rejects it, or Python cannot match it.

    >>> translated(r"[[:digit:]]$")
    '[0-9]\\\\Z'
    """
    return _Translation(pattern).result()


class _Translation:
    """The translation state of one pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.groups: list[list[str]] = [[]]  # for each open group, the flags that were set inside it
        self.multiline = [False]
        self.can_repeat = False

    def refuse(self, why: str) -> ValueError:
        return ValueError(f"Invalid pattern: {self.pattern}, error: {why}")

    def result(self) -> str:
        while self.at < len(self.pattern):
            self.step()
        if len(self.groups) > 1:
            raise self.refuse("missing )")
        self.close_flags()
        return "".join(self.out)

    def step(self) -> None:
        char = self.pattern[self.at]
        repeated = _REPEATED.match(self.pattern, self.at)
        if repeated is not None:
            self.repeat(repeated)
            return
        self.can_repeat = True
        self.at += 1
        if char == "\\":
            self.out.append(self.escape())
        elif char == "[":
            self.out.append(self.char_class())
        elif char == "(":
            self.open()
        elif char == ")":
            self.close()
        elif char == "|":
            flags = list(self.groups[-1])
            self.out.append(")" * len(flags) + "|" + "".join(flags))
            self.can_repeat = False
        elif char == "$":
            self.out.append("$" if self.multiline[-1] else "\\Z")
        elif char in "^.":
            self.out.append(char)
        else:
            self.out.append(re.escape(char))

    def repeat(self, found: re.Match[str]) -> None:
        if not self.can_repeat:
            raise self.refuse(f"no argument for repetition operator, or two of them: {found[0]}")
        if any(number and int(number) > 1000 for number in found.group(1, 3)):
            raise self.refuse(f"invalid repetition size: {found[0]}")
        self.at = found.end()
        self.out.append(found[0])
        if self.pattern.startswith("?", self.at):
            self.out.append("?")
            self.at += 1
        self.can_repeat = False

    def open(self) -> None:
        self.can_repeat = False
        if not self.pattern.startswith("?", self.at):
            self.begin("(")
            return
        named = re.compile(r"\?P?<(\w+)>").match(self.pattern, self.at)
        if named is not None:
            self.at = named.end()
            self.begin(f"(?P<{named[1]}>")
            return
        flags = re.compile(r"\?([imsU]*)(?:-([imsU]+))?([:)])").match(self.pattern, self.at)
        if flags is None or "U" in flags[0]:
            raise self.refuse(f"invalid or unsupported group (?{self.pattern[self.at + 1 : self.at + 3]}")
        self.at = flags.end()
        opened = f"(?{flags[1]}{'-' + flags[2] if flags[2] else ''}:"
        if "i" in flags[1] and not self.pattern.isascii():
            raise self.refuse("(?i) is supported for letters of ASCII only")
        if flags[3] == ":":
            self.begin(opened)
        else:
            self.out.append(opened)
            self.groups[-1].append(opened)
        self.multiline[-1] = "m" in flags[1] or (self.multiline[-1] and "m" not in (flags[2] or ""))

    def begin(self, text: str) -> None:
        self.out.append(text)
        self.groups.append([])
        self.multiline.append(self.multiline[-1])

    def close_flags(self) -> None:
        self.out.append(")" * len(self.groups.pop()))

    def close(self) -> None:
        if len(self.groups) == 1:
            raise self.refuse("unexpected )")
        self.close_flags()
        self.multiline.pop()
        self.out.append(")")

    def escape(self) -> str:
        """Translate an escape sequence outside of brackets."""
        char = self.pattern[self.at : self.at + 1]
        if char and char in "AbB":
            self.at += 1
            return "\\" + char
        if char == "z":
            self.at += 1
            return "\\Z"
        if char == "Q":
            end = self.pattern.find("\\E", self.at)
            end = len(self.pattern) if end < 0 else end
            text, self.at = self.pattern[self.at + 1 : end], end + 2
            return re.escape(text)
        inside = self.class_escape()
        return inside if len(inside) == 1 else f"[{inside}]"

    def class_escape(self) -> str:
        """Translate an escape sequence inside of brackets."""
        char = self.pattern[self.at : self.at + 1]
        self.at += 1
        if char and char in "pP":
            return self.category(char == "P")
        known = _PERL.get(char) or _PERL_NEGATED.get(char) or _CONTROLS.get(char)
        if known is not None:
            return known
        code = re.compile(r"x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|([0-7]{2,3}|0)").match(
            self.pattern, self.at - 1
        )
        if code is not None:
            self.at = code.end()
            number = int(code[1] or code[2] or code[3], 8 if code[3] else 16)
            if number > 0x10FFFF:
                raise self.refuse(f"invalid escape sequence: \\{code[0]}")
            return f"\\U{number:08x}"
        if not char or char.isalnum() or not char.isascii():
            raise self.refuse(f"invalid or unsupported escape sequence: \\{char}")
        return re.escape(char) if char not in string.whitespace else char

    def category(self, is_negated: bool) -> str:
        found = re.compile(r"\{(\^?)(\w+)\}|(\w)").match(self.pattern, self.at)
        name = "" if found is None else found[2] or found[3]
        ranges = "".join(_ranges(name, is_negated != bool(found and found[1])))
        if found is None or not ranges:
            raise self.refuse(f"invalid or unsupported character class range: \\p{name}")
        self.at = found.end()
        return ranges

    def char_class(self) -> str:
        """Translate a character class, from its opening to its closing bracket."""
        inside = "["
        if self.pattern.startswith("^", self.at):
            inside += "^"
            self.at += 1
        is_first = True
        while not self.pattern.startswith("]", self.at) or is_first:
            if self.at >= len(self.pattern):
                raise self.refuse("missing ]")
            is_first = False
            named = re.compile(r"\[:(\^?)(\w+):\]").match(self.pattern, self.at)
            if named is not None:
                table = _NEGATED if named[1] else _CLASSES
                if named[2] not in table:
                    raise self.refuse(f"invalid character class range: {named[0]}")
                inside += table[named[2]]
                self.at = named.end()
                continue
            char = self.pattern[self.at]
            self.at += 1
            if char == "\\":
                inside += self.class_escape()
            else:
                inside += char if char in "-" or char.isalnum() else "\\" + char if char.isascii() else char
        self.at += 1
        return inside + "]"


@functools.lru_cache(maxsize=32)
def _ranges(category: str, is_negated: bool) -> tuple[str, ...]:
    """Return the characters of a Unicode general category ("L", "Lu"), as ranges of a class."""
    return tuple(_runs(category, is_negated)) if 0 < len(category) <= 2 else ()


def _runs(category: str, is_negated: bool) -> Iterator[str]:
    start = None
    is_known = False
    found = []
    for code in range(0x110000):
        belongs = unicodedata.category(chr(code)).startswith(category)
        is_known = is_known or belongs
        if belongs is not is_negated:
            start = code if start is None else start
        elif start is not None:
            found.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    if start is not None:
        found.append(f"\\U{start:08x}-\\U0010ffff")
    return iter(found if is_known else ())
