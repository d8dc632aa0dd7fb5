"""`benchwright ask`: the run of a search endpoint, asked while it runs."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchmarks_app.cli import Command
from scoring.cli.options import option
from scoring.cli.parameters import FILE

if TYPE_CHECKING:
    from scoring.core.live.asking import Answered, Ask, Endpoint, Failed
    from scoring.core.live.headers import Header

CLEAR_LINE = "\r\x1b[K"
STANDARD = Path("-")
EXAMPLES = (
    "benchwright ask https://search.example.org/docs/_search --queries queries.jsonl "
    "--preset opensearch -o bm25.run",
    "benchwright ask http://localhost:8983/solr/docs/select --queries queries.tsv "
    "--preset solr --rps 5 -o solr.run",
    "benchwright ask https://search.example.org/find --queries queries.jsonl --template body.json "
    "--results data.items --id doc.id --score rank.score --header 'Authorization: Bearer $TOKEN' "
    "-k 50 -o ours.run --latencies ms.tsv",
)


@click.command(
    cls=Command,
    name="ask",
    examples=EXAMPLES,
    short_help="The run of a search endpoint, and how long each query took.",
)
@click.argument("url")
@option(
    "--queries",
    type=FILE,
    required=True,
    metavar="FILE",
    group="What is asked",
    help="JSON lines, TSV, CSV, or a query a line.",
)
@option(
    "--preset",
    type=click.Choice(["opensearch", "solr", "vespa", "json"]),
    default="json",
    show_default=True,
    group="What is asked",
    help="How such servers are asked; what is named below goes before it.",
)
@option(
    "--template",
    type=FILE,
    metavar="FILE",
    group="What is asked",
    help="JSON with {{query}} and {{k}} in it; with --method GET a query string.",
)
@option("--method", type=click.Choice(["POST", "GET"]), group="What is asked", help="Of HTTP.")
@option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    group="What is asked",
    help="May be repeated. Secrets as $VARIABLE, from the environment.",
)
@option(
    "-k",
    "--depth",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    group="What is asked",
    help="Results of a query.",
)
@option("--results", metavar="PATH", group="The answer", help="Path to the results, as hits.hits.")
@option("--id", "docid", metavar="PATH", group="The answer", help="Path to the id in a result.")
@option(
    "--score",
    metavar="PATH",
    group="The answer",
    help="Path to the score in a result; '' where their order is the ranking.",
)
@option(
    "--rps",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    group="Pace",
    help="Requests a second at most, repeated ones included.",
)
@option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    group="Pace",
    help="Requests at a time.",
)
@option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    group="Pace",
    help="Patience for a whole answer.",
)
@option(
    "--retries",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    group="Pace",
    help="Further tries after 429, 5xx, timeouts and broken connections.",
)
@option(
    "--may-fail",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    group="Pace",
    help="Queries that may stay unanswered; with one more no run is written.",
)
@option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    group="Output",
    help="A TREC run; standard output unless given, or -.",
)
@option(
    "--latencies",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    group="Output",
    help="Query and milliseconds as TSV.",
)
@option("--tag", default="live", show_default=True, group="Output", help="Name of the system.")
def command(url: str, queries: Path, **chosen: Any) -> None:
    """Ask the search endpoint at URL every query and write its answers as a run.

    Values are put into the template as JSON values, so that no query can change what is around it.
    Paths lead into the answer: names with dots between them, [*] for every member of a list. An
    answer that cannot be read fails its query; a failed query more than --may-fail ends the command
    with 1, and no run is written. Redirects are not followed.
    """
    from benchmarks_app.core.families.query_files import read_query_texts

    asked = [(one.qid, one.text) for one in read_query_texts(queries)]
    answered, failed = _asked(_endpoint(url, chosen), asked, chosen["may_fail"])
    _write_run([answered[qid] for qid, _ in asked if qid in answered], chosen)
    if chosen["latencies"]:
        _write_latencies(answered, chosen["latencies"])
    _report(answered, failed, len(asked))


def _endpoint(url: str, chosen: Mapping[str, Any]) -> "Endpoint":
    """What is asked; any host and any variable may be named, for it is the caller's own machine."""
    import os

    from scoring.core.live.answers import read_shape
    from scoring.core.live.asking import Endpoint
    from scoring.core.live.connections import ANY_HOST, Server
    from scoring.core.live.headers import Secrets, filled_headers, read_headers
    from scoring.core.live.presets import PRESETS
    from scoring.core.live.templates import read_template

    preset = PRESETS[chosen["preset"]]
    method = chosen["method"] or preset.method
    text = _read_text(chosen["template"]) if chosen["template"] else preset.template
    headers = read_headers("\n".join(chosen["headers"]))
    variables = _variables(headers)
    filled = filled_headers(
        headers,
        address=url,
        secrets=Secrets.of(dict.fromkeys(variables, url)),
        environment=os.environ,
    )
    return Endpoint(
        server=Server(url, private=(ANY_HOST,), timeout=chosen["timeout"]),
        method=method,
        template=read_template(text, method=method),
        shape=read_shape(
            results=chosen["results"] or preset.results_path,
            id=chosen["docid"] or preset.id_path,
            score=preset.score_path if chosen["score"] is None else chosen["score"],
            is_opensearch=preset.kind == "opensearch",
        ),
        k=chosen["depth"],
        requests_per_second=chosen["rps"],
        concurrency=chosen["concurrency"],
        retries=chosen["retries"],
        headers=filled,
        hidden=tuple(os.environ[name].strip() for name in variables),
    )


def _variables(headers: Sequence["Header"]) -> list[str]:
    return [name for header in headers for name in header.variables]


def _read_text(path: Path) -> str:
    return path.read_text("utf-8-sig")


def _asked(
    endpoint: "Endpoint", queries: Sequence["Ask"], may_fail: int
) -> tuple[dict[str, "Answered"], list["Failed"]]:
    from contextlib import closing

    from scoring.core.live.asking import Answered, ask_all
    from scoring.core.live.errors import AskingFailedError

    answered: dict[str, Answered] = {}
    failed: list[Failed] = []
    with closing(ask_all(endpoint, queries)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, Answered):
                answered[outcome.qid] = outcome
            else:
                failed.append(outcome)
            _tell(len(answered), len(failed), len(queries))
            if len(failed) > may_fail:
                raise AskingFailedError(
                    system=endpoint.server.parts.netloc,
                    failed=[(one.qid, one.why) for one in failed],
                    n_asked=len(answered) + len(failed),
                    may_fail=may_fail,
                    is_kept=False,
                )
    return answered, failed


def _tell(n_answered: int, n_failed: int, n: int) -> None:
    if not sys.stderr.isatty():
        return
    told = f"{n_answered + n_failed:,} of {n:,} queries"
    more = f", {n_failed:,} failed" if n_failed else ""
    end = CLEAR_LINE if n_answered + n_failed == n else ""
    sys.stderr.write(f"{CLEAR_LINE}{told}{more}{end}")
    sys.stderr.flush()


def _write_run(answered: Sequence["Answered"], chosen: Mapping[str, Any]) -> None:
    from benchmarks_app.core.formats.trec import RunRow, write_run

    tag = chosen["tag"].encode()
    lines = write_run(
        RunRow(0, one.qid.encode(), docid.encode(), score, rank, tag)
        for one in answered
        for rank, (docid, score) in enumerate(one.reading.results, start=1)
    )
    output: Path | None = chosen["output"]
    if output is None or output == STANDARD:
        sys.stdout.buffer.writelines(lines)
        return
    with output.open("wb") as stream:
        stream.writelines(lines)


def _write_latencies(answered: Mapping[str, "Answered"], path: Path) -> None:
    rows = (f"{qid}\t{one.milliseconds:.3f}\n" for qid, one in answered.items())
    path.write_text("query\tms\n" + "".join(rows), "utf-8")


def _report(answered: Mapping[str, "Answered"], failed: Sequence["Failed"], n_queries: int) -> None:
    from scoring.core.latency import latency_summary, told_ms

    readings = [one.reading for one in answered.values()]
    summary = latency_summary(one.milliseconds for one in answered.values())
    if summary:
        click.echo(
            f"{summary.n:,} of {n_queries:,} queries answered: p50 {told_ms(summary.p50)}, "
            f"p95 {told_ms(summary.p95)}, slowest {told_ms(summary.longest)}",
            err=True,
        )
    for n, what in (
        (sum(not one.results for one in readings), "answered with an empty list"),
        (sum(one.n_repeated for one in readings), "documents given twice; the first place counts"),
        (sum(one.is_unordered for one in readings), "answers not in the order of their scores"),
    ):
        if n:
            click.echo(f"note: {n:,} {what}", err=True)
    for one in failed:
        click.echo(f"failed: query '{one.qid}': {one.why}", err=True)
