"""Qrels and releases: drafted, checked, published, exported, deprecated."""
