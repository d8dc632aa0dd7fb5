"""Unjudged documents that are worth judging, of one run or of several."""
