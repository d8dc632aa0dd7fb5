"""Mutants: the code with one small mistake in it, which some test has to notice."""
