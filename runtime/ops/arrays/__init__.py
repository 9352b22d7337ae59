"""Create, index, slice and rearrange tensors."""
