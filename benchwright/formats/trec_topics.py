"""Topics in the many shapes TREC has given them: tagged blocks, XML, and lines with a tab.

The tagged shapes are read by one tolerant reader and not by an XML parser: many such files leave
tags open or hold a bare `&`, and no entity can be made to grow.
"""

import html
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from benchwright.errors import Problems
from benchwright.formats.beir import text_problem
from benchwright.formats.numbers import moment_of
from benchwright.ids import id_problem

_FLAGS = re.IGNORECASE | re.DOTALL
_BLOCK = re.compile(
    r"<(?P<kind>topic|top|doc)(?=[\s>])(?P<attributes>[^<>]*)>"
    r"(?P<body>.*?)(?=</(?P=kind)\s*>|<(?P=kind)(?=[\s>])|\Z)",
    _FLAGS,
)
_ROOT = re.compile(r"<topics[\s>]", re.IGNORECASE)
_TAG = re.compile(r"<(?P<name>[a-z][\w-]*)(?:\s[^<>]*)?>", _FLAGS)
_ANY_TAG = re.compile(r"</?[a-z][^<>]*>", _FLAGS)
_END_TAG = re.compile(r"</([a-z][\w-]*)\s*>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w{1,30});", re.IGNORECASE)
_NUMBER = re.compile(r"""\b(?:number|id|qid)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_WHITE = re.compile(r"[ \t\r\n\f\v]+")

# The tags that are often left open; any other counts as a field where its end tag follows.
_OPEN_FIELDS = {"num", "title", "desc", "narr"}
_INLINE = {"a", "b", "br", "em", "font", "i", "p", "strong", "sub", "sup", "u"}
_NUMBER_FIELDS = ("num", "docno", "number", "qid")
_TEXT_FIELDS = ("title", "query")
_DESCRIPTION_FIELDS = ("desc", "description", "question")
_NARRATIVE_FIELDS = ("narr", "narrative")
_TIME_FIELD = "querytime"
# As TREC Microblog writes it: `Tue Feb 08 12:30:27 +0000 2011`.
_MONTHS = {
    name: f"{number:02}"
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
        start=1,
    )
}
_TIME = re.compile(
    r"[a-z]{3} ([a-z]{3}) (\d\d?) (\d\d:\d\d:\d\d) ([+-]\d{4}) (\d{4})", re.IGNORECASE
)
_LABELS = {
    "num": re.compile(r"(?:topic\s+)?number\s*:", re.IGNORECASE),
    "title": re.compile(r"topic\s*:", re.IGNORECASE),
    "desc": re.compile(r"description\s*:", re.IGNORECASE),
    "narr": re.compile(r"narrative\s*:", re.IGNORECASE),
}
_HEADER_IDS = {"qid", "query_id", "query-id", "queryid", "topic_id", "_id", "id"}


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One query, white space flattened; `line` (from 1) is where it begins.

    `first_seen` is its `querytime` as an ISO time; `others` holds the fields beyond these.
    """

    line: int
    qid: str
    text: str
    description: str = ""
    narrative: str = ""
    first_seen: str = ""
    others: Mapping[str, str] = field(default_factory=dict)


def read_topics(content: bytes | str, *, file: str, problems: Problems) -> Iterator[TopicRow]:
    """Topics in file order, whichever of the shapes the file has.

    `<top>` blocks with `<num>`, `<title>`, `<desc>`, `<narr>`, closed or not; `<topic number="…">`
    with `<query>`, `<question>`, `<narrative>`; `<DOC>` with `<DOCNO>`; or lines of id, TAB, text.
    A topic without title or query takes its description as text. What cannot be read, or has an id
    that came before, is told to `problems` and left out.

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    text = _decoded(content, file, problems)
    if text is None:
        return
    if text.lstrip().startswith("<"):
        rows = _tagged_topics(text, file, problems)
    else:
        rows = _tabbed_topics(text, file, problems)
    first_lines: dict[str, int] = {}
    for row in rows:
        if row.qid in first_lines:
            place = f"in line {first_lines[row.qid]}"
            problem = f"topic '{row.qid}' was {place} already; expected every id once. "
            problems.add(file, row.line, problem + "Drop one of the two.")
        else:
            first_lines[row.qid] = row.line
            yield row
    if not first_lines and not problems.found:
        problem = "no topic found; expected <top> or <topic> blocks, or lines of id, TAB, text. "
        problems.add(file, 0, problem + "Check that it is the right file.")


def _decoded(content: bytes | str, file: str, problems: Problems) -> str | None:
    text = content if isinstance(content, str) else _utf8(content, file, problems)
    if text is not None and text.startswith("\ufeff"):
        problem = "begins with a byte order mark; expected none. It was left out: remove it."
        problems.warn(file, 1, problem)
        return text[1:]
    return text


def _utf8(content: bytes, file: str, problems: Problems) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{content[error.start]:02X} is not UTF-8; expected UTF-8. "
        problems.add(file, line, problem + "Convert the file.", is_whole=True)
        return None


def _tabbed_topics(text: str, file: str, problems: Problems) -> Iterator[TopicRow]:
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line.startswith("#"):
            continue
        qid, tab, query = (part.strip(" \r") for part in line.partition("\t"))
        if number == 1 and qid.lower() in _HEADER_IDS:
            problem = f"begins with a header ('{qid}'); expected none. It was left out: remove it."
            problems.warn(file, 1, problem)
        elif not tab:
            problem = "no tab; expected query id, TAB, text. Put a tab after the id."
            problems.add(file, number, problem)
        elif not _id_problem(qid, number, file, problems):
            yield from _topic(number, qid, {"title": query}, file, problems)


def topic_time(text: str) -> str:
    """An ISO time of how TREC or ISO 8601 write one; empty for anything else."""
    if match := _TIME.fullmatch(text):
        name, day, clock, zone, year = match.groups()
        text = f"{year}-{_MONTHS.get(name.lower())}-{day:>02}T{clock}{zone}"
    return datetime.fromisoformat(text).isoformat() if moment_of(text) else ""


def _tagged_topics(text: str, file: str, problems: Problems) -> Iterator[TopicRow]:
    text = _without_comments(text)
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    closed = ""
    for block in _BLOCK.finditer(text):
        number = bisect_right(line_starts, block.start())
        if text.startswith("</", block.end()):
            closed = f"</{block['kind']}>"
        elif closed and block.end() == len(text):
            problem = f"the topic is never closed; expected {closed}, as before. The file may have "
            problems.add(file, number, problem + "been cut short: write it again.", is_whole=True)
            return
        fields = _fields(block["body"])
        qid = _first(fields, _NUMBER_FIELDS) or _number_attribute(block["attributes"])
        if not _id_problem(qid, number, file, problems):
            yield from _topic(number, qid, fields, file, problems)
    if _ROOT.search(text) and "</topics" not in text.lower():
        problem = "<topics> is never closed; expected </topics>. The file may have been cut short: "
        problems.add(file, len(line_starts), problem + "write it again.", is_whole=True)


def _topic(
    line: int, qid: str, fields: Mapping[str, str], file: str, problems: Problems
) -> Iterator[TopicRow]:
    description = _first(fields, _DESCRIPTION_FIELDS)
    text = _flat(_first(fields, _TEXT_FIELDS) or fields.get("", "") or description)
    if not text:
        problem = f"topic '{qid}' has no text; expected a title or query. Write one or drop it."
        problems.add(file, line, problem)
        return
    if reason := next(filter(None, map(text_problem, fields.values())), None):
        problems.add(file, line, f"topic '{qid}' {reason}")
        return
    querytime = _flat(fields.get(_TIME_FIELD, ""))
    first_seen = topic_time(querytime)
    if querytime and not first_seen:
        problem = (
            f"querytime is '{querytime[:40]}'; expected a time such as "
            "Tue Feb 08 12:30:27 +0000 2011 "
        )
        problems.warn(file, line, problem + "or 2011-02-08T12:30:27Z. It was kept as metadata.")
    named = {*_NUMBER_FIELDS, *_TEXT_FIELDS, *_DESCRIPTION_FIELDS, *_NARRATIVE_FIELDS, ""}
    if first_seen:
        named.add(_TIME_FIELD)
    yield TopicRow(
        line=line,
        qid=qid,
        text=text,
        description=_flat(description),
        narrative=_flat(_first(fields, _NARRATIVE_FIELDS)),
        first_seen=first_seen,
        others={name: value for name, value in fields.items() if name not in named},
    )


def _fields(body: str) -> dict[str, str]:
    """Text of each field by its tag in lower case; what stands in none of them is under ""."""
    # Found in one pass, so that a body of nothing but open tags is still read in linear time.
    last_ends = {end[1].lower(): end.start() for end in _END_TAG.finditer(body)}
    last_ends = {name: end for name, end in last_ends.items() if name not in _INLINE}
    values: defaultdict[str, list[str]] = defaultdict(list)
    position = 0
    while start := _next_field(body, position, last_ends):
        name = start["name"].lower()
        end, following = _field_end(body, name, start.end(), last_ends)
        values[""].append(body[position : start.start()])
        values[name].append(body[start.end() : end])
        position = following
    values[""].append(body[position:])
    return {
        name: " ".join(value for part in parts if (value := _value(name, part)))
        for name, parts in values.items()
    }


def _next_field(body: str, position: int, last_ends: Mapping[str, int]) -> re.Match[str] | None:
    for tag in _TAG.finditer(body, position):
        name = tag["name"].lower()
        if name in _OPEN_FIELDS or last_ends.get(name, -1) >= tag.end():
            return tag
    return None


def _field_end(
    body: str, name: str, position: int, last_ends: Mapping[str, int]
) -> tuple[int, int]:
    """Where the text of a field ends, and where reading goes on."""
    stop = len(body)
    if name in _OPEN_FIELDS and (following := _next_field(body, position, last_ends)):
        stop = following.start()
    end = _end_tag(name).search(body, position, stop)
    return (end.start(), end.end()) if end else (stop, stop)


def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE)


def _value(name: str, raw: str) -> str:
    text = _flat(_ENTITY.sub(lambda entity: html.unescape(entity[0]), _ANY_TAG.sub(" ", raw)))
    label = _LABELS[name].match(text) if name in _LABELS else None
    return text[label.end() :].strip() if label else text


def _first(fields: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if fields.get(name)), "")


def _number_attribute(attributes: str) -> str:
    match = _NUMBER.search(attributes)
    return html.unescape(match[1]) if match else ""


def _id_problem(qid: str, line: int, file: str, problems: Problems) -> bool:
    """Whether the id cannot be used, after `problems` was told why."""
    state = f"topic id is '{qid[:60]}'" if qid else "topic has no id"
    if not qid or _WHITE.search(qid):
        problem = f"{state}; expected one word, such as 301. Give it an id or drop the topic."
    elif reason := id_problem(qid):
        problem = f"{state}: {reason}"
    else:
        return False
    problems.add(file, line, problem)
    return True


def _flat(text: str) -> str:
    return _WHITE.sub(" ", text).strip()


def _without_comments(text: str) -> str:
    """The text with as many blanks and line ends as its comments had: lines keep their numbers."""
    pieces, position = [], 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        pieces += [text[position:start], re.sub(r"[^\n]", " ", text[start : end + 3])]
        position = end + 3
    return "".join([*pieces, text[position:]])
