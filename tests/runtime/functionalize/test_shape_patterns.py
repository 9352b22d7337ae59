"""Which sizes vary is found from the shapes of all calls."""

from __future__ import annotations

from agc.runtime.functionalize.varying_shapes import MOST_STATIC, ByPattern


def test_static_inputs_are_found_in_linear_time() -> None:
    compared = 0

    class Index(int):
        __hash__ = int.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return int(self) == other

    count = 300
    table = ByPattern[str]([*map(Index, range(0, count, 2))])
    for size in range(2, 2 + MOST_STATIC):
        assert table.learned(((size,),) * count) is None
    assert table.learned(((9,),) * count) == ((9,), (-1,)) * (count // 2)
    assert compared < 20 * count
