"""The text of code that is in no file: the command of `python -c`, what was typed at the prompt.

    python -c 'def f(x): …'        sys.orig_argv     ==>     'def f(x): …'
    def f(x): …   (at the prompt)  its history       ==>     'def f(x): …'

Python 3.13 keeps such texts for its tracebacks, older ones do not. A text belongs to a function only if
Python compiles it to the same code.
"""

from __future__ import annotations
import __future__ as futures

import sys
import warnings
from collections.abc import Iterator
from types import CodeType

from agc.autograph.introspection.code_objects import nested_code_objects

PROMPTS = ("<stdin>", "<console>")
_RECENT = 2000  # lines of history to search
_LONGER = 30  # a statement may continue for so many lines after its last instruction

_FUTURE = sum(getattr(futures, name).compiler_flag for name in futures.all_feature_names)


def text_of(code: CodeType) -> str | None:
    """Return the text that `code` was compiled from, with the line numbers of `code`."""
    if code.co_filename == "<string>":
        candidates, mode = _command(), "exec"
    elif code.co_filename in PROMPTS or code.co_filename.startswith("<stdin-"):  # since 3.14, with a number
        candidates, mode = _typed(code), "single"
    else:
        return None
    return next((text for text in candidates if _makes(text, mode, code)), None)


def _makes(text: str, mode: str, code: CodeType) -> bool:
    flags = code.co_flags & _FUTURE
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = compile(text, code.co_filename, mode, flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return any(made == code for made in nested_code_objects(module))


def _command() -> Iterator[str]:
    """Return the program text after `-c` on the command line."""
    arguments = iter(sys.orig_argv[1:])
    for argument in arguments:
        if not argument.startswith("-") or argument == "-":
            return
        if argument == "--check-hash-based-pycs":
            next(arguments, "")
        if argument.startswith("--"):
            continue
        for position, letter in enumerate(argument[1:], start=2):
            if letter == "m":
                return
            if letter in "cWX":  # these take the rest of the word, or the next one
                text = argument[position:] or next(arguments, "")
                if letter == "c":
                    yield text + "\n"
                    return
                break


def _typed(code: CodeType) -> Iterator[str]:
    """Yield the parts of the prompt's history that the code may come from, the latest first."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    count = readline.get_current_history_length()
    lines = [readline.get_history_item(n) or "" for n in range(max(1, count - _RECENT), count + 1)]
    length = max(line for inner in nested_code_objects(code) for _, _, line in inner.co_lines() if line)
    for start in range(len(lines) - length, -1, -1):
        if not lines[start][:1].strip():  # the middle of a statement
            continue
        for end in range(start + length, min(start + length + _LONGER, len(lines)) + 1):
            yield "\n".join(lines[start:end]) + "\n"
