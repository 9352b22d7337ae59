"""Versions of a persistent array: reading one never depends on the others."""

from agc.runtime.kernels.persistent_array import Growing, PersistentArray


def test_versions_in_any_order_of_reading():
    base = PersistentArray([0, 0, 0])
    one, two = base.written(0, 1), None
    two = one.written(1, 2)
    other = one.written(2, 3)
    assert two.items() == [1, 2, 0]
    assert other.items() == [1, 0, 3]
    assert one.items() == [1, 0, 0]
    assert base.items() == [0, 0, 0]


def test_versions_keep_their_class():
    grown = Growing([]).written(2, 7)
    assert grown.items() == [None, None, 7]
    assert type(grown.written(0, 1)) is type(grown.popped()) is Growing
