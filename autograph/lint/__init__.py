"""Static checks of a file, before it runs."""
