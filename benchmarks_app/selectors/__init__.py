"""Reads of the shared nouns."""
