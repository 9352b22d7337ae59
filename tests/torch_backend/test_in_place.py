"""Changes in place mean what they mean in PyTorch: every variable of the tensor sees them."""

import agc.torch
import pytest
import torch
from agc.autograph.errors import StagingError

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def alias_of_a_branch(x):
    x = x * 1
    y = x
    if x.sum() > 0:
        x += 1
    return x, y


@program
def changed_and_assigned(x):
    x = x * 1
    y = x
    if x.sum() > 0:
        x += 1
        x = x * 2
    return x, y


@program
def changed_in_the_other_branch(x):
    x = x * 1
    y = x
    if x.sum() > 0:
        x = x * 3
    else:
        x -= 1
    return x, y


@program
def not_used_later(x):
    x = x * 1
    y = x
    if x.sum() > 0:
        x += 1
    return y


@program
def alias_of_a_loop(x):
    x = x * 1
    y = x
    while x.sum() < 20:
        x += 1
    return x, y


@program
def the_argument_itself(x):
    if x.sum() > 0:
        x *= 2
    return 1


@program
def items(x):
    x = x.clone()
    y = x
    for k in torch.arange(3):
        x[k] += k
        if x[k] > 1:
            x[k] = -x[k]
    return x, y


@program
def sorted_by_swaps(x):
    x = x.clone()
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1].clone(), x[j].clone()
    return x


@program
def nested(x):
    x = x * 1
    y = x
    while x.sum() < 20:
        if x[0] > 0:
            x += 1
        else:
            x += 2
    return x, y


@program
def total_of_rows(x):
    total = torch.zeros(())
    for row in x:
        total += row
    return total


@program
def view(x):
    x = x * 1
    first = x[0]
    if x.sum() > 0:
        x += 1
    return x, first


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("function", PROGRAMS)
def test_variables_of_a_changed_tensor_see_the_change(function, sign):
    one, other = (sign * torch.tensor([1.0, 2.0, -0.5]) for _ in range(2))
    expected, found = function(one), agc.torch.compile(function)(other)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(other, one)  # the argument


def test_a_loop_that_changes_and_assigns_is_refused_with_its_line():
    @agc.torch.compile
    def function(x):
        while x.sum() < 10:
            x += 1
            x = x * 2
        return x

    with pytest.raises(StagingError, match="AGC232") as raised:
        function(torch.ones(3))
    assert "while x.sum() < 10:" in str(raised.value)


def test_a_change_of_a_tensor_that_the_block_does_not_assign_is_refused():
    @agc.torch.compile
    def function(x, y):
        if x.sum() > 0:
            y.add_(1)
        return y

    with pytest.raises(StagingError, match="AGC232"):
        function(torch.ones(3), torch.ones(3))
