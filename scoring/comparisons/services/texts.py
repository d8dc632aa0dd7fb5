"""A comparison as Markdown, for an issue, a pull request or a wiki."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchwright.comparison.aligning import OVERALL
from benchwright.comparison.comparability import COMPARABLE, PROVISIONAL
from benchwright.comparison.patterns import markdown_words, patterns_markdown
from benchwright.evaluation.uncertainty import TIE_GROUPS
from benchwright.texts.counting import number_beside, signed_beside
from benchwright.texts.markdown import table_lines
from scoring.comparisons.services.query_differences import QueryDifference
from scoring.comparisons.services.reading import Told

DASH = "-"


def summary_markdown(comparison: Told) -> str:
    """Means, differences, slices and patterns of a comparison."""
    question = comparison.question
    parts = [
        f"# {question.release.benchmark.slug} {question.release.version}: {question.measure}",
        _verdict(comparison),
        *_board(comparison),
        _means(comparison),
        _pairs(comparison, OVERALL),
        *(
            _slice(comparison, part["name"])
            for part in comparison.slices
            if part["name"] != OVERALL
        ),
        *_patterns(comparison),
        f"Key `{comparison.row.key}`.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(comparison: Told) -> str:
    verdict = comparison.comparability
    judged = comparison.result["judged"]["measure"]
    shares = ", ".join(
        f"{markdown_words(comparison.runs[key].name)} {_share(share)}"
        for key, share in comparison.result["judged"]["shares"].items()
    )
    reasons = " ".join(markdown_words(reason) for reason in verdict.reasons)
    return f"Comparability: **{verdict.verdict.value}**. {judged}: {shares}. {reasons}".strip()


def _board(comparison: Told) -> Iterable[str]:
    """What is left out, and the means of the leaderboard, where queries are hidden."""
    if not comparison.is_public:
        return
    digits = comparison.sight.digits
    rows = [
        [markdown_words(row.run.name), _number(row.mean, digits), _signed(row.difference, digits)]
        for row in comparison.board
    ]
    yield comparison.said_of_hidden
    yield f"## On the leaderboard, over {comparison.board[0].over}"
    yield markdown_table(["run", "mean", "difference"], rows)


def _means(comparison: Told) -> str:
    rows = [
        [
            markdown_words(comparison.runs[summary["run"]].name),
            _number(summary["mean"]),
            _between(summary["interval"]),
            summary["rank"],
            summary["tie_group"],
        ]
        for summary in comparison.summaries(comparison.question.measure)
    ]
    table = markdown_table(["run", "mean", "95 % interval", "rank", "tie group"], rows)
    return f"{table}\n\n{TIE_GROUPS}"


def _pairs(comparison: Told, part: str) -> str:
    rows = [
        _pair_row(comparison, pair) for pair in comparison.pairs(comparison.question.measure, part)
    ]
    columns = ["run", "against", "difference", "verdict", "95 % interval", "relative"]
    columns += ["win/tie/loss", "p", "p corrected", "p (t)", "d_z", "visible from"]
    reasons = dict.fromkeys(
        pair["reason"] for pair in comparison.pairs(comparison.question.measure, part)
    )
    return "\n\n".join([markdown_table(columns, rows), *filter(None, reasons)])


def _pair_row(comparison: Told, pair: Mapping[str, Any]) -> list[Any]:
    effect = pair["effect"]
    counts = (effect["wins"], effect["ties"], effect["losses"])
    corrected = pair["p_adjusted"] if pair["p_slices"] is None else pair["p_slices"]
    return [
        markdown_words(comparison.runs[pair["run"]].name),
        markdown_words(comparison.runs[pair["reference"]].name),
        _signed(pair["difference"]),
        pair["decision"] or "not told apart",
        _between(pair["interval"], "+.4f"),
        DASH if effect["relative"] is None else f"{100 * effect['relative']:+.1f} %",
        DASH if None in counts else "/".join(map(str, counts)),
        _number(pair["p"]),
        _number(corrected),
        _number(pair["p_t"]),
        _number(effect["d_z"], 2),
        _number(pair["power"]["detectable"]),
    ]


def _slice(comparison: Told, name: str) -> str:
    size = next(part["n_queries"] for part in comparison.slices if part["name"] == name)
    return f"## {markdown_words(name)}: {size} queries\n\n{_pairs(comparison, name)}"


def _patterns(comparison: Told) -> Iterable[str]:
    if not comparison.question.is_table:
        return
    for pair in comparison.pairs(comparison.question.measure):
        run, reference = comparison.runs[pair["run"]].name, comparison.runs[pair["reference"]].name
        patterns = comparison.patterns(pair["run"], pair["reference"])
        if patterns:
            yield f"## What {markdown_words(run)} against {markdown_words(reference)} looks like"
            yield patterns_markdown(patterns)


def queries_markdown(rows: Sequence[QueryDifference], run: str, reference: str) -> str:
    """Values of both runs and the difference, a line for each query."""
    lines = [
        [
            markdown_words(row.qid),
            markdown_words(row.text),
            _number(row.run),
            _number(row.reference),
            _signed(row.difference),
        ]
        for row in rows
    ]
    columns = ["query", "text", markdown_words(run), markdown_words(reference), "difference"]
    return markdown_table(columns, lines) + "\n"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of cells that hold no line break; what is None is a dash."""
    cells = ([DASH if cell is None else str(cell) for cell in row] for row in rows)
    return "\n".join(table_lines(columns, cells))


def _share(share: float | None) -> str:
    return DASH if share is None else number_beside(share, PROVISIONAL, COMPARABLE, decimals=3)


def _number(value: float | None, digits: int = 4) -> str:
    return DASH if value is None else f"{value:.{digits}f}"


def _signed(value: float | None, digits: int = 4) -> str:
    return DASH if value is None else signed_beside(value, decimals=digits)


def _between(ends: Mapping[str, float | None], form: str = ".4f") -> str:
    low, high = ends["low"], ends["high"]
    return DASH if low is None or high is None else f"{low:{form}} to {high:{form}}"
