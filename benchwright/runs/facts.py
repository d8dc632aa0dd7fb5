"""What a run says of the system behind it: the fields, what each takes, and how they are read.

The form of the site, the API and the commands share them. What no field takes is kept under its own
name; a description in ir_metadata is kept whole beside the fields it fills.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchwright.errors import BenchmarkError
from benchwright.ids import is_storable

# --- What a run says of the system behind it: the fields, what each takes, and how they are read.

IR_METADATA = "ir_metadata"
# Of a run by an exact search: the name of that of an approximate index with the same vectors.
APPROXIMATE_RUN = "Approximate run"
MAX_TEXT = 500
MAX_NAME = 80
MAX_OTHERS = 40
MAX_IR_METADATA = 64 << 10
MAX_IR_METADATA_FILE = 256 << 10
UNSTORABLE = "holds a NUL character (U+0000) or half a character; remove it"
LONGEST_LINK = 500
MOST_MILLISECONDS = 1e9
COMMIT = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,79}")
DOI = re.compile(r"10\.\d{4,9}/\S+")


class Takes(StrEnum):
    """What a field takes."""

    TEXT = "text"
    CHOICE = "choice"
    LINK = "link"
    NUMBER = "number"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class FactField:
    """One thing a run can say of its system; `choices` are stored values with their labels."""

    name: str
    label: str
    help: str = ""
    takes: Takes = Takes.TEXT
    choices: tuple[tuple[str, str], ...] = ()


TYPES = (
    ("sparse", "sparse (words)"),
    ("learned-sparse", "learned sparse"),
    ("dense", "dense (one vector)"),
    ("multi-vector", "multi-vector"),
    ("hybrid", "hybrid or fusion"),
    ("rerank", "reranking of another run"),
    ("generative", "generative"),
    ("other", "other"),
)
INDEXES = (("exact", "exact"), ("ann", "approximate (ANN)"), ("none", "none"))
FIELDS = (
    FactField("system", "System", "Name and version, such as “Lucene 9.11”."),
    FactField("method", "Method", "Such as “BM25, k1=0.9, b=0.4, Porter stemmer”."),
    FactField("type", "Type", takes=Takes.CHOICE, choices=TYPES),
    FactField("repository", "Repository", "An http(s) address.", Takes.LINK),
    FactField("commit", "Commit", "Its hash, or a tag.", Takes.COMMIT),
    FactField("training", "Trained on", "Data sets and their splits; “none” is an answer too."),
    FactField("index", "Index", "Whether it finds the nearest, or nearly.", Takes.CHOICE, INDEXES),
    FactField("index_parameters", "Index parameters", "Such as “HNSW, M=32, efSearch=256”."),
    FactField("hardware", "Hardware", "On which the latency was measured."),
    FactField("latency_ms", "Latency", "Milliseconds a query.", Takes.NUMBER),
    FactField("paper", "Paper", "An http(s) address, or a DOI.", Takes.LINK),
    FactField("licence", "Licence", "Of the system, such as “Apache-2.0”."),
)
BY_NAME = {field.name: field for field in FIELDS}


class FactProblem(NamedTuple):
    """What is wrong with one field."""

    field: str
    text: str


class RunFactsError(BenchmarkError, code="run-metadata"):
    """What a run says of its system cannot be taken; `fields` holds {field: what is wrong}."""

    message = "{summary}"

    def __init__(self, problems: list[FactProblem]) -> None:
        summary = "\n".join(f"{name}: {text}" for name, text in problems)
        super().__init__(summary=summary, fields=dict(problems))


class Fact(NamedTuple):
    """A line of what is shown of a run; `href` is empty where it is no safe link."""

    label: str
    value: str
    href: str = ""


# --- checking ------------------------------------------------------------------------------


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts as they are stored, without those that are empty.

    Values come as texts or as what JSON has; a number is stored as one. `ir_metadata` may be a
    tree, which also fills the fields that are left out.

    Raises
    ------
    RunFactsError
        With every field that is wrong.

    Examples
    --------
    >>> checked({"system": " Lucene  9 ", "latency_ms": "12.5", "k1": 0.9})
    {'system': 'Lucene 9', 'latency_ms': 12.5, 'k1': '0.9'}
    >>> checked({"paper": "javascript:alert(1)"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    benchwright.runs.facts.RunFactsError: paper: is no web address; ...
    """
    facts: dict[str, Any] = {}
    problems: list[FactProblem] = []
    tree = values.get(IR_METADATA)
    filled = facts_of_tree(tree) if isinstance(tree, dict) else {}
    for field in FIELDS:
        value = _text_of(values.get(field.name)) or filled.get(field.name, "")
        if value:
            _take(field, value, facts, problems)
    for name, value in values.items():
        if name not in BY_NAME and name != IR_METADATA:
            _take_other(str(name), value, facts, problems)
    _take_tree(tree, facts, problems)
    if len(facts.keys() - BY_NAME.keys()) > MAX_OTHERS:
        problems.append(
            FactProblem("metadata", f"at most {MAX_OTHERS} facts of one's own are kept")
        )
    if problems:
        raise RunFactsError(problems)
    return facts


def _text_of(value: Any) -> str:
    """A value as one line of text; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        value = ", ".join(str(part) for part in value)
    return " ".join(str(value).split())


def _take(field: FactField, value: str, facts: dict[str, Any], problems: list[FactProblem]) -> None:
    reason = _bad_text(value)
    if not reason and field.takes is Takes.LINK:
        value = f"https://doi.org/{value}" if DOI.fullmatch(value) else value
        reason = "" if is_safe_link(value) else "is no web address; expected http:// or https://"
    elif not reason and field.takes is Takes.COMMIT and not COMMIT.fullmatch(value):
        reason = "is no commit; expected its hash or a tag, up to 80 letters, digits, . _ / -"
    elif not reason and field.takes is Takes.CHOICE:
        known_values = [stored for stored, _ in field.choices]
        value = value.lower()
        reason = (
            ""
            if value in known_values
            else f"is '{value[:40]}'; expected one of {', '.join(known_values)}"
        )
    if reason:
        problems.append(FactProblem(field.name, reason))
    elif field.takes is Takes.NUMBER:
        _take_number(field, value, facts, problems)
    else:
        facts[field.name] = value


def _take_number(
    field: FactField, value: str, facts: dict[str, Any], problems: list[FactProblem]
) -> None:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if isfinite(number) and 0 <= number <= MOST_MILLISECONDS:
        facts[field.name] = number
    else:
        problem = f"is '{value[:40]}'; expected a number from 0, such as 12.5"
        problems.append(FactProblem(field.name, problem))


def _take_other(name: str, value: Any, facts: dict[str, Any], problems: list[FactProblem]) -> None:
    excerpt = name[:40]
    if isinstance(value, dict | list) and not _text_of_list(value):
        problems.append(FactProblem(excerpt, "is nested; only ir_metadata may be"))
        return
    text = _text_of(value)
    if not text:
        return
    label = " ".join(name.split())
    reason = _bad_text(text) or _bad_text(label)
    if not label or len(label) > MAX_NAME:
        reason = f"a name has 1 to {MAX_NAME} characters"
    if reason:
        problems.append(FactProblem(excerpt, reason))
    else:
        facts[label] = text


def _text_of_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str | int | float) for part in value)


def _bad_text(value: str) -> str:
    if len(value) > MAX_TEXT:
        return f"has {len(value):,} characters; at most {MAX_TEXT} are kept. Shorten it"
    if not value.isprintable():
        return "holds a control character; remove it"
    return ""


def _take_tree(tree: Any, facts: dict[str, Any], problems: list[FactProblem]) -> None:
    if not tree:
        return
    if not isinstance(tree, dict):
        problems.append(FactProblem(IR_METADATA, "is no mapping; expected `name: value` lines"))
    elif len(json.dumps(tree, default=str)) > MAX_IR_METADATA:
        problem = f"is too large; at most {MAX_IR_METADATA >> 10} KiB are kept"
        problems.append(FactProblem(IR_METADATA, problem))
    elif not is_storable(tree):
        problems.append(FactProblem(IR_METADATA, UNSTORABLE))
    else:
        facts[IR_METADATA] = tree


def is_safe_link(address: str) -> bool:
    """Return whether an address leads to the web, and nowhere else.

    >>> is_safe_link("https://example.org/x"), is_safe_link("javascript:alert(1)")
    (True, False)
    """
    if len(address) > LONGEST_LINK or any(c.isspace() or c in "\"'<>\\" for c in address):
        return False
    try:
        parts = urlsplit(address)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        )
    except ValueError:
        return False


# --- ir_metadata ---------------------------------------------------------------------------


def facts_of_tree(tree: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that a description in ir_metadata fills, as texts.

    >>> facts_of_tree({"tag": "bm25", "implementation": {"source": {"commit": "ab12cd3"}}})
    {'system': 'bm25', 'commit': 'ab12cd3'}
    """
    source = _at(tree, "implementation", "source")
    paper = _at(tree, "research goal", "publication")
    hardware = _at(tree, "platform", "hardware")
    facts = {
        "system": _text_of_leaf(_at(tree, "tag")),
        "method": _joined(_at(tree, "method", "retrieval"), ("method", "name")),
        "type": "rerank" if _at(tree, "method", "reranking") else "",
        "repository": _link(_at(source, "repository")),
        "commit": _text_of_leaf(_at(source, "commit")),
        "training": _joined(_at(tree, "data", "training_data"), ("name", "source")),
        "hardware": ", ".join(filter(None, (_leaf_of(hardware, part) for part in ("cpu", "gpu")))),
        "paper": _link(_at(paper, "url")) or _doi(_at(paper, "doi")),
    }
    return {name: value[:MAX_TEXT] for name, value in facts.items() if value}


def _at(tree: Any, *names: str) -> Any:
    """What lies below these names, which ir_metadata writes with a blank, `_` or `-` in them."""
    for name in names:
        if not isinstance(tree, Mapping):
            return None
        by_name = {re.sub(r"[ _-]+", " ", str(key)).lower(): value for key, value in tree.items()}
        tree = by_name.get(name.replace("_", " "))
    return tree


def _text_of_leaf(value: Any) -> str:
    return _text_of(value) if isinstance(value, str | int | float) else ""


def _leaf_of(tree: Any, name: str) -> str:
    part = _at(tree, name)
    return _text_of_leaf(_at(part, "model")) or _text_of_leaf(part)


def _joined(values: Any, names: tuple[str, ...]) -> str:
    listed = values if isinstance(values, list) else [values]
    return ", ".join(filter(None, (_named(value, names) for value in listed)))


def _named(value: Any, names: tuple[str, ...]) -> str:
    if isinstance(value, Mapping):
        return next(filter(None, (_text_of_leaf(_at(value, name)) for name in names)), "")
    return _text_of_leaf(value)


def _link(value: Any) -> str:
    text = _text_of_leaf(value)
    return text if is_safe_link(text) else ""


def _doi(value: Any) -> str:
    text = _text_of_leaf(value)
    return f"https://doi.org/{text}" if DOI.fullmatch(text) else _link(text)


# --- showing -------------------------------------------------------------------------------


def shown_facts(metadata: Mapping[str, Any]) -> list[Fact]:
    """Return what a page says of a run: the fields in their order, then what else it told.

    >>> shown_facts({"k1": "9", "index": "ann"})
    [Fact(label='Index', value='approximate (ANN)', href=''), Fact(label='k1', value='9', href='')]
    """
    return list(_shown(metadata))


def _shown(metadata: Mapping[str, Any]) -> Iterator[Fact]:
    for field in FIELDS:
        if (value := metadata.get(field.name)) in (None, ""):
            continue
        text = dict(field.choices).get(str(value), str(value))
        if field.takes is Takes.NUMBER and isinstance(value, int | float):
            text = f"{value:g} ms a query"
        is_link = field.takes is Takes.LINK and is_safe_link(text)
        yield Fact(field.label, text, text if is_link else "")
    for name, value in metadata.items():
        if name not in BY_NAME and name != IR_METADATA:
            yield Fact(str(name), str(value))


# --- What a run says of its system, as boards and gates ask for it; every way to write it is
# read.

TYPE_KEYS = ("type", "system type", "method type", "retriever type")
TRAINING_KEYS = (
    "training sets",
    "training set",
    "training data",
    "training datasets",
    "trained on",
    "training",
)
CONTAMINATED = ("contaminated", "is contaminated", "trained on this data")
YES = ("yes", "true", "1")
# In these ways of writing the block of ir_metadata says which data a system saw.
NESTED = "ir_metadata"


def system_type(metadata: Mapping[str, Any]) -> str:
    """The type a run's metadata gives its system, in small letters; empty where it says none.

    Examples
    --------
    >>> system_type({"Type": " Dense "}), system_type({"model": "bm25"})
    ('dense', '')
    """
    texts = (text for key, text in _texts(metadata) if key in TYPE_KEYS)
    return next(texts, "").strip().casefold()


def is_trained_on(metadata: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Whether the training sets that a run names hold one of `names`, or it says so of itself.

    A name counts as a whole word, in any case of letters; `-` and `_` are alike.

    Examples
    --------
    >>> is_trained_on({"training_sets": ["MS MARCO", "SciFact"]}, ["scifact"])
    True
    >>> is_trained_on({"training sets": "scifactoid"}, ["scifact"])
    False
    """
    plain_names = [_plain(name) for name in names if name.strip()]
    for key, text in _texts(metadata):
        if key in CONTAMINATED and text.strip().casefold() in YES:
            return True
        plain = _plain(text)
        if key in TRAINING_KEYS and any(_holds(plain, name) for name in plain_names):
            return True
    return False


def _texts(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Key and text of each plain value, of lists each member; keys in small letters, with blanks.

    Of ir_metadata, blocks are looked into at any depth.
    """
    for key, value in metadata.items():
        if isinstance(value, Mapping):
            if str(key) == NESTED or any(isinstance(inner, str | list) for inner in value.values()):
                yield from _texts(value)
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Mapping):
                yield from _texts(part)
            elif part is not None:
                yield _plain(str(key)), str(part)


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-]+", " ", text).strip().casefold()


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
