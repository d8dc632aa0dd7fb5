"""Runs and embeddings that are sent in while a phase is open."""
