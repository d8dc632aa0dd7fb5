"""Outcomes kept in a file, so that what was paid for is not asked again: `FileCache`."""

from collections.abc import Mapping
from typing import Any

from benchwright.contextual.serial import outcome_as_json, outcome_from_json
from benchwright.contextual.types import Outcome
from benchwright.judges.keeping import LineCache


class FileCache(LineCache[Outcome]):
    """A cache in one file, made where there is none; close it, or use it in `with`.

    Texts of cases are not in it, but answers of judges are, who may quote them.

    Raises
    ------
    CacheFileError
        If the file is something else.
    """

    mark = b'{"benchwright_contextual_cache": 1}\n'
    command = "benchwright contextual"

    def as_json(self, kept: Outcome) -> Mapping[str, Any]:
        return outcome_as_json(kept)

    def from_json(self, facts: Mapping[str, Any]) -> Outcome:
        return outcome_from_json(facts)
