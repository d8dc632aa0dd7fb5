"""Retrieval systems that are run here: baselines in shards, and approximate indexes."""
