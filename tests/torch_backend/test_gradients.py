"""Gradients through staged branches and loops agree with finite differences, those of unbounded loops as well."""

# ruff: noqa: SIM108  (programs in the style of users)

import agc.torch
import pytest
import torch
from agc.autograph.errors import StagingError


def branches(x):
    if x > 1:
        y = x * x
    else:
        y = torch.sin(x)
    return 3 * y


def early_return(x):
    if x < 0.5:
        return x * 2
    y = x * x
    if x < 1:
        return y + x
    return y * y


def appended(x):
    values = []
    for row in torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64):
        values.append(x * row)
        values.append(x**2)
    return torch.stack(values) @ torch.arange(6.0, dtype=torch.float64)


def unbounded(x):
    while x < 10:
        x = x * x + x
    return x


def nested(x):
    total, b = 0.0, x
    while b < 4:
        for a in torch.arange(3.0, dtype=torch.float64):
            total += x * a * b
        b = b + x
    return total


@pytest.mark.parametrize("start", [0.31, 0.83, 1.37])
@pytest.mark.parametrize("function", [branches, early_return, appended, unbounded])
def test_gradients_agree_with_finite_differences(function, start):
    x = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    compiled = agc.torch.compile(function)
    assert float(compiled(x).detach()) == pytest.approx(float(function(x).detach()))
    compiled(x).backward()
    step = 1e-6
    with torch.no_grad():
        expected = (function(x + step) - function(x - step)) / (2 * step)
    assert float(x.grad) == pytest.approx(float(expected), rel=1e-4)


def test_a_while_loop_with_a_loop_in_it_is_not_differentiated():
    # PyTorch gives wrong numbers here
    compiled = agc.torch.compile(nested)
    x = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
    with pytest.raises(StagingError, match="AGC230") as raised:
        compiled(x)
    assert "while b < 4:" in str(raised.value)
    with torch.no_grad():
        assert float(compiled(x).detach()) == pytest.approx(float(nested(x).detach()))
    assert float(compiled(x.detach())) == pytest.approx(float(nested(x.detach())))


def test_parameters_of_modules_get_gradients():
    torch.manual_seed(0)
    cell = torch.nn.Linear(3, 3)

    def clipped(x):
        x = torch.tanh(cell(x))
        if x.norm() > 0.5:
            x = x / x.norm()
        return x.sum()

    gradients = []
    for function in (clipped, agc.torch.compile(clipped)):
        cell.zero_grad()
        function(torch.ones(3)).backward()
        gradients.append([parameter.grad.clone() for parameter in cell.parameters()])
    torch.testing.assert_close(gradients[1], gradients[0])


def test_training_with_the_compiled_loss():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x = torch.randn(32, 2)
    y = x[:, :1] * 2 - x[:, 1:]

    @agc.torch.compile
    def loss(x, y):
        error = model(x) - y
        value = (error**2).mean()
        if value > 1:
            value = error.abs().mean()
        return value

    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    history = []
    for _ in range(25):
        optimizer.zero_grad()
        value = loss(x, y)
        value.backward()
        optimizer.step()
        history.append(float(value.detach()))
    assert history[-1] < 0.3 * history[0]
