"""The table of formats. A format is a row here, and a module with the functions `encode` and perhaps `run`.

    encode(program, **options)     the content of a file, or of the files of a folder by their relative path
    run(path, program, arrays)     the outputs that the format's own runtime computes, for `verify`

A format's module is imported when the format is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ..formats.program import Array, Program

Content = bytes | Mapping[str, bytes]


class Encode(Protocol):
    def __call__(self, program: Program, **options: object) -> Content: ...


class Run(Protocol):
    def __call__(
        self, path: Path, program: Program, arrays: Sequence[Array], **options: str
    ) -> list[Array]: ...


class Format(NamedTuple):
    """A format: its name, the suffix of its files ("" for folders), what it is for, and its module.

    >>> format_of("onnx", "").suffix
    '.onnx'
    """

    name: str
    suffix: str
    summary: str
    module: str

    @property
    def encode(self) -> Encode:
        """The function that returns the content of the files."""
        made: Encode = importlib.import_module(self.module, __package__).encode
        return made

    @property
    def run(self) -> Run | None:
        """The function that runs written files in the format's own runtime; None if there is none."""
        found: Run | None = getattr(importlib.import_module(self.module, __package__), "run", None)
        return found

    def runtime(self, python: str | None = None) -> str | None:
        """Return the name of what `run` uses, if the module names it; `python` as for `verify`."""
        named = getattr(importlib.import_module(self.module, __package__), "runtime", None)
        return None if named is None else str(named(python))


FORMATS = {
    row.name: row
    for row in (
        Format("text", ".txt", "the graph as text", ".graph_text"),
        Format("json", ".json", "the graph as JSON", ".graph_json"),
        Format("dot", ".dot", "a picture for Graphviz", ".graph_dot"),
        Format("mermaid", ".mmd", "a flowchart for Markdown", ".graph_mermaid"),
        Format("onnx", ".onnx", "a model for ONNX Runtime and other runtimes", "..formats.onnx.model"),
        Format("stablehlo", ".stablehlo", "StableHLO for XLA, as `jax.export` reads it", ".stablehlo_format"),
        Format("saved_model", "", "TensorFlow's SavedModel, a folder", ".tensorflow_model"),
        Format("graphdef", ".pb", "TensorFlow's frozen GraphDef", ".frozen_graph"),
    )
}
"""The formats by name."""


def format_of(name: str | None, path: str | Path) -> Format:
    """Return the format with a name, or by the suffix of a path if the name is None. ValueError if there is none.

    >>> format_of(None, "f.mmd").name
    'mermaid'
    """
    if name is not None:
        if name not in FORMATS:
            raise ValueError(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
        return FORMATS[name]
    suffix = Path(path).suffix
    for row in FORMATS.values():
        if suffix and row.suffix == suffix:
            return row
    raise ValueError(f"no format has the suffix of {str(path)!r}; name one of {', '.join(FORMATS)}")
