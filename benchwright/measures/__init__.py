"""Measures: each one pure function of one query's hits; `parse_measure` finds them by name."""

from benchwright.measures.families import Measure
from benchwright.measures.registry import parse_measure, parse_measures

__all__ = ["Measure", "parse_measure", "parse_measures"]
