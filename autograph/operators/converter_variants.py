"""Converters for options other than the defaults.

    convert(f, optional_features=Feature.BUILTIN_FUNCTIONS)      `ag__` in the converted `f` is a variant of the
                                                                 operators with a `converted` of these options

A callee thus inherits the options of its caller, because the caller's `ag__.converted` converts it.
"""

from __future__ import annotations

import threading
from types import ModuleType

from .. import operators
from ..conversion.converter import Converter
from ..options.features import ConversionOptions
from ..staging import show_liveness

_lock = threading.Lock()
_converters: dict[ConversionOptions, Converter] = {ConversionOptions(): operators.converter}


def converter_for(options: ConversionOptions) -> Converter:
    """Return the converter that has these options."""
    found = _converters.get(options)
    if found is None:
        with _lock:
            found = _converters.setdefault(options, _made(options))
    return found


def _made(options: ConversionOptions) -> Converter:
    variant = ModuleType(operators.__name__, operators.__doc__)
    vars(variant).update(vars(operators))
    show_liveness(variant)
    converter = Converter(variant, options, operators.converter)
    vars(variant).update(converter=converter, converted=converter.operator, receiver=converter.receiver)
    return converter
