"""Calls that use state of the process: by TensorFlow's rules they happen once, while a function is traced.

random.random()          the global random numbers, of Python and of NumPy
os.environ["A"] = "1"    the environment
open("log.txt")          files
time.time()              the clock
decimal.getcontext()     the context of decimal numbers
functools.lru_cache      what a function remembers

A graph runs none of these again."""

from __future__ import annotations

from typing import NamedTuple


class Use(NamedTuple):
    """A kind of state, and what to do instead."""

    kind: str
    fix: str


RANDOM = Use("random", "use tf.random, or draw the number before the block and pass it")
ENVIRONMENT = Use("environment", "use os.environ before or after the function that is traced")
FILES = Use("files", "use tf.io, tf.print or tf.py_function, or do it outside of the function that is traced")
CLOCK = Use("clock", "use tf.timestamp(), or read the clock outside of the function that is traced")
DECIMAL = Use("decimal", "set the context before the function that is traced")
CACHE = Use("cache", "call it before the block, or take the cache away where the function is traced")

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
# What makes objects of their own, or computes with what it is given.
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
    """What a function or object of the standard library or of NumPy, by its full name, uses of the process.

    >>> use_of("random.choice").kind, use_of("os.environ.get").kind, use_of("random.Random"), use_of("os.path")
    ('random', 'environment', None, None)
    """
    if name in _OTHERS:
        return None
    for known, use in _NAMES.items():
        if name == known or name.startswith(known if known.endswith(".") else known + "."):
            return use
    return None
