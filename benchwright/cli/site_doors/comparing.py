"""`benchwright compare` on a site: its runs on a release."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from benchwright.cli.doors import declared
from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, door, sent

KEPT = ("baseline",)
"""What the command takes of files, too."""

THERE = declared(
    click.argument("runs", nargs=-1, required=True),
    option(
        "--release",
        metavar="VERSION",
        group="Board",
        help="Such as 1.2.0; by default the newest in force.",
    ),
    option(
        *("-m", "--measure"),
        metavar="NAME",
        default="nDCG@10",
        show_default=True,
        group="Board",
        help="What they are compared by.",
    ),
)


@door
def on_site(site: Asked, runs: tuple[str, ...], baseline: str | None, **chosen: Any) -> None:
    """Compare two or more RUNS of the site, by their names, on a release."""
    if len(runs) < 2:
        text = "One run is named; expected two or more. Its scores are on the leaderboard."
        raise click.UsageError(text)
    rows = site.client.rows(f"benchmarks/{site.slug}/runs/")
    ids = {str(row["name"]): str(row["id"]) for row in rows}
    site.check([*runs, *filter(None, [baseline])], list(ids), "run")
    release = chosen["release"] or site.version or None
    body = sent({"measure": chosen["measure"], "release": release})
    if baseline:
        body["baseline"] = ids[baseline]
    named = [ids[run] for run in runs]
    started = site.ask("POST", "comparisons/", json={**body, "runs": named})
    if started["job"]:
        site.done(started["job"])
    answer = site.ask("GET", "comparisons/", params={**body, "runs": ",".join(named)})
    site.say(answer, _lines(answer))


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Means, differences with their intervals, and how far to trust them."""
    names = {str(run["id"]): run["name"] for run in answer["runs"]}
    comparison, width = answer["comparison"], max(map(len, names.values()))
    yield f"{answer['measure']} on release {answer['release']}"
    for row in _of(answer, comparison["summaries"]):
        yield f"  {names[row['run']]:<{width}}  {_shown(row['mean'])}"
    for pair in _of(answer, comparison["pairs"]):
        ends = (_shown(pair["interval"][end]) for end in ("low", "high"))
        which = f"{names[pair['run']]} less {names[pair['reference']]}"
        yield f"{which}: {_shown(pair['difference'])}  [{', '.join(ends)}]  p {_shown(pair['p'])}"
    yield from answer["comparability"]["reasons"]
    for pattern in answer["patterns"]:
        yield f"{pattern['title']}: {pattern['advice']}"


def _of(answer: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of the measure over all queries."""
    return [row for row in rows if (row["measure"], row["slice"]) == (answer["measure"], "all")]


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
