"""`benchwright trec_eval`: trec_eval's flags, its output to the byte, our errors.

The command line is read as getopt_long does it: flags may stand together (`-qc`), values be
attached (`-M100`) or apart (`-l 2`), long names be shortened while they stay unambiguous, and files
stand between flags; `--` ends the flags.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import SEEK_END, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from benchwright.cli.answers import say_json
from benchwright.cli.files import check_standard_input
from benchwright.cli.main import Command
from benchwright.cli.parameters import FILE
from benchwright.cli.progress import told
from benchwright.files.encodings import as_text

if TYPE_CHECKING:
    from benchwright.evaluation.evaluating import Evaluation
    from benchwright.measures.trec_names import TrecRow
    from benchwright.reading.hits import QueryHits

ALL = "all"
LARGEST = 2**31 - 1
TAIL, BLOCK = 1 << 16, 1 << 20
"""Bytes at the end of a run in which its last line must begin, if it is to be found quickly."""

SWITCHES = "hvqcnJo"
WITH_VALUE = "mlDNMRTZ"
LONG_NAMES = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel": "l",
    "nosummary": "n",
    "Debug_level": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll": "N",
    "Max_retrieved_per_topic": "M",
    "Rel_info_format": "R",
    "Results_format": "T",
    "Output_old_results_format": "o",
    "Zscore": "Z",
    "json": "j",
}
NOT_HERE = {
    "D": "prints trec_eval's own inner values",
    "o": "prints a format that trec_eval itself has given up",
    "Z": "prints z-scores",
}
FORMATS = {"R": "qrels", "T": "trec_results"}
NOT_OURS = ("prefs", "all_prefs", "qrels_jg")
"""Names of sets, beginnings of measures (`prefs_`) and, as `_avgjg`, an end of them."""

EXAMPLES = (
    "benchwright trec_eval qrels.txt bm25.run",
    "benchwright trec_eval -q -c -M1000 qrels.txt bm25.run",
    "benchwright trec_eval -m all_trec -l2 qrels.txt bm25.run",
    "benchwright trec_eval -m ndcg_cut.10,20 -m P.5 -m recall qrels.txt bm25.run",
)


class TrecEval(Command):
    """A command that reads its own arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["options"] = parse(args)
        return []

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [
            "[-q] [-c] [-n] [-J] [-l LEVEL] [-M DEPTH] [-N DOCUMENTS] [-m MEASURE]... QRELS RUN"
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in HELP.items():
            with formatter.section(title):
                formatter.write_dl(rows)


HELP: Mapping[str, Sequence[tuple[str, str]]] = {
    "Measures": (
        (
            "-m, --measure NAME[.PARAMETERS]",
            "A measure or a set of them (official, set, all_trec); may be given several times. "
            "Parameters are separated by commas: P.5,10. They are printed in trec_eval's order, "
            "whatever theirs.  [default: official]",
        ),
        ("-l, --level_for_rel N", "Grade from which a document is relevant.  [default: 1]"),
        ("-N, --Number_docs_in_coll N", "Documents in the collection, for utility.  [default: 0]"),
    ),
    "Queries and results": (
        (
            "-c, --complete_rel_info_wanted",
            "Average over all queries of the qrels; one that the run lacks counts 0. Without it "
            "such queries are left out.",
        ),
        ("-M, --Max_retrieved_per_topic N", "Look at the first N results of a query only."),
        ("-J, --Judged_docs_only", "Remove unjudged documents before anything is computed."),
    ),
    "Output": (
        ("-q, --query_eval_wanted", "Print the values of every query first."),
        ("-n, --nosummary", "Leave out the values over all queries."),
        ("--json", "Print names and values as JSON, every digit; trec_eval has no such flag."),
        ("-h, --help", "Show this message and exit."),
        ("-v, --version", "Show the version and exit."),
    ),
}


class Asked:
    """What a command line asks for; `level` and the others as trec_eval's flags."""

    def __init__(self) -> None:
        self.measures: list[str] = []
        self.level = 1
        self.n_documents = 0
        self.depth: int | None = None
        self.flags: set[str] = set()
        self.files: list[str] = []


@click.command(
    cls=TrecEval,
    name="trec_eval",
    examples=EXAMPLES,
    of_files=("It is there for scripts of before. `score` on a site has its runs' means."),
    add_help_option=False,
    short_help="trec_eval's flags and output, as a drop-in.",
)
@click.pass_context
def command(ctx: click.Context, options: Asked) -> None:
    """Print what trec_eval 10 prints of RUN against QRELS.

    The flags are trec_eval's, and so is every byte of the output, so that a script needs only its
    first word changed. What trec_eval reads wrong without a word is refused with file and line
    (docs/metrics.md). Measures of preferences and judgment groups, z-scores (-Z) and formats other
    than qrels and trec_results (-R, -T) are not here; such measures are named on standard error
    and left out.
    """
    if "h" in options.flags:
        click.echo(ctx.get_help())
    elif "v" in options.flags:
        _show_version()
    else:
        _evaluate(options)


def parse(arguments: Sequence[str]) -> Asked:
    """What the arguments ask for.

    Raises
    ------
    click.UsageError
        If trec_eval has no such flag, a value is missing or no number, or a part is not here.
    """
    options = Asked()
    for flag, value in read_flags(arguments):
        if not flag:
            options.files.append(value)
        elif flag in NOT_HERE:
            _refuse(f"-{flag} {NOT_HERE[flag]}, which is not here. Leave it out.")
        elif flag in FORMATS:
            _check_format(flag, value)
        elif flag == "m":
            options.measures.append(value)
        elif flag == "l":
            options.level = _number(flag, value, at_least=1)
        elif flag == "N":
            options.n_documents = _number(flag, value, at_least=0)
        elif flag == "M":
            options.depth = _number(flag, value, at_least=1)
        else:
            options.flags.add(flag)
    if len(options.files) != 2 and not options.flags & {"h", "v"}:
        _refuse(f"{len(options.files)} files are named; expected two, QRELS and RUN.")
    return options


def read_flags(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every flag, a letter, with its value; every file with no flag; in their order.

    Raises
    ------
    click.UsageError
        If there is no such flag, it could be several, or it lacks a value or takes none.
    """
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            yield from (("", file) for file in rest)
            return
        if word.startswith("--"):
            yield _long(word.removeprefix("--"), rest)
        elif word.startswith("-") and word != "-":
            yield from _short(word.removeprefix("-"), rest)
        else:
            yield "", word


def _short(letters: str, rest: list[str]) -> Iterator[tuple[str, str]]:
    """The flags of one word; a value is what follows in it, or the next word."""
    for place, letter in enumerate(letters):
        if letter in WITH_VALUE:
            yield letter, letters[place + 1 :] or _next(f"-{letter}", rest)
            return
        if letter not in SWITCHES:
            _refuse(f"no such flag: -{letter}.")
        yield letter, ""


def _long(word: str, rest: list[str]) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    matching = [long_name for long_name in LONG_NAMES if long_name.startswith(name)]
    if name in LONG_NAMES:
        matching = [name]
    if len(matching) != 1:
        advice = f"could be any of {', '.join(matching)}" if matching else "no such flag"
        _refuse(f"--{name}: {advice}.")
    letter = LONG_NAMES[matching[0]]
    if letter not in WITH_VALUE:
        if equals:
            _refuse(f"--{name} takes no value. Leave it out.")
        return letter, ""
    return letter, value if equals else _next(f"--{name}", rest)


def _next(flag: str, rest: list[str]) -> str:
    if not rest:
        _refuse(f"{flag} has no value; expected one after it.")
    return rest.pop(0)


def _number(flag: str, text: str, *, at_least: int) -> int:
    if not text.isdecimal() or not at_least <= int(text) <= LARGEST:
        _refuse(f"-{flag} is '{text}'; expected a whole number of at least {at_least}.")
    return int(text)


def _check_format(flag: str, value: str) -> None:
    if value != FORMATS[flag]:
        _refuse(f"-{flag} is '{value}'; only {FORMATS[flag]} can be read here.")


def _refuse(text: str) -> NoReturn:
    raise click.UsageError(text, ctx=click.get_current_context(silent=True))


def _show_version() -> None:
    from importlib.metadata import version

    click.echo(f"benchwright trec_eval {version('benchwright')}, as trec_eval 10", err=True)


def _evaluate(options: Asked) -> None:
    from benchwright.evaluation.evaluating import evaluate_hits
    from benchwright.measures.incomplete import condensed
    from benchwright.reading import scan_qrels, scan_run

    rows = _rows(options)
    qrels, run = (FILE.convert(path, None, None) for path in options.files)
    check_standard_input([qrels, run])
    with told("Evaluating"):
        table = scan_qrels(qrels)
        hits = scan_run(run, table, depth=options.depth)
        if "J" in options.flags:
            hits = {qid: condensed(query_hits) for qid, query_hits in hits.items()}
        result = evaluate_hits(
            table.judged,
            hits,
            # Where only tags and strings are wanted, the queries are, too.
            [row.measure for row in rows if row.measure] or ["NumRet"],
            missing="zero" if "c" in options.flags else "skip",
        )
        runid = last_tag(run) if any(row.kind == "run" for row in rows) else ""
    if "j" in options.flags:
        say_json(_facts(options, rows, result, hits, runid))
        return
    lines = _lines(options, rows, result, hits, runid)
    click.echo(b"".join(lines), nl=False)


def _rows(options: Asked) -> "list[TrecRow]":
    from benchwright.errors import ScoringError
    from benchwright.measures.trec_names import trec_rows

    ours = [name for name in options.measures if not _is_not_ours(name)]
    left_out = [name for name in options.measures if _is_not_ours(name)]
    if left_out:
        names = ", ".join(left_out)
        click.echo(f"Left out: {names} (measures of preferences or judgment groups).", err=True)
    if left_out and not ours:
        _refuse("no measure is left to print. Name one with -m.")
    try:
        return trec_rows(ours, level=options.level, n_documents=options.n_documents)
    except ScoringError as error:
        _refuse(f"-m {error}")


def _is_not_ours(name: str) -> bool:
    measure = name.partition(".")[0]
    return measure in NOT_OURS or measure.startswith("prefs_") or measure.endswith("_avgjg")


def _lines(
    options: Asked,
    rows: "Sequence[TrecRow]",
    result: "Evaluation[bytes]",
    hits: "Mapping[bytes, QueryHits[bytes]]",
    runid: str,
) -> Iterator[bytes]:
    """The lines in trec_eval's order: queries by the bytes of their ids, measures by its list."""
    for row, qid, value in _values(options, rows, result, hits, runid):
        yield f"{row.line(qid or ALL, value)}\n".encode("utf-8", "surrogateescape")


def _facts(
    options: Asked,
    rows: "Sequence[TrecRow]",
    result: "Evaluation[bytes]",
    hits: "Mapping[bytes, QueryHits[bytes]]",
    runid: str,
) -> dict[str, dict[str, Any]]:
    """{name: value} of the same lines, over all queries and of each."""
    over_all: dict[str, Any] = {}
    queries: dict[str, dict[str, Any]] = {}
    for row, qid, value in _values(options, rows, result, hits, runid):
        (queries.setdefault(qid, {}) if qid else over_all)[row.name] = value
    return {"all": over_all, "queries": queries}


def _values(
    options: Asked,
    rows: "Sequence[TrecRow]",
    result: "Evaluation[bytes]",
    hits: "Mapping[bytes, QueryHits[bytes]]",
    runid: str,
) -> "Iterator[tuple[TrecRow, str, Any]]":
    """Row, query (empty: all of them) and value of each line."""
    from benchwright.measures.trec_names import relevance_string

    def string(qid: bytes, length: int) -> str:
        query_hits = hits.get(qid)
        return (
            relevance_string(query_hits.hits, query_hits.n_retrieved, length) if query_hits else ""
        )

    if "q" in options.flags:
        for qid, values in sorted(result.per_query.items()):
            for row in rows:
                if row.is_per_query:
                    value = values[str(row.measure)] if row.measure else string(qid, row.length)
                    yield row, as_text(qid), value
    if "n" not in options.flags:
        for row in rows:
            if row.is_in_summary:
                yield row, "", result.means[str(row.measure)] if row.measure else runid


def last_tag(path: Path) -> str:
    """The tag in the last line of a run, which trec_eval takes for the run's name.

    A run of another format has none, and is called as its file.
    """
    from benchwright.files.sources import open_lines
    from benchwright.reading.shapes import run_shape

    if run_shape(path).kind != "trec":
        return path.name
    return as_text(_tag_of(_last_lines(path)) or _tag_of(open_lines(path)))


def _tag_of(lines: Iterable[bytes]) -> bytes:
    """The tag of the last line that has one."""
    tag = b""
    for line in lines:
        columns = line.split()
        if len(columns) >= 6 and not columns[0].startswith(b"#"):
            tag = columns[5]
    return tag


def _last_lines(path: Path) -> list[bytes]:
    """The lines that begin in the last bytes of a file."""
    from benchwright.files.sources import open_inflated

    tail, n_read = b"", 0
    with open_inflated(path) as stream:
        if isinstance(stream.raw, FileIO):  # plain, so that the rest need not be read
            n_read = max(0, stream.seek(0, SEEK_END) - TAIL)
            stream.seek(n_read)
        while block := stream.read(BLOCK):
            tail, n_read = (tail + block)[-TAIL:], n_read + len(block)
    lines = tail.splitlines()
    return lines if n_read <= TAIL else lines[1:]
