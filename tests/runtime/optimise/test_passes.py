"""Each pass on its golden cases, fixtures/optimise/*.txt: a graph before, and after this pass alone."""

from __future__ import annotations

from pathlib import Path

import golden
import pytest
from agc.runtime.ir.parse import parse
from agc.runtime.ir.verify import verify
from agc.runtime.optimise import PASSES, Options

FOLDER = Path(__file__).parents[3] / "fixtures" / "optimise"
CASES = [(each, case) for each in PASSES for case in golden.read(FOLDER / f"{each.name}.txt")]


@pytest.mark.parametrize(("each", "case"), CASES, ids=[f"{each.name}: {case.title}" for each, case in CASES])
def test_a_pass(each: object, case: golden.Case, update_golden: bool) -> None:
    name = each.name  # type: ignore[attr-defined]
    run = next(known.run for known in PASSES if known.name == name)
    text = str(verify(run(verify(parse(case.source)), Options()))) + "\n"
    if update_golden:
        path = FOLDER / f"{name}.txt"
        cases = [
            known._replace(result=text) if known.title == case.title else known for known in golden.read(path)
        ]
        golden.write(path, cases)
    else:
        assert text == case.result


def test_every_pass_has_a_file_and_a_title_only_once() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {each.name for each in PASSES}
    titles = [(each.name, case.title) for each, case in CASES]
    assert len(titles) == len(set(titles))
