"""Data types, shapes, tensors, variables, errors: what every other package builds on."""
