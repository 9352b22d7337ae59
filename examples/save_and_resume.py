"""Save the state of a computation, and resume it in an object that was made anew."""

import tempfile

import agc.runtime as tf


class RunningMean(tf.Module):
    """The mean of all numbers so far; its variables are its state."""

    def __init__(self):
        self.total = tf.Variable(0.0)
        self.count = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def add(self, xs):
        for x in xs:
            if tf.math.is_finite(x):
                self.total.assign_add(x)
                self.count.assign_add(1.0)
        return self.total / self.count


folder = tempfile.mkdtemp()
first = RunningMean()
print("before", first.add([1.0, 2.0, float("nan"), 6.0]).numpy())
path = tf.train.Checkpoint(mean=first).save(f"{folder}/state")

second = RunningMean()
tf.train.Checkpoint(mean=second).restore(path).assert_consumed()
print("after", second.add([11.0]).numpy())

tf.saved_model.save(first, f"{folder}/model")
print("loaded", tf.saved_model.load(f"{folder}/model").add([11.0]).numpy())

# Output:
# before 3.0
# after 5.0
# loaded 5.0
