"""Converters for other options than the usual ones.

    convert(f, optional_features=Feature.BUILTIN_FUNCTIONS)      `ag__` in what f becomes is a variant of the
                                                                 operators, whose `converted` has these options

So a callee inherits the options of its caller: it is converted by the `ag__.converted` that the caller has.
"""

from __future__ import annotations

import threading
from types import ModuleType

from .. import operators
from ..conversion.converter import Converter
from ..options.features import Options

_lock = threading.Lock()
_converters: dict[Options, Converter] = {Options(): operators.converter}


def converter_for(options: Options) -> Converter:
    """The converter that has these options."""
    found = _converters.get(options)
    if found is None:
        with _lock:
            found = _converters.setdefault(options, _made(options))
    return found


def _made(options: Options) -> Converter:
    variant = ModuleType(operators.__name__, operators.__doc__)
    vars(variant).update(vars(operators))
    converter = Converter(variant, options, operators.converter)
    vars(variant).update(converter=converter, converted=converter.converted)
    return converter
