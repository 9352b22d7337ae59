"""Composite tensors: values made of several tensors, and their treatment in operations and graphs."""
