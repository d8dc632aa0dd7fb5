"""What `benchwright retrieve` writes and prints."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.files import written
from benchwright.files.encodings import as_bytes, as_text

if TYPE_CHECKING:
    from benchwright.findings import Finding
    from benchwright.retrieval.evaluating import RetrievalScores
    from benchwright.retrieval.from_files import Made
    from benchwright.retrieval.searching import Result

ALL = "all"


def write_results(results: "Iterable[Result]", output: Path | None, tag: str) -> tuple[int, int]:
    """Write a TREC run; returns the queries and how many of them have no result."""
    from benchwright.formats.trec import RunRow, write_run

    counts = [0, 0]

    def rows() -> Iterable[RunRow]:
        for qid, ranking in results:
            counts[0] += 1
            counts[1] += not ranking
            for rank, (docid, score) in enumerate(ranking, start=1):
                yield RunRow(0, as_bytes(qid), as_bytes(docid), score, rank, tag.encode())

    with written(output) as stream:
        stream.writelines(write_run(rows()))
    return counts[0], counts[1]


def tell_findings(findings: "Iterable[Finding]") -> None:
    """Each on its own line of standard error, with what to do."""
    for finding in findings:
        click.echo(
            f"{finding.severity.value}: {finding.where}: {finding.message} {finding.advice}",
            err=True,
        )


def show_scores(
    retrieved: Mapping[str, list[tuple[str, float]]], system: "Made", chosen: Mapping[str, Any]
) -> None:
    """Score the results against the qrels and print a table, or JSON."""
    from benchwright.retrieval.evaluating import evaluate_retrieval

    scores = evaluate_retrieval(
        retrieved,
        _grades(chosen["qrels"]),
        gain=chosen["gain"],
        slices=_slices(chosen["slices"]),
        baseline=rankings_of(chosen["baseline"]) if chosen["baseline"] else None,
        corpus=system.docids,
    )
    scores.facts = system.facts
    tell_findings(scores.findings)
    if chosen["baseline"] and not scores.significance:
        text = "Note: one query has grades; a difference to the baseline needs two or more."
        click.echo(text, err=True)
    if chosen["form"] == "json":
        say_json(scores.as_dict())
    else:
        _show_tables(scores)


def _show_tables(scores: "RetrievalScores") -> None:
    from benchwright.cli.tables import Table, number, say, show_table

    names = [ALL, *scores.slices]
    counts = [scores.n_queries, *(of["n_queries"] for of in scores.slices.values())]
    heads = [f"{name} ({int(n)})" for name, n in zip(names, counts, strict=True)]
    rows = [
        [measure, number(mean), *(number(of[measure]) for of in scores.slices.values())]
        for measure, mean in scores.items()
    ]
    show_table(Table(("measure", *heads), rows, title="means (queries)"))
    if scores.significance:
        say()
        show_table(_significance(scores))


def _significance(scores: "RetrievalScores") -> Any:
    from benchwright.cli.tables import Table, number

    columns = ("measure", "difference", "low", "high", "p (t)", "p (Holm)", "significant")
    rows: Sequence[Sequence[str]] = [
        [
            test.measure,
            *map(number, (test.difference, test.low, test.high, test.p_t, test.p_adjusted)),
            "yes" if test.is_significant else "no",
        ]
        for test in scores.significance
    ]
    return Table(columns, rows, title="difference to the baseline")


def _grades(path: Path) -> dict[str, dict[str, int]]:
    from benchwright.reading import read_qrels

    return {
        as_text(qid): {as_text(docid): grade for docid, grade in documents.items()}
        for qid, documents in read_qrels(path).items()
    }


def rankings_of(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Of each query of a run, the documents and their scores, the best first."""
    from benchwright.reading import ranking
    from benchwright.reading.loading import read_run

    return {
        as_text(qid): [(as_text(row.docid), row.score) for row in ranking.ranked(rows)]
        for qid, rows in read_run(path).items()
    }


def _slices(path: Path | None) -> dict[str, list[str]]:
    if path is None:
        return {}
    from benchwright.formats.side_tables import read_slices

    return {name: list(map(as_text, qids)) for name, qids in read_slices(path).items()}
