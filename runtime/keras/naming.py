"""Names that nobody chose: the class in snake case, with a number from the second object on.

>>> snake_case("Conv2DTranspose"), snake_case("SimpleRNN"), snake_case("ReLU")
('conv2d_transpose', 'simple_rnn', 're_lu')
>>> auto_name("naming_example"), auto_name("naming_example")
('naming_example', 'naming_example_1')
"""

from __future__ import annotations

import re
from collections import Counter

_used: Counter[str] = Counter()


def snake_case(name: str) -> str:
    """A class's name as objects bear it."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def auto_name(prefix: str) -> str:
    """The prefix, with the number of objects that have it already."""
    number = _used[prefix]
    _used[prefix] += 1
    return f"{prefix}_{number}" if number else prefix


def forget() -> None:
    """Count from the start again."""
    _used.clear()
