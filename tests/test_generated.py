"""Generated files are those that `make generate` writes."""

import pytest
from generate import names, namespaces, onnx_table, rule_modules, stubs, tensorflow_table

GENERATORS = (namespaces, names, stubs, onnx_table, tensorflow_table, rule_modules)


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda module: module.__name__)
def test_generated_files_are_up_to_date(generator):
    outdated = [path for path, text in generator.files().items() if path.read_text(encoding="utf-8") != text]
    assert outdated == [], "run `make generate`"
