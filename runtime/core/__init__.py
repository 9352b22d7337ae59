"""Data types, shapes, tensors, variables, errors: the base of all other packages."""
