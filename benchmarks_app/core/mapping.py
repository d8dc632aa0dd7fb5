"""Which column of a table is what: guessed by its name, corrected by a person, checked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks_app.core.import_errors import MappingError

# Instead of a column: the parent of document X#Y is X.
PARENT_FROM_ID = "id before #"
_ODD = re.compile(r"[\s\-.]+")


class Content(StrEnum):
    """What the rows of a table are."""

    DOCUMENTS = "documents"
    QUERIES = "queries"
    QRELS = "qrels"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Field:
    """Something a row can say; `names` are columns that usually say it, the likeliest first."""

    name: str
    label: str
    names: tuple[str, ...]
    is_required: bool = False


_QUERY_IDS = ("query_id", "qid", "queryid", "topic_id", "topic", "q_id", "query_number", "query")
_DOCUMENT_IDS = (
    *("corpus_id", "docid", "doc_id", "docno", "document_id", "pid", "passage_id", "doc"),
    *("document", "passage"),
)
FIELDS: dict[Content, tuple[Field, ...]] = {
    Content.DOCUMENTS: (
        Field("id", "document id", ("_id", "docid", "doc_id", "docno", "id", "pid", "passage_id",
              "document_id", "corpus_id"), is_required=True),
        Field("title", "title", ("title", "headline", "name")),
        Field("text", "text", ("text", "body", "contents", "content", "abstract", "passage",
              "passage_text", "document", "segment"), is_required=True),
        Field("url", "web address", ("url", "link", "uri")),
        Field("parent", "parent document", ("parent_id", "parent", "parent_docid", "parent_doc")),
    ),
    Content.QUERIES: (
        Field("id", "query id", ("qid", "query_id", "_id", "id", "queryid", "topic_id", "topic",
              "number"), is_required=True),
        Field("text", "text", ("text", "query", "query_text", "title", "question", "claim"),
              is_required=True),
        Field("description", "description", ("description", "desc")),
        Field("narrative", "narrative", ("narrative", "narr")),
        Field("lang", "language", ("lang", "language")),
        Field("first_seen", "first seen", ("first_seen", "first_seen_at", "timestamp", "date")),
        Field("last_seen", "last seen", ("last_seen", "last_seen_at")),
        Field("frequency", "times asked", ("frequency", "freq", "count", "n_asked")),
        Field("clicks", "clicks by document", ("clicks",)),
        Field("tags", "tags", ("tags", "tag", "labels", "categories")),
        Field("family", "family", ("family", "family_id")),
    ),
    Content.QRELS: (
        Field("query", "query id", _QUERY_IDS, is_required=True),
        Field("document", "document id", _DOCUMENT_IDS, is_required=True),
        Field("grade", "grade", ("grade", "relevance", "score", "rel", "label", "judgment",
              "judgement", "relevance_label")),
    ),
    Content.RUN: (
        Field("query", "query id", _QUERY_IDS, is_required=True),
        Field("document", "document id", _DOCUMENT_IDS, is_required=True),
        Field("score", "score", ("score", "similarity", "sim", "rsv")),
        Field("rank", "rank", ("rank", "position", "pos")),
    ),
}  # fmt: skip
Mapped = Mapping[str, str]


def plain_name(column: str) -> str:
    """A column's name as it is compared: lower case, `_` between words.

    >>> plain_name("Query-ID")
    'query_id'
    """
    return _ODD.sub("_", column.strip().lower())


def guessed(content: Content, columns: Sequence[str]) -> dict[str, str]:
    """Return {field: column} for the columns whose names say what they are.

    >>> guessed(Content.DOCUMENTS, ["doc_id", "abstract", "year"])
    {'id': 'doc_id', 'text': 'abstract'}
    """
    by_name = {plain_name(column): column for column in reversed(columns)}
    taken: set[str] = set()
    found: dict[str, str] = {}
    for field in FIELDS[content]:
        names = (name for name in field.names if name in by_name and by_name[name] not in taken)
        name = next(names, None)
        if name is not None:
            found[field.name] = by_name[name]
            taken.add(by_name[name])
    return found


def is_complete(content: Content, mapping: Mapped) -> bool:
    """Return whether nothing lacks that an import needs."""
    return not _lacking(content, mapping)


def checked(content: Content, mapping: Mapped, columns: Iterable[str]) -> dict[str, str]:
    """Return the mapping without empty entries.

    Raises
    ------
    MappingError
        If a field is unknown or lacks, a column is not there or serves twice.
    """
    known = {field.name for field in FIELDS[content]}
    given = {name: column for name, column in mapping.items() if column}
    here = list(columns)
    for name, column in given.items():
        if name not in known:
            raise MappingError(
                reason=f"{content} have no field '{name}'; there are {_listed(sorted(known))}"
            )
        if column not in here and not (name == "parent" and column == PARENT_FROM_ID):
            raise MappingError(
                reason=f"there is no column '{column}' for {name}; the columns are {_listed(here)}"
            )
    columns_used = [column for column in given.values() if column != PARENT_FROM_ID]
    twice = sorted({column for column in columns_used if columns_used.count(column) > 1})
    if twice:
        raise MappingError(reason=f"column '{twice[0]}' is chosen for two things; choose one")
    lacking = _lacking(content, given)
    if lacking:
        raise MappingError(
            reason=f"no column is chosen for the {lacking}; the columns are {_listed(here)}"
        )
    return given


def _lacking(content: Content, mapping: Mapped) -> str:
    for field in FIELDS[content]:
        if field.is_required and not mapping.get(field.name):
            return field.label
    if content is Content.RUN and not (mapping.get("score") or mapping.get("rank")):
        return "score or rank"
    return ""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:12])
    return f"{shown}, …" if len(names) > 12 else shown


def parsed(text: str) -> tuple[str, str]:
    """Return field and column of `field=column`, as the commands take it.

    >>> parsed("id=doc_id")
    ('id', 'doc_id')
    """
    name, sign, column = text.partition("=")
    if not (name.strip() and sign and column.strip()):
        raise MappingError(reason=f"'{text}' is not field=column, such as id=doc_id")
    return name.strip(), column.strip()
