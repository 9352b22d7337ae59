"""`make generate`: write the generated files anew."""

from __future__ import annotations

from . import names, stubs

if __name__ == "__main__":
    for path, text in {**names.files(), **stubs.files()}.items():
        path.write_text(text, encoding="utf-8")
