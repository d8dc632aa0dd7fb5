"""Collections in Python: `load_beir`, `load_miracl`, `load_mmarco`.

Each returns a corpus that is read as a stream, queries, and the qrels of one split, whichever of
the known layouts the files have; what does not fit together is told, with counts.
"""

from benchwright.datasets.beir import load_beir
from benchwright.datasets.collection import Corpus, Loaded
from benchwright.datasets.miracl import load_miracl
from benchwright.datasets.mmarco import load_mmarco

__all__ = ["Corpus", "Loaded", "load_beir", "load_miracl", "load_mmarco"]
