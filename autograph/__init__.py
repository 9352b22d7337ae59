"""AutoGraph: a source-to-source compiler from Python's control flow to calls of operators, which backends stage.

convert(f)               a function that does what f does, and whose control flow a backend can stage
to_code(f)               its generated code as text
convert_source(text)     the generated code of a module; compile_source returns a code object
check_source(text)       the problems of a module, as `agc check` reports them
do_not_convert(f)        a mark: converted code calls f unchanged
install_import_hook()    converts modules when they are imported
conversions()            the functions that were converted so far, and why others were not
staging                  the contract with a backend: which values it owns, and how it stages control flow on them
"""

from typing import Any

from . import api, experimental, staging
from .api import (
    Conversion,
    ConversionError,
    Diagnostic,
    Note,
    SideEffectWarning,
    StagingError,
    Where,
    check_source,
    code_listing,
    compile_source,
    conversions,
    convert,
    convert_packages,
    convert_source,
    converted_call,
    do_not_convert,
    install_import_hook,
    is_own_file,
    keeps_frames,
    leave_packages,
    set_verbosity,
    shown_path,
    source_listing,
    strip_frames,
    to_code,
    to_graph,
    trace,
)

__all__ = [
    "convert", "to_graph", "to_code", "converted_call", "do_not_convert", "convert_source", "compile_source",
    "check_source", "code_listing", "source_listing",
    "install_import_hook", "convert_packages", "leave_packages", "conversions", "Conversion",
    "experimental", "set_verbosity", "trace",
    "ConversionError", "StagingError", "SideEffectWarning", "Diagnostic", "Note", "Where",
    "strip_frames", "keeps_frames", "is_own_file", "shown_path", "staging",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "PASSES":  # imported here: few programs need the compiler itself
        return api.PASSES
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


api.filter_tracebacks(f"{__name__}.api")
