"""Each of TensorFlow's names that is not there says so, with the reason and what to use instead."""

import copy
import difflib
import inspect
import pickle
import pkgutil
import subprocess
import sys
import types

import agc.runtime as tf
import pytest
from agc.runtime.core import missing_names
from differential import places, signatures
from support.each_case import each_case

NAMES = missing_names.names()


def public_modules():
    """All modules that `__all__` of the runtime leads to."""
    found, waiting = {}, [("tf", tf)]
    while waiting:
        path, module = waiting.pop()
        if id(module) not in found and path not in places.INTERNAL:
            found[id(module)] = (path, module)
            inner = [(f"{path}.{name}", getattr(module, name)) for name in getattr(module, "__all__", ())]
            waiting += [pair for pair in inner if isinstance(pair[1], types.ModuleType)]
    return list(found.values())


def test_every_missing_name_has_a_reason_and_a_replacement():
    for path in NAMES:
        with pytest.raises(AttributeError, match=r"^tf\.\S+ is not in agc \(.+\)\.") as raised:
            places.found(tf, f"tf.{path}")
        assert f".{path.rpartition('.')[2]} is not" in str(raised.value)  # tf.losses is tf.keras.losses
    assert len(NAMES) > 600


def test_every_recorded_tensorflow_name_exists_or_has_a_reason():
    for path in signatures.read():
        parent = path.rpartition(".")[0]
        if not signatures.has(tf, path) and signatures.has(tf, parent):
            is_of_module = inspect.ismodule(places.found(tf, parent))
            assert path.removeprefix("tf.") in NAMES or not is_of_module


def test_replacements_exist():
    for path, (_, new) in NAMES.items():
        if new.startswith("tf.") and new.replace(".", "").replace("_", "").isalnum() and new.count(" ") == 0:
            assert signatures.has(tf, new), path


@each_case(("path", "module"), public_modules())
def test_every_public_module_suggests_the_nearest_name(path, module):
    known = next(name for name in module.__all__ if len(name) > 3) if hasattr(module, "__all__") else ""
    with pytest.raises(AttributeError, match=r"module 'agc.runtime\S*' has no attribute"):
        _ = module.no_such_name_anywhere
    if known:
        with pytest.raises(AttributeError, match=rf"has no attribute '{known}q'\. Did you mean"):
            getattr(module, f"{known}q")


class TestImports:
    def test_the_error_for_a_missing_name_has_the_reason(self):
        with pytest.raises(ImportError, match=r"tf\.feature_column is not in agc \(columns .*Use layers"):
            from agc.runtime import feature_column  # noqa: F401
        with pytest.raises(ImportError, match=r"tf\.image\.decode_webp is not in agc"):
            from agc.runtime.image import decode_webp  # noqa: F401

    def test_the_error_for_a_misspelled_name_suggests_the_nearest(self):
        with pytest.raises(ImportError, match=r"no attribute 'reduce_sun'\. Did you mean 'reduce_sum'"):
            from agc.runtime import reduce_sun  # noqa: F401

    def test_missing_names_are_read_lazily(self):
        program = (
            "import agc.runtime as tf\nfrom agc.runtime.core import missing_names as m\ntf.linalg, tf.math\n"
            "assert m.names.cache_info().currsize == 0\n"
            "assert not hasattr(tf, 'feature_column')\nassert m.names.cache_info().currsize == 1"
        )
        subprocess.run([sys.executable, "-c", program], check=True)


class TestWhatLooksAtModules:
    def test_introspection_and_copies_still_work(self):
        assert not hasattr(tf, "feature_column")
        assert getattr(tf.math, "sobol_sample", None) is None
        assert "reduce_sum" in dir(tf)
        assert "feature_column" not in dir(tf)
        assert inspect.getmodule(tf.reduce_sum) is not None
        assert inspect.unwrap(tf.math) is tf.math
        assert inspect.getdoc(tf.linalg)
        assert copy.copy(tf.nn.relu) is pickle.loads(pickle.dumps(tf.nn.relu)) is tf.nn.relu
        assert [part.name for part in pkgutil.iter_modules(tf.keras.__path__)]

    def test_only_a_text_that_is_read_searches_for_the_nearest_name(self, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr(difflib, "get_close_matches", None)
            assert not hasattr(tf, "reduce_sun")
            with pytest.raises(AttributeError) as caught:
                _ = tf.reduce_sun
        copied = pickle.loads(pickle.dumps(caught.value))
        assert str(copied) == str(caught.value)
        assert str(copied).endswith("has no attribute 'reduce_sun'. Did you mean 'reduce_sum'?")

    def test_names_of_python_itself_are_plain(self):
        with pytest.raises(AttributeError, match=r"^module 'agc.runtime' has no attribute '__wrapped__'$"):
            _ = tf.__wrapped__
