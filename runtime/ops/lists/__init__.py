"""Lists of tensors: the state of TensorArrays and Python lists in graphs."""
