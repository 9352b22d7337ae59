"""AutoGraph: ordinary Python control flow in, readable functional code out.

convert(f)       a function that does what f does, and whose control flow a runtime can stage
to_code(f)       the same as text
staging          the contract for a runtime: which values are its own, and how it stages on them
"""

from . import staging
from .api import (
    ConversionError,
    Diagnostic,
    compile_source,
    convert,
    convert_source,
    converted_call,
    do_not_convert,
    to_code,
    to_graph,
)

__all__ = [
    "convert", "to_graph", "to_code", "converted_call", "do_not_convert", "convert_source", "compile_source",
    "ConversionError", "Diagnostic", "staging",
]  # fmt: skip
