"""`benchwright submit`: a run sent to a site, and what came of it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.main import FAILED, Command, option
from benchwright.cli.sites.asking import Line, asked, server_option
from benchwright.cli.sites.benchmarks.submit_embeddings import (
    embedding_options,
    refuse_mixture,
    send,
    shown,
)
from benchwright.errors import FileProblemsError, Problem
from benchwright.runs.facts import IR_METADATA

if TYPE_CHECKING:
    from benchwright.client import Client, Submission

EXAMPLES = (
    "benchwright submit bm25.run --benchmark stdlib --wait",
    "benchwright submit dense.run.gz --benchmark stdlib --name dense-v2 --metadata dense.yaml",
    "benchwright submit bm25.run --benchmark stdlib --wait --format json > result.json",
    "benchwright submit --query-embeddings q.npz --document-embeddings d.npz --benchmark stdlib",
)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    cls=Command,
    name="submit",
    examples=EXAMPLES,
    where_fields={"server": "site", "benchmark": "benchmark"},
    short_help="Send a run to a site, and see how it scores.",
)
@click.argument("run", type=FILE, required=False)
@option("--benchmark", required=True, metavar="SLUG", group="Where", help="The benchmark.")
@option("--phase", metavar="NAME", group="Where", help="Where several are open: which one.")
@server_option()
@option("--name", metavar="NAME", group="The run", help="By default the name of the file.")
@option("--description", metavar="TEXT", group="The run", help="A sentence on the system.")
@option(
    "--metadata",
    type=FILE,
    metavar="FILE",
    group="The run",
    help="What is known of the system, as YAML or JSON; docs/submitting.md names the fields.",
)
@option("--team", metavar="NAME", group="The run", help="A team of yours that submits it.")
@option(
    "--visibility",
    metavar="WHO",
    group="The run",
    help="Who may see the run; by default the members of the benchmark.",
)
@option("--public-from", metavar="DATE", group="The run", help="When everybody may see it.")
@option("--anonymous-until", metavar="DATE", group="The run", help="Until when nobody is named.")
@option(
    "--aggregation",
    metavar="RULE",
    group="The run",
    help="How a run of passages becomes one of documents, where documents are measured.",
)
@embedding_options
@option("--wait", is_flag=True, group="Result", help="Wait until it is scored, and show it.")
@option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    group="Result",
    help="With --wait: how long at most. It goes on at the site all the same.",
)
@option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    group="Result",
    help="A table to look at, or the site's answer for a program.",
)
def command(
    run: Path | None,
    benchmark: str,
    server: str | None,
    metadata: Path | None,
    wait: bool,
    timeout: float | None,
    form: str,
    **more: Any,
) -> None:
    """Send RUN to a benchmark of a site.

    A run is TREC's, MS MARCO's three columns, JSON or Parquet; also as .gz or .zst. It is checked
    before it is scored: what is wrong of it is said line by line, and takes no place of the day.
    The same file again changes nothing and gives what came of it before. Ends with 1 where the run
    is invalid.

    In place of RUN, vectors: the site searches them exactly and scores what they find.
    """
    refuse_mixture(run, more)
    known = read_metadata(metadata) if metadata else None
    with asked(server, needs_token=True) as client:
        with Line() as line:
            sent = send(
                client,
                benchmark,
                run,
                metadata=known,
                tell=lambda done, total: line.bytes(f"Sending {shown(run, more)}", done, total),
                **{name: value for name, value in more.items() if value},
            )
        if sent.is_earlier:
            click.echo("These bytes were submitted before; this is that submission.", err=True)
        if wait and not sent.is_ended:
            sent = _waited(client, benchmark, sent, timeout)
    click.echo("\n".join(_told(sent, form)))
    _end(sent)


def _waited(client: "Client", slug: str, sent: "Submission", timeout: float | None) -> "Submission":
    state = ""

    def tell(now: "Submission") -> None:
        nonlocal state
        status = f" {now.percent}% {now.message}".rstrip() if now.percent else ""
        line.tell(f"{now.name}: {now.state}{status} …", is_new=now.state != state)
        state = now.state

    with Line() as line:
        return client.wait(slug, sent.id, seconds=timeout, tell=tell)


def _end(sent: "Submission") -> None:
    """Where it will not be scored, say why on standard error and end with 1."""
    if sent.state not in ("invalid", "failed"):
        return
    for problem in sent.said_problems:
        click.echo(str(problem), err=True)
    if sent.state == "invalid":
        click.echo("Error: the run is invalid. Mend it and submit it again.", err=True)
    else:
        click.echo("Error: scoring failed, which is the site's fault. Submit it again.", err=True)
    raise click.exceptions.Exit(FAILED)


# --- the result ---------------------------------------------------------------------------------


def _told(sent: "Submission", form: str) -> Iterator[str]:
    if form == "json":
        yield json.dumps(dict(sent.facts), indent=2, ensure_ascii=False)
        return
    release = f", release {sent.release}" if sent.release else ""
    yield f"{sent.name} ({sent.id}): {sent.state}{release}"
    if sent.is_scored:
        yield from _scores(sent)
    elif not sent.is_ended:
        yield "  Not scored yet: the same command with --wait shows its scores."
    yield from sent.held
    yield from sent.notes
    if sent.url:
        yield sent.url


def _scores(sent: "Submission") -> Iterator[str]:
    width = max(map(len, sent.scores), default=0)
    for measure, mean in sent.scores.items():
        yield f"  {measure:<{width}}  {_mean(mean)}{_interval(sent.intervals.get(measure))}"
    for measure, mean in sent.split_scores.items():
        yield f"  {measure:<{width}}  {_mean(mean)}  on {sent.split} alone"


def _mean(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _interval(ends: Sequence[float] | None) -> str:
    return f"  [{ends[0]:.4f}, {ends[1]:.4f}]" if ends and len(ends) == 2 else ""


# --- metadata -----------------------------------------------------------------------------------


def read_metadata(path: Path) -> dict[str, Any]:
    """Return what a YAML or JSON file says of a system; ir_metadata as such.

    Raises
    ------
    FileProblemsError
        If it is neither, or holds no fields; names the line.
    """
    import yaml

    try:
        # JSON is YAML; dates stay what was written.
        metadata = yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise _unreadable(path, line, str(error.problem)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _unreadable(path, 0, str(error)) from None
    if not isinstance(metadata, dict):
        raise _unreadable(path, 0, "it holds no fields; expected lines such as 'system: bm25'")
    is_tree = any(isinstance(value, dict) for value in metadata.values())
    return {IR_METADATA: metadata} if is_tree and IR_METADATA not in metadata else metadata


def _unreadable(path: Path, line: int, why: str) -> FileProblemsError:
    return FileProblemsError(problems=[Problem(str(path), line, why)])
