"""ONNX: write programs as models, and read models as functions.

    emitter.py        nodes, constants and names of a graph that is written; values.py: its values
    graph_writer.py   operations as nodes; control flow as subgraphs (loops.py)
    rules/            one rule for each operation, by family
    model.py          the whole model, and how ONNX Runtime runs it
    reading/          models as functions

The package needs the extra `[onnx]`.
"""
