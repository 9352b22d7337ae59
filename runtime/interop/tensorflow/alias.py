"""The runtime as `tensorflow` for a whole process: programs that cannot be edited run as they are.

install_as_tensorflow()
import tensorflow as tf                        ==>    tf.function is agc.runtime.function
from tensorflow.keras import layers            ==>    agc.runtime.keras.layers
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from ...core.export import export
from . import facade
from .internal_names import CLASS_MODULES, INTERNAL_NAMES
from .keras_import import ALIAS, AliasLoader, is_installed, prepare
from .stand_ins import StandInFinder


@export("install_as_tensorflow")
def install_as_tensorflow() -> None:
    """Make `import tensorflow` give this runtime, in all modules that are imported from now on.

    `import keras` then gives the Keras that is `tf.keras`, if Keras is installed. A second call does nothing. Raises
    ImportError if TensorFlow itself is imported already.

    A program that cannot be edited then runs as it is (in a process of its own here, since all modules are concerned):

    >>> import subprocess, sys
    >>> program = "import tensorflow as tf; print(tf.reduce_sum([1, 2]).numpy())"
    >>> start = "import agc.runtime as tf; tf.install_as_tensorflow();"
    >>> subprocess.check_output([sys.executable, "-c", start + program], text=True)
    '3\\n'
    """
    loaded = sys.modules.get(facade.NAME)
    if loaded is not None and not isinstance(loaded, facade.Facade):
        raise ImportError(
            "TensorFlow itself is imported already, so agc cannot take its name. Call install_as_tensorflow() first."
        )
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
        sys.meta_path.insert(0, StandInFinder())
        _rename_classes()


def _rename_classes() -> None:
    """Name TensorFlow's modules as those of the classes by which libraries recognize its values."""
    for module in CLASS_MODULES:
        part = sys.modules[f"{facade.NAME}.{module}"] = facade.import_part(f"{facade.NAME}.{module}")
        for name in INTERNAL_NAMES[module]:
            found = getattr(part, name)
            if isinstance(found, type):
                found.__module__ = part.__name__


class _TensorFlowFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "keras" and is_installed():
            prepare()  # and let the finder of Keras find it
        top, _, rest = fullname.partition(".")
        if top != facade.NAME:
            return None
        if rest == "keras" or rest.startswith("keras."):
            return ModuleSpec(fullname, AliasLoader(ALIAS + rest.removeprefix("keras")))
        facade.import_part(fullname)
        return ModuleSpec(fullname, _PartLoader())


class _PartLoader(AliasLoader):
    def __init__(self) -> None:
        super().__init__(facade.NAME)

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = facade.import_part(module.__name__)


_FINDER = _TensorFlowFinder()
