"""Functionalization: the form of a graph that compilers share, without state and with known shapes.

    graph ──random──► ──variables──► no state ──shapes──► static shapes, and constants

    random.py           random streams become variables, and drawing operations stateless
    variables.py        variables become values: inputs and results of the graph
    shapes.py           the shapes of one call, and the constants that follow from them (constants.py)
    affine_analysis.py  the lengths of slices with dynamic bounds
    list_lengths.py     the lengths of TensorArrays; list_contents.py: lists that contain one constant only
    varying_shapes.py   which sizes vary between calls, and the patterns of shapes that share one code
    errors.py           reasons why a graph cannot be compiled

The package imports no executor. A compiler applies the steps in this order before it lowers the graph.
"""
