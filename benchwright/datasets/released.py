"""A released benchmark as a folder or zip in BEIR's layout: its queries, grades, scale, slices."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.errors import BenchmarkObjectError, MissingFileError, Problems
from benchwright.files.encodings import as_bytes
from benchwright.formats.beir import BeirSource, open_beir
from benchwright.formats.side_tables import slices_in
from benchwright.formats.unlisted import UNKNOWN, unlisted_of

MANIFEST = "manifest.json"
SLICES = "slices.tsv"
DEFAULT_SPLIT = "test"


@dataclass(frozen=True, slots=True)
class Released:
    """One split of a benchmark; `texts` holds every query, `qrels` the graded ones of the split.

    A grade counts as relevant from `threshold`, which the release's manifest says, or from 1;
    `top_grade` is the highest of its scale, or None where there is no manifest. `unlisted` is what
    documents without a grade are, `unknown` or `not-relevant`.
    """

    name: str
    split: str
    texts: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]
    slices: Mapping[str, list[bytes]]
    threshold: int
    top_grade: int | None
    unlisted: str = UNKNOWN


def read_released(path: Path, split: str | None = None) -> Released:
    """The split that is named, the only one, or `test` where there are several.

    Raises
    ------
    MissingFileError
        If there is no such split, or no file of queries or qrels.
    FileProblemsError, ArchiveError
        If a file cannot be read.
    """
    problems = Problems()
    with open_beir(path) as source:
        chosen = _split_of(source, split)
        texts = {row.qid: row.text for row in source.queries_rows(problems)}
        qrels: dict[str, dict[str, int]] = {}
        for row in source.qrels_rows(chosen, problems):
            qrels.setdefault(row.qid, {})[row.docid] = row.grade
        manifest = _manifest(source, problems)
        has_slices = SLICES in source.source.members()
        lines = source.source.lines(SLICES) if has_slices else iter(())
        slices = slices_in(lines, file=SLICES, problems=problems)
    return Released(
        name=_name(manifest, path),
        split=chosen,
        texts=texts,
        qrels=qrels,
        slices=slices,
        threshold=relevance_threshold(manifest),
        top_grade=top_grade(manifest),
        unlisted=unlisted_of(manifest),
    )


def released_of(benchmark: Any) -> Released:
    """A benchmark that is an object: `slices` is a mapping of names to queries.

    Each query has `text` and `relevant`, a mapping of documents to grades or their ids alone, which
    are then grade 1; and, if it has, an `id` (or `qid`, `query_id`). Without one it is known by its
    text. A query in several slices counts once in the whole.

    Raises
    ------
    BenchmarkObjectError
        If a query lacks text or relevant documents, or differs from slice to slice.
    """
    texts: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    slices: dict[str, list[bytes]] = {}
    for name, queries in benchmark.slices.items():
        slices[name] = []
        for place, query in enumerate(queries):
            qid, text, grades = _query(query, f"slices[{name!r}][{place}]")
            if (texts.setdefault(qid, text), qrels.setdefault(qid, grades)) != (text, grades):
                what = f"query '{qid}' is in another slice with another text or other documents"
                raise BenchmarkObjectError(where=f"slices[{name!r}][{place}]", what=what)
            slices[name].append(as_bytes(qid))
    return Released(
        name=str(getattr(benchmark, "name", type(benchmark).__name__)),
        split="as given",
        texts=texts,
        qrels=qrels,
        slices=slices,
        threshold=1,
        top_grade=None,
    )


def _query(query: Any, where: str) -> tuple[str, str, dict[str, int]]:
    text, relevant = getattr(query, "text", None), getattr(query, "relevant", None)
    if not isinstance(text, str) or relevant is None:
        what = "it has no text or no relevant documents; give it `text` and `relevant`"
        raise BenchmarkObjectError(where=where, what=what)
    if isinstance(relevant, str | bytes):
        what = "its `relevant` is one text; expected documents, or documents with grades"
        raise BenchmarkObjectError(where=where, what=what)
    named = (getattr(query, name, None) for name in ("id", "qid", "query_id"))
    qid = str(next((value for value in named if value is not None), text))
    graded = (
        relevant.items() if isinstance(relevant, Mapping) else ((docid, 1) for docid in relevant)
    )
    # Grades stay as they are: one that is not whole is refused with its place, as in any qrels.
    return qid, text, {str(docid): grade for docid, grade in graded}


def relevance_threshold(manifest: Mapping[str, Any]) -> int:
    """The lowest grade that counts as relevant on a release, as its manifest froze the scale.

    Examples
    --------
    >>> scale = [{"value": 1, "is_relevant": False}, {"value": 2, "is_relevant": True}]
    >>> relevance_threshold({"grades": scale}), relevance_threshold({})
    (2, 1)
    """
    grades = manifest.get("grades") or []
    return min((grade["value"] for grade in grades if grade["is_relevant"]), default=1)


def top_grade(manifest: Mapping[str, Any]) -> int | None:
    """The highest grade of a release's scale, whether anything has it or not; None if unknown.

    Examples
    --------
    >>> top_grade({"grades": [{"value": 0}, {"value": 3}]}), top_grade({})
    (3, None)
    """
    return max((grade["value"] for grade in manifest.get("grades") or []), default=None)


def _split_of(source: BeirSource, split: str | None) -> str:
    there = source.qrels_splits()
    if split is None and len(there) == 1:
        return there[0]
    chosen = split or DEFAULT_SPLIT
    if chosen not in there:
        advice = f"It has the splits: {', '.join(there) or 'none'}. Name one of them."
        expected = f"qrels/{chosen}.tsv"
        raise MissingFileError(place=source.source.name, expected=expected, advice=advice)
    return chosen


def _manifest(source: BeirSource, problems: Problems) -> dict[str, Any]:
    if MANIFEST not in source.source.members():
        return {}
    try:
        manifest = json.loads(b"".join(source.source.lines(MANIFEST)))
    except (ValueError, RecursionError):
        problems.add(MANIFEST, 0, "is not JSON; fetch the release anew, or take the file away")
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _name(manifest: Mapping[str, Any], path: Path) -> str:
    if "benchmark" in manifest and "version" in manifest:
        return f"{manifest['benchmark']} {manifest['version']}"
    return path.resolve().name.removesuffix(".zip")
