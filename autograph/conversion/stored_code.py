"""Converted code of functions, from the cache on disk if the same function was converted before.

    f   ==>   the text of its file, its code, what its names refer to   ==>   an entry of `code_cache`

A hit loads no compiler: neither syntax trees nor passes. Code that was typed or generated is converted in each process.
"""

from __future__ import annotations

import functools
import marshal
import os
from types import FunctionType, ModuleType

from .. import code_cache
from ..options.features import Feature
from ..options.verbosity import CODE, verbosity
from ..syntax import source
from .function_code import ConvertedCode
from .global_names import Answers, answer
from .operator_constants import with_operators


def load(
    f: FunctionType,
    operators: ModuleType,
    features: frozenset[Feature] = frozenset(),
    has_original: bool = False,
) -> ConvertedCode:
    """Convert the code of `f`; with `has_original` the result has both versions."""
    entry = _entry(f, features, has_original)
    code = None if entry is None else entry.read(functools.partial(answer, f.__globals__))
    if code is None:
        from . import loader

        answers: Answers = {}
        code = loader.converted_code(f, features=features, has_original=has_original, answers=answers)
        if entry is not None:
            entry.write(code, answers)
    return ConvertedCode(with_operators(code, operators), f.__code__, has_original)


def _entry(f: FunctionType, features: frozenset[Feature], has_original: bool) -> code_cache.Entry | None:
    """Return the cache entry of a function of a file; None if caches are off."""
    code = f.__code__
    if not code_cache.is_on() or verbosity() >= CODE or not os.path.isfile(code.co_filename):
        return None  # that verbosity prints conversions
    try:
        context = marshal.dumps(code, 2)  # version 2 has no references, which differ between processes
    except ValueError:  # a constant of the code is an object
        return None
    part = code.co_qualname, code.co_firstlineno, sorted(feature.name for feature in features), has_original
    text = source.text_of(code.co_filename, f.__globals__)
    return code_cache.Entry(text, code.co_filename, part, context)
