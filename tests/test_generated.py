"""Generated files are those that `make generate` writes."""

import pytest
from generate import names

FILES = names.files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_generated_file_is_up_to_date(path):
    assert path.read_text(encoding="utf-8") == FILES[path], "run `make generate`"
