"""Checkpoints and saved models that TensorFlow wrote, read here and compared with TensorFlow's answers.

`make tensorflow-files PEER=path/to/its/python` writes all of them with TensorFlow, and compares. A few small ones are
in `fixtures/tensorflow_files`, with TensorFlow's answers.
"""
