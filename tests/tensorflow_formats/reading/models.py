"""Modules and models of Keras that TensorFlow saves, with the calls whose results are compared.

def scale(tf):
    return module, [Call("scale", [tf.constant([1.0])])]
"""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SERVING = "serving_default"


class Call(NamedTuple):
    """A call of a function of a model, by the path of its attributes, or of a signature."""

    path: str
    args: Any = ()
    kwargs: Any = {}  # never changed
    is_signature: bool = False
    has_gradient: bool = False
    """Whether the gradients of the results are compared, too."""


def _numbers(*shape):
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 * 0.3 - 0.8).astype("float32")


def variables(tf):
    """Functions that read and assign variables, two graphs of one function, and Python arguments."""

    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.total = tf.Variable(0.0, name="total")
            self.calls = tf.Variable(0, dtype=tf.int64, trainable=False)

        @tf.function
        def add(self, x, twice=False):
            self.calls.assign_add(1)
            self.total.assign_add(tf.reduce_sum(x) * (2.0 if twice else 1.0))
            return {"total": self.total.read_value(), "calls": self.calls + 0, "x": (x, [x * 2])}

    model = Counter()
    x = tf.constant(_numbers(3))
    model.add(x)
    model.add(x, twice=True)
    model.add(tf.constant(_numbers(2, 2)))
    model.total.assign(0.5)
    model.calls.assign(10)
    y = tf.constant(_numbers(2, 2))
    return model, [Call("add", [x]), Call("add", [x], {"twice": True}), Call("add", [y, False])]


def control_flow(tf):
    """Loops with `break`, conditions, a TensorArray, and a condition with several branches."""

    class Flow(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def collatz(self, ns):
            steps = tf.TensorArray(tf.int32, size=tf.shape(ns)[0])
            for i in tf.range(tf.shape(ns)[0]):
                n, count = ns[i], 0
                while n != 1:
                    if n % 2 == 0:
                        n //= 2
                    else:
                        n = 3 * n + 1
                    count += 1
                    if count > 50:
                        break
                steps = steps.write(i, count)
            return steps.stack()

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([3], tf.float32)])
        def choose(self, n, x):
            return tf.switch_case(n, [lambda: x, lambda: x * 2.0, lambda: tf.reverse(x, [0])])

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def grow(self, n):
            values = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[2])
            i = 0
            while i < n:
                values = values.write(i, tf.fill([2], tf.cast(i, tf.float32)))
                i += 1
            return values.stack(), values.size()

    numbers = tf.constant([1, 7, 27, 6], tf.int32)
    x = tf.constant(_numbers(3))
    calls = [Call("collatz", [numbers]), Call("grow", [tf.constant(4)])]
    return Flow(), calls + [Call("choose", [tf.constant(n), x]) for n in (0, 1, 2, 5)]


def nested(tf):
    """Modules in lists, tuples and dicts, which share a variable; several signatures with several outputs."""

    class Dense(tf.Module):
        def __init__(self, rows, columns):
            super().__init__()
            self.w = tf.Variable(_numbers(rows, columns))
            self.b = tf.Variable(tf.ones([columns]))

        @tf.function
        def __call__(self, x):
            return tf.nn.relu(x @ self.w + self.b)

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [Dense(3, 4), Dense(4, 2)]
            self.heads = {"first": Dense(2, 1), "second": (Dense(2, 3), tf.Variable(2.0))}
            self.constant = tf.constant([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
        def features(self, x):
            for layer in self.layers:
                x = layer(x)
            return x * self.constant

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "rows")])
        def heads_of(self, rows):
            x = self.features(rows)
            return {
                "one": self.heads["first"](x),
                "two": self.heads["second"][0](x) * self.heads["second"][1],
            }

    model = Model()
    x = tf.constant(_numbers(2, 3))
    model.features(x), model.heads_of(x), model.layers[0](x)
    signatures = {SERVING: model.features, "heads": model.heads_of}
    calls = [
        Call("features", [x], has_gradient=True),
        Call("layers/0", [x]),
        Call(SERVING, (), {"x": x}, True),
    ]
    return model, [*calls, Call("heads", (), {"rows": x}, True)], {"signatures": signatures}


def table(tf):
    """A static table with a default value, in a function of strings."""

    class Words(tf.Module):
        def __init__(self):
            super().__init__()
            rows = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
            self.table = tf.lookup.StaticHashTable(rows, -1)
            self.reverse = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2], tf.int64), ["a", "b"]), "?"
            )

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def ids(self, words):
            found = self.table.lookup(tf.strings.lower(words))
            return found, self.reverse.lookup(found), self.table.size()

    return Words(), [Call("ids", [tf.constant(["A", "x", "b"])])]


def vocabulary(tf):
    """A table from a file, which is an asset of the model."""
    path = Path(tempfile.mkdtemp()) / "words.txt"
    path.write_text("emerson 10\nlake 20\npalmer 30\n")

    class Words(tf.Module):
        def __init__(self):
            super().__init__()
            text, whole = tf.string, tf.lookup.TextFileInitializer
            self.table = tf.lookup.StaticHashTable(whole(str(path), text, 0, tf.int64, 1, delimiter=" "), -1)
            self.file = tf.saved_model.Asset(str(path))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def ids(self, words):
            return self.table.lookup(words)

        @tf.function(input_signature=[])
        def text(self):
            return tf.io.read_file(self.file.asset_path)

    return Words(), [Call("ids", [tf.constant(["lake", "x"])]), Call("text")]


def strings(tf):
    """Splitting, joining and replacing of strings; ragged tensors inside."""

    class Text(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def words(self, lines):
            clean = tf.strings.regex_replace(tf.strings.lower(lines), r"[^a-z ]", "")
            parts = tf.strings.split(clean)
            dense = parts.to_tensor(default_value="-")
            joined = tf.strings.reduce_join(dense, 1, separator="+")
            return {
                "dense": dense, "joined": joined, "lengths": tf.strings.length(joined),
                "hashes": tf.strings.to_hash_bucket_fast(dense, 100), "counts": parts.row_lengths(),
            }  # fmt: skip

    return Text(), [Call("words", [tf.constant(["Hello, big World!", "one two"])])]


def shapes(tf):
    """Slices, unknown dimensions, and operations on shapes."""

    class Shapes(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, None, 3], tf.float32)])
        def mixed(self, x):
            rows, columns = tf.shape(x)[0], tf.shape(x)[1]
            flat = tf.reshape(x, [rows * columns, 3])
            picked = x[:, -1, ::2] + x[0, tf.newaxis, ..., :1][0, 0]
            padded = tf.pad(x, [[0, 0], [1, 0], [0, 0]])
            values, places = tf.math.top_k(flat, 2)
            parts = tf.split(flat, 3, axis=1)
            return {
                "flat": tf.transpose(flat), "picked": picked, "padded": padded, "values": values,
                "places": places, "parts": tf.concat(parts[::-1], 1), "tiled": tf.tile(flat, [2, 1]),
                "sum": tf.einsum("abc,abd->cd", x, x), "cumsum": tf.cumsum(flat), "range": tf.range(rows),
                "unique": tf.unique(tf.cast(tf.reshape(flat, [-1]) * 10, tf.int32))[0],
                "best": tf.argmax(flat, 1), "one_hot": tf.one_hot(places[:, 0], 3), "where": tf.where(flat > 0),
                "gathered": tf.gather(flat, [0, 1], axis=1), "stacked": tf.stack([rows, columns]),
            }  # fmt: skip

    return Shapes(), [Call("mixed", [tf.constant(_numbers(2, 4, 3))])]


def mathematics(tf):
    """Elementwise operations and reductions of several dtypes."""

    class Math(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32), tf.TensorSpec([3], tf.int32)])
        def all(self, x, n):
            wide = tf.cast(x, tf.float64)
            return [
                tf.exp(x), tf.math.log1p(tf.abs(x)), tf.sqrt(tf.square(x) + 1.0), tf.tanh(x), tf.math.erf(x),
                tf.sigmoid(x), tf.nn.softplus(x), tf.nn.gelu(x), tf.nn.leaky_relu(x), tf.nn.elu(x),
                tf.math.floormod(n, 3), n // 2, n**2, tf.bitwise.bitwise_and(n, 5), tf.cast(n, tf.float32) / 3.0,
                tf.reduce_mean(x, 1, keepdims=True), tf.reduce_max(x), tf.reduce_prod(n), tf.reduce_any(x > 0, 0),
                tf.nn.softmax(x), tf.nn.log_softmax(x), tf.linalg.norm(wide, axis=1), tf.clip_by_value(x, -0.5, 0.5),
                tf.math.reduce_logsumexp(x, 1), tf.maximum(x, 0.1), tf.round(x * 10), tf.where(x > 0, x, -x),
                tf.math.segment_sum(x, [0, 0]), tf.math.cumsum(x, axis=1, reverse=True), tf.math.rsqrt(tf.abs(x) + 1),
                tf.linalg.matmul(x, x, transpose_b=True), tf.linalg.diag(x), tf.math.atan2(x, x + 2), tf.sign(x),
            ]  # fmt: skip

    return Math(), [Call("all", [tf.constant(_numbers(2, 3)), tf.constant([7, -5, 2])])]


def gradients(tf):
    """A function that computes gradients and updates variables, and one with a gradient of its own."""

    class Trained(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(_numbers(3, 2))

        @tf.function(
            input_signature=[tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([None, 2], tf.float32)]
        )
        def step(self, x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.tanh(x @ self.w) - y))
            self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
            return loss

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def clipped(self, x):
            @tf.custom_gradient
            def clip(x):
                return x * 2.0, lambda dy: tf.clip_by_value(dy, -1.0, 1.0)

            return clip(x)

    x, y = tf.constant(_numbers(4, 3)), tf.constant(_numbers(4, 2))
    return Trained(), [
        Call("step", [x, y]),
        Call("step", [x, y]),
        Call("clipped", [tf.constant([1.0, 2.0])], {}, False, True),
    ]


def composite(tf):
    """Ragged and sparse tensors as arguments and results."""

    class Composite(tf.Module):
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def ragged(self, x):
            return tf.reduce_sum(x, 1), (x * 2.0).to_tensor()

        @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
        def sparse(self, x):
            return tf.sparse.to_dense(x), tf.sparse.reduce_sum(x, 1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def rows(self, n):
            return tf.ragged.range(n).to_tensor(-1)

    return Composite(), [Call("rows", [tf.constant([2, 3])])]


def nested_calls(tf):
    """Functions that call functions, in a loop over a captured variable; a recursion over a dict of inputs."""

    class Calls(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(3.0)

        @tf.function
        def inner(self, x):
            self.scale.assign_add(1.0)
            return x * self.scale

        @tf.function
        def outer(self, inputs, training=None):
            x = inputs["a"]
            for _ in tf.range(3):
                x = self.inner(x) + inputs["b"]
            return x if training else {"x": x}

    model = Calls()
    inputs = {"a": tf.constant([1.0]), "b": tf.constant([0.5])}
    model.outer(inputs)
    model.outer(inputs, training=True)
    model.scale.assign(3.0)
    return model, [Call("outer", [inputs]), Call("outer", [inputs], {"training": True})]


def _exported(model, *inputs, **more):
    """Return a model of Keras with deterministic weights, saved by `model.export`."""
    for number, variable in enumerate(model.weights):
        if variable.dtype == "float32":
            shape = tuple(variable.shape)
            variable.assign(np.abs(_numbers(*shape)) * 0.5 + 0.01 * number)
    calls = [
        Call("serve", list(inputs), has_gradient=model.count_params() > 0),
        *(Call(SERVING, (), {"*": each}, True) for each in inputs),
    ]
    return model, calls, {"is_export": True, **more}


def keras_mlp(tf):
    """Dense layers with batch normalization, layer normalization and dropout."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((5,)), layers.Dense(8, "relu"), layers.BatchNormalization(), layers.Dropout(0.5),
        layers.LayerNormalization(), layers.Dense(3, "softmax"),
    ])  # fmt: skip
    return _exported(model, tf.constant(_numbers(4, 5)))


def keras_cnn(tf):
    """Convolutions, depthwise and separable ones, pooling and upsampling."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((12, 12, 2)), layers.Conv2D(4, 3, padding="same", activation="relu"), layers.MaxPooling2D(),
        layers.DepthwiseConv2D(3), layers.BatchNormalization(), layers.ReLU(6.0), layers.SeparableConv2D(5, 2),
        layers.UpSampling2D(2, interpolation="bilinear"), layers.AveragePooling2D(2), layers.ZeroPadding2D(1),
        layers.Conv2DTranspose(3, 2, strides=2), layers.GlobalAveragePooling2D(), layers.Dense(2),
    ])  # fmt: skip
    return _exported(model, tf.constant(_numbers(2, 12, 12, 2)))


def keras_conv1d(tf):
    """Causal convolutions over sequences of unknown length."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((None, 3)), layers.Conv1D(4, 3, padding="causal", activation="gelu"),
        layers.Conv1D(4, 3, dilation_rate=2, padding="causal"), layers.GlobalMaxPooling1D(), layers.Dense(1),
    ])  # fmt: skip
    return _exported(model, tf.constant(_numbers(2, 9, 3)))


def _recurrent(tf, make):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((6,), dtype="int32"), layers.Embedding(10, 4, mask_zero=True), make(layers), layers.Dense(2),
    ])  # fmt: skip
    return _exported(model, tf.constant([[1, 2, 3, 0, 0, 0], [4, 5, 6, 7, 8, 9]], tf.int32))


def keras_lstm(tf):
    """An embedding with a mask, and an LSTM."""
    return _recurrent(tf, lambda layers: layers.LSTM(3))


def keras_gru(tf):
    """A bidirectional GRU."""
    return _recurrent(tf, lambda layers: layers.Bidirectional(layers.GRU(3)))


def keras_transformer(tf):
    """An encoder block: attention, residual connections and layer normalization."""
    layers = tf.keras.layers
    inputs = tf.keras.Input((None,), dtype="int32")
    x = layers.Embedding(11, 8)(inputs)
    attended = layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + layers.Dropout(0.1)(attended))
    x = layers.LayerNormalization()(x + layers.Dense(8)(layers.Dense(16, "gelu")(x)))
    model = tf.keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))
    return _exported(model, tf.constant([[1, 2, 3, 4], [5, 6, 7, 10]], tf.int32))


def keras_two_inputs(tf):
    """A functional model with two inputs and two outputs by name."""
    layers = tf.keras.layers
    left, right = tf.keras.Input((3,), name="left"), tf.keras.Input((2,), name="right")
    x = layers.Concatenate()([layers.Dense(4, "swish")(left), right])
    outputs = {"sum": layers.Dense(1, name="sum")(x), "class": layers.Dense(2, "softmax", name="class")(x)}
    model = tf.keras.Model({"left": left, "right": right}, outputs)
    named = {"left": tf.constant(_numbers(2, 3)), "right": tf.constant(_numbers(2, 2))}
    model, _, options = _exported(model)
    return model, [Call(SERVING, (), named, True)], options


def keras_text(tf):
    """Text vectorization and an embedding: strings to numbers."""
    layers = tf.keras.layers
    vectorize = layers.TextVectorization(20, output_sequence_length=5)
    vectorize.adapt(["the cat sat", "on the mat", "the dog"])
    inputs = tf.keras.Input((), dtype="string")
    x = layers.GlobalAveragePooling1D()(layers.Embedding(20, 4)(vectorize(inputs)))
    model = tf.keras.Model(inputs, layers.Dense(1)(x))
    return _exported(model, tf.constant(["the cat on the dog", "Unknown, mat!"]))


def keras_preprocessing(tf):
    """Normalization, discretization, hashing and category encoding."""
    layers = tf.keras.layers
    normalize = layers.Normalization()
    normalize.adapt(_numbers(6, 3))
    inputs = tf.keras.Input((3,))
    buckets = layers.Discretization(bin_boundaries=[-0.5, 0.0, 0.5])(inputs)
    encoded = layers.CategoryEncoding(4, output_mode="multi_hot")(buckets)
    x = layers.Concatenate()([normalize(inputs), layers.Rescaling(2.0, 1.0)(inputs), encoded])
    return _exported(tf.keras.Model(inputs, layers.Dense(2)(x)), tf.constant(_numbers(2, 3)))


def keras_saved(tf):
    """A model of Keras saved by `tf.saved_model.save`, with graphs for training and for inference."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(3, "relu"), layers.BatchNormalization()])
    _exported(model)
    x = tf.constant(_numbers(5, 4))
    return model, [Call(SERVING, (), {"*": x}, True)]


def image(tf):
    """A model of images: resizing, cropping, standardization and a convolution."""

    class Image(tf.Module):
        def __init__(self):
            super().__init__()
            self.kernel = tf.Variable(_numbers(3, 3, 3, 4))

        @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3], tf.uint8)])
        def features(self, images):
            x = tf.image.resize(tf.image.convert_image_dtype(images, tf.float32), [8, 8])
            x = tf.image.per_image_standardization(tf.image.central_crop(x, 0.5))
            x = tf.nn.conv2d(tf.image.adjust_contrast(x, 0.8), self.kernel, 1, "SAME")
            return tf.reduce_mean(tf.nn.relu6(x), [1, 2]), tf.nn.max_pool2d(x, 2, 2, "VALID")

    images = tf.constant((np.arange(2 * 6 * 10 * 3) * 7 % 256).astype("uint8").reshape(2, 6, 10, 3))
    return Image(), [Call("features", [images])]


def embedding(tf):
    """A model of texts: words as hashes, and the mean of their embeddings."""

    class Embedding(tf.Module):
        def __init__(self):
            super().__init__()
            self.rows = tf.Variable(_numbers(50, 4))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts):
            words = tf.strings.split(tf.strings.strip(texts))
            ids = words.with_flat_values(tf.strings.to_hash_bucket_fast(words.flat_values, 50))
            found = tf.nn.safe_embedding_lookup_sparse(self.rows, ids.to_sparse(), combiner="sqrtn")
            return tf.math.l2_normalize(found, 1)

    return Embedding(), [Call("__call__", [tf.constant(["a cat sat", " the mat ", "x"])])]


def random(tf):
    """Random numbers by seeds, and from a generator whose state is a variable."""

    class Random(tf.Module):
        def __init__(self):
            super().__init__()
            self.generator = tf.random.Generator.from_seed(7)

        @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
        def by_seed(self, seed):
            uniform = tf.random.stateless_uniform([3], seed)
            normal = tf.random.stateless_normal([2, 2], seed)
            return uniform, normal, tf.random.stateless_uniform([3], seed, 0, 100, tf.int32)

    return Random(), [Call("by_seed", [tf.constant([1, 2])])]


def mutable_table(tf):
    """A mutable table with rows, which a function changes."""

    class Table(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, -1.0)
            self.table.insert(["a", "b"], [1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.float32)])
        def add(self, keys, values):
            before = self.table.lookup(keys)
            self.table.insert(keys, values)
            return before, self.table.lookup(keys), self.table.size()

    call = Call("add", [tf.constant(["b", "c"]), tf.constant([5.0, 6.0])])
    return Table(), [call, call]


def session(tf):
    """A model of TensorFlow 1: a graph with variables and signatures, without objects."""
    v1 = tf.compat.v1

    def save(folder):
        with v1.Graph().as_default(), v1.Session() as current:
            x = v1.placeholder(tf.float32, [None, 3], "x")
            w = v1.get_variable("w", initializer=_numbers(3, 2), use_resource=True)
            b = v1.get_variable("b", initializer=np.float32([1, 2]), use_resource=False)
            y = tf.nn.relu(x @ w + b, name="y")
            current.run(v1.global_variables_initializer())
            v1.saved_model.simple_save(current, folder, {"x": x}, {"y": y})

    return save, [Call(SERVING, (), {"x": tf.constant(_numbers(2, 3))}, True)], {"is_saver": True}


MODELS = {
    each.__name__: each
    for each in (
        variables, control_flow, nested, table, vocabulary, strings, shapes, mathematics, gradients, composite,
        nested_calls, keras_mlp, keras_cnn, keras_conv1d, keras_lstm, keras_gru, keras_transformer, keras_two_inputs,
        keras_text, keras_preprocessing, keras_saved, image, embedding, random, mutable_table, session,
    )
}  # fmt: skip
"""Models by name."""
