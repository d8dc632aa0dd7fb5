"""`benchwright score` on a site: the means that its runs have on a release."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from benchwright.cli.doors import declared
from benchwright.cli.main import option
from benchwright.cli.site_doors.systems import shown
from benchwright.cli.sites.asking import Asked, door, sent
from benchwright.texts.counting import counted

SCORE_KEPT = ("measures",)
"""What the command takes of files, too."""

SCORE_THERE = declared(
    click.argument("runs", nargs=-1),
    option(
        "--release",
        metavar="VERSION",
        group="Measures",
        help="Such as 1.2.0; by default the newest.",
    ),
    option("--slices", "has_slices", is_flag=True, group="Queries", help="Show slices beside all."),
)


@door
def score_on_site(
    site: Asked,
    runs: tuple[str, ...],
    release: str | None,
    measures: Sequence[str],
    has_slices: bool,
) -> None:
    """Show the means that RUNS of the site have; where none is named, score what has no scores.

    Every run is scored by the measures of the benchmark as it comes, and by each new release.
    """
    release = site.release(release) if release or site.version else None
    if not runs:
        job = site.ask("POST", "runs/score/", json=sent({"release": release}))
        site.say_made(site.done(job), "scored")
        return
    rows = site.client.rows(f"benchmarks/{site.slug}/runs/")
    ids = {str(row["name"]): row["id"] for row in rows}
    site.check(runs, list(ids), "run")
    answers = [
        site.ask("GET", f"runs/{ids[run]}/scores/", params=sent({"release": release}))
        for run in runs
    ]
    scored_measures = list(dict.fromkeys(row["measure"] for of in answers for row in of["scores"]))
    site.check(measures, scored_measures, "measure of the scored runs")
    for answer in answers:
        answer["scores"] = [
            row
            for row in answer["scores"]
            if (not measures or row["measure"] in measures) and (has_slices or not row["slice"])
        ]
    site.say(answers, _lines(answers))


def _lines(answers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    columns = ("run", "queries", "measure", "mean", "low", "high", "judged")
    rows = [
        [
            of["name"],
            row["slice"] or "all",
            f"{row['measure']}{' (weighted)' if row['is_weighted'] else ''}",
            *(shown(row[name]) for name in ("mean", "low", "high", "judged_share")),
        ]
        for of in answers
        for row in of["scores"]
    ]
    yield plain(Table(columns, rows, left=(0, 1, 2)))
    for of in answers:
        counts = f"{of['n_missing']:,} missing, {of['n_extra']:,} extra"
        yield f"{of['name']} on {of['release']}: {counted(of['n_queries'], 'query')}, {counts}"
        yield from of["notes"]
