"""Sketches of query lists: enough to find near duplicates, and no text.

A sketch holds for each distinct query three kinds of keyed hashes: of its normalised text, of its
words in no order, and of 32 bands of its MinHash signature. Whoever has the salt can hash queries
of their own and look for equal hashes; docs/contamination.md says what a sketch tells and to whom.
"""

from benchmarks_app.core.sketches.format import SketchHeader, read_header, read_sketch
from benchmarks_app.core.sketches.hashing import Hasher, check_salt, new_salt
from benchmarks_app.core.sketches.matching import SketchMatch, SketchMatcher
from benchmarks_app.core.sketches.writing import write_sketch

__all__ = [
    "Hasher",
    "SketchHeader",
    "SketchMatch",
    "SketchMatcher",
    "check_salt",
    "new_salt",
    "read_header",
    "read_sketch",
    "write_sketch",
]
