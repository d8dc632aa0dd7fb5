"""What a gate found, as Markdown for people, JSON for programs and JUnit for build servers.

All take the object that `Decision.as_dict` gives, so a stored result is reported as it was.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchwright.gates.errors import GateReportError
from benchwright.gates.reports import junit, markdown


def _as_json(result: Mapping[str, Any]) -> str:
    """Every digit kept, an undefined number as null; the same result gives the same bytes."""
    return json.dumps(result, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    ".md": markdown.written,
    ".json": _as_json,
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
