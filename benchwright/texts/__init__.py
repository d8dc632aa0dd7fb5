"""Texts as people read them: excerpts, highlighted words, differences, direction of writing."""
