"""`make generate`: write the generated files anew."""

from __future__ import annotations

from pathlib import Path

from . import namespaces


def write(files: dict[Path, str]) -> None:
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(namespaces.files())

    from . import names, onnx_table, rule_modules, stubs, tensorflow_table  # these import the namespaces

    write(
        {
            **names.files(),
            **stubs.files(),
            **onnx_table.files(),
            **tensorflow_table.files(),
            **rule_modules.files(),
        }
    )
