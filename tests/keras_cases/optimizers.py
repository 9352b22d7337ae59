"""Five steps of each optimizer, with each option; learning rate schedules at many steps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

NAMES = ("SGD", "RMSprop", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl", "Lion")
OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"clipnorm": 0.5}, {"clipvalue": 0.3}, {"global_clipnorm": 0.7}, {"weight_decay": 0.1},
    {"use_ema": True, "ema_momentum": 0.5}, {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
    {"gradient_accumulation_steps": 2}, {"loss_scale_factor": 4.0},
)  # fmt: skip
OWN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9, "nesterov": True}), ("Adam", {"amsgrad": True}),
    ("RMSprop", {"centered": True, "momentum": 0.5}),
    ("Ftrl", {"l1_regularization_strength": 0.1, "l2_regularization_strength": 0.1,
              "l2_shrinkage_regularization_strength": 0.1, "beta": 0.2}),
)  # fmt: skip
SCHEDULES: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("ExponentialDecay", (0.1, 10, 0.5), {}), ("ExponentialDecay", (0.1, 10, 0.5), {"staircase": True}),
    ("InverseTimeDecay", (0.1, 10, 0.5), {}), ("InverseTimeDecay", (0.1, 10, 0.5), {"staircase": True}),
    ("PiecewiseConstantDecay", ([5, 20], [1.0, 0.5, 0.1]), {}),
    ("PolynomialDecay", (0.1, 10, 0.01), {"power": 2.0}), ("PolynomialDecay", (0.1, 10, 0.01), {"cycle": True}),
    ("CosineDecay", (0.1, 10, 0.1), {}), ("CosineDecay", (0.1, 10, 0.1), {"warmup_target": 0.3, "warmup_steps": 5}),
    ("CosineDecayRestarts", (0.1, 10, 2.0, 0.9, 0.1), {}), ("CosineDecayRestarts", (0.1, 10, 1.0, 0.9, 0.1), {}),
)  # fmt: skip


def steps(tf: Any, optimizer: Any, in_graph: bool = False) -> list[Any]:
    """What two variables and the optimizer's own are after five steps."""
    r = np.random.RandomState(1)
    gradients = r.randn(5, 2, 3).astype("f"), r.randn(5, 3).astype("f")
    a = tf.Variable(np.arange(6, dtype="f").reshape(2, 3) / 3 - 0.7, name="a")
    b = tf.Variable(np.array([0.3, -0.2, 1.0], "f"), name="b")

    def step(ga: Any, gb: Any) -> None:
        optimizer.apply_gradients([(ga, a), (gb, b)])

    call = tf.function(step) if in_graph else step
    for ga, gb in zip(*gradients, strict=True):
        call(tf.constant(ga), tf.constant(gb))
    if optimizer.use_ema:
        optimizer.finalize_variable_values([a, b])
    own = [np.sum(v.numpy()) for v in optimizer.variables]
    # A variable without a name has a number, which depends on how many there were before.
    names = [re.sub(r"^variable_\d+$", "variable", v.path.split("/")[1]) for v in optimizer.variables]
    names = [name.split("_", 1)[-1] for name in names]
    return [a.numpy().ravel(), b.numpy(), own, int(optimizer.iterations), str(names)]


def rows(tf: Any, optimizer: Any, in_graph: bool = False) -> list[Any]:
    """What a variable is after three steps by gradients of some of its rows, one of them twice."""
    r = np.random.RandomState(2)
    v = tf.Variable(np.arange(8, dtype="f").reshape(4, 2) / 3 - 0.7, name="v")

    def step(values: Any, indices: Any) -> None:
        optimizer.apply_gradients([(tf.IndexedSlices(values, indices, tf.constant([4, 2])), v)])

    call = tf.function(step) if in_graph else step
    for indices in ([1, 3, 1], [0, 1, 3], [3, 3, 3]):
        call(tf.constant(r.randn(3, 2).astype("f")), tf.constant(indices))
    return [v.numpy().ravel(), [np.sum(own.numpy()) for own in optimizer.variables]]


def make(tf: Any, kind: str, options: dict[str, Any]) -> Any:
    return getattr(tf.keras.optimizers, kind)(**{"learning_rate": 0.1, **options})


def cases(tf: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, options in [*((kind, options) for kind in NAMES for options in OPTIONS), *OWN]:
        found[f"{kind} {options}"] = lambda k=kind, o=options: steps(tf, make(tf, k, o))
    schedules = tf.keras.optimizers.schedules
    for kind in NAMES:
        found[f"{kind} config"] = lambda k=kind: _config(getattr(tf.keras.optimizers, k)())
        found[f"{kind} scheduled"] = lambda k=kind: steps(
            tf, make(tf, k, {"learning_rate": schedules.ExponentialDecay(0.1, 2, 0.5)})
        )
    for kind, args, options in SCHEDULES:
        found[f"{kind} {args} {options}"] = lambda k=kind, a=args, o=options: [
            getattr(schedules, k)(*a, **o)(step) for step in range(0, 60, 3)
        ]
        found[f"{kind} {args} {options} config"] = lambda k=kind, a=args, o=options: str(
            getattr(schedules, k)(*a, **o).get_config()
        )
    of_rows = [OPTIONS[i] for i in (0, 1, 2, 3, 4, 5, 7)]
    for kind, options in [*((kind, options) for kind in NAMES for options in of_rows), *OWN]:
        found[f"rows {kind} {options}"] = lambda k=kind, o=options: rows(tf, make(tf, k, o))
    return found


def _config(optimizer: Any) -> str:
    return str({name: value for name, value in optimizer.get_config().items() if name != "name"})
