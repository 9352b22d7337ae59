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


def transposed_by_a_branch(x, n):
    return x.T if n > 0 else x * 2


def transposed_result(x, n):
    return (x * 2).T if n > 0 else x[1:, None, 0] + x


def transposed_by_steps(x, n):
    while n > 0:
        x, n = x.T, n - 1
    return x


def transposed_before(x, n):
    x = x.T
    while n > 0:
        x, n = x * 2, n - 1
    return x


def transposed_for_rows(x, n):
    rows = x.T
    for row in x:
        rows = (rows + row).T
    return rows


@pytest.mark.parametrize(
    "function",
    [
        transposed_by_a_branch,
        transposed_result,
        transposed_by_steps,
        transposed_before,
        transposed_for_rows,
    ],
)
@pytest.mark.parametrize("n", [0, 1])
def test_results_of_blocks_may_be_views_with_other_strides(function, n):
    x = torch.arange(4.0).reshape(2, 2)
    n = torch.tensor(n)
    torch.testing.assert_close(agc.torch.compile(function)(x, n), function(x, n))


@pytest.mark.parametrize("function", [sorted, max])
def test_rows_of_a_matrix_have_no_order(function):
    with pytest.raises(TypeError, match=r"items of shape \(3,\) have no order"):
        agc.torch.compile(lambda x: function(x))(torch.zeros(2, 3))
