"""What `tf.debugging` asserts: of kinds, of shapes, of values."""
