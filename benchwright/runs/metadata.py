"""What a run's file says of itself: the comment lines of ir_metadata, which are YAML."""

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from benchwright.errors import BenchmarkError, Problems
from benchwright.ids import is_storable
from benchwright.runs.facts import IR_METADATA, MAX_IR_METADATA_FILE, UNSTORABLE

if TYPE_CHECKING:
    import yaml

START, END = b"ir_metadata.start", b"ir_metadata.end"
LONGEST_LINE = 64 << 10
MAX_LINES = 2_000
# Nothing that describes a run is nested so deep; what is costs the scanner the square of it.
DEEPEST = 64


class MetadataFormatError(BenchmarkError, code="run-metadata-format"):
    message = "{file}: the ir_metadata {reason}; expected YAML as `name: value` lines."


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
        plain = tree_of(b"\n".join(lines), file=file)
    except MetadataFormatError as error:
        text = f"the ir_metadata above {error.reason}. The run was taken without it: correct it."
        problems.warn(file, number, text)
        return {}
    return {IR_METADATA: plain} if plain else {}


def read_metadata_text(content: bytes, *, file: str) -> dict[str, Any]:
    """Return the tree of an ir_metadata file, or of the comments that hold one in a run.

    Raises
    ------
    MetadataFormatError
        If it is no mapping in YAML, too long, nested too deep, or holds aliases.
    """
    lines = content.removeprefix(b"\xef\xbb\xbf").splitlines()
    if lines and all(line.startswith(b"#") or not line.strip() for line in lines):
        lines = [line.removeprefix(b"#").removeprefix(b" ") for line in lines]
        lines = [line for line in lines if line.strip() not in (START, END)]
    tree = tree_of(b"\n".join(lines), file=file)
    if not tree:
        raise MetadataFormatError(file=file, reason="holds no `name: value`")
    return tree


def tree_of(content: bytes, *, file: str) -> dict[str, Any]:
    """Return what YAML says, as JSON has it; empty where that is no mapping.

    Raises
    ------
    MetadataFormatError
        If it is no YAML, too long, nested too deep, or holds aliases, by which few lines become
        gigabytes.
    """
    import json

    import yaml

    if len(content) > MAX_IR_METADATA_FILE:
        reason = f"has more than {MAX_IR_METADATA_FILE >> 10} KiB"
        raise MetadataFormatError(file=file, reason=reason)
    try:
        for reason in _what_is_refused(yaml.scan(content)):
            raise MetadataFormatError(file=file, reason=reason)
        tree = yaml.safe_load(content)
        plain = json.loads(json.dumps(tree, default=str, allow_nan=False))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise MetadataFormatError(file=file, reason=f"is not YAML{place}") from error
    if not is_storable(plain):
        raise MetadataFormatError(file=file, reason=UNSTORABLE)
    return plain if isinstance(plain, dict) else {}


def _what_is_refused(tokens: "Iterable[yaml.Token]") -> Iterator[str]:
    """Say of each alias, and of each token that is nested too deep, what is wrong and where."""
    import yaml

    of_blocks = yaml.BlockMappingStartToken | yaml.BlockSequenceStartToken
    begin = of_blocks | yaml.FlowMappingStartToken | yaml.FlowSequenceStartToken
    end = yaml.BlockEndToken | yaml.FlowMappingEndToken | yaml.FlowSequenceEndToken
    depth = 0
    for token in tokens:
        depth += isinstance(token, begin) - isinstance(token, end)
        line = token.start_mark.line + 1
        if isinstance(token, yaml.AliasToken):
            yield f"holds an alias (*name) on line {line}; write the value out"
        if depth > DEEPEST:
            yield f"is nested more than {DEEPEST} levels deep on line {line}"
