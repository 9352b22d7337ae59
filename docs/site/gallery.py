"""Write the gallery: short programs, the code that is generated for them, and their graphs.

fixtures/programs/gcd.py   ==>   gallery/gcd.md: source, generated code, graph, result
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import io
from pathlib import Path
from types import ModuleType
from typing import Any

import agc.runtime as tf
from agc import autograph
from agc.explorer import explore

from .links import ROOT

PROGRAMS = ROOT / "fixtures" / "programs"
EXAMPLES = ROOT / "examples"

SHOWN = (
    "collatz", "gcd", "newton", "bisection", "binary_search", "sieve", "prime_factors", "happy_numbers", "fizzbuzz",
    "bubble_sort", "best_run", "levenshtein", "life", "mandelbrot", "matrix_power", "gaussian_elimination",
    "conjugate_gradient", "kmeans", "pagerank", "viterbi",
)  # fmt: skip
"""The programs of the gallery, simple ones first; the tests compare their results with TensorFlow's."""


def load(path: Path) -> ModuleType:
    """Import a program from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def title_of(path: Path) -> tuple[str, str]:
    """Return the name of a program in words, and the first paragraph of its docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return path.stem.replace("_", " ").capitalize(), " ".join(docstring.split("\n\n")[0].split())


def program(path: Path) -> tuple[ModuleType, list[Any]]:
    """Return a program, and its first input as tensors."""
    module = load(path)
    given = zip(module.INPUTS[0], module.DTYPES, strict=True)
    return module, [tf.constant(value, dtype) for value, dtype in given]


def page_text(path: Path) -> str:
    """Return the page of a program."""
    module, arguments = program(path)
    title, sentence = title_of(path)
    function = module.ENTRY
    staged = tf.function(function)
    graph = staged.get_concrete_function(*arguments).graph
    given = ", ".join(repr(value) for value in module.INPUTS[0])
    result = tf.nest.map_structure(lambda each: each.numpy().tolist(), staged(*arguments))
    return "\n\n".join([
        f"# {title}",
        f'{sentence} <a href="../explore/{path.stem}.html">Explore it</a>, from source to plan, linked line by line.',
        block("python", inspect.getsource(module).partition("\nENTRY =")[0].partition('"""\n')[2]),
        f"`{function.__name__}({given})` is `{result}`.",
        "## Generated code",
        block("python", autograph.to_code(function)),
        "## Graph",
        block("text", str(graph)),
        "",
    ])  # fmt: skip


def explore_page(path: Path) -> str:
    """Return the page of `agc explore` for a program."""
    module, arguments = program(path)
    return explore(module.ENTRY, *arguments)


def block(language: str, text: str) -> str:
    """Return a fenced block."""
    return f"```{language}\n{text.strip()}\n```"


def write(folder: Path, explored: Path) -> None:
    """Write the page of each program, and their index; the pages of `agc explore` to another folder."""
    folder.mkdir(parents=True, exist_ok=True)
    explored.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in SHOWN:
        with contextlib.redirect_stderr(io.StringIO()):  # what programs print while they run
            text, shown = page_text(PROGRAMS / f"{name}.py"), explore_page(PROGRAMS / f"{name}.py")
        title, sentence = title_of(PROGRAMS / f"{name}.py")
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        (explored / f"{name}.html").write_text(shown, encoding="utf-8")
        rows.append(f"| [{title}]({name}.md) | {sentence} |")
    (folder / "index.md").write_text(
        "# Gallery\n\nTwenty programs in plain Python. Each page shows the generated code and the graph.\n\n"
        "| program | |\n|---|---|\n"
        + "\n".join(rows)
        + "\n\n:::{toctree}\n:hidden:\n\n"
        + "\n".join(SHOWN)
        + "\n:::\n",
        encoding="utf-8",
    )


def write_examples(page: Path) -> None:
    """Write the page of the scripts in examples/."""
    parts = ["# Examples", "Scripts of one idea each, in the folder `examples`; each runs in seconds."]
    for path in sorted(EXAMPLES.glob("*.py")):
        title, sentence = title_of(path)
        code = path.read_text(encoding="utf-8").partition('"""\n')[2]
        parts += [f"## {title}", sentence, f"`python examples/{path.name}`", block("python", code)]
    page.write_text("\n\n".join([*parts, ""]), encoding="utf-8")
