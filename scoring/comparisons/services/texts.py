"""A comparison as Markdown, for an issue, a pull request or a wiki."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchwright.comparison.aligning import OVERALL
from benchwright.comparison.patterns import markdown_words, patterns_markdown
from benchwright.evaluation.uncertainty import TIE_GROUPS
from benchwright.texts.markdown import table_lines
from scoring.comparisons.services.query_differences import QueryDifference
from scoring.comparisons.services.reading import Told

DASH = "-"


def summary_markdown(found: Told) -> str:
    """Means, differences, slices and patterns of a comparison."""
    question = found.question
    parts = [
        f"# {question.release.benchmark.slug} {question.release.version}: {question.measure}",
        _verdict(found),
        *_board(found),
        _means(found),
        _pairs(found, OVERALL),
        *(_slice(found, one["name"]) for one in found.slices if one["name"] != OVERALL),
        *_patterns(found),
        f"Key `{found.row.key}`.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(found: Told) -> str:
    verdict = found.comparability
    judged = found.result["judged"]["measure"]
    shares = ", ".join(
        f"{markdown_words(found.runs[key].name)} {_number(share, 3)}"
        for key, share in found.result["judged"]["shares"].items()
    )
    said = " ".join(markdown_words(reason) for reason in verdict.reasons)
    return f"Comparability: **{verdict.verdict.value}**. {judged}: {shares}. {said}".strip()


def _board(found: Told) -> Iterable[str]:
    """What is left out, and the means of the leaderboard, where queries are hidden."""
    if not found.is_public:
        return
    digits = found.sight.digits
    rows = [
        [markdown_words(one.run.name), _number(one.mean, digits), _signed(one.difference, digits)]
        for one in found.board
    ]
    yield found.said_of_hidden
    yield f"## On the leaderboard, over {found.board[0].over}"
    yield markdown_table(["run", "mean", "difference"], rows)


def _means(found: Told) -> str:
    rows = [
        [
            markdown_words(found.runs[one["run"]].name),
            _number(one["mean"]),
            _between(one["interval"]),
            one["rank"],
            one["tie_group"],
        ]
        for one in found.summaries(found.question.measure)
    ]
    table = markdown_table(["run", "mean", "95 % interval", "rank", "tie group"], rows)
    return f"{table}\n\n{TIE_GROUPS}"


def _pairs(found: Told, part: str) -> str:
    rows = [_pair_row(found, one) for one in found.pairs(found.question.measure, part)]
    columns = ["run", "against", "difference", "verdict", "95 % interval", "relative"]
    columns += ["win/tie/loss", "p", "p corrected", "p (t)", "d_z", "visible from"]
    reasons = dict.fromkeys(one["reason"] for one in found.pairs(found.question.measure, part))
    return "\n\n".join([markdown_table(columns, rows), *filter(None, reasons)])


def _pair_row(found: Told, one: Mapping[str, Any]) -> list[Any]:
    effect = one["effect"]
    counts = (effect["wins"], effect["ties"], effect["losses"])
    corrected = one["p_adjusted"] if one["p_slices"] is None else one["p_slices"]
    return [
        markdown_words(found.runs[one["run"]].name),
        markdown_words(found.runs[one["reference"]].name),
        _signed(one["difference"]),
        one["decision"] or "not told apart",
        _between(one["interval"], "+.4f"),
        DASH if effect["relative"] is None else f"{100 * effect['relative']:+.1f} %",
        DASH if None in counts else "/".join(map(str, counts)),
        _number(one["p"]),
        _number(corrected),
        _number(one["p_t"]),
        _number(effect["d_z"], 2),
        _number(one["power"]["detectable"]),
    ]


def _slice(found: Told, name: str) -> str:
    size = next(one["n_queries"] for one in found.slices if one["name"] == name)
    return f"## {markdown_words(name)}: {size} queries\n\n{_pairs(found, name)}"


def _patterns(found: Told) -> Iterable[str]:
    if not found.question.is_table:
        return
    for one in found.pairs(found.question.measure):
        run, reference = found.runs[one["run"]].name, found.runs[one["reference"]].name
        patterns = found.patterns(one["run"], one["reference"])
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


def _number(value: float | None, digits: int = 4) -> str:
    return DASH if value is None else f"{value:.{digits}f}"


def _signed(value: float | None, digits: int = 4) -> str:
    return DASH if value is None else f"{value:+.{digits}f}"


def _between(ends: Mapping[str, float | None], form: str = ".4f") -> str:
    low, high = ends["low"], ends["high"]
    return DASH if low is None or high is None else f"{low:{form}} to {high:{form}}"
