"""What a gate found, as Markdown for people, JSON for programs and JUnit for build servers.

All take the object that `Decision.as_dict` gives, so a stored result is reported as it was.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchwright.gates.errors import GateReportError
from benchwright.gates.reports import json, junit, markdown

WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    ".md": markdown.written,
    ".json": json.written,
    ".xml": junit.written,
}


def written(result: Mapping[str, Any], suffix: str) -> str:
    """The report in the format that a file's ending names.

    Raises
    ------
    GateReportError
        If it names none.
    """
    if suffix not in WRITERS:
        raise GateReportError(suffix=suffix, known=", ".join(WRITERS))
    return WRITERS[suffix](result)


def check_suffix(path: Path) -> None:
    """Refuse a report's file before anything is computed; raises as `written` does."""
    if path.suffix not in WRITERS:
        raise GateReportError(suffix=path.suffix, known=", ".join(WRITERS))
