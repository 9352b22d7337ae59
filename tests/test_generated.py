"""Generated files are those that `make generate` writes."""

import pytest
from generate import names, namespaces, onnx_table, rule_modules, stubs, tensorflow_table

FILES = {
    **namespaces.files(), **names.files(), **stubs.files(), **onnx_table.files(), **tensorflow_table.files(),
    **rule_modules.files(),
}  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_generated_file_is_up_to_date(path):
    assert path.read_text(encoding="utf-8") == FILES[path], "run `make generate`"
