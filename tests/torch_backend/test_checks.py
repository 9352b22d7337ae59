"""Exceptions of staged blocks are raised after the call; exported programs raise them while they run."""

import agc.torch
import pytest
import torch
from agc.autograph.errors import StagingError


class RefusedError(Exception):
    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


@agc.torch.compile
def checked(x):
    assert x > -10, "too small"
    total = 0
    while x > 0:
        if x == 13:
            raise RefusedError("13")
        total += x
        x = x - 1
    return total


def test_exceptions_keep_their_class_and_attributes():
    assert int(checked(torch.tensor(4))) == 10
    with pytest.raises(RefusedError) as raised:
        checked(torch.tensor(15))
    assert raised.value.reason == "13"
    with pytest.raises(AssertionError, match="too small"):
        checked(torch.tensor(-11))


def test_the_operands_after_a_deciding_one_do_not_run():
    @agc.torch.compile
    def guarded(x):
        return 1 if x != 0 and 12 // x > 3 else 0

    assert [int(guarded(torch.tensor(n))) for n in (0, 3, 12)] == [0, 1, 0]


class Halving(torch.nn.Module):
    @agc.torch.autograph
    def forward(self, x):
        if x.isnan().any():
            raise ValueError("NaN")
        while x.sum() > 1:
            x = x / 2
        return x


def test_modules_are_exported_with_their_loops(tmp_path):
    size = torch.export.Dim("size", min=2, max=64)
    program = torch.export.export(Halving(), (torch.ones(4),), strict=False, dynamic_shapes={"x": {0: size}})
    torch.export.save(program, tmp_path / "halving.pt2")
    run = torch.export.load(tmp_path / "halving.pt2").module()
    for x in (torch.ones(4), torch.arange(7.0), -torch.ones(2)):
        torch.testing.assert_close(run(x), Halving()(x))
    with pytest.raises(RuntimeError, match="ValueError: NaN"):
        run(torch.tensor([1.0, torch.nan]))


def test_tensors_with_numbers_decide_in_python():
    assert agc.torch.autograph(lambda x: "yes" if x > 0 else "no")(torch.tensor(1)) == "yes"


def test_text_cannot_be_chosen_when_the_program_runs():
    @agc.torch.compile
    def named(x):
        return "yes" if x > 0 else "no"

    with pytest.raises(StagingError, match="AGC203"):
        named(torch.tensor(1))


def labelled(x):
    try:
        return "yes" if x > 0 else "no"
    except ValueError:
        return x


def test_an_except_that_catches_an_error_of_the_tracing_is_reported():
    with pytest.warns(UserWarning, match=r"warning\[AGC262\].*AGC203"):
        assert agc.torch.compile(labelled)(torch.tensor(1)) == 1


def test_values_are_printed_when_the_program_runs(capfd):
    @agc.torch.compile
    def shown(x):
        while x < 4:
            print("x =", x)
            x = x * 2
        return x

    shown(torch.tensor(1))
    assert capfd.readouterr().out.split("\n") == ["x = 1", "x = 2", ""]


def test_numbers_that_are_equal_but_not_the_same_are_traced_on_their_own():
    @agc.torch.compile
    def quotient(x, by):
        return x / by

    x = torch.tensor(1.0)
    assert [float(quotient(x, by)) for by in (0.0, -0.0, 1, 1.0, True)] == [
        float("inf"),
        -float("inf"),
        1,
        1,
        1,
    ]
