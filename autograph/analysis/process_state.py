"""Calls that use process state: by TensorFlow's rules they run once, while a function is traced.

random.random()          the global random numbers, of Python and of NumPy
os.environ["A"] = "1"    the environment
open("log.txt")          files
time.time()              the clock
decimal.getcontext()     the context of decimal numbers
functools.lru_cache      the cache of a function

The graph does not run them again."""

from __future__ import annotations

from typing import NamedTuple


class Use(NamedTuple):
    """A kind of process state, and the suggested fix."""

    kind: str
    fix: str


RANDOM = Use("random", "use tf.random, or draw the number before the block and pass it")
ENVIRONMENT = Use("environment", "use os.environ before or after the traced function")
FILES = Use("files", "use tf.io, tf.print or tf.py_function, or do it outside the traced function")
CLOCK = Use("clock", "use tf.timestamp(), or read the clock outside the traced function")
DECIMAL = Use("decimal", "set the context before the traced function")
CACHE = Use("cache", "call it before the block, or do not cache the function that is traced")

_NAMES = {
    "random.": RANDOM,
    "numpy.random.": RANDOM,
    "os.environ": ENVIRONMENT,
    "os.putenv": ENVIRONMENT,
    "os.unsetenv": ENVIRONMENT,
    "open": FILES,
    "input": FILES,
    "io.open": FILES,
    "os.remove": FILES,
    "os.rename": FILES,
    "os.mkdir": FILES,
    "os.makedirs": FILES,
    "shutil.": FILES,
    "time.": CLOCK,
    "datetime.datetime.now": CLOCK,
    "datetime.datetime.utcnow": CLOCK,
    "datetime.date.today": CLOCK,
    "decimal.getcontext": DECIMAL,
    "decimal.setcontext": DECIMAL,
    "decimal.localcontext": DECIMAL,
}
_PACKAGES = frozenset(name.partition(".")[0] for name in _NAMES)
# These create independent objects, or compute from their arguments only.
_OTHERS = frozenset(
    {"random.Random", "random.SystemRandom", "numpy.random.default_rng", "numpy.random.RandomState"}
    | {"numpy.random.Generator", "numpy.random.SeedSequence", "numpy.random.PCG64", "numpy.random.MT19937"}
    | {"time.struct_time", "time.strptime", "time.mktime", "time.asctime", "time.tzset"}
)


def may_use(name: str) -> bool:
    """Return whether `use_of` may find anything for this name, or for the name of a part.

    >>> may_use("numpy"), may_use("os.path"), may_use("math.sin")
    (True, True, False)
    """
    return name.partition(".")[0] in _PACKAGES


def use_of(name: str) -> Use | None:
    """Return the process state that a function or object of the standard library or NumPy uses, by its full
    name.

    >>> use_of("random.choice").kind, use_of("os.environ.get").kind, use_of("random.Random"), use_of("os.path")
    ('random', 'environment', None, None)
    """
    if name in _OTHERS:
        return None
    for known, use in _NAMES.items():
        if name == known or name.startswith(known if known.endswith(".") else known + "."):
            return use
    return None
