"""`benchwright ask`: the run of a search endpoint, asked while it runs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from benchwright.cli.answers import refuse_mixed
from benchwright.cli.doors import Door
from benchwright.cli.main import Command, option
from benchwright.cli.options import JSON, written_option
from benchwright.cli.parameters import FILE, parameter_option, text_of
from benchwright.cli.site_doors import systems
from benchwright.cli.systems.ask_output import (
    Progress,
    kept_beside,
    report,
    write_latencies,
    write_run,
)
from benchwright.recipes import systems as recipe

if TYPE_CHECKING:
    from benchwright.live.answer_file import AnswerFile
    from benchwright.live.asking import Ask, Endpoint, Failed

EXAMPLES = (
    "benchwright ask https://search.example.org/docs/_search --queries queries.jsonl "
    "--preset opensearch -o bm25.run",
    "benchwright ask http://localhost:8983/solr/docs/select --queries queries.tsv "
    "--preset solr --rps 5 -o solr.run",
    "benchwright ask https://search.example.org/find --queries queries.jsonl --template body.json "
    "--results data.items --id doc.id --score rank.score --header 'Authorization: Bearer $TOKEN' "
    "-k 50 -o ours.run --latencies ms.tsv",
    "benchwright --benchmark help-pages ask 'our search' --split test",
)


@click.command(
    cls=Command,
    name="ask",
    examples=EXAMPLES,
    door=Door(
        systems.__name__,
        keeps=systems.ASK_KEPT,
        also=systems.ASK_THERE,
        function="ask_on_site",
    ),
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
    help="JSON with {{query}} and {{k}} in it; with --method GET a query string, which the address "
    "may have as well: URL?q={{query}}&n={{k}}.",
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
@parameter_option(recipe.K, "-k", group="What is asked")
@option("--results", metavar="PATH", group="The answer", help="Path to the results, as hits.hits.")
@option("--id", "docid", metavar="PATH", group="The answer", help="Path to the id in a result.")
@option(
    "--score",
    metavar="PATH",
    group="The answer",
    help="Path to the score in a result; '' where their order is the ranking.",
)
@parameter_option(recipe.REQUESTS_PER_SECOND, group="Pace")
@parameter_option(recipe.CONCURRENCY, group="Pace")
@parameter_option(recipe.TIMEOUT_SECONDS, group="Pace", metavar="SECONDS")
@parameter_option(recipe.RETRIES, group="Pace")
@parameter_option(recipe.MAY_FAIL, group="Pace", metavar="N")
@written_option(
    "-o",
    "--output",
    is_printed=True,
    group="Output",
    help="A TREC run; standard output unless given, or -.",
)
@written_option("--latencies", group="Output", help="Query and milliseconds as TSV.")
@option(
    "--fresh",
    is_flag=True,
    group="Output",
    help="Ask every query, whatever answers are kept beside the output.",
)
@option("--tag", default="live", show_default=True, group="Output", help="Name of the system.")
@JSON
def command(url: str, queries: Path, **chosen: Any) -> None:
    """Ask the search endpoint at URL every query and write its answers as a run.

    Values are put into the template as JSON values, so that no query can change what is around it.
    Paths lead into the answer: names with dots between them, [*] for every member of a list. An
    answer that cannot be read fails its query; a failed query more than --may-fail ends the command
    with 1, and no run is written. Redirects are not followed.

    With -o FILE, answers are kept in FILE.answers.jsonl as they come: the same command goes on from
    there after it was stopped or failed. The file is removed when every query is answered.
    """
    refuse_mixed(chosen["output"], chosen["is_json"])
    from benchwright.families.query_files import read_query_texts
    from benchwright.live.keeping import answers_at
    from benchwright.live.writing import Noticed, run_lines

    asks = [(text.qid, text.text) for text in read_query_texts(queries)]
    wording = _wording(url, chosen)
    endpoint = _endpoint(wording, chosen)
    answers_path = kept_beside(chosen["output"])
    with _answer_file(endpoint, asks, wording.template, chosen, answers_path) as answers:
        noticed = Noticed(len(asks), failed=_ask(endpoint, asks, answers, answers_path, chosen))
        answers_found = answers_at(answers.known(asks), [qid for qid, _ in asks])
        write_run(run_lines(answers_found, noticed, tag=chosen["tag"]), chosen["output"])
        if chosen["latencies"]:
            write_latencies(noticed.times, chosen["latencies"])
    if answers_path and not noticed.failed:
        answers_path.unlink()
    report(noticed, answers_path, chosen["output"] if chosen["is_json"] else None)


class _Wording(NamedTuple):
    """Where a query goes, how, and in which words."""

    address: str
    method: str
    template: str


def _wording(url: str, chosen: Mapping[str, Any]) -> _Wording:
    """That of the options; an address with a placeholder behind its ? says all of it."""
    from benchwright.live.errors import TemplateError
    from benchwright.live.presets import PRESETS

    preset = PRESETS[chosen["preset"]]
    path: Path | None = chosen["template"]
    address, _, query_string = url.partition("?")
    if "{{" in query_string:
        if path or chosen["method"] == "POST":
            other = "--template" if path else "--method POST"
            raise TemplateError(why=f"the address has one, and {other} is another. Name one.")
        return _Wording(address, "GET", query_string)
    method = chosen["method"] or preset.method
    if path:
        return _Wording(url, method, text_of(path))
    if method != preset.method:
        where = "into the address, as in ?q={{query}}&n={{k}}" if method == "GET" else "in a file"
        raise TemplateError(
            why=f"that of '{chosen['preset']}' is for {preset.method}. Write one for {method} "
            f"{where}{'' if method == 'POST' else ', or in a file'} (--template)."
        )
    return _Wording(url, method, preset.template)


def _endpoint(wording: _Wording, chosen: Mapping[str, Any]) -> "Endpoint":
    """What is asked; any host and any variable may be named, for it is the caller's own machine."""
    import os

    from benchwright.fetching.addresses import ANY_HOST
    from benchwright.live.asking import Endpoint
    from benchwright.live.connections import Server
    from benchwright.live.headers import Secrets, filled_headers, read_headers
    from benchwright.live.paths import read_shape
    from benchwright.live.presets import PRESETS
    from benchwright.live.templates import read_template

    preset = PRESETS[chosen["preset"]]
    headers = read_headers("\n".join(chosen["headers"]))
    variables = [name for header in headers for name in header.variables]
    filled = filled_headers(
        headers,
        address=wording.address,
        secrets=Secrets.of(dict.fromkeys(variables, wording.address)),
        environment=os.environ,
    )
    return Endpoint(
        server=Server(wording.address, private=(ANY_HOST,), timeout=chosen["timeout_seconds"]),
        method=wording.method,
        template=read_template(wording.template, method=wording.method),
        shape=read_shape(
            results=chosen["results"] or preset.results_path,
            id=chosen["docid"] or preset.id_path,
            score=preset.score_path if chosen["score"] is None else chosen["score"],
            is_opensearch=preset.kind == "opensearch",
        ),
        k=chosen["k"],
        requests_per_second=chosen["requests_per_second"],
        concurrency=chosen["concurrency"],
        retries=chosen["retries"],
        headers=filled,
        hidden=tuple(os.environ[name].strip() for name in variables),
    )


@contextmanager
def _answer_file(
    endpoint: "Endpoint",
    queries: Sequence["Ask"],
    template: str,
    chosen: Mapping[str, Any],
    answers_path: Path | None,
) -> Iterator["AnswerFile"]:
    """Where answers are written down: beside the output, or for as long as the command runs."""
    from tempfile import TemporaryDirectory

    from benchwright.live.answer_file import AnswerFile, asking_of

    asking = asking_of(endpoint, queries, template=template, headers="\n".join(chosen["headers"]))
    if answers_path:
        with AnswerFile(answers_path, asking=asking, is_fresh=chosen["fresh"]) as answers:
            yield answers
        return
    with (
        TemporaryDirectory(prefix="benchwright-ask-") as folder,
        AnswerFile(Path(folder) / "answers.jsonl", asking=asking) as answers,
    ):
        yield answers


def _ask(
    endpoint: "Endpoint",
    queries: Sequence["Ask"],
    answers: "AnswerFile",
    answers_path: Path | None,
    chosen: Mapping[str, Any],
) -> list["Failed"]:
    from benchwright.live.keeping import ask_missing

    progress = Progress(len(queries), answers_path)
    try:
        return ask_missing(
            endpoint,
            queries,
            answers,
            may_fail=chosen["may_fail"],
            system=endpoint.server.parts.netloc,
            kept=f"in {answers_path}" if answers_path else "",
            tell=progress,
        )
    except KeyboardInterrupt:
        progress.tell_stopped()
        raise
