"""Reading of ONNX models as functions.

    protos.py      the file and its tensors, checked
    nodes.py       nodes as records: attributes in Python's types
    evaluation.py  graphs of nodes, run with the operations of agc
    operators/     one function for each operator, by family
    load.py        the public function, and the loaded model

Reading executes no code: a model names operators, and tables say what agc does for each.
"""
