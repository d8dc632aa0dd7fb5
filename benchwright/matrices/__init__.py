"""Matrices of numbers with an id a row, from .npy, .npz and Parquet; nothing is ever unpickled."""
