"""`benchwright split` on a site: the queries of a benchmark, by families."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from benchwright.cli.doors import declared, given
from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, door, sent
from benchwright.texts.counting import counted

KEPT = ("mode", "seed", "test_from", "dev_from", "gap_days", "straddling")
"""What the command takes of files, too; the API has the same names."""

THERE = declared(
    option(
        "--qrels",
        metavar="NAME",
        group="Splits",
        help="The set of qrels that says what is relevant.",
    ),
    option(
        "--hide",
        "hidden",
        multiple=True,
        metavar="SPLIT",
        group="Splits",
        help="Hide the grades of a split; may be repeated. Without it nothing changes.",
    ),
    option(
        "--accept-small-slices", "accept_small", is_flag=True, group="Splits", help="As it says."
    ),
    option(
        "--document-date", metavar="KEY", group="By time", help="Key of the documents' metadata."
    ),
    option("--dry-run", is_flag=True, group="Output", help="Say what it would be, change nothing."),
)
NEW = ("qrels", "hidden", "accept_small", "document_date")


@door
def on_site(site: Asked, dry_run: bool, **chosen: Any) -> None:
    """Split the benchmark's queries: families of queries, never single ones."""
    from benchwright.splits.errors import SharesError
    from benchwright.splits.recipe import parse_shares

    ctx = click.get_current_context()
    body = sent(given(ctx, *KEPT, *NEW))
    try:
        body["shares"] = parse_shares(chosen["shares"])
    except SharesError as error:
        raise click.UsageError(str(error)) from error
    if chosen["slice_name"]:
        body["slice"] = chosen["slice_name"]
    if chosen["given"]:
        body["given"] = _given(chosen["given"])
    if dry_run:
        preview = site.ask("POST", "splits/preview/", json=body)
        site.say(preview, _sizes(preview))
        return
    answer = site.ask("POST", "splits/", json=body)
    if "kind" in answer:  # a job, of a large benchmark
        site.done(answer)
        answer = site.ask("GET", "splits/")
    site.say(answer, _sizes(answer))


def _given(path: Path) -> dict[str, str]:
    from benchwright.errors import Problems
    from benchwright.files.sources import open_lines
    from benchwright.splits.given import NO_SPLIT, given_rows

    problems = Problems()
    rows = dict(given_rows(open_lines(path), file=path.name, problems=problems))
    problems.raise_found()
    return {qid: split or NO_SPLIT for qid, split in rows.items()}


def _sizes(plan: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(plan.get("sizes"), Mapping):
        for split, n in plan["sizes"].items():
            yield f"{split}: {counted(n, 'query')}"
    for part in plan.get("splits", ()):
        yield f"{part['name']}: {counted(part['n_queries'], 'query')}"
    if plan.get("n_excluded"):
        yield f"in no split: {counted(plan['n_excluded'], 'query')}"
    if plan.get("hidden_splits"):
        yield f"hidden: {', '.join(plan['hidden_splits'])}"
