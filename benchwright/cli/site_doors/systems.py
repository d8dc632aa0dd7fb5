"""`retrieve`, `ask`, `ann` and `contrastive` on a site: runs that it makes, and what they keep."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli.doors import declared, given
from benchwright.cli.main import option
from benchwright.cli.parameters import text_of
from benchwright.cli.sites.asking import Asked, door, sent
from benchwright.recipes import systems
from benchwright.texts.counting import number_beside

# --- retrieve ------------------------------------------------------------------------------------

RETRIEVE_KEPT = ("language", "depth", "shards")
"""What `retrieve` takes of files, too; the API has the same names."""

RETRIEVE_THERE = declared(
    option(
        "--system",
        "systems",
        multiple=True,
        metavar="NAME",
        group="System",
        help="A system of the site; may be repeated. By default the lexical ones.",
    )
)


@door
def retrieve_on_site(site: Asked, systems: tuple[str, ...], **chosen: Any) -> None:
    """Have the site's own systems search the benchmark's corpus for its queries, a run each.

    The corpus and the queries are the benchmark's. A run that is there already, and not stale, is
    left alone.
    """
    site.check(systems, [baseline["name"] for baseline in site.ask("GET", "baselines/")], "system")
    body = sent(given(click.get_current_context(), *RETRIEVE_KEPT))
    if systems:
        body["systems"] = list(systems)
    jobs = [site.done(job) for job in site.ask("POST", "baselines/", json=body)]
    lines = [line for job in jobs for line in (job["result"] or {}).get("made", ())]
    site.say(jobs, [f"made {line}" for line in lines] or ["nothing to make: the runs are there"])


# --- ask -----------------------------------------------------------------------------------------

ASK_DESCRIBED = (
    *("preset", "template", "method", "headers", "k", "results", "docid", "score"),
    *(parameter.name for parameter in systems.PACE),
)
"""What `ask` takes of an endpoint, on files and on a site."""

ASK_KEPT = (*ASK_DESCRIBED, systems.MAY_FAIL.name)
ASK_THERE = declared(
    click.argument("system", metavar="SYSTEM|URL"),
    option("--name", metavar="NAME", group="What is asked", help="Of the system, with a URL."),
    option("--run", metavar="NAME", group="Run", help="Of the run; by default the system's."),
    option("--split", metavar="SPLIT", group="Run", help="Ask the queries of a split alone."),
    option("--release", metavar="VERSION", group="Run", help="Ask the queries of a release."),
)


@door
def ask_on_site(site: Asked, system: str, name: str | None, **chosen: Any) -> None:
    """Have the site ask a live system every query of the benchmark; its answers become a run.

    SYSTEM is the name of one that is described there. A URL is described first, and kept under
    --name; $VARIABLES of its headers are of the site's environment.
    """
    ctx = click.get_current_context()
    if system.startswith(("http://", "https://")):
        if not name:
            message = f"{system} is to be kept as a live system. Name it with --name."
            raise click.UsageError(message)
        row = site.ask("POST", "live/", json=_described(ctx, system, name))
    else:
        misfits = [name for name in (*ASK_DESCRIBED, "name") if given(ctx, name)]
        if misfits:
            option_names = {
                parameter.name: parameter.opts[0] for parameter in ctx.command.get_params(ctx)
            }
            message = (
                f"{option_names[misfits[0]]} describes a URL; '{system}' is described already."
            )
            raise click.UsageError(message)
        row = site.named("live/", system, "live system")
    body = sent(given(ctx, "run", "split", "release", systems.MAY_FAIL.name))
    site.say_made(site.done(site.ask("POST", f"live/{row['id']}/ask/", json=body)), "made")


def _described(ctx: click.Context, url: str, name: str) -> dict[str, Any]:
    """The live system that the options describe."""
    from benchwright.live.presets import PRESETS

    chosen, preset = ctx.params, PRESETS[ctx.params["preset"]]
    described = {
        **preset.fields(),
        **sent(given(ctx, "k", *(parameter.name for parameter in systems.PACE))),
        **sent({"method": chosen["method"], "score_path": chosen["score"]}),
        **sent({"results_path": chosen["results"], "id_path": chosen["docid"]}),
    }
    if chosen["template"]:
        described["template"] = text_of(chosen["template"])
    return {**described, "name": name, "url": url, "headers": "\n".join(chosen["headers"])}


# --- ann -----------------------------------------------------------------------------------------

ANN_KEPT = ("k", "tolerance", "fail_below")
ANN_THERE = declared(click.argument("exact"), click.argument("approximate"))


@door
def ann_on_site(
    site: Asked, exact: str, approximate: str, fail_below: float | None, **chosen: Any
) -> None:
    """Compare a run of an APPROXIMATE index with one of EXACT search, both by their names there."""
    runs = {"exact": exact, "approximate": approximate}
    # By their numbers, which no name is taken for.
    ids = {which: site.named("runs/", name, "run")["id"] for which, name in runs.items()}
    question = {**ids, **chosen}
    recall = site.ask("GET", "ann/", params=question)
    site.say(recall, _recall_lines(recall))
    if fail_below is not None and recall["recall"] < fail_below:
        click.echo(f"recall@{recall['k']} is below {fail_below:g}.", err=True)
        click.get_current_context().exit(1)


def _recall_lines(recall: Mapping[str, Any]) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    columns = ("queries", "n", "recall", "low", "high", "loss", "low", "high")
    rows = []
    for row in recall["rows"]:
        estimates = [row[name] or {} for name in ("recall", "loss")]
        numbers = [of.get(end) for of in estimates for end in ("mean", "low", "high")]
        rows.append([row["slice"] or "all", f"{row['n']:,}", *map(shown, numbers)])
    yield plain(Table(columns, rows, title=f"recall@{recall['k']}, loss in nDCG@10"))
    for query in recall["worst"]:
        missed = " ".join(query["missed"][:3])
        yield f"{query['query']}  {shown(query['recall'])}  {missed}".rstrip()
    where = "at or above" if recall["recall"] >= recall["usual_baseline"] else "below"
    usual = f"the usual {recall['usual_baseline']:g}"
    mean = number_beside(recall["recall"], recall["usual_baseline"])
    yield f"recall@{recall['k']} {mean}: {where} {usual}."


def shown(value: float | None) -> str:
    """A number of the site's as a table has it."""
    return "-" if value is None else f"{value:.4f}"


# --- contrastive ---------------------------------------------------------------------------------

CONTRASTIVE_KEPT = ("z1", "z2", "normalize", "ties", "ids", "slices")
CONTRASTIVE_THERE = declared(
    option("--name", metavar="NAME", group="Pairs", help="By default that of the first file."),
    option("--description", metavar="TEXT", group="Pairs", help="A sentence on what they are."),
    option(
        "--slices-of-benchmark",
        "takes_own_slices",
        is_flag=True,
        group="Pairs",
        help="Show the benchmark's slices, where ids are ids of its queries.",
    ),
    option("--visibility", metavar="WHO", group="Pairs", help="Who may see them."),
    option("--team", metavar="NAME", group="Pairs", help="A team of yours whose they are."),
)


@door
def contrastive_on_site(site: Asked, z1: Path, z2: Path, **chosen: Any) -> None:
    """Send two matrices of embeddings, Z1 and Z2, to be measured and kept by the site.

    Accuracy at every k, both ways, stays with the benchmark under --name.
    """
    files = {"z1": z1, "z2": z2, "ids": chosen["ids"], "slices": chosen["slices"]}
    names = ("name", "description", "takes_own_slices", "visibility", "team", "normalize", "ties")
    fields = {"name": z1.stem, **sent(given(click.get_current_context(), *names))}
    pair = site.send("contrastive/", files, fields)
    if pair["job"]:
        site.done(site.client.job(pair["job"]))
    pair = site.ask("GET", f"contrastive/{pair['id']}/")
    site.say(pair, _accuracies(pair))


def _accuracies(pair: Mapping[str, Any]) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    parts: Sequence[Mapping[str, Any]] = pair["parts"]
    columns = ["pairs", "n", *(f"acc@{of['k']}" for of in parts[0]["accuracy"]), "MRR"]
    rows = [
        [
            part["name"] or "all",
            f"{part['n']:,}",
            *(shown(of["mean"]) for of in part["accuracy"]),
            shown(part["mrr"]["mean"]),
        ]
        for part in parts
    ]
    yield plain(Table(columns, rows, title=f"{pair['name']}: both directions"))
    yield from pair["notes"]
    yield str(pair["url"])


# --- reusability ---------------------------------------------------------------------------------

REUSABILITY_THERE = declared(
    option(
        "--release",
        metavar="VERSION",
        group="Pool",
        help="Such as 1.2.0; by default the newest in force.",
    )
)


@door
def reusability_on_site(site: Asked, release: str | None) -> None:
    """Leave each pooled group out of a release's judgments, and score it without them.

    Which runs were pooled, how deep and by which teams, the site knows.
    """
    treatment = site.ask("GET", f"releases/{site.release(release)}/reusability/")
    site.say(treatment, _treatments(treatment))


def _treatments(treatment: Mapping[str, Any]) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    columns = ("run", "ndcg", "without", "shift", "run alone", "judged", "own labels")
    names = ("ndcg", "without", "shift", "shift_alone", "judged")
    rows = [
        [system["run"], *(shown(system[name]) for name in names), str(system["n_unique"])]
        for system in treatment["systems"]
    ]
    title = f"release {treatment['release']}, left out of the judgments, nDCG@10"
    yield plain(Table(columns, rows, title=title))
    for name in ("mean_shift", "worst_shift", "mean_judged", "least_judged", "tau"):
        yield f"{name.replace('_', ' ')}: {shown(treatment[name])}"
    for pair in treatment["copies"]:
        yield f"{pair['run_a']} and {pair['run_b']} rank nearly the same (RBO {pair['rbo']:.2f})."
    if treatment["is_assumed"]:
        yield "Nobody wrote down which runs were pooled: all count as pooled to depth 10."
