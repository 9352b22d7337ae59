"""The module `tf.train`: checkpoints and averages of variables.

>>> import agc.runtime as tf, tempfile
>>> v = tf.Variable(1.0)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = tf.train.Checkpoint(v=v).save(f"{folder}/ckpt")
...     tf.train.latest_checkpoint(folder) == path
True
"""
# Namespace train: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .checkpoint import Checkpoint
from .checkpoint_manager import CheckpointManager
from .checkpoint_reader import (
    CheckpointReader, checkpoints_iterator, list_variables, load_checkpoint, load_variable,
)
from .checkpoint_state import get_checkpoint_state, latest_checkpoint
from .cluster_spec import ClusterSpec
from .example import (
    BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SequenceExample,
)
from .load_weights import load_weights
from .moving_average import ExponentialMovingAverage
from .options import CheckpointOptions
from .trackable_view import TrackableView

__all__ = [
    "BytesList", "Checkpoint", "CheckpointManager", "CheckpointOptions", "CheckpointReader", "ClusterSpec",
    "Example", "ExponentialMovingAverage", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
    "Int64List", "SequenceExample", "TrackableView", "checkpoints_iterator", "get_checkpoint_state",
    "latest_checkpoint", "list_variables", "load_checkpoint", "load_variable", "load_weights",
]

_explain(__name__)
