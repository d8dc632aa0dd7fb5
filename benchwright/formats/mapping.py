"""Which column of a table is what: guessed by its name, corrected by a person, checked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from benchwright.formats.errors import MappingError

# Instead of a column: the parent of document X#Y is X.
PARENT_FROM_ID = "id before #"
# Instead of a column of grades: somebody says that each row is a relevant document, grade 1.
EVERY_ROW = "every row is relevant"
NO_COLUMNS = {"parent": PARENT_FROM_ID, "grade": EVERY_ROW}
_ODD = re.compile(r"[\s\-.]+")


class Content(StrEnum):
    """What the rows of a table are."""

    DOCUMENTS = "documents"
    QUERIES = "queries"
    QRELS = "qrels"
    RUN = "run"
    JUDGED = "judged queries"


class Field(NamedTuple):
    """Something a row can say; `names` are columns that usually say it, the likeliest first.

    Where `is_asked`, two columns of these names leave it open which of them is meant.
    """

    name: str
    label: str
    names: tuple[str, ...]
    is_required: bool = False
    is_asked: bool = False


_QUERY_IDS = ("query_id", "qid", "queryid", "topic_id", "topic", "q_id", "query_number", "query")
# Where the text of a query stands beside its id.
_OWN_QUERY_IDS = ("query_id", "qid", "queryid", "topic_id", "q_id", "query_number")
_DOCUMENT_IDS = (
    *("corpus_id", "docid", "doc_id", "docno", "document_id", "pid", "passage_id", "doc"),
    *("document", "passage", "product_id"),
)
GRADE_NAMES = (
    *("grade", "relevance", "score", "rel", "label", "judgment", "judgement", "relevance_label"),
    *("rating", "relevance_score", "relevance_grade", "relevance_judgment", "relevance_judgement"),
    *(
        "is_relevant",
        "relevant",
        "gain",
        "value",
        "graded_relevance",
        "relevance_rating",
        "qrel",
        "esci_label",
    ),
)
FIELDS: dict[Content, tuple[Field, ...]] = {
    Content.DOCUMENTS: (
        Field("id", "document id", ("_id", "docid", "doc_id", "docno", "id", "pid", "passage_id",
              "document_id", "corpus_id", "did", "cord_uid", "product_id"), is_required=True),
        Field("title", "title", ("title", "headline", "name", "product_title")),
        Field("text", "text", ("text", "body", "contents", "content", "abstract", "passage",
              "passage_text", "document", "segment", "txt", "product_description"),
              is_required=True),
        Field("image", "image, or its path", ("image", "images", "image_path", "image_file", "img",
              "img_path", "file", "file_name", "filename", "path")),
        Field("url", "web address", ("url", "link", "uri")),
        Field("parent", "parent document", ("parent_id", "parent", "parent_docid", "parent_doc")),
    ),
    Content.QUERIES: (
        Field("id", "query id", ("qid", "query_id", "_id", "id", "queryid", "topic_id", "topic",
              "number"), is_required=True),
        Field("text", "text", ("text", "query", "query_text", "query_txt", "title", "question",
              "claim"), is_required=True),
        Field("image", "image, or its path", ("image", "images", "image_path", "image_file", "img",
              "img_path", "query_image", "query_img_path")),
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
        Field("grade", "grade", GRADE_NAMES, is_required=True, is_asked=True),
    ),
    Content.JUDGED: (
        Field("id", "query id", _OWN_QUERY_IDS),
        Field("text", "query text", ("query_text", "query", "search_query", "question", "topic",
              "search_term", "keywords"), is_required=True),
        Field("document", "document id", _DOCUMENT_IDS, is_required=True),
        Field("grade", "grade", GRADE_NAMES, is_required=True, is_asked=True),
    ),
    Content.RUN: (
        Field("query", "query id", _QUERY_IDS, is_required=True),
        Field("document", "document id", _DOCUMENT_IDS, is_required=True),
        Field("score", "score", ("score", "similarity", "sim", "rsv")),
        Field("rank", "rank", ("rank", "position", "pos")),
    ),
}  # fmt: skip
FIELD_NAMES = sorted({field.name for fields in FIELDS.values() for field in fields})
# Names that are written without anything between their words.
_JOINED = {
    name.replace("_", ""): name
    for fields in FIELDS.values()
    for field in fields
    for name in field.names
    if "_" in name.strip("_")
}
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
    columns_taken: set[str] = set()
    mapping: dict[str, str] = {}
    for field in FIELDS[content]:
        named = [column for column in _named(field, columns) if column not in columns_taken]
        if named and not (field.is_asked and len(named) > 1):
            mapping[field.name] = named[0]
            columns_taken.add(named[0])
    return mapping


def _named(field: Field, columns: Sequence[str]) -> list[str]:
    """The columns that have one of the field's names, the likeliest first."""
    by_name: dict[str, list[str]] = {}
    for column in columns:
        by_name.setdefault(plain_name(column), []).append(column)
    for column in columns:  # queryId and QueryID, where nothing is named better
        joined = by_name.setdefault(_JOINED.get(plain_name(column), ""), [])
        if column not in joined:
            joined.append(column)
    return [column for name in field.names for column in by_name.get(name, ())]


def is_named_grade(column: str) -> bool:
    """Whether a name says a grade; a score or a value may be a system's.

    >>> [is_named_grade(name) for name in ("Rating", "isRelevant", "score")]
    [True, True, False]
    """
    name = plain_name(column)
    return _JOINED.get(name, name) in GRADE_NAMES and name not in ("score", "value")


def is_complete(content: Content, mapping: Mapped) -> bool:
    """Return whether nothing lacks that an import needs."""
    return not _lacking(content, mapping)


def refuse_unknown(mapping: Mapped) -> None:
    """Raise MappingError where a table of no kind has such a field."""
    for name in mapping:
        if name not in FIELD_NAMES:
            reason = f"there is no field {name!a:.60}; there are {_listed(FIELD_NAMES)}"
            raise MappingError(reason=reason)


def checked(content: Content, mapping: Mapped, columns: Iterable[str]) -> dict[str, str]:
    """Return the mapping without empty entries.

    Raises
    ------
    MappingError
        If a field is unknown or lacks, a column is not there or serves twice.
    """
    names = {field.name for field in FIELDS[content]}
    chosen = {name: column for name, column in mapping.items() if column}
    here = list(columns)
    for name, column in chosen.items():
        if name not in names:
            raise MappingError(
                reason=f"{content} have no field '{name}'; there are {_listed(sorted(names))}"
            )
        if column not in here and column != NO_COLUMNS.get(name):
            raise MappingError(
                reason=f"there is no column '{column}' for {name}; the columns are {_listed(here)}"
            )
    columns_used = [column for name, column in chosen.items() if column != NO_COLUMNS.get(name)]
    twice = sorted({column for column in columns_used if columns_used.count(column) > 1})
    if twice:
        raise MappingError(reason=f"column '{twice[0]}' is chosen for two things; choose one")
    lacking = _lacking(content, chosen)
    if lacking == "grade":
        raise MappingError(
            reason=_asked_for_grade([column for column in here if column not in columns_used])
        )
    if lacking:
        raise MappingError(
            reason=f"no column is chosen for the {lacking}; the columns are {_listed(here)}. "
            "Choose the one that has it"
        )
    return chosen


def _asked_for_grade(others: Sequence[str]) -> str:
    which = f"is it {_listed(others)}? Choose it" if others else "there is none left. Choose one"
    return (
        f"no column is chosen for the grade: {which}, or say that {EVERY_ROW} (instead of a "
        f"column: grade={EVERY_ROW}; with the command --every-row-relevant)"
    )


def _lacking(content: Content, mapping: Mapped) -> str:
    # What has an image needs no text beside it.
    is_image = bool(mapping.get("image"))
    for field in FIELDS[content]:
        if is_image and field.name == "text":
            continue
        if field.is_required and not mapping.get(field.name):
            return field.label
    if content is Content.RUN and not (mapping.get("score") or mapping.get("rank")):
        return "score or rank"
    return ""


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:12])
    return f"{listed}, …" if len(names) > 12 else listed


def parsed(text: str) -> tuple[str, str]:
    """Return field and column of `field=column`, as the commands take it.

    >>> parsed("id=doc_id")
    ('id', 'doc_id')
    """
    name, sign, column = text.partition("=")
    if not (name.strip() and sign and column.strip()):
        raise MappingError(reason=f"'{text}' is not field=column, such as id=doc_id")
    return name.strip(), column.strip()
