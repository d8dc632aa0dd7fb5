"""Scores as they are worked out, stored, and told to whom: every other room stands on it."""
