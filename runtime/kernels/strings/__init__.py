"""What operations on strings are made of: characters, patterns, hashes, parts."""
