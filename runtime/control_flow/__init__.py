"""Control flow of graphs: conditionals, loops, exceptions, control dependencies."""
