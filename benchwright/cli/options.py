"""Options that several commands share, with their wording."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.parameters import FILE, OutputFile, parameter_option
from benchwright.cli.scored import measures_named
from benchwright.formats.unlisted import UNLISTED
from benchwright.recipes import systems

TIES = ("trec", "trec9", "docid-asc", "file", "expected")
AGGREGATIONS = ("maxp", "firstp", "sump", "rrf")

Decorator = Callable[[Any], Any]


def measure_names(
    ctx: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> tuple[str, ...]:
    """The measures of `-m`, which may hold several names at once; a wrong one is a usage error."""
    from benchwright.errors import ScoringError

    try:
        return measures_named(texts)
    except ScoringError as error:
        raise click.BadParameter(str(error), ctx, parameter) from error


def named_columns(texts: Sequence[str]) -> dict[str, str]:
    """{role: column} of `--column`; a wrong one is a usage error."""
    from benchwright.logs.columns import LABELS

    columns = {}
    for text in texts:
        role, equals, name = text.partition("=")
        if not equals or role not in LABELS or not name:
            message = f"'{text}' is no column. Write role=name; roles are {', '.join(LABELS)}."
            raise click.BadParameter(message, param_hint="--column")
        columns[role] = name
    return columns


def file_option(name: str, **settings: Any) -> Decorator:
    """An option that names a file to read."""
    return option(name, type=FILE, metavar="FILE", **settings)


def written_option(*names: str, is_printed: bool = False, **settings: Any) -> Decorator:
    """An option that names a file to write; None where it is printed instead."""
    return option(*names, type=OutputFile(is_printed=is_printed), metavar="FILE", **settings)


def format_option(forms: Sequence[str], *, group: str = "Output", **settings: Any) -> Decorator:
    """`--format`: the first of the forms, unless another is chosen."""
    return option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        group=group,
        **settings,
    )


def depth_of_run(default: int, *, group: str) -> Decorator:
    """`-k` of a command that writes a run."""
    return parameter_option(systems.DEPTH, group=group, default=default)


def tag_of_run(**settings: Any) -> Decorator:
    """`--tag` of a command that writes a run."""
    return option(
        "--tag",
        metavar="NAME",
        group="Output",
        help="Name of the system, the last column of the run.",
        **settings,
    )


MEASURES = option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    callback=measure_names,
    group="Measures",
    help="A measure; may be given several times. Names as in docs/metrics.md (nDCG@10, "
    "'AP(rel=2)', 'nDCG(dcg=\"exp-log2\")@10') or trec_eval's (ndcg_cut_10, map).  "
    "[default: nDCG@10, AP, RR@10, R@100, P@10, Judged@10]",
)
REL = option(
    "--rel",
    type=click.IntRange(1),
    metavar="GRADE",
    group="Measures",
    help="Grade from which a document counts as relevant, for measures whose name does not say. "
    "nDCG and DCG know no such grade.",
)
JUDGED_ONLY = option(
    "--judged-only",
    is_flag=True,
    group="Measures",
    help="Remove unjudged documents from the rankings, for measures that can be so. Such values "
    "overrate runs that were not pooled: never show them alone.",
)
TOP_GRADE = option(
    "--top-grade",
    type=click.IntRange(1),
    metavar="GRADE",
    group="Measures",
    help="The highest grade of the scale, for ERR and other measures that need it.  [default: the "
    "highest one in the qrels]",
)
TIE_RULE = option(
    "--ties",
    type=click.Choice(TIES),
    default="trec",
    show_default=True,
    group="Rules",
    help="Order of results of one score: docid descending (trec), the same at 32 bits as trec_eval "
    "9 (trec9), docid ascending, order of the file, or the mean over all orders (expected).",
)
MISSING = option(
    "--missing",
    type=click.Choice(("zero", "skip")),
    default="zero",
    show_default=True,
    group="Rules",
    help="A query of the qrels that the run lacks counts 0, or is left out of the means.",
)
UNLISTED_RULE = option(
    "--unlisted",
    type=click.Choice(UNLISTED),
    default=UNLISTED[0],
    show_default=True,
    group="Rules",
    help="A document that the qrels do not list: nobody knows, or it is not relevant, as where a "
    "collection was judged whole or its qrels list the relevant documents alone.",
)
DEPTH = option(
    "--depth",
    type=click.IntRange(1),
    metavar="K",
    group="Rules",
    help="Look at the first K results of a query only.",
)
ANSWERED = file_option(
    "--answered",
    group="Rules",
    help="Ids of queries, one a line, that the system answered; one without results found nothing "
    "and is not missing.",
)
ALLOW_EMPTY = option(
    "--allow-empty",
    is_flag=True,
    group="Rules",
    help="Score a run all the same that has no result for any query of the qrels.",
)
PARENTS = file_option(
    "--parents",
    group="Passages",
    help="Lines passage-id<TAB>document-id, a document's first passage first. Without it, passage "
    "X#Y belongs to document X.",
)
AGGREGATE = option(
    "--aggregate",
    type=click.Choice(AGGREGATIONS),
    group="Passages",
    help="The run holds passages and the qrels documents: a document counts by its best passage "
    "(maxp), its first one (firstp), the sum of its three best (sump), or the sum of 1/(60 + rank) "
    "(rrf).  [default: maxp with --parents]",
)
SLICES = file_option(
    "--slices",
    group="Queries",
    help="Lines query-id<TAB>slice; a query may be in several. Every slice is shown beside all.",
)
FAMILIES = file_option(
    "--families",
    group="Queries",
    help="Lines query-id<TAB>family. Queries of a family are not independent: they are resampled "
    "and flipped together.",
)
WEIGHTS = file_option(
    "--weights",
    group="Queries",
    help="Lines query-id<TAB>weight, such as traffic, or what a query of a sample stands for. "
    "Every mean is shown also weighted, and named so.",
)
SEED = option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    group="Statistics",
    help="Where random draws start; the same seed gives the same numbers.",
)
JSON = option(
    "--json",
    "is_json",
    is_flag=True,
    group="Output",
    help="What is said, as one JSON object, for a program.",
)
FORMAT = format_option(
    ("table", "tsv", "json", "markdown"),
    help="table and markdown round; tsv and json hold every digit.",
)


def together(*options: Decorator) -> Decorator:
    """Several options in the order in which help shows them."""

    def decorated(function: Any) -> Any:
        for each in reversed(options):
            function = each(function)
        return function

    return decorated


SCORING = together(
    MEASURES,
    REL,
    JUDGED_ONLY,
    TOP_GRADE,
    TIE_RULE,
    MISSING,
    UNLISTED_RULE,
    DEPTH,
    ANSWERED,
    ALLOW_EMPTY,
    PARENTS,
    AGGREGATE,
)
"""What decides the numbers of one run."""
