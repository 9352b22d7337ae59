"""TensorFlow's options of saving and loading. Those for machines, devices and files have no effect."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from ..core.export import export


class _Options:
    """Options by keyword, kept as attributes."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)


@export("saved_model.experimental.VariablePolicy")
class VariablePolicy(enum.Enum):
    """The data that are saved with the values of variables. It has no effect: `load` needs none of them.

    >>> SaveOptions(experimental_variable_policy=VariablePolicy.NONE).experimental_format
    'agc'
    """

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


class SaveOptions(_Options):
    """Options of `save`; others than these have no effect.

    `function_aliases` are functions by name that `load` can return. `experimental_format` is "agc" or "tensorflow":
    a model in TensorFlow's own format is for TensorFlow, and has functions of tensors only.

    >>> SaveOptions(experimental_format="tensorflow").experimental_format
    'tensorflow'
    """

    function_aliases: Mapping[str, Any] | None = None
    experimental_format = "agc"


class LoadOptions(_Options):
    """Options of `load`. With `experimental_load_function_aliases=True`, the loaded object has `function_aliases`.

    >>> LoadOptions(experimental_load_function_aliases=True).experimental_load_function_aliases
    True
    """

    experimental_load_function_aliases = False
