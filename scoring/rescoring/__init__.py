"""Runs scored again on another release, and how they moved."""
