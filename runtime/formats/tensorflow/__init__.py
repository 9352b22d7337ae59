"""TensorFlow's formats: GraphDef, SavedModel and checkpoints, written and read without TensorFlow."""
