"""agc: AutoGraph, a tracing runtime, and tools that show what they do.

    agc.show(f)            source, generated code and graphs of a function, in a terminal or a notebook
    agc.explore(f, x)      a page that shows them with all optimizer passes, values and times
    agc.progress(dataset)  the same items, while a bar shows how many have come
    %load_ext agc          the cell magic %%agc of IPython and Jupyter
    agc.__version__        the version of agc; agc.runtime.__version__ is TensorFlow's, whose names it has

Importing this package loads nothing else; its names are imported at their first use.
"""

from __future__ import annotations

from typing import Any

__all__ = ["explore", "progress", "show"]


def __getattr__(name: str) -> Any:
    if name in (*__all__, "load_ipython_extension"):
        from agc import explorer

        return getattr(explorer, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("agc-autograph")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
