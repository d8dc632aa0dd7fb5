"""What is wrong with a release, or with a folder of files, for readers of the field's formats."""

from benchwright.linting.rules import CONTENT, FORMATS, RULES, TARGETS
from benchwright.linting.sources import lint

__all__ = ["CONTENT", "FORMATS", "RULES", "TARGETS", "lint"]
