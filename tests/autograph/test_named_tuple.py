"""Classes of named tuples behave like those of `typing`, but are defined in less time."""

import copy
import pickle
import typing

import pytest
from agc.autograph import named_tuple

BODY = """
class Interval(NamedTuple):
    '''Some numbers.'''

    new: int
    cls: "int | None" = None

    @property
    def size(self):
        return self.cls - self.new

    def moved(self, by):
        return self._replace(new=self.new + by, cls=self.cls + by)

class Closed(Interval):
    pass

class Nothing(NamedTuple):
    pass
"""


def defined(base):
    members = {"NamedTuple": base, "__name__": __name__}
    exec(BODY, members)
    return members


OURS, PYTHONS = defined(named_tuple.NamedTuple), defined(typing.NamedTuple)
Interval = OURS["Interval"]  # which pickles refer to


@pytest.mark.parametrize(
    "expression",
    [
        "Interval(1), Interval(1, 2), Interval(cls=3, new=2), Closed(4), Nothing()",
        "Interval(1, 2) == (1, 2), hash(Interval(1, 2)), [*Interval(1, 2)], isinstance(Closed(1), tuple)",
        "Interval(1, 3).size, Interval(1, 3).moved(4), Closed(1, 3).moved(4), Interval(1)._asdict()",
        "Interval._make([5, 6]), Interval._fields, Interval._field_defaults, Interval.__match_args__",
        "Interval.__doc__, Interval.__mro__[1:], type(Interval), hasattr(Interval(1), '__dict__')",
        "Interval(1).__getnewargs__(), Nothing()._replace()",
    ],
)
def test_named_tuples_are_those_of_python(expression):
    assert str(eval(expression, OURS)) == str(eval(expression, PYTHONS))


@pytest.mark.parametrize(
    "call",
    ["Interval()", "Interval(1, 2, 3)", "Interval(1, no=2)", "Nothing(1)", "Interval(1)._replace(no=1)"],
)
def test_wrong_arguments_are_refused(call):
    for members in (OURS, PYTHONS):
        with pytest.raises((TypeError, ValueError)):
            eval(call, members)


def test_named_tuples_can_be_copied_pickled_and_matched():
    assert pickle.loads(pickle.dumps(Interval(1, 2))) == copy.deepcopy(Interval(1, 2)) == Interval(1, 2)
    match Interval(1, 2):
        case Interval(new, 2):
            assert new == 1
    assert typing.get_type_hints(Interval) == {"new": int, "cls": int | None}


def test_the_function_that_creates_tuples_is_compiled_for_the_first(monkeypatch):
    compiled = []
    creator = named_tuple._creator
    monkeypatch.setattr(named_tuple, "_creator", lambda *of: compiled.append(of[0]) or creator(*of))
    kind = defined(named_tuple.NamedTuple)["Interval"]
    assert compiled == []
    assert [kind(1), kind(new=2)] == [(1, None), (2, None)]
    assert compiled == [("new", "cls")]
