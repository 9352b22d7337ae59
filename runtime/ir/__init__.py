"""The graph: its operations and types; building, printing, parsing, verifying it, and its form as JSON."""
