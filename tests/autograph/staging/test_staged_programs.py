"""Control flow of every kind, staged through the whole compiler, gives the results of Python."""

# ruff: noqa: SIM108, SIM201

import pytest
from agc.autograph import convert
from support.recording import staged


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def first_above(xs, limit):
    for x in xs:
        if x > limit:
            return x
    return -1


def pairs_that_sum(xs, total):
    count = 0
    for a in xs:
        if a > total:
            continue
        for b in xs:
            if b > a:
                break
            if a + b == total and not a == b:
                count += 1
    return count


def between(x, low, high):
    assert low <= high, "empty range"
    return low <= x < high or x == high


def unrolled(x):
    total = 0
    for factor in [1, 2, 3]:
        total += factor * x
        if total > 10:
            break
    return total


def counted(n):
    seen = []
    total = 0
    for i in range(n):
        total += abs(i - 2)
    seen.append(n)
    return total


def maybe_unbound(x):
    if x > 0:
        y = x
    return y


class Account:
    def __init__(self):
        self.balance = 10

    def settle(self, amount):
        if amount > 5:
            self.balance = amount
        elif amount < -5:
            self.balance = self.balance + amount
        return self.balance


def settled(amount):
    account = Account()
    return account.settle(amount)


def late_binding(x):
    n = 0

    def current():
        return n

    while n < x:
        n = current() + 2
    return current()


STAGED = [
    (collatz, [(1,), (6,), (27,)]),
    (first_above, [([1, 5, 9], 4), ([1], 4), ([], 4)]),
    (pairs_that_sum, [([1, 2, 3, 4], 5), ([5, 1, 4], 5), ([], 0)]),
    (between, [(1, 0, 2), (0, 0, 2), (2, 0, 2), (3, 0, 2)]),
    (unrolled, [(1,), (5,), (20,)]),
    (counted, [(0,), (5,)]),
    (settled, [(9,), (-9,), (0,)]),
    (late_binding, [(0,), (3,)]),
]


@pytest.mark.parametrize(("f", "inputs"), STAGED, ids=[f.__name__ for f, _ in STAGED])
def test_the_recorded_program_gives_pythons_results(f, inputs):
    program = staged(convert(f), *f.__code__.co_varnames[: f.__code__.co_argcount])
    for arguments in inputs:
        assert program(*arguments) == f(*arguments)
        assert convert(f)(*arguments) == f(*arguments)


def test_a_variable_that_may_be_unbound():
    program = staged(convert(maybe_unbound), "x")
    assert program(3) == convert(maybe_unbound)(3) == 3
    for f in (program, convert(maybe_unbound), maybe_unbound):
        with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
            f(-3)


def test_a_staged_assertion_fails_when_the_program_runs():
    program = staged(convert(between), "x", "low", "high")
    with pytest.raises(AssertionError, match="empty range"):
        program(0, 2, 1)
