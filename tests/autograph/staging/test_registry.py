"""The backend that owns a value, and the placeholder of an unbound variable."""

import copy
import operator
import subprocess
import sys

import pytest
from agc.autograph import staging
from agc.autograph.staging import PYTHON, Undefined, backend_of, register
from support.registered_backend import registered_backend


class Value:
    pass


class Special(Value):
    pass


class Other(staging.PythonBackend):
    """Owns what its `active` says."""

    active = True

    def owns(self, value):
        return self.active


@pytest.fixture
def backend():
    with registered_backend(Other(), Value) as other:
        yield other


def test_everything_is_plain_python_by_default():
    for value in (3, None, "x", [], object(), int, Value()):
        assert backend_of(value) is PYTHON


def test_a_backend_owns_its_types_and_their_subclasses(backend):
    assert backend_of(Value()) is backend
    assert backend_of(Special()) is backend
    assert backend_of(Value) is PYTHON


def test_registering_takes_effect_on_types_seen_before():
    class Late:
        pass

    assert backend_of(Late()) is PYTHON
    register(other := Other(), Late, always=False)
    assert backend_of(Late()) is other


def test_the_nearest_base_decides(backend):
    register(nearer := Other(), Special, always=False)
    assert backend_of(Special()) is nearer
    assert backend_of(Value()) is backend
    del staging.backends.registered[Special]


def test_a_backend_can_disown_a_value(backend):
    backend.active = False
    assert backend_of(Value()) is PYTHON


def test_the_lookup_ignores_an_overridden_mro(backend):
    class Meta(type):
        @property
        def __mro__(cls):
            raise RuntimeError

    class Odd(Value, metaclass=Meta):
        pass

    assert backend_of(Odd()) is backend


def test_types_do_not_pile_up():
    for _ in range(3):
        staging.backends.limit = 5
        try:
            for i in range(20):
                backend_of(type(f"T{i}", (), {})())
            assert len(staging.backends) <= 5
        finally:
            del staging.backends.limit


def test_register_takes_types():
    with pytest.raises(TypeError, match="takes a backend and then types, but got 3"):
        register(Other(), 3)


def test_undefined_shows_its_name():
    assert repr(Undefined("y")) == "<undefined variable 'y'>"
    assert staging.name_of(Undefined("y")) == "y"


USES = [
    bool, str, len, iter, list, abs, int, float, hash, format, operator.neg, operator.index,
    lambda y: y.x, lambda y: y(), lambda y: y + 1, lambda y: 1 + y, lambda y: y == y, lambda y: y < 1,
    lambda y: y[0], lambda y: 1 in y, lambda y: f"{y}", lambda y: operator.iadd(y, 1),
    lambda y: operator.setitem(y, 0, 1), lambda y: setattr(y, "x", 1), lambda y: y.__enter__(),
]  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_any_use_of_undefined_is_python_s_error(use):
    with pytest.raises(UnboundLocalError) as error:
        use(Undefined("y"))
    assert str(error.value) == "cannot access local variable 'y' where it is not associated with a value"


def test_undefined_can_be_part_of_a_state_that_is_copied():
    state = [Undefined("y")]
    assert copy.deepcopy(state)[0] is copy.copy(state)[0] is state[0]


def test_the_contract_is_light_to_import():
    program = (
        "import sys, typing\n"
        "class Pair(typing.NamedTuple): a: int\n"  # which needs `ast` since Python 3.14
        "before = set(sys.modules)\n"
        "import agc.autograph, agc.autograph.staging, agc.autograph.operators\n"
        "heavy = {'gast', 'astunparse', 'ast', 'inspect', 'dis', 'agc.runtime'}\n"
        "print(*sorted(heavy & set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
