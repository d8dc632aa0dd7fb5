"""`benchwright score`: measures of runs against qrels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli import options
from benchwright.cli.doors import Door
from benchwright.cli.main import Command, option
from benchwright.cli.options import format_option, written_option
from benchwright.cli.parameters import FILE
from benchwright.cli.scored import scored, scorer_of
from benchwright.cli.scoring import score_output
from benchwright.cli.site_doors import scoring
from benchwright.evaluation.evaluating import DEFAULT_MEASURES
from benchwright.evaluation.scorecards import Scorer

EXAMPLES = (
    "benchwright score qrels.txt bm25.run",
    "benchwright score qrels.txt bm25.run dense.run -m nDCG@10 -m 'AP(rel=2)' --per-query",
    "benchwright score qrels.txt bm25.run --slices slices.tsv --format tsv > scores.tsv",
    "benchwright score qrels.txt bm25.run --weights weights.tsv",
    "benchwright score qrels.txt bm25.run --result bm25.json   # and later: verify bm25.json",
    "benchwright score docs.qrels passages.run --parents parents.tsv --aggregate maxp",
    "zcat run.gz | benchwright score qrels.txt -",
    "benchwright --benchmark help-pages score bm25 dense -m nDCG@10",
)


@click.command(
    cls=Command,
    name="score",
    examples=EXAMPLES,
    door=Door(
        scoring.__name__,
        keeps=scoring.SCORE_KEPT,
        also=scoring.SCORE_THERE,
        function="score_on_site",
    ),
    short_help="Measures of runs against qrels, over all queries and each.",
)
@click.argument("qrels", type=FILE)
@click.argument("runs", type=FILE, nargs=-1, required=True)
@options.SCORING
@options.SLICES
@options.FAMILIES
@options.WEIGHTS
@option(
    "--ci",
    "has_intervals",
    is_flag=True,
    group="Statistics",
    help="Show a 95 % interval of each mean, by Student's t over queries, or over families where "
    "--families names them, which implies --ci.",
)
@options.SEED
@option(
    "--subtopic-measure",
    "subtopic_measures",
    multiple=True,
    metavar="NAME",
    group="Measures",
    help="A measure by subtopic (alpha_nDCG@20, ERR_IA@20, nERR_IA@20, NRBP, nNRBP, AP_IA, "
    "P_IA@20, StRecall@20); may be given several times. QRELS then holds query, subtopic, "
    "document, grade.",
)
@option(
    "--per-query", is_flag=True, group="Output", help="Show every query's values, then the means."
)
@option(
    "--unjudged",
    is_flag=True,
    group="Output",
    help="Show what the unjudged documents could make of each mean: brackets where there are true "
    "ones, named scenarios elsewhere.",
)
@format_option(
    ("table", "tsv", "json", "trec_eval"),
    help="table rounds to four decimals, tsv and json hold every digit, trec_eval has its lines.",
)
@written_option(
    "-o",
    "--result",
    group="Output",
    help="Also write a result file: values, rules, and SHA-256 of every file, for `verify`.",
)
def command(qrels: Path, runs: tuple[Path, ...], **chosen: Any) -> None:
    """Score one or more RUNS against QRELS.

    Runs are in TREC's format, MS MARCO's three columns, JSON or Parquet, qrels in TREC's format or
    BEIR's; plain, gzip or zstd, and one of the files may be - for standard input.

    Beside each mean stands the share of judged documents among the results it looks at, and with it
    how many queries the run lacks (missing) and how many it has beyond the qrels (extra). Values
    are those of trec_eval to the last digit, unless a rule is changed.
    """
    extras = ("slices", "families", "weights", "has_intervals", "unjudged")
    if chosen["form"] == "trec_eval" and any(chosen[name] for name in extras):
        what = "slices, weights or intervals"
        message = f"trec_eval's output has no place for {what}. Use --format tsv."
        raise click.UsageError(message)
    chosen["has_intervals"] = chosen["has_intervals"] or bool(chosen["families"])
    if by := chosen["subtopic_measures"]:
        scorer = by_subtopic(qrels, runs, by, chosen)
    else:
        scorer = scorer_of(qrels, runs, chosen["measures"] or DEFAULT_MEASURES, chosen)
    score_output.show(scorer, scored(scorer, runs), chosen)


def by_subtopic(
    qrels: Path, runs: tuple[Path, ...], measures: Sequence[str], chosen: dict[str, Any]
) -> Scorer:
    """What scores measures by subtopic; nobody can say what their unjudged documents serve."""
    from benchwright.diversity.measures import parse_diversity
    from benchwright.diversity.scoring import SubtopicScorer
    from benchwright.errors import ScoringError
    from benchwright.measures.registry import options_said

    if any(chosen[name] for name in ("measures", "unjudged", "judged_only", "top_grade")):
        message = (
            "--subtopic-measure does not go with -m, --unjudged, --judged-only or --top-grade. "
            "Score other measures in a call of their own, against qrels without subtopics."
        )
        raise click.UsageError(message)
    if chosen["ties"] == "expected":
        message = "--subtopic-measure needs an order; expected a tie rule other than 'expected'."
        raise click.UsageError(message)
    try:
        parsed = [(name, str(parse_diversity(name))) for name in measures]
    except ScoringError as error:
        raise click.UsageError(str(error)) from error
    # One that says `rel` stays as it is written: in its whole name it need not say it any more.
    names = [name if "rel" in options_said(name) else canonical for name, canonical in parsed]
    return scorer_of(qrels, runs, names, chosen, SubtopicScorer)
