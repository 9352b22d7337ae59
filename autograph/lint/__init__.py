"""All that is wrong with a file, before it runs."""
