"""Reads of submissions, scores and boards."""
