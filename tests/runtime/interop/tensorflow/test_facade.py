"""The module `tensorflow` for Keras: its names are those of the runtime."""

import agc.runtime as tf
import pytest
from agc.runtime.interop.tensorflow.facade import Facade


def test_a_name_of_the_runtime_is_looked_up_once() -> None:
    """Keras reads `tf.SparseTensor` and other names in each call of an operation."""
    facade = Facade("", tf)
    assert facade.SparseTensor is tf.SparseTensor
    assert vars(facade)["SparseTensor"] is tf.SparseTensor
    with pytest.raises(AttributeError, match="Did you mean 'reduce_sum'"):
        _ = facade.reduce_sun
