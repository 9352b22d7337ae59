"""From a live function to its converted form, and to whatever stands for it."""
