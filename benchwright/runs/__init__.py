"""Ranked lists: what a run's file may be, its facts and metadata, blocks of rows, and its store."""
