"""Versions of a persistent array: reading one never depends on the others."""

import numpy as np
from agc.runtime.executors.llvm.list_abi import ListRows
from agc.runtime.kernels.persistent_array import Growing, PersistentArray
from agc.runtime.ops.lists.list_gradients import OneElement


def test_versions_in_any_order_of_reading():
    base = PersistentArray([0, 0, 0])
    one, two = base.written(0, 1), None
    two = one.written(1, 2)
    other = one.written(2, 3)
    assert two.items() == [1, 2, 0]
    assert other.items() == [1, 0, 3]
    assert one.items() == [1, 0, 0]
    assert base.items() == [0, 0, 0]


def test_versions_of_lists_of_a_special_form_lose_it():
    rows, one = ListRows(np.array([1, 2])), OneElement([None, 2])
    written = rows.written(0, 7)
    assert written.items() == [7, 2] and rows.items() == [1, 2]
    assert type(written) is type(one.written(0, 1)) is type(one.popped()) is PersistentArray


def test_versions_of_growing_arrays_grow():
    grown = Growing([]).written(2, 7)
    assert grown.items() == [None, None, 7]
    assert type(grown.written(0, 1)) is type(grown.popped()) is Growing
