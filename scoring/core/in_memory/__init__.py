"""Runs and qrels that are not files: dictionaries, frames, arrays, rows."""
