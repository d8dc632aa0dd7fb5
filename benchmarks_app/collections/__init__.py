"""Benchmarks and what they are made of: documents, queries, runs, and files on their way in."""
