"""`TensorBoard`: what happens in training, for TensorBoard to show.

logs/train          epoch_loss, epoch_accuracy …, epoch_learning_rate; batch_loss … ; histograms of the weights
logs/validation     epoch_loss …, evaluation_loss_vs_iterations …
"""

from __future__ import annotations

import os
from typing import Any

from agc import runtime as tf

from .base import Callback


class TensorBoard(Callback):
    """Writes losses, metrics and weights to event files.

    Args:
        log_dir: the folder for the files.
        histogram_freq: write histograms of the weights each so many epochs; 0 for never.
        write_graph: write the graph of the model's call, if it has inputs that are known.
        update_freq: "epoch"; or "batch", or a number n: also write the results of each n-th batch.
        write_images, write_steps_per_second, profile_batch, embeddings_freq, embeddings_metadata: accepted where they
            ask for nothing, else ValueError.
    """

    def __init__(
        self,
        log_dir: Any = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: Any = "epoch",
        profile_batch: Any = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
    ) -> None:
        super().__init__()
        wanted = {
            "write_images": write_images, "write_steps_per_second": write_steps_per_second,
            "profile_batch": profile_batch, "embeddings_freq": embeddings_freq,
        }  # fmt: skip
        for name, value in wanted.items():
            if value:
                raise ValueError(f"TensorBoard(…, {name}={value!r}): there is nothing to write for it here")
        self.log_dir = os.fspath(log_dir)
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._writers: dict[str, Any] = {}
        self._step = 0

    def _write(self, part: str, values: dict[str, Any], step: int) -> None:
        with self._writer(part).as_default(step=step):
            for name, value in values.items():
                tf.summary.scalar(name, value)

    def _writer(self, part: str) -> Any:
        if part not in self._writers:
            self._writers[part] = tf.summary.create_file_writer(os.path.join(self.log_dir, part))
        return self._writers[part]

    def on_train_begin(self, logs: Any = None) -> None:
        self._step = 0
        function = self.model.__functions__().get("__call__") if self.write_graph else None
        if function is not None:
            with self._writer("train").as_default():
                tf.summary.graph(function.get_concrete_function())

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._step += 1
        if self.update_freq != "epoch" and self._step % self.update_freq == 0:
            self._write("train", {f"batch_{name}": value for name, value in (logs or {}).items()}, self._step)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = logs or {}
        own = {f"epoch_{name}": value for name, value in logs.items() if not name.startswith("val_")}
        rate = self.model.optimizer.learning_rate
        self._write("train", {**own, "epoch_learning_rate": rate}, epoch)
        others = {f"epoch_{name[4:]}": value for name, value in logs.items() if name.startswith("val_")}
        if others:
            self._write("validation", others, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)

    def _write_weights(self, epoch: int) -> None:
        with self._writer("train").as_default(step=epoch):
            for weight in self.model.weights:
                tf.summary.histogram(f"{weight.path}/histogram", weight)

    def on_test_end(self, logs: Any = None) -> None:
        values = {f"evaluation_{name}_vs_iterations": value for name, value in (logs or {}).items()}
        if values and self.model.optimizer is not None:
            self._write("validation", values, int(self.model.optimizer.iterations))

    def on_train_end(self, logs: Any = None) -> None:
        for writer in self._writers.values():
            writer.close()
        self._writers = {}
