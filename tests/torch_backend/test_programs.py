"""Programs compiled with `agc.torch.compile` give what Python gives."""

import inspect

import agc.torch
import numpy as np
import pytest
import torch
from jax_backend.programs import PROGRAMS
from torch.utils import _pytree as pytree

OF_NUMPY = [function for function, _ in PROGRAMS if ".copy()" in inspect.getsource(function)]
CASES = [
    pytest.param(function, arguments, id=f"{function.__name__}-{number}")
    for function, calls in PROGRAMS
    if function not in OF_NUMPY
    for number, arguments in enumerate(calls)
]


def test_few_programs_use_methods_that_only_numpy_has():
    assert len(OF_NUMPY) == 5


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_the_compiled_program_gives_what_python_gives(function, arguments):
    if function.__name__ == "return_in_while":  # Python's counters become tensors of int64
        arguments = tuple(np.int64(each) for each in arguments)
    expected = pytree.tree_leaves(function(*arguments))
    found = pytree.tree_leaves(agc.torch.compile(function)(*map(torch.as_tensor, map(np.array, arguments))))
    assert [each is None for each in found] == [each is None for each in expected]
    for one, other in zip(found, expected, strict=True):
        if other is not None:
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-5)


@pytest.mark.parametrize("function", [sorted, max])
def test_rows_of_a_matrix_have_no_order(function):
    with pytest.raises(TypeError, match=r"items of shape \(3,\) have no order"):
        agc.torch.compile(lambda x: function(x))(torch.zeros(2, 3))
