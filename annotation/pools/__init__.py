"""Pools: planned, built from runs, staffed, watched while they are judged, and topped up."""
