"""The assertions of `tf.debugging`: about dtypes, shapes and values."""
