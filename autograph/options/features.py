"""Optional features of a conversion: TensorFlow's `Feature`, and the meaning of each here.

ALL                   everything below
BUILTIN_FUNCTIONS     `print` of a backend's values happens when the staged code runs, not while it is traced
EQUALITY_OPERATORS    `==` and `!=` are the backend's against anything, texts and None as well
ASSERT_STATEMENTS     always on: `assert` is staged
LISTS                 always on: lists are staged where that is possible
AUTO_CONTROL_DEPS     always on: effects keep the order of the program
NAME_SCOPES           no effect: there are no name scopes

Functions that a converted function calls are converted with the same features.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple


class Feature(enum.Enum):
    """Optional features of a conversion; see this module's docstring.

    >>> Feature("LISTS") in Feature.all()
    True
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Return all features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """Return all features other than these.

        >>> [feature.name for feature in Feature.all_but([Feature.LISTS, Feature.NAME_SCOPES])][:2]
        ['AUTO_CONTROL_DEPS', 'ASSERT_STATEMENTS']
        """
        without = {cls.ALL, *_each(exclude)}
        return tuple(feature for feature in cls if feature not in without)


Features = Feature | Iterable[Feature] | None

OPTIONAL = frozenset({Feature.BUILTIN_FUNCTIONS, Feature.EQUALITY_OPERATORS})
"""The features that make a difference."""


class ConversionOptions(NamedTuple):
    """Options of a conversion: whether to convert callees, and the features."""

    recursive: bool = True
    features: frozenset[Feature] = frozenset()


USUAL = ConversionOptions()


def options_of(recursive: bool, features: Features) -> ConversionOptions:
    """Return the options of a call. Raises TypeError for values that are no feature.

    >>> options_of(True, None) == options_of(True, Feature.LISTS) == USUAL
    True
    """
    wanted = frozenset() if features is None else frozenset(_each(features))
    return ConversionOptions(bool(recursive), OPTIONAL if Feature.ALL in wanted else wanted & OPTIONAL)


def _each(features: Feature | Iterable[Feature]) -> list[Feature]:
    if isinstance(features, Feature):
        return [features]
    several = (
        list(features) if isinstance(features, Iterable) and not isinstance(features, str) else [features]
    )
    for feature in several:
        if not isinstance(feature, Feature):
            names = ", ".join(feature.name for feature in Feature)
            raise TypeError(f"{feature!r} is not a feature of AutoGraph: pass members of Feature ({names})")
    return several
