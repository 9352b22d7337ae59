"""Run the tests that execute converted code twice: while no backend owns values, and while one does, as in graphs."""

from collections.abc import Iterator

import pytest
from agc.autograph import staging

EXECUTING = {"agreement", "conversion", "operators", "side_effects"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    definition = metafunc.definition
    if not EXECUTING.isdisjoint(definition.path.parts) and not definition.get_closest_marker("at_rest"):
        metafunc.fixturenames.append("state")
        metafunc.parametrize("state", ["at rest", "live"], indirect=True)


@pytest.fixture
def state(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "at rest":
        yield
        return
    with staging.live():
        yield
