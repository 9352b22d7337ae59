"""The default step of summaries."""
# Namespace summary.experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .state import get_step, set_step, summary_scope

__all__ = [
    "get_step", "set_step", "summary_scope",
]

_explain(__name__)
