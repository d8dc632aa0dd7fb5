"""`judge`, `calibrate` and `contextual` on a site: a judge of its own, what it costs, its worth."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from benchwright.cli.doors import declared, given
from benchwright.cli.main import option
from benchwright.cli.parameters import FILE, parameter_option, text_of
from benchwright.cli.site_doors.systems import shown
from benchwright.cli.sites.asking import Asked, Line, door, sent
from benchwright.files.sources import files_in
from benchwright.recipes import campaigns, contextual
from benchwright.texts.counting import counted

JUDGES = "contextual/judges/"
UNDER_WAY = ("draft", "queued", "running")

# --- judge ---------------------------------------------------------------------------------------

JUDGE_KEPT = ("template", "dry_run")
JUDGE_THERE = declared(
    click.argument("pool"),
    option("--judge", metavar="NAME", group="Judge", help="A judge of the benchmark, by its name."),
    option(
        "--go-on",
        metavar="CAMPAIGN",
        group="Judge",
        help="Go on with a campaign that stopped, in place of a new one.",
    ),
    option("--failed", is_flag=True, group="Judge", help="With --go-on: ask again what failed."),
    option("--name", metavar="NAME", group="Judge", help="Of the campaign."),
    *(parameter_option(parameter, group="Documents") for parameter in campaigns.CAMPAIGN),
    option(
        "--run",
        "runs",
        multiple=True,
        metavar="NAME",
        group="Documents",
        help="With --documents unjudged: whose; may be repeated.",
    ),
    option(
        "--reason",
        "conflict_reason",
        metavar="TEXT",
        group="Judge",
        help="Why the judge may grade for runs of its own family.",
    ),
)


@door
def judge_on_site(
    site: Asked, pool: str, judge: str | None, go_on: str | None, dry_run: bool, **chosen: Any
) -> None:
    """Have a judge of the benchmark grade documents of POOL, as a campaign of the site.

    The prompt is that of the site, or --template. These are a machine's grades: hold them against
    people's with `calibrate`. Ends with 1 where the campaign stops before its end, or a document
    could not be graded.
    """
    if bool(judge) == bool(go_on):
        message = "Give --judge for a new campaign, or --go-on for one that is there."
        raise click.UsageError(message)
    pool_row = site.named("pools/", pool, "pool")
    if go_on:
        campaign = site.named("campaigns/", go_on, "campaign")
    else:
        site.check([str(judge)], site.names(JUDGES), "judge")
        campaign = site.ask("POST", "campaigns/", json=_drafted(pool_row["id"], str(judge), chosen))
    where = f"campaigns/{campaign['id']}/"
    if dry_run:
        campaign = site.ask("GET", where)
        if judge:
            site.ask("DELETE", where)
        site.say(campaign["estimate"], _estimate_lines(campaign["estimate"], "documents"))
        return
    cap = {"cost_cap": chosen["cost_cap"]} if go_on and chosen["cost_cap"] else {}
    site.ask("POST", f"{where}start/", json={**cap, "with_failed": chosen["failed"]})
    ended = _ended(site, where, f"judge {pool} --go-on '{campaign['name']}'")
    site.say(ended, _campaign_lines(ended))
    failed = site.ask("GET", f"{where}failed/") if ended["n_failed"] else []
    for pair in (failed if isinstance(failed, list) else failed["results"])[:20]:
        click.echo(f"{pair['query']} {pair['document']}: {pair['error']}", err=True)
    _end(ended)


def _drafted(pool: int, judge: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    ctx = click.get_current_context()
    names = (
        *(parameter.name for parameter in campaigns.CAMPAIGN),
        "name",
        "runs",
        "conflict_reason",
    )
    body = {**sent(given(ctx, *names)), "pool": pool, "judge": judge}
    if chosen["template"]:
        body["template"] = text_of(chosen["template"])
    return body


def _ended(site: Asked, where: str, later: str) -> dict[str, Any]:
    """What grades or judges, once it is at its end, with a line of how far it is."""

    def tell(line: Line, now: Mapping[str, Any]) -> None:
        n = now.get("n_pairs") or now.get("n_cases") or 0
        done = now.get("n_graded", now.get("n_scored")) or 0
        failed = f", {now['n_failed']:,} failed" if now["n_failed"] else ""
        line.tell(f"{now.get('name') or now['judge']}: {done:,} of {n:,}{failed} …")

    ended = site.waited(
        lambda line: site.client.until(
            lambda: site.ask("GET", where),
            is_ended=lambda now: now["state"] not in UNDER_WAY,
            tell=lambda now: tell(line, now),
        ),
        later,
    )
    return dict(ended)


def _end(ended: Mapping[str, Any]) -> None:
    """Where it stopped before its end, or something failed, say so and end with 1."""
    if ended["state"] != "done":
        why = ended["error"] or f"it is '{ended['state']}'"
        message = f"It stopped before its end: {why}"
        raise click.ClickException(message)
    if ended["n_failed"]:
        raise click.exceptions.Exit(1)


def _campaign_lines(campaign: Mapping[str, Any]) -> Iterator[str]:
    yield f"campaign {campaign['name']}: {campaign['state']}"
    n_left = campaign["n_pairs"] - campaign["n_graded"] - campaign["n_failed"]
    counts = f"{campaign['n_graded']:,} graded, {campaign['n_failed']:,} failed, {n_left:,} left"
    yield f"{counts}; cost {_cost(campaign['cost'])}"


def _estimate_lines(estimate: Mapping[str, Any], what: str) -> Iterator[str]:
    n = estimate.get("n_pairs", estimate.get("n_cases"))
    tokens = f"{estimate['tokens_in']:,} tokens in, {estimate['tokens_out']:,} out"
    yield f"{n:,} {what}, {tokens}; cost {_cost(estimate['cost'])}"


def _cost(cost: float | None) -> str:
    return "unknown: the judge has no prices" if cost is None else f"{cost:.4f}"


# --- calibrate -----------------------------------------------------------------------------------

CALIBRATE_THERE = declared(click.argument("campaign"))


@door
def calibrate_on_site(site: Asked, campaign: str) -> None:
    """Hold the grades of CAMPAIGN against people's, on what was drawn and people judged, too.

    With --json the whole of it, as it is on files.
    """
    row = site.named("campaigns/", campaign, "campaign")
    calibration = site.ask("GET", f"campaigns/{row['id']}/calibration/")
    lines = [
        calibration["verdict"],
        f"{calibration['n_shared']:,} of {calibration['n_drawn']:,} drawn are graded twice",
    ]
    if calibration["improvement"]:
        lines.append(calibration["improvement"]["sentence"])
    site.say(calibration, lines)


# --- contextual ----------------------------------------------------------------------------------

CONTEXTUAL_KEPT = ("threshold", "strict", "no_reason", "images")
CONTEXTUAL_THERE = declared(
    click.argument("cases", metavar="CASES"),
    option(
        "--judge",
        metavar="NAME",
        group="Judge",
        help="A judge of the benchmark, by its name; without one the cases are kept, not judged.",
    ),
    option(
        "--of-run",
        metavar="RUN",
        group="Cases",
        help="Make CASES of a run of the site: its first documents are the nodes.",
    ),
    *(parameter_option(parameter, group="Cases") for parameter in contextual.CASES_OF_RUN),
    option("--expected", metavar="COLUMN", group="Cases", help="Where queries say what is wanted."),
    option("--slice", metavar="NAME", group="Cases", help="Queries, or cases, of a slice alone."),
    *(
        parameter_option(parameter, group="Judge")
        for parameter in contextual.EVALUATION
        if parameter is not contextual.THRESHOLD
    ),
    option("--dry-run", is_flag=True, group="Output", help="Say what it would take, ask nobody."),
)


@door
def contextual_on_site(
    site: Asked, cases: str, judge: str | None, dry_run: bool, **chosen: Any
) -> None:
    """Ask a judge of the benchmark which nodes helped, for every case of CASES.

    CASES is a file that is sent to the site, the name of a set that is there, or, with --of-run,
    that of a set that is made. Ends with 1 where it stops before its end, or a case could not be
    judged.
    """
    rows = site.client.rows(f"benchmarks/{site.slug}/{JUDGES}")
    judges = {row["name"]: row["id"] for row in rows}
    if judge:
        site.check([judge], list(judges), "judge")
    lines, row = _case_set(site, cases, chosen)
    if judge is None:
        site.say(
            row,
            [*lines, f"{row['name']}: {counted(row['n_cases'], 'case')}. Judge them with --judge"],
        )
        return
    if dry_run:
        question = {"judge": judges[judge], "reasons": not chosen["no_reason"]}
        question |= sent({"slice": chosen["slice"], "first": chosen["first"]})
        estimate = site.ask("GET", f"contextual/sets/{row['id']}/estimate/", params=question)
        site.say(estimate, _estimate_lines(estimate, "cases"))
        return
    ctx = click.get_current_context()
    body = sent(given(ctx, "threshold", "strict", "first", "cost_cap"))
    body |= {"case_set": row["id"], "judge": judge, "reasons": not chosen["no_reason"]}
    if chosen["slice"] and not chosen["of_run"]:
        body["slice"] = chosen["slice"]
    evaluation = site.ask("POST", "contextual/evaluations/", json=body)
    where = f"contextual/evaluations/{evaluation['id']}/"
    ended = _ended(site, where, "list evaluations")
    site.say(ended, _mean_lines(ended))
    _end(ended)


def _case_set(
    site: Asked, cases: str, chosen: Mapping[str, Any]
) -> tuple[list[str], Mapping[str, Any]]:
    """The set that is meant, and what was made for it."""
    ctx = click.get_current_context()
    if chosen["of_run"]:
        run = site.named("runs/", chosen["of_run"], "run")
        names = (*(parameter.name for parameter in contextual.CASES_OF_RUN), "expected", "slice")
        body = {"name": cases, **sent(given(ctx, *names))}
        started = site.ask("POST", f"runs/{run['id']}/contextual/", json=body)
        name = cases
    elif Path(cases).is_file():
        name = Path(cases).name.partition(".")[0]
        with _zipped(chosen["images"]) as images:
            files = {"cases": FILE.convert(cases, None, ctx), "images": images}
            started = site.send("contextual/sets/", files, {"name": name})
    else:
        return [], site.named("contextual/sets/", cases, "file here, and no case set")
    job = site.done(site.client.job(started["job"]))
    lines = [f"made {line}" for line in (job["result"] or {}).get("made", ())]
    return lines, site.named("contextual/sets/", name, "case set")


@contextmanager
def _zipped(folder: Path | None) -> Iterator[Path | None]:
    """The pictures of a folder in one zip, as the API takes them together."""
    if folder is None:
        yield None
        return
    from tempfile import TemporaryDirectory
    from zipfile import ZIP_STORED, ZipFile

    with TemporaryDirectory(prefix="benchwright-images-") as place:
        path = Path(place) / f"{folder.resolve().name or 'images'}.zip"
        with ZipFile(path, "w", ZIP_STORED) as pictures:
            for file in files_in(folder):
                pictures.write(file, file.relative_to(folder).as_posix())
        yield path


def _mean_lines(evaluation: Mapping[str, Any]) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    rows = [
        [part["name"] or "all", f"{part['n']:,}"]
        + [shown(part[name]) for name in ("mean", "low", "high", "success_share")]
        for part in (evaluation["overall"], *evaluation["slices"])
    ]
    yield plain(Table(("cases", "n", "mean", "low", "high", "success"), rows))
    yield f"{evaluation['n_failed']:,} failed, {evaluation['n_waiting']:,} left"
