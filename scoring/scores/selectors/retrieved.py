"""One query of one run: what was retrieved, beside what was to be found."""

from dataclasses import dataclass
from typing import Any

from benchmarks_app.common.selectors.reading import benchmark_documents, release_file_path, run_path
from benchmarks_app.models import Release, Run

DEPTH = 100


@dataclass(frozen=True)
class ShownDocument:
    """A document of a query; `rank` is None where it was not retrieved, `grade` where not judged.

    A grade below 0 was pooled and is not judged; it is None here.
    """

    docid: str
    rank: int | None
    score: float | None
    grade: int | None
    grade_name: str
    is_relevant: bool
    title: str
    text: str


@dataclass(frozen=True)
class Retrieved:
    """`found` by rank, down to `depth`; `missing` are the relevant ones that are not among them.

    Missing ones stand by grade, the highest first; one that was retrieved deeper has its rank.
    """

    qid: str
    found: list[ShownDocument]
    missing: list[ShownDocument]
    n_retrieved: int
    n_relevant: int
    n_judged: int
    depth: int


def retrieved(*, run: Run, release: Release, qid: str, depth: int = DEPTH) -> Retrieved:
    """What a run has for a query, and what a release says of it.

    The grades of hidden splits are told too: who may not see these is not shown this.
    """
    ranking = _ranking(run, qid)
    grades = {docid: grade for docid, grade in _grades(release, qid).items() if grade >= 0}
    scale = {grade["value"]: grade for grade in release.manifest.get("grades") or ()}
    top, deeper = ranking[:depth], {docid: row for row in ranking[depth:] for docid in row[:1]}
    there = {docid for docid, _, _ in top}
    relevant = [docid for docid, grade in grades.items() if _is_relevant(scale, grade)]
    absent = sorted((d for d in relevant if d not in there), key=lambda d: (-grades[d], d.encode()))
    texts = benchmark_documents(release.benchmark, there | set(absent))

    def document(docid: str, rank: int | None, score: float | None) -> ShownDocument:
        grade, stored = grades.get(docid), texts.get(docid)
        return ShownDocument(
            docid=docid,
            rank=rank,
            score=score,
            grade=grade,
            grade_name=scale.get(grade, {}).get("name", ""),
            is_relevant=grade is not None and _is_relevant(scale, grade),
            title=stored.title if stored else "",
            text=stored.text if stored else "",
        )

    return Retrieved(
        qid=qid,
        found=[document(*row) for row in top],
        missing=[document(*deeper.get(docid, (docid, None, None))) for docid in absent],
        n_retrieved=len(ranking),
        n_relevant=len(relevant),
        n_judged=len(grades),
        depth=depth,
    )


def _is_relevant(scale: dict[int, dict[str, Any]], grade: int) -> bool:
    return scale[grade]["is_relevant"] if grade in scale else grade >= 1


def _ranking(run: Run, qid: str) -> list[tuple[str, int, float]]:
    """Document, rank and score, by rank."""
    import polars as pl

    # Rows are in the order of query ids: the other row groups are not read.
    rows = pl.scan_parquet(run_path(run)).filter(pl.col("qid") == qid)
    return rows.select("docid", "rank", "score").sort("rank").collect().rows()


def _grades(release: Release, qid: str) -> dict[str, int]:
    """The grades of one query, without the other rows of the release's files being kept."""
    grades: dict[str, int] = {}
    start = qid.encode()
    with release_file_path(release, "qrels.trec").open("rb") as stream:
        for line in stream:
            if line.startswith(start):
                asked, _, docid, grade = line.decode().split()
                if asked == qid:
                    grades[docid] = int(grade)
    for split in release.hidden_splits:
        with release_file_path(release, f"hidden/{split}.tsv").open("rb") as stream:
            for line in stream:
                if line.startswith(start + b"\t"):
                    _, docid, grade = line.decode().rstrip("\n").split("\t")
                    grades[docid] = int(grade)
    return grades
