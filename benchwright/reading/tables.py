"""Runs as JSON and Parquet, which say of a query that it was answered with nothing.

JSON is `{"q1": {"d1": 0.5}, "q2": {}}`, as users of pytrec_eval and ranx keep their runs. Parquet
has the columns query (`q_id`, `qid` or `query_id`), document (`doc_id` or `docid`) and `score`; a
row without document says that the query was answered.
"""

from __future__ import annotations

import io
import json
from math import isnan
from typing import TYPE_CHECKING, Any

from benchwright.files.sources import open_inflated, settled, shown_name
from benchwright.formats.trec import RunRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from benchwright.errors import Problems

    Run = dict[bytes, list[RunRow]]
    Say = Callable[[str], None]

ONE_OBJECT = (
    'one object for the whole run, as {"q1": {"d1": 0.5}}. JSON lines with named columns are read '
    "by a site: write one object, or a TREC run."
)
# Query, document, score: the names that each may have.
COLUMNS = (("q_id", "qid", "query_id"), ("doc_id", "docid"), ("score",))


def load_json(path: Path, *, problems: Problems) -> Run:
    """The results of a JSON run, by query; what is wrong is told to `problems`.

    Raises
    ------
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    FileProblemsError
        When `problems` has reached its limit.
    """
    file = shown_name(path)
    with open_inflated(path) as stream:
        text = stream.read()
    try:
        # Pairs, since a dict would keep the last of two equal names without a word.
        queries = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_Pairs, parse_int=float)
    except json.JSONDecodeError as error:
        reason = f"{error.msg}. Write the run again."
        if error.msg == "Extra data":
            reason = f"more follows the first object; expected {ONE_OBJECT}"
        problems.add(file, error.lineno, f"is no JSON: {reason}")
        return {}
    except (UnicodeDecodeError, RecursionError) as error:
        problems.add(file, 0, f"is no JSON: {error}. Write the run again, as UTF-8.")
        return {}
    run: Run = {}
    for name, documents in queries:
        _take_query(run, name, documents, lambda text: problems.add(file, 0, text))
    return run


class _Pairs(list[tuple[str, Any]]):
    """The pairs of a JSON object, which is no list."""


def _take_query(run: Run, name: str, documents: Any, say: Say) -> None:
    qid = _encoded(name)
    if not isinstance(documents, _Pairs):
        return say(f"query {name!r} holds no object; expected documents with their scores")
    if qid is None or qid in run:
        return say(f"query {name!r} {'is no UTF-8' if qid is None else 'is there twice'}; drop one")
    rows: dict[bytes, RunRow] = {}
    for document, score in documents:
        docid = _encoded(document)
        place = f"document {document!r} of query {name!r}"
        if docid is None or docid in rows:
            say(f"{place} {'is no UTF-8' if docid is None else 'is there twice'}; drop one")
        elif not isinstance(score, float) or isnan(score):
            cell = _shown(score)
            say(f"{place} has the score {cell}; expected a number. Drop it or give it a score.")
        else:
            rows[docid] = RunRow(0, qid, docid, score)
    run[qid] = list(rows.values())
    return None


def _shown(score: Any) -> str:
    if isinstance(score, list):
        return "{…}" if isinstance(score, _Pairs) else "[…]"
    return f"{score!r:.40}"


def _encoded(name: str) -> bytes | None:
    try:
        return name.encode()
    except UnicodeEncodeError:  # half of a pair, such as "\ud800"
        return None


def load_parquet(path: Path, *, problems: Problems) -> Run:
    """The results of a Parquet run, by query; what is wrong is told to `problems`.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FileProblemsError
        When `problems` has reached its limit.
    """
    import polars as pl

    file = shown_name(path)
    try:
        frame = pl.read_parquet(io.BytesIO(settled(path).read_bytes()))
        query, document, score = (frame[_column(frame.columns, names)] for names in COLUMNS)
        columns = (query.cast(pl.String), document.cast(pl.String), score.cast(pl.Float64))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, KeyError) as error:
        problems.add(file, 0, f"is no run: {error}. Write the run again.")
        return {}
    rows = zip(*(column.to_list() for column in columns), strict=True)
    return _collected(rows, file, problems)


def _column(there: list[str], names: tuple[str, ...]) -> str:
    for name in names:
        if name in there:
            return name
    reason = f"no column {' or '.join(names)} among {', '.join(there)}"
    raise KeyError(reason)


def _collected(
    rows: Iterable[tuple[str | None, str | None, float | None]], file: str, problems: Problems
) -> Run:
    run: dict[bytes, dict[bytes, RunRow]] = {}
    for number, (query, document, score) in enumerate(rows, start=1):
        if query is None:
            problems.add(file, 0, f"row {number} has no query; expected an id. Drop the row.")
            continue
        qid = query.encode()
        documents = run.setdefault(qid, {})
        if document is None:
            continue
        place, docid = f"row {number} (document {document!r} of query {query!r})", document.encode()
        if docid in documents:
            problems.add(file, 0, f"{place} is there twice; expected it once a query. Drop one.")
        elif score is None or isnan(score):
            problems.add(file, 0, f"{place} has no score; expected a number. Give it one.")
        else:
            documents[docid] = RunRow(0, qid, docid, score)
    return {qid: list(documents.values()) for qid, documents in run.items()}
