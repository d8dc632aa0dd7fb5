"""A BEIR folder or zip with several splits, as the splitter and the leak report see it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchwright.errors import FileProblemsError, Problems
from benchwright.families import GroupingOptions, QueryText, grouped
from benchwright.families.keys import DEFAULT_LANGUAGE
from benchwright.findings import Finding
from benchwright.formats.beir import BeirSource, QueryRow, open_beir
from benchwright.formats.pairs import read_families, read_slices
from benchwright.leaks.reporting import leak_report
from benchwright.leaks.types import LeakQuery

FAMILIES, SLICES, WEIGHTS = "families.tsv", "slices.tsv", "weights.tsv"
SPLITS_FILE, MANIFEST = "splits.json", "manifest.json"


@dataclass
class FolderQueries:
    """Queries by id, grades by split, and what further files say of them.

    A grade counts as relevant from `threshold`; both it and the language are those of the manifest,
    or else of how the folder was split.
    """

    queries: dict[str, QueryRow]
    grades: dict[str, dict[str, dict[str, int]]]
    families: dict[str, str]
    slices: dict[str, list[str]]
    plan: dict[str, Any] = field(default_factory=dict)
    has_families: bool = False
    threshold: int = 1
    language: str = DEFAULT_LANGUAGE

    def family_of(self, qid: str) -> str:
        """The family of a query; one that no file puts into a family is its own."""
        return self.families.get(qid, qid)

    def relevant(self, qid: str, split: str) -> frozenset[str]:
        graded = self.grades.get(split, {}).get(qid, {})
        return frozenset(docid for docid, grade in graded.items() if grade >= self.threshold)

    def leak_queries(self) -> list[LeakQuery]:
        """Each query in its split; of one that is in two, which the lint tells, the first."""
        first = {qid: split for split, graded in reversed(self.grades.items()) for qid in graded}
        return [
            LeakQuery(
                qid=qid,
                text=self.queries[qid].text,
                family=self.family_of(qid),
                split=split,
                slices=tuple(self.slices.get(qid, ())),
                relevant=self.relevant(qid, split),
                first_seen=moment_of(said(self.queries[qid], "first_seen")),
            )
            for split, graded in self.grades.items()
            for qid in graded
            if qid in self.queries and first[qid] == split
        ]


def read_folder(source: BeirSource, problems: Problems) -> FolderQueries:
    """Everything of a folder but its corpus.

    Families are those of families.tsv, or of the queries' metadata.
    """
    queries = {row.qid: row for row in source.queries_rows(problems)}
    grades: dict[str, dict[str, dict[str, int]]] = {}
    for split in source.qrels_splits():
        of_split = grades.setdefault(split, {})
        for row in source.qrels_rows(split, problems):
            of_split.setdefault(row.qid, {})[row.docid] = row.grade
    families = _families(source, queries, problems)
    plan = _object_in(source, SPLITS_FILE)
    facts = {**plan, **_object_in(source, MANIFEST)}
    threshold, language = facts.get("threshold"), facts.get("lang")
    return FolderQueries(
        queries=queries,
        grades=grades,
        families=families,
        slices=_slices(source, queries, problems),
        plan=plan,
        has_families=bool(families),
        threshold=threshold if isinstance(threshold, int) else 1,
        language=language if isinstance(language, str) and language else DEFAULT_LANGUAGE,
    )


def _families(
    source: BeirSource, queries: Mapping[str, QueryRow], problems: Problems
) -> dict[str, str]:
    member = source.source.plain_or_gz(FAMILIES)
    if member:
        return read_families(source.source.lines(member), file=member, problems=problems)
    families = {qid: said(row, "family") for qid, row in queries.items()}
    return {qid: family for qid, family in families.items() if family}


def _slices(
    source: BeirSource, queries: Mapping[str, QueryRow], problems: Problems
) -> dict[str, list[str]]:
    """{query id: its slices}, of slices.tsv."""
    member = source.source.plain_or_gz(SLICES)
    slices: dict[str, list[str]] = {}
    if member is None:
        return slices
    lines = source.source.lines(member)
    read = read_slices(lines, file=member, problems=problems, known=queries)
    for name, qids in read.items():
        for qid in qids:
            slices.setdefault(qid, []).append(name)
    return slices


def _object_in(source: BeirSource, name: str) -> dict[str, Any]:
    """The object of a JSON file; empty without one."""
    member = source.source.plain_or_gz(name)
    if member is None:
        return {}
    try:
        content = json.loads(b"".join(source.source.lines(member)))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def group_families(folder: FolderQueries) -> None:
    """Group the queries by wording and relevant documents, as the site would."""
    relevant: dict[str, set[str]] = {}
    for split, graded in folder.grades.items():
        for qid in graded:
            relevant.setdefault(qid, set()).update(folder.relevant(qid, split))
    texts = [
        QueryText(qid, row.text, frozenset(relevant.get(qid, ())))
        for qid, row in folder.queries.items()
    ]
    families = grouped(texts, GroupingOptions(language=folder.language)).families
    folder.families = {qid: family.name for family in families for qid in family.members}


def folder_leaks(path: Path) -> list[Finding]:
    """What leaks between the splits of a BEIR folder or zip; nothing where it has one split.

    Lines that cannot be read are passed over: the lint of the folder tells them.
    """
    try:
        with open_beir(path) as source:
            if len(source.qrels_splits()) < 2 or source.queries is None:
                return []
            folder = read_folder(source, Problems(limit=1 << 62))
    except FileProblemsError:
        return []
    return list(_findings(folder))


def _findings(folder: FolderQueries) -> Iterator[Finding]:
    from benchwright.leaks import findings_of

    report = leak_report(folder.leak_queries(), plan=folder.plan or None, language=folder.language)
    yield from findings_of(report)


def said(row: QueryRow, key: str) -> str:
    value = row.metadata.get(key)
    return value if isinstance(value, str) else ""


def moment_of(text: str) -> datetime | None:
    """An ISO date or time as UTC; what is neither is None."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
