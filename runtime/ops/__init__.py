"""The operations, by family: rule, kernel, gradient and public names of each are in one declaration."""
