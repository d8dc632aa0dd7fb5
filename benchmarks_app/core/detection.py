"""Which kind of file something is, by its first lines and its name."""

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice

HEAD_LINES = 20
TOPIC = re.compile(rb"<top(ic)?[\s>]|<topics", re.IGNORECASE)


class FileKind(StrEnum):
    """What an import can read."""

    BEIR = "beir"
    CORPUS = "corpus"
    IDS = "ids"
    QUERIES = "queries"
    TOPICS = "topics"
    QRELS = "qrels"
    BEIR_QRELS = "beir-qrels"
    RUN = "run"


def detect(lines: Iterable[bytes], name: str) -> FileKind | None:
    """Return the kind of a file that is not an archive, or None where it could be several.

    `lines` are its first lines, inflated; only some of them are looked at.
    """
    head = [line.strip() for line in islice(lines, HEAD_LINES)]
    head = [line for line in head if line and not line.startswith(b"#")]
    if not head:
        return None
    if any(TOPIC.search(line) for line in head):
        return FileKind.TOPICS
    if head[0].removeprefix(b"\xef\xbb\xbf").startswith(b"{"):
        return FileKind.QUERIES if "quer" in name.lower() else FileKind.CORPUS
    if head[0].lower().startswith(b"query-id\tcorpus-id\t"):
        return FileKind.BEIR_QRELS
    return _of_columns(head, name)


def _of_columns(head: list[bytes], name: str) -> FileKind | None:
    counts = {len(line.split()) for line in head}
    if counts == {4} and all(_is_integer(line.split()[3]) for line in head):
        return FileKind.QRELS
    if all(count >= 5 for count in counts) and all(_is_run_line(line) for line in head):
        return FileKind.RUN
    if counts == {1} and not any(b"," in line for line in head):
        return FileKind.IDS
    if b"\t" in head[0] or b"," in head[0] or "quer" in name.lower():
        return FileKind.QUERIES
    return None


def _is_integer(token: bytes) -> bool:
    return re.fullmatch(rb"[+-]?\d+", token) is not None


def _is_run_line(line: bytes) -> bool:
    columns = line.split()
    return columns[1].upper() in (b"Q0", b"0") or _is_integer(columns[3])
