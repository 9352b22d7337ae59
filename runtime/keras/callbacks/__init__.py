"""The module `tf.keras.callbacks`: what a program does while a model is trained."""

from __future__ import annotations

from ...core.missing_names import explain as _explain
from .base import Callback, CallbackList, History
from .deciding import EarlyStopping, LearningRateScheduler, ReduceLROnPlateau, TerminateOnNaN
from .progress import ProgbarLogger
from .recording import CSVLogger, LambdaCallback
from .saving import ModelCheckpoint
from .tensorboard import TensorBoard

__all__ = [
    "CSVLogger", "Callback", "CallbackList", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler",
    "ModelCheckpoint", "ProgbarLogger", "ReduceLROnPlateau", "TensorBoard",
    "TerminateOnNaN",
]  # fmt: skip

_explain(__name__)
