"""Everything that is wrong in a run, in qrels or in a folder of a benchmark, and what it holds.

Files are read as a stream and to their end: a line that cannot be read is told, and the next one
is looked at.
"""

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from statistics import median_low
from types import MappingProxyType
from typing import Any

from benchwright.detection import HEAD_LINES, detect
from benchwright.errors import BenchmarkError, FileProblemsError, Problem, Problems
from benchwright.files.archives import is_zip, open_source
from benchwright.files.encodings import as_shown
from benchwright.files.sources import STANDARD_INPUT, open_lines, shown_name
from benchwright.findings import Finding, Severity
from benchwright.formats import beir, trec
from benchwright.formats.beir_writing import id_hazard
from benchwright.linting import FORMATS
from benchwright.linting.folder import FolderReport, SplitHeld
from benchwright.linting.folders import formats_like, formats_of, lint_folder
from benchwright.reading.loading import collect_qrels, load_run
from benchwright.reading.shapes import qrels_shape, read_ranking, read_three_qrels, run_shape

UNLIMITED = sys.maxsize
SHOWN_IDS = 3

Facts = dict[str, Any]
"""What a file holds; only what JSON can hold."""


@dataclass
class Report:
    """One file or folder: what is wrong (`problems.found`), what is odd, what it holds.

    `notes` harm nobody; `is_cut` tells that there were more problems than the limit, and the rest
    was not read.
    """

    file: str
    kind: str
    problems: Problems
    facts: Facts = field(default_factory=dict)
    notes: list[Problem] = field(default_factory=list)
    is_cut: bool = False


def check(path: Path, *, kind: str | None = None, limit: int = UNLIMITED) -> Report:
    """What is wrong with a file or folder, up to `limit` problems.

    Without a `kind` it is told by the first lines; `KINDS` are the known ones.

    Raises
    ------
    MissingFileError
        If there is no such file.
    """
    kind = kind or kind_of(path)
    name = shown_name(path) if path == STANDARD_INPUT else str(path)
    report = Report(name, kind or "unknown", Problems(limit))
    if kind is None:
        text = f"its first lines are none of {', '.join(KINDS)}. Say which it is (--kind)."
        report.problems.found.append(Problem(report.file, 0, text))
        return report
    try:
        KINDS[kind](path, report)
    except FileProblemsError:
        report.is_cut = True
    except BenchmarkError as error:
        report.problems.found.append(Problem(report.file, 0, str(error)))
    return report


def kind_of(path: Path) -> str | None:
    """Which of `KINDS` a file is, by its first lines, or None where that cannot be told.

    Raises
    ------
    MissingFileError
        If there is no such file.
    """
    if path.is_dir() or (path.is_file() and is_zip(path)):
        with open_source(path) as source:
            return formats_of(source)[0]
    shape = run_shape(path).kind
    if shape == "parquet":
        return "run"
    head = list(islice(open_lines(path), HEAD_LINES))
    if shape == "json" and b'"_id"' not in head[0]:
        return "run"
    return _kind_of_most(head) or _kind_of_all(head, path.name)


def _kind_of_all(head: list[bytes], name: str) -> str | None:
    kind = detect(head, name)
    return str(kind) if kind in KINDS else None


def _kind_of_most(head: list[bytes]) -> str | None:
    """Run or qrels where most lines are so: a broken line must not hide what the file is."""
    rows = [line.split() for line in head if line.strip() and not line.startswith((b"#", b"{"))]
    n_runs = sum(len(row) >= 5 and row[1].upper() in (b"Q0", b"0") for row in rows)
    n_qrels = sum(len(row) == 4 and trec.whole_number(row[3]) is not None for row in rows)
    if 2 * n_runs > len(rows):
        return "run"
    return "qrels" if 2 * n_qrels > len(rows) else None


# --- runs ----------------------------------------------------------------------------------------


def _check_run(path: Path, report: Report) -> None:
    places_seen = _Seen()
    scores: defaultdict[bytes, array[float]] = defaultdict(lambda: array("d"))
    tags: Counter[str] = Counter()
    for row in _run_rows(path, report):
        first = places_seen.first_line(row.qid, row.docid, row.line)
        if first != row.line:
            detail = (
                f"{_document(row.qid, row.docid)} was in line {first} already; expected it once"
            )
            text = f"{detail} a query. Drop one of the two."
            report.problems.add(report.file, row.line, text)
            continue
        scores[row.qid].append(row.score)
        tags[as_shown(row.tag)] += 1
    report.facts = _run_facts(scores, tags, is_in_blocks=places_seen.is_in_blocks) | report.facts
    _warn_of_run(report, scores, tags)


def _run_rows(path: Path, report: Report) -> Iterable[trec.RunRow]:
    """The rows of a run of any shape; those of JSON and Parquet, read as a whole, by query."""
    shape, problems = run_shape(path), report.problems
    if shape.kind in ("json", "parquet"):
        run = load_run(path, shape, problems)
        report.facts["answered_with_nothing"] = sum(not rows for rows in run.values())
        return [row for rows in run.values() for row in rows]
    if shape.kind == "three":
        return read_ranking(open_lines(path), file=report.file, problems=problems)
    return trec.read_run(open_lines(path), file=report.file, problems=problems)


def _run_facts(
    scores: Mapping[bytes, "array[float]"], tags: Mapping[str, int], *, is_in_blocks: bool
) -> Facts:
    tied = [_n_tied(of) for of in scores.values()]
    return {
        "queries": len(scores),
        "rows": sum(map(len, scores.values())),
        "results_per_query": _spread([len(of) for of in scores.values()]),
        "tied_rows": sum(tied),
        "queries_with_ties": sum(map(bool, tied)),
        "tied_rows_at_32_bits": sum(_n_tied(array("f", of)) for of in scores.values()),
        "queries_not_in_score_order": sum(not _is_falling(of) for of in scores.values()),
        "is_in_blocks_of_queries": is_in_blocks,
        "tags": sorted(tags)[:SHOWN_IDS],
    }


def _warn_of_run(
    report: Report, scores: Mapping[bytes, "array[float]"], tags: Mapping[str, int]
) -> None:
    if not scores and not report.problems.found:
        text = "holds no result; expected at least one row. Check that it is the right file."
        report.problems.add(report.file, 0, text)
    if len(tags) > 1:
        text = f"has {len(tags)} tags ({_some(tags)}); expected one: a run is of one system."
        report.problems.warn(report.file, 0, text)
    flat = [as_shown(qid) for qid, of in scores.items() if len(of) > 1 and len(set(of)) == 1]
    if flat:
        have = "1 query has" if len(flat) == 1 else f"{len(flat)} queries have"
        detail = f"{have} one score for all results ({_some(flat)}), so that document ids decide"
        text = f"{detail} their order. Give each rank a score of its own."
        report.problems.warn(report.file, 0, text)


class _Seen:
    """The line of each document of each query; packed where a query is over, for long runs."""

    def __init__(self) -> None:
        self.is_in_blocks = True
        self._last: bytes | None = None
        self._open: dict[bytes, dict[bytes, int]] = {}
        self._packed: dict[bytes, tuple[bytes, array[int]]] = {}

    def first_line(self, qid: bytes, docid: bytes, line: int) -> int:
        """The line in which the document stood first: this one, if it has not been seen."""
        if qid != self._last:
            self._turn_to(qid)
        return self._open[qid].setdefault(docid, line)

    def _turn_to(self, qid: bytes) -> None:
        if qid in self._packed:
            # A query that comes back: from here on nothing is packed, or each row might unpack.
            self.is_in_blocks = False
            docids, lines = self._packed.pop(qid)
            self._open[qid] = dict(zip(docids.split(b"\n"), lines, strict=True))
        elif self._last is not None and self.is_in_blocks:
            documents = self._open.pop(self._last)
            self._packed[self._last] = b"\n".join(documents), array("q", documents.values())
        self._open.setdefault(qid, {})
        self._last = qid


def _n_tied(scores: "array[float]") -> int:
    """Rows that share their score with another one of the query."""
    return sum(count for count in Counter(scores).values() if count > 1)


def _is_falling(scores: "array[float]") -> bool:
    return all(earlier >= later for earlier, later in pairwise(scores))


# --- qrels ---------------------------------------------------------------------------------------


def _check_qrels(path: Path, report: Report) -> None:
    shape, lines, problems = qrels_shape(path), open_lines(path), report.problems
    if shape.kind == "trec":
        rows = trec.read_qrels(lines, file=report.file, problems=problems)
    else:
        rows = read_three_qrels(lines, shape=shape, file=report.file, problems=problems)
    qrels = collect_qrels(rows, file=report.file, problems=problems)
    report.facts = _qrels_facts(qrels)
    if not qrels and not report.problems.found:
        text = "holds no grade; expected at least one row. Check that it is the right file."
        report.problems.add(report.file, 0, text)


def _qrels_facts(qrels: Mapping[Any, Mapping[Any, int]]) -> Facts:
    grades = Counter(grade for of in qrels.values() for grade in of.values())
    return {
        "queries": len(qrels),
        "rows": grades.total(),
        "documents_per_query": _spread([len(of) for of in qrels.values()]),
        "grades": {str(grade): grades[grade] for grade in sorted(grades)},
        "queries_without_relevant": sum(max(of.values()) < 1 for of in qrels.values()),
    }


def _check_beir_qrels(path: Path, report: Report) -> None:
    rows = beir.qrel_rows(open_lines(path), file=report.file, problems=report.problems)
    report.facts = _qrels_facts(_by_query(rows))


def _by_query(rows: Iterable[beir.QrelRow]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for row in rows:
        qrels.setdefault(row.qid, {})[row.docid] = row.grade
    return qrels


# --- BEIR ----------------------------------------------------------------------------------------


def _check_corpus(path: Path, report: Report) -> None:
    rows = beir.corpus_rows(open_lines(path), file=report.file, problems=report.problems)
    report.facts = {"documents": len(_corpus_ids(rows, report.file, report.problems))}


def _check_queries(path: Path, report: Report) -> None:
    rows = beir.query_rows(open_lines(path), file=report.file, problems=report.problems)
    report.facts = {"queries": len(_query_ids(rows, report.file, report.problems))}


def _check_folder(path: Path, report: Report) -> None:
    """Every file of a folder or zip, and whether their ids belong together."""
    if report.kind == "beir":
        beir.open_beir(path).source.close()  # which says what is missing where nothing is there
    problems = report.problems
    limit = None if problems.limit == UNLIMITED else problems.limit
    looked = lint_folder(path, formats=formats_like(report.kind, path), limit=limit)
    for finding in [*looked.findings, *_leaks(path, looked)]:
        file, line = _place_of(finding.where)
        text = f"{finding.message} {finding.advice}"
        if finding.severity is Severity.ERROR:
            problems.add(file, line, text)
        elif finding.severity is Severity.WARNING:
            problems.warn(file, line, text)
        else:
            report.notes.append(Problem(file, line, text))
    report.is_cut = looked.is_cut
    report.facts = {
        "documents": looked.n_documents,
        "queries": looked.n_queries,
        "splits": {split: _split_facts(rows) for split, rows in looked.splits.items()},
    }


def _leaks(path: Path, looked: FolderReport) -> list[Finding]:
    """What leaks between the splits of a BEIR folder that can be read to its end."""
    if "beir" not in looked.formats or len(looked.splits) < 2 or looked.is_cut:
        return []
    from benchwright.leaks.folders import folder_leaks  # scipy, which few checks need

    return folder_leaks(path)


def _place_of(where: str) -> tuple[str, int]:
    file, _, line = where.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (where, 0)


def _split_facts(split_rows: SplitHeld) -> Facts:
    return {
        "queries": len(split_rows.rows),
        "rows": split_rows.grades.total(),
        "documents_per_query": _spread(list(split_rows.rows.values())),
        "grades": {str(grade): split_rows.grades[grade] for grade in sorted(split_rows.grades)},
        "queries_without_relevant": sum(best < 1 for best in split_rows.best.values()),
    }


def _corpus_ids(rows: Iterable[beir.CorpusRow], file: str, problems: Problems) -> set[str]:
    first: dict[str, int] = {}
    for row in rows:
        line = first.setdefault(row.docid, row.line)
        if line != row.line:
            text = f"document '{row.docid}' was on line {line} already. Keep one of the two."
            problems.add(file, row.line, text)
        else:
            _warn_of_hazard(row.docid, file, row.line, problems)
    return set(first)


def _query_ids(rows: Iterable[beir.QueryRow], file: str, problems: Problems) -> set[str]:
    ids = set()
    for row in rows:
        ids.add(row.qid)
        _warn_of_hazard(row.qid, file, row.line, problems)
    return ids


def _warn_of_hazard(name: str, file: str, line: int, problems: Problems) -> None:
    if reason := id_hazard(name):
        problems.warn(file, line, f"_id '{name}': {reason}. Choose another id, such as 'd-{name}'.")


KINDS: Mapping[str, Callable[[Path, Report], None]] = MappingProxyType(
    {
        "run": _check_run,
        "qrels": _check_qrels,
        **dict.fromkeys(FORMATS, _check_folder),
        "beir-qrels": _check_beir_qrels,
        "corpus": _check_corpus,
        "queries": _check_queries,
    }
)


def _spread(sizes: list[int]) -> Facts:
    if not sizes:
        return {"least": 0, "median": 0, "most": 0}
    return {"least": min(sizes), "median": median_low(sizes), "most": max(sizes)}


def _document(qid: bytes, docid: bytes) -> str:
    return f"document '{as_shown(docid)}' of query '{as_shown(qid)}'"


def _some(names: Iterable[str]) -> str:
    """Three of them, for a message."""
    listed = list(islice(names, SHOWN_IDS + 1))
    return ", ".join(f"'{name}'" for name in listed[:SHOWN_IDS]) + ", …" * (len(listed) > SHOWN_IDS)
