"""`tf.function`: traces Python functions, and calls the graph that fits the arguments."""
