"""Where the user's program is, as error messages show it."""

from functools import partial

from agc.autograph import operators as ag__
from agc.autograph import staging
from agc.autograph.api import assigned_before, assigned_in, convert, running
from agc.autograph.errors import is_own_file


class Symbol:
    def __gt__(self, other):
        return self


class Recorder:
    """A backend that keeps the branches it is given, and where the program was."""

    builtins = {}

    def owns(self, value):
        return True

    def cond(self, test, then, orelse, state, names):
        self.branches = then, orelse
        return (0,) * len(names)


RECORDER = Recorder()
staging.register(RECORDER, Symbol, always=False)


def lines_of(f, *names):
    """For each name: the text of the lines where the two branches assign it."""
    with staging.live():
        convert(f)(Symbol())
    return [[place and place.text().strip() for place in lines(name)] for name in names]


def lines(name):
    return [assigned_in(branch, name) for branch in RECORDER.branches]


def one_or_the_other(x):
    y = 0
    if x > 1:
        y = 1
        y = 2
    else:
        z = y
    return y, z


def test_the_line_that_assigns_a_variable_last():
    assert lines_of(one_or_the_other, "y", "z") == [["y = 2", None], [None, "z = y"]]


def test_the_expression_that_is_running():
    naïve = running()
    assert naïve.text()[naïve.column - 1 : naïve.end_column - 1] == "running()"


def test_the_line_above_that_assigned_a_variable():
    y = 1
    y = 2
    assert assigned_before("y").text().strip() == "y = 2"
    assert assigned_before("later") is None
    later = y
    assert later == 2


def early(x):
    if x > 1:
        return "then"
    return "else"


def test_a_result_is_located_at_its_return_statements():
    assert lines_of(early, "result") == [['return "then"', 'return "else"']]


def inside(x, flag):
    if x > 1:
        for flag in (1, 2):
            while flag < 2:
                y = 1
                flag += 1
    else:
        y = 2
    return y


def test_blocks_inside_blocks_are_looked_through():
    with staging.live():
        convert(inside)(Symbol(), 1)
    assert [place.text().strip() for place in lines("y")] == ["y = 1", "y = 2"]


class Model:
    def __init__(self):
        self.step = 0

    def fit(self, x):
        if x > 1:
            self.step = 1
        return self.step


def test_attributes():
    model = Model()
    RECORDER.branches = ()
    with staging.live():
        convert(model.fit)(Symbol())
    assert [place and place.text().strip() for place in lines("self.step")] == ["self.step = 1", None]


def test_elif_arms_count_as_the_else_branch():
    def arms(x):
        if x > 1:
            y = 1
        elif x > 2:
            y = 2
        else:
            y = 3
        return y

    assert lines_of(arms, "y")[0][0] == "y = 1"
    assert lines_of(arms, "y")[0][1] in ("y = 2", "y = 3")


def test_functions_of_agc_assign_no_user_variables():
    assert is_own_file(ag__.keep.__code__.co_filename)
    assert assigned_in(ag__.keep, "state") is None
    assert assigned_in(partial(ag__.keep, 1), "state") is None
