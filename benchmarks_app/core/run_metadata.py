"""What a run's file says of itself: the comment lines of ir_metadata, which are YAML."""

import io
from typing import Any

from benchmarks_app.core.problems import Problems

START, END = b"ir_metadata.start", b"ir_metadata.end"
LONGEST_LINE = 64 << 10
MAX_LINES = 2_000
KEY = "ir_metadata"


def read_run_metadata(
    stream: "io.BufferedReader[Any]", *, file: str, problems: Problems
) -> dict[str, Any]:
    """Return `{"ir_metadata": …}` of the comments at the file's beginning, or nothing.

    Comments that are no such block are passed over; a block that is no YAML is warned of.
    """
    lines: list[bytes] = []
    is_inside = False
    for number in range(1, MAX_LINES + 1):
        line = stream.readline(LONGEST_LINE)
        if not line.startswith(b"#"):
            return {}
        text = line[1:].rstrip(b"\r\n")
        if text.strip() == START:
            is_inside = True
        elif text.strip() == END:
            return _parsed(lines, file, number, problems)
        elif is_inside:
            lines.append(text.removeprefix(b" "))
    return {}


def _parsed(lines: list[bytes], file: str, number: int, problems: Problems) -> dict[str, Any]:
    import json

    import yaml

    try:
        found = yaml.safe_load(b"\n".join(lines))
        plain = json.loads(json.dumps(found, default=str, allow_nan=False))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError):
        told = "the ir_metadata above is not YAML; the run was taken without it. Correct it."
        problems.warn(file, number, told)
        return {}
    return {KEY: plain} if isinstance(plain, dict) and plain else {}
