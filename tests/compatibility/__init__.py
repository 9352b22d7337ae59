"""Public programs on agc and on TensorFlow: tests and examples of other libraries, compared outcome by outcome."""
