"""Cases from JSON lines: `read_cases`, which tells everything that is wrong with its line."""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from benchwright.contextual.types import Case
from benchwright.errors import Problem, Problems
from benchwright.files.inputs import FileInput
from benchwright.judges.errors import ImageError
from benchwright.judges.images import LIMITS, ImageLimits, checked_image, image_at, image_file
from benchwright.judges.messages import Content, Image, is_empty

NEEDED = ("input", "expected_output", "retrieval_context")
KNOWN = (*NEEDED, "actual_output", "id", "slices")
# What Ragas calls them, now and before, and DeepEval where it writes its fields' aliases.
NAMES = {
    "user_input": "input", "question": "input",
    "reference": "expected_output", "ground_truth": "expected_output",
    "expectedOutput": "expected_output",
    "response": "actual_output", "answer": "actual_output", "actualOutput": "actual_output",
    "retrieved_contexts": "retrieval_context", "contexts": "retrieval_context",
    "retrievalContext": "retrieval_context",
}  # fmt: skip
# What DeepEval puts between nodes in its JSON lines and CSV.
JOINED = "|"
# A list of cases is held whole while it is read.
MOST_LIST = 256 << 20
IMAGE_KEYS = ({"image"}, {"url"}, {"data"}, {"data", "type"})
AN_IMAGE = """{"image": "file.png"}, {"url": "https://…"} or {"data": "<base64>"}"""
SHOWN = 60
MAX_ID = 200
ALL = "all"
MAX_SLICES = 50


@dataclass(frozen=True, slots=True)
class CaseLimits:
    """How much one file of cases may hold."""

    max_cases: int = 100_000
    max_nodes: int = 500
    max_characters: int = 1_000_000
    images: ImageLimits = LIMITS


CASE_LIMITS = CaseLimits()


@dataclass(frozen=True)
class CaseFile:
    """Cases in the order of their lines, and what is odd about the file but stops nothing."""

    cases: tuple[Case, ...]
    warnings: tuple[Problem, ...] = ()


def read_cases(
    source: Path | Iterable[bytes],
    *,
    images: Path | Mapping[str, Image] | None = None,
    limits: CaseLimits = CASE_LIMITS,
    name: str = "",
) -> CaseFile:
    """The cases of a file of JSON lines (also compressed), or of such lines.

    One JSON list of such objects, as DeepEval writes it, is read too; its cases are told by number
    in place of a line. The names that Ragas and DeepEval have for the fields are known (`NAMES`).

    A line is an object with `input`, `expected_output` and `retrieval_context` (a list of nodes,
    best first), and where wanted `id`, `actual_output` and `slices` (a list of names). A part is a
    text, an image or a list of both; an image is `{"image": "file.png"}`, `{"url": "https://…"}` or
    `{"data": "<base64>"}`. A case without id is called `line-N`.

    Parameters
    ----------
    images
        Where `{"image": …}` is looked up: a folder, or images by name. Without it, no file is read.
    name
        What messages call the file.

    Raises
    ------
    FileProblemsError
        With all that is wrong, by line, up to a hundred problems.
    """
    lines: Iterable[bytes] = FileInput(source).lines() if isinstance(source, Path) else source
    name = name or (source.name if isinstance(source, Path) else "cases")
    reader = _Reader(name, Problems(), _Images(images, limits.images), limits)
    cases = tuple(reader.cases(lines))
    reader.problems.raise_found()
    return CaseFile(cases, tuple(reader.problems.warnings))


def case_of(row: Mapping[str, Any], images: Mapping[str, Image]) -> Case:
    """The case that `case_as_json` has told of; for cases that were checked when they came in.

    Raises
    ------
    FileProblemsError
        If it is none after all.
    """
    problems = Problems()
    reader = _Reader(str(row.get("id", "case")), problems, _Images(images, LIMITS), CASE_LIMITS)
    case = reader.case(dict(row), 0)
    problems.raise_found()
    if case is None:
        msg = "a case without a problem is a case"
        raise RuntimeError(msg)
    return case


def case_as_json(case: Case) -> dict[str, Any]:
    """A case as a JSON object: images of bytes by name, others by address."""
    row: dict[str, Any] = {
        "id": case.id,
        "input": content_as_json(case.input),
        "expected_output": content_as_json(case.expected_output),
        "retrieval_context": [content_as_json(node) for node in case.retrieval_context],
    }
    if case.actual_output is not None:
        row["actual_output"] = content_as_json(case.actual_output)
    if case.slices:
        row["slices"] = list(case.slices)
    return row


def content_as_json(content: Content) -> list[Any]:
    """Parts as JSON: texts, `{"image": name}` and `{"url": address}`."""
    return [part if isinstance(part, str) else _image_as_json(part) for part in content]


def _image_as_json(image: Image) -> dict[str, str]:
    return {"image": image.name} if image.data else {"url": image.url}


class _Images:
    """Images by name, each looked at once however often it is named."""

    def __init__(self, source: Path | Mapping[str, Image] | None, limits: ImageLimits) -> None:
        self.source = source
        self.limits = limits
        self.seen: dict[str, Image | ImageError] = {}

    def named(self, name: str) -> Image:
        if name not in self.seen:
            try:
                self.seen[name] = self._found(name)
            except ImageError as error:
                self.seen[name] = error
        image = self.seen[name]
        if isinstance(image, ImageError):
            raise image
        return image

    def inline(self, data: str) -> Image:
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            reason = f"its data is not base64 ({error})."
            raise ImageError(name="image", reason=reason) from error
        image = checked_image(content, self.limits)
        kind = image.media_type.partition("/")[2]
        return Image(
            image.data,
            image.media_type,
            f"{image.sha256[:16]}.{kind}",
            "",
            image.width,
            image.height,
        )

    def _found(self, name: str) -> Image:
        if self.source is None:
            reason = "a case names a file; expected a folder of images (--images). Name one."
            raise ImageError(name=name, reason=reason)
        if isinstance(self.source, Path):
            return image_file(self.source, name, self.limits)
        if name not in self.source:
            reason = "it is none of the images that came with the cases. Add it to them."
            raise ImageError(name=name, reason=reason)
        return self.source[name]


class _WrongError(ValueError):
    """What is wrong with a line or a part, in words."""


@dataclass
class _Reader:
    """Reads cases line by line; what is wrong goes to `problems`."""

    file: str
    problems: Problems
    images: _Images
    limits: CaseLimits
    ids: dict[str, int] = field(default_factory=dict)
    line: int = 0

    def cases(self, lines: Iterable[bytes]) -> Iterator[Case]:
        for line, row in self._rows(iter(lines)):
            if len(self.ids) >= self.limits.max_cases:
                self._wrong(f"more than {self.limits.max_cases:,} cases. Split the file.", line)
                return
            case = None if row is None else self.case(_renamed(row), line)
            if case is not None:
                yield case
        if not self.ids and not self.problems.found:
            self._wrong("no case; expected a JSON object a line.", 0)

    def _rows(self, lines: Iterator[bytes]) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """The objects of lines, or of the one list that they are, with line or number."""
        for line, text in enumerate(lines, start=1):
            if not text.strip():
                continue
            if line == 1 and text.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
                yield from enumerate(self._listed(chain([text], lines)), start=1)
                return
            yield line, self._row(text, line)

    def _listed(self, lines: Iterable[bytes]) -> list[dict[str, Any] | None]:
        """The objects of one JSON list."""
        content = bytearray()
        for line in lines:
            content += line
            if len(content) > MOST_LIST:
                self._wrong(f"one list of more than {MOST_LIST >> 20} MiB. Write a case a line.", 1)
                return []
        try:
            rows = json.loads(content.decode("utf-8-sig"))
        except json.JSONDecodeError as error:
            what = f"not JSON ({error.msg} at character {error.colno}); it may have been cut short."
            self._wrong(f"{what} Write it again, or an object a line.", error.lineno)
            return []
        except (UnicodeDecodeError, ValueError, RecursionError):
            self._wrong("not JSON in UTF-8, or nested too deeply. Write an object a line.", 1)
            return []
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict):
                self._wrong(f"case {number} is {_kind(row)}; expected a JSON object.", number)
        return [row if isinstance(row, dict) else None for row in rows]

    def case(self, row: dict[str, Any], line: int) -> Case | None:
        """The case of a row; None if anything is wrong with it."""
        self.line = line
        n_before = len(self.problems.found)
        for key in row:
            if key not in KNOWN:
                text = f"{_shown(key)} is no field of a case and is left out."
                self.problems.warn(self.file, line, text)
        for key in NEEDED:
            if key not in row:
                self._wrong(f"no '{key}'; expected {', '.join(NEEDED)}. Add it.")
        question, expected = (self._filled(row, key) for key in NEEDED[:2])
        nodes = self._nodes(row.get("retrieval_context", ()))
        output = row.get("actual_output")
        actual = None if output is None else self._content(output, "actual_output")
        case_id, slices = self._id(row.get("id"), line), self._slices(row.get("slices", ()))
        if len(self.problems.found) > n_before:
            return None
        return Case(question, expected, nodes, actual, case_id, slices)

    def _row(self, text: bytes, line: int) -> dict[str, Any] | None:
        try:
            return _object_in(text.decode("utf-8-sig" if line == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            self._wrong(f"byte {error.start + 1} is not UTF-8. Save the file as UTF-8.", line)
        except _WrongError as error:
            self._wrong(str(error), line)
        return None

    def _filled(self, row: Mapping[str, Any], key: str) -> Content:
        if key not in row:
            return ()
        n_before = len(self.problems.found)
        content = self._content(row[key], key)
        if is_empty(content) and len(self.problems.found) == n_before:
            self._wrong(f"{key} is empty; expected a text or an image. Give the case one.")
        return content

    def _nodes(self, value: Any) -> tuple[Content, ...]:
        if not isinstance(value, list | tuple):
            what = f"retrieval_context is {_kind(value)}; expected a list of nodes, the best first."
            if isinstance(value, str) and JOINED in value:
                what += f" Nodes that were joined with '{JOINED}' cannot be told apart: DeepEval "
                what += 'writes lists with file_type="json".'
            self._wrong(what)
            return ()
        if len(value) > self.limits.max_nodes:
            what = f"retrieval_context has {len(value)} nodes; expected at most"
            self._wrong(f"{what} {self.limits.max_nodes}.")
            return ()
        return tuple(
            self._content(node, f"retrieval_context, node {number}")
            for number, node in enumerate(value, start=1)
        )

    def _content(self, value: Any, where: str) -> Content:
        parts = []
        for part in value if isinstance(value, list) else [value]:
            try:
                parts.append(self._part(part))
            except (_WrongError, ImageError) as error:
                self._wrong(f"{where}: {error}")
        return tuple(parts)

    def _part(self, value: Any) -> str | Image:
        if isinstance(value, str):
            return self._text(value)
        if not isinstance(value, dict):
            msg = f"{_kind(value)}; expected a text, an image or a list of both."
            raise _WrongError(msg)
        if set(value) not in IMAGE_KEYS or not all(isinstance(v, str) for v in value.values()):
            keys = ", ".join(map(_shown, value)) or "nothing"
            msg = f"an object with {keys}; expected {AN_IMAGE}."
            raise _WrongError(msg)
        return self._image(value)

    def _image(self, value: Mapping[str, str]) -> Image:
        if "url" in value:
            return image_at(value["url"])
        if "image" in value:
            return self.images.named(value["image"])
        return self.images.inline(value["data"])

    def _text(self, text: str) -> str:
        if len(text) > self.limits.max_characters:
            msg = f"{len(text):,} characters; expected at most {self.limits.max_characters:,}."
            raise _WrongError(msg)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            msg = f"half a surrogate pair at character {error.start + 1}; expected whole ones."
            raise _WrongError(msg) from error
        return text

    def _id(self, value: Any, line: int) -> str:
        case_id = f"line-{line}" if value is None else str(value)
        if isinstance(value, bool | float | dict | list) or not case_id.strip():
            self._wrong(f"id is {_kind(value)}; expected a text that is not empty.")
        elif len(case_id) > MAX_ID or not case_id.isprintable():
            self._wrong(f"id {_shown(case_id)}: expected at most {MAX_ID} printable characters.")
        elif case_id in self.ids:
            self._wrong(f"id {_shown(case_id)} is that of line {self.ids[case_id]}, too.")
        self.ids.setdefault(case_id, line)
        return case_id

    def _slices(self, value: Any) -> tuple[str, ...]:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) and n for n in names):
            self._wrong(f"slices is {_kind(value)}; expected a list of names.")
            return ()
        if ALL in names:
            self._wrong(f"a slice is called '{ALL}', which means all cases. Give it another name.")
        if len(names) > MAX_SLICES or any(len(name) > MAX_ID for name in names):
            self._wrong(f"slices: expected at most {MAX_SLICES}, of {MAX_ID} characters each.")
        return tuple(dict.fromkeys(names))

    def _wrong(self, text: str, line: int | None = None) -> None:
        self.problems.add(self.file, self.line if line is None else line, text)


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a case under our names, without what holds nothing and is none of ours.

    A second name for a field that is there stays as it is, and so is told.
    """
    named = {key: row[key] for key in KNOWN if row.get(key) is not None}
    for key, value in sorted(row.items(), key=lambda pair: pair[1] is None):
        name = key if NAMES.get(key, key) in named else NAMES.get(key, key)
        if name not in named and (name in KNOWN or value not in (None, "", [], {})):
            named[name] = value
    return named


def _object_in(text: str) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        msg = f"not JSON ({error.msg} at character {error.pos + 1}); expected one object a line."
        raise _WrongError(msg) from error
    except (RecursionError, ValueError) as error:
        msg = "JSON nested too deeply, or with a number that is too long."
        raise _WrongError(msg) from error
    if not isinstance(row, dict):
        msg = f"{_kind(row)}; expected a JSON object."
        raise _WrongError(msg)
    return row


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
