"""Measures: each one pure function of one query's hits; `parse_measure` finds them by name."""

from scoring.core.measures.registry import Measure, parse_measure, parse_measures

__all__ = ["Measure", "parse_measure", "parse_measures"]
