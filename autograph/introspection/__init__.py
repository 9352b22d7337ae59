"""The stack and the lines of the user, in code that has more frames than its author wrote."""
