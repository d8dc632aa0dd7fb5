"""What a file is, and what each of a collection's files is: by content first, then by name."""

from benchwright.detection.collections import Part, part_of, parts_of_collection
from benchwright.detection.files import (
    HEAD_LINES,
    Guess,
    detect,
    guess,
    guess_as,
    layout_for,
    refuse_foreign,
)
from benchwright.detection.kinds import (
    CONTENT_OF,
    DOCUMENT_KINDS,
    GRADED_KINDS,
    KIND_LABELS,
    QREL_KINDS,
    QUERY_KINDS,
    RUN_KINDS,
    FileKind,
)

__all__ = [
    "CONTENT_OF",
    "DOCUMENT_KINDS",
    "GRADED_KINDS",
    "HEAD_LINES",
    "KIND_LABELS",
    "QREL_KINDS",
    "QUERY_KINDS",
    "RUN_KINDS",
    "FileKind",
    "Guess",
    "Part",
    "detect",
    "guess",
    "guess_as",
    "layout_for",
    "part_of",
    "parts_of_collection",
    "refuse_foreign",
]
