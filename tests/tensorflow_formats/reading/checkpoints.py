"""Objects of which TensorFlow and this runtime write checkpoints, each with values that depend on a start.

def tree(tf, start):
    return {"model": …, "step": tf.Variable(start)}

Both sides restore each other's checkpoints into objects of another start.
"""

import numpy as np

DTYPES = """
    float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 bool
""".split()  # noqa: SIM905


def _numbers(shape, start):
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) * 0.25 + start).astype("float32")


def dtypes(tf, start):
    """Variables of all dtypes, scalars and empty ones."""
    named = {name: tf.Variable(tf.cast([start, 0, start + 1], name)) for name in DTYPES}
    named["scalar"] = tf.Variable(float(start))
    named["empty"] = tf.Variable(np.zeros((0, 3), "float32"))
    named["string"] = tf.Variable([["a" * start, ""], ["é", "x" * 300]])
    return named


def tree(tf, start):
    """Modules in lists, tuples and dicts, a variable with two names, and names that are escaped."""

    class Layer(tf.Module):
        def __init__(self, size):
            super().__init__()
            self.w = tf.Variable(_numbers((2, size), start))
            self.b = tf.Variable(np.zeros(size, "float32"), trainable=False)

    model = tf.Module()
    model.layers = [Layer(2), Layer(3), [tf.Variable(start)]]
    model.pair = (tf.Variable(1.0 + start), tf.Variable([True]))
    model.named = {"a/b": tf.Variable(2.0 * start), "c.d": {"e": tf.Variable(start)}}
    model.again = model.layers[0].w
    return {"model": model, "step": tf.Variable(start, dtype="int64")}


def table(tf, start):
    """A mutable lookup table and a random generator."""
    words = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    words.insert(["word"], [start])  # TensorFlow's order of several rows is not specified
    return {"words": words, "random": tf.random.Generator.from_seed(start)}


def _trained(model, optimizer, x, y, start):
    for variable in model.weights:
        variable.assign(_numbers(variable.shape, 0.1 * start) % 1.0)
    model.compile(optimizer, "mse")
    for _ in range(start):
        model.train_on_batch(x, y)
    return {"model": model, "optimizer": model.optimizer}


def keras_mlp(tf, start):
    """A model of Keras with Adam, trained for some steps."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            layers.Dense(3, activation="relu"),
            layers.BatchNormalization(),
            layers.Dense(1),
        ]
    )
    return _trained(model, "adam", np.ones((8, 4)), np.zeros((8, 1)), start)


def keras_lstm(tf, start):
    """A functional model of Keras with an LSTM and momentum."""
    layers = tf.keras.layers
    inputs = tf.keras.Input((5,), dtype="int32")
    x = layers.LSTM(3)(layers.Embedding(7, 2)(inputs))
    model = tf.keras.Model(inputs, layers.Dense(1)(x))
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    return _trained(model, optimizer, np.ones((4, 5), "int32"), np.zeros((4, 1)), start)


def many(tf, start):
    """More variables than a block of the index holds."""
    return {"values": [tf.Variable(start + number) for number in range(1200)]}


OBJECTS = {each.__name__: each for each in (dtypes, tree, table, keras_mlp, keras_lstm, many)}
"""Objects that both sides save and restore."""


def named(tf, prefix):
    """Variables by name, as a `Saver` of TensorFlow 1 saves them, one of them in parts."""
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        v1.get_variable("layer/w", initializer=_numbers((2, 2), 1))
        v1.get_variable("step", initializer=np.int64(7))
        rows = v1.fixed_size_partitioner(3)
        v1.get_variable("emb", (10, 3), initializer=v1.constant_initializer(2.5), partitioner=rows)
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, prefix, write_meta_graph=False, write_state=False)


def sharded(tf, prefix):
    """A checkpoint in several files, with a large variable in parts."""
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=400)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    objects = {"big": tf.Variable(_numbers((60, 5), 1)), "small": tf.Variable(_numbers((7,), 3))}
    tf.train.Checkpoint(**objects).write(prefix, options)


def long_keys(tf, prefix):
    """An index of several blocks, and an entry of each rank."""
    names = [f"scope_{number // 100}/" + "x" * 150 + f"/{number}" for number in range(2500)]
    values = [tf.constant(_numbers((1,) * (number % 8), number)) for number in range(2500)]
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * 2500, tensors=values)


FILES = {each.__name__: each for each in (named, sharded, long_keys)}
"""Checkpoints that only TensorFlow writes."""
