"""The namespace `tf.distribute.experimental`: older names of strategies, and options of collective operations."""
# Namespace distribute.experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .central_storage import CentralStorageStrategy
from .multi_worker import ExperimentalMultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from .options import (
    CommunicationImplementation as CollectiveCommunication, CommunicationOptions as CollectiveHints,
    CommunicationImplementation, CommunicationOptions, ValueContext,
)
from .preemption import PreemptionCheckpointHandler, TerminationConfig
from .strategy import ParameterServerStrategy, TPUStrategy

__all__ = [
    "CentralStorageStrategy", "CollectiveCommunication", "CollectiveHints", "CommunicationImplementation",
    "CommunicationOptions", "MultiWorkerMirroredStrategy", "ParameterServerStrategy",
    "PreemptionCheckpointHandler", "TPUStrategy", "TerminationConfig", "ValueContext",
]

_explain(__name__)
