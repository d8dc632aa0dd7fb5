"""What a run's file says of itself: the comment lines of ir_metadata, which are YAML."""

import io
from typing import Any

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.problems import Problems

START, END = b"ir_metadata.start", b"ir_metadata.end"
LONGEST_LINE = 64 << 10
MAX_LINES = 2_000
KEY = "ir_metadata"
MAX_BYTES = 256 << 10


class MetadataFormatError(BenchmarkError):
    code = "run-metadata-format"
    message = "The ir_metadata {reason}; expected YAML as `name: value` lines."


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
    try:
        plain = tree_of(b"\n".join(lines))
    except MetadataFormatError:
        told = "the ir_metadata above is not YAML; the run was taken without it. Correct it."
        problems.warn(file, number, told)
        return {}
    return {KEY: plain} if plain else {}


def read_metadata_text(content: bytes) -> dict[str, Any]:
    """Return the tree of an ir_metadata file, or of the comments that hold one in a run.

    Raises
    ------
    MetadataFormatError
        If it is no mapping in YAML, too long, or holds aliases.
    """
    lines = content.removeprefix(b"\xef\xbb\xbf").splitlines()
    if lines and all(line.startswith(b"#") or not line.strip() for line in lines):
        lines = [line.removeprefix(b"#").removeprefix(b" ") for line in lines]
        lines = [line for line in lines if line.strip() not in (START, END)]
    tree = tree_of(b"\n".join(lines))
    if not tree:
        raise MetadataFormatError(reason="holds no `name: value`")
    return tree


def tree_of(content: bytes) -> dict[str, Any]:
    """Return what YAML says, as JSON has it; empty where that is no mapping.

    Raises
    ------
    MetadataFormatError
        If it is no YAML, too long, or holds aliases, by which few lines become gigabytes.
    """
    import json

    import yaml

    if len(content) > MAX_BYTES:
        raise MetadataFormatError(reason=f"has more than {MAX_BYTES >> 10} KiB")
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(content)):
            raise MetadataFormatError(reason="holds an alias (*name); write the value out")
        found = yaml.safe_load(content)
        plain = json.loads(json.dumps(found, default=str, allow_nan=False))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise MetadataFormatError(reason=f"is not YAML{place}") from error
    return plain if isinstance(plain, dict) else {}
