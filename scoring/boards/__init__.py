"""Boards of releases: their tables, slices and files, and values that are reported of others."""
