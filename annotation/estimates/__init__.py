"""Runs estimated from the labels of documents that a pool drew for it, with their intervals.

The pool (`pools`) draws and keeps probabilities; here its labels become means and differences, for
who keeps the benchmark: an estimate tells of grades.
"""
