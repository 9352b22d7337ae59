"""Tools for TensorFlow's formats that need TensorFlow itself: run by the Python of a peer."""
