"""Side effects of a staged block: its mutations become carried state, or are refused. See `retrace.py`.

Most programs never stage a block with side effects, so the modules of this package are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .retrace import pure, staged
else:

    def staged(*arguments: Any, **options: Any) -> Any:
        """Return `retrace.staged` of the arguments."""
        from .retrace import staged

        return staged(*arguments, **options)

    def pure(*arguments: Any) -> Any:
        """Return `retrace.pure` of the arguments."""
        from .retrace import pure

        return pure(*arguments)


__all__ = ["pure", "staged"]
