"""Compare agc.runtime with the real TensorFlow, where that is installed: `make differential PEER=path/to/python`.

Seven comparisons; Keras, which runs on TensorFlow in this process, has its own (`tests/compatibility`):

* names: TensorFlow's names that are lacking, and the parameters of those that both have (`signatures.py`);
* expressions: those of `fixtures/tensorflow/answers.txt`;
* examples: the doctests of the runtime, run with TensorFlow's objects in place of ours (`examples.py`);
* a sweep: the functions of the namespaces on every dtype and on awkward values (`sweep.py`);
* first and second derivatives of the functions of the namespaces, and of expressions (`gradients.py`);
* tapes: the programs of `tape_programs.py`;
* numpy: the functions of `tf.experimental.numpy` (`numpy_functions.py`).

`WITH=--record` writes TensorFlow's answers, and the losses of the models of `training_cases.py`, into
`fixtures/tensorflow/`; the suite compares with those, without TensorFlow. What TensorFlow refuses for want of a kernel
or a gradient and agc computes is counted as "wider", what both refuse with exceptions of two classes as "other class";
what differs on purpose is in `meant.py` with the reason.
"""
