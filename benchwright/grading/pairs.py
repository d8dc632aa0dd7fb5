"""Pairs from JSON lines: `read_pairs`, which tells everything that is wrong with its line."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.errors import Problems
from benchwright.files.inputs import FileInput
from benchwright.grading.types import Pair
from benchwright.judges.errors import ImageError
from benchwright.judges.images import image_at, image_file
from benchwright.judges.messages import Content, Image, is_empty

NEEDED = ("query", "document")
KNOWN = (*NEEDED, "query_id", "document_id", "description")
MAX_CHARACTERS = 1_000_000
SHOWN = 60


def read_pairs(
    source: Path | Iterable[bytes], *, images: Path | None = None, name: str = ""
) -> list[Pair]:
    """The pairs of a file of JSON lines (also compressed), or of such lines.

    A line is an object with `query` and `document`, and where wanted `query_id`, `document_id` and
    `description`. Query and document are a text, an image or a list of both; an image is
    `{"image": "file.png"}` in the folder `images`, or `{"url": "https://…"}`. Without ids a pair
    goes by its line: query `line-N`, document `line-N`.

    Raises
    ------
    FileProblemsError
        With all that is wrong, by line, up to a hundred problems.
    """
    lines: Iterable[bytes] = FileInput(source).lines() if isinstance(source, Path) else source
    name = name or (source.name if isinstance(source, Path) else "pairs")
    problems = Problems()
    pairs = list(_Reader(name, problems, images).pairs(lines))
    if not pairs and not problems.found:
        problems.add(name, 0, "no pair in it; expected a JSON object in every line.")
    problems.raise_found()
    return pairs


class _Reader:
    def __init__(self, name: str, problems: Problems, images: Path | None) -> None:
        self.name, self.problems, self.images = name, problems, images
        self.lines: dict[tuple[str, str], int] = {}

    def pairs(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            pair = self._pair(line, number)
            if pair is not None:
                yield pair

    def _pair(self, line: bytes, number: int) -> Pair | None:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            self._tell(number, f"it is not JSON ({error}); expected an object a line.")
            return None
        if not isinstance(row, dict):
            self._tell(number, "it is no JSON object; expected one with 'query' and 'document'.")
            return None
        return self._of_row(row, number)

    def _of_row(self, row: Mapping[str, Any], number: int) -> Pair | None:
        n_before = len(self.problems.found)
        for key in row:
            if key not in KNOWN:
                self._tell(number, f"'{key[:SHOWN]}' is not known; expected {', '.join(KNOWN)}.")
        query, document = (self._content(row, part, number) for part in NEEDED)
        ids = tuple(self._text(row, key, number, f"line-{number}") for key in KNOWN[2:4])
        description = self._text(row, "description", number, "")
        if ids in self.lines:
            first = self.lines[ids]
            self._tell(number, f"query {ids[0]} with document {ids[1]} is in line {first} already.")
        self.lines.setdefault((ids[0], ids[1]), number)
        if len(self.problems.found) > n_before:
            return None
        return Pair(ids[0], ids[1], query, document, description)

    def _text(self, row: Mapping[str, Any], key: str, number: int, without: str) -> str:
        value = row.get(key)
        if value is None:  # as tables write an empty cell
            return without
        if isinstance(value, int) and not isinstance(value, bool) and key.endswith("_id"):
            return str(value)
        if not isinstance(value, str) or (key.endswith("_id") and not value.strip()):
            self._tell(number, f"'{key}' is no text; expected one.")
            return without
        return value

    def _content(self, row: Mapping[str, Any], key: str, number: int) -> Content:
        if key not in row:
            self._tell(number, f"'{key}' is not there; expected a text, an image or a list.")
            return ()
        parts = row[key] if isinstance(row[key], list) else [row[key]]
        try:
            content = tuple(self._part(part) for part in parts)
        except (ImageError, ValueError) as error:
            self._tell(number, f"'{key}': {error}")
            return ()
        if is_empty(content):
            self._tell(number, f"'{key}' is empty; expected a text or an image.")
        elif sum(len(part) for part in content if isinstance(part, str)) > MAX_CHARACTERS:
            self._tell(number, f"'{key}' has more than {MAX_CHARACTERS:,} characters.")
        return content

    def _part(self, part: Any) -> str | Image:
        if isinstance(part, str):
            return part
        if isinstance(part, dict) and len(part) == 1:
            ((kind, value),) = part.items()
            if kind == "url" and isinstance(value, str):
                return image_at(value)
            if kind == "image" and isinstance(value, str):
                if self.images is None:
                    reason = "no folder of images is given (--images)."
                    raise ImageError(name=value, reason=reason)
                return image_file(self.images, value)
        msg = 'it is neither a text, {"image": "file.png"} nor {"url": "https://…"}.'
        raise ValueError(msg)

    def _tell(self, number: int, text: str) -> None:
        self.problems.add(self.name, number, text)
