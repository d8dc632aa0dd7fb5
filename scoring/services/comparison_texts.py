"""A comparison as Markdown, for an issue, a pull request or a wiki."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scoring.core.comparing import OVERALL
from scoring.core.patterns import Fact, Pattern
from scoring.services.comparison_reading import Told
from scoring.services.query_differences import QueryDifference

DASH = "-"


def summary_markdown(found: Told) -> str:
    """Means, differences, slices and patterns of a comparison."""
    question = found.question
    parts = [
        f"# {question.release.benchmark.slug} {question.release.version}: {question.measure}",
        _verdict(found),
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
        f"{_named(found.runs[key].name)} {_number(share, 3)}"
        for key, share in found.result["judged"]["shares"].items()
    )
    said = " ".join(_named(reason) for reason in verdict.reasons)
    return f"Comparability: **{verdict.verdict.value}**. {judged}: {shares}. {said}".strip()


def _means(found: Told) -> str:
    rows = [
        [
            _named(found.runs[one["run"]].name),
            _number(one["mean"]),
            _between(one["interval"]),
            one["rank"],
            one["tie_group"],
        ]
        for one in found.summaries(found.question.measure)
    ]
    return markdown_table(["run", "mean", "95 % interval", "rank", "tie group"], rows)


def _pairs(found: Told, part: str) -> str:
    rows = [_pair_row(found, one) for one in found.pairs(found.question.measure, part)]
    columns = ["run", "against", "difference", "95 % interval", "relative", "win/tie/loss"]
    return markdown_table([*columns, "p", "p corrected", "p (t)", "d_z", "visible from"], rows)


def _pair_row(found: Told, one: Mapping[str, Any]) -> list[Any]:
    effect = one["effect"]
    counts = (effect["wins"], effect["ties"], effect["losses"])
    corrected = one["p_adjusted"] if one["p_slices"] is None else one["p_slices"]
    return [
        _named(found.runs[one["run"]].name),
        _named(found.runs[one["reference"]].name),
        _signed(one["difference"]),
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
    return f"## {_named(name)}: {size} queries\n\n{_pairs(found, name)}"


def _patterns(found: Told) -> Iterable[str]:
    if not found.question.is_table:
        return
    for one in found.pairs(found.question.measure):
        run, reference = found.runs[one["run"]].name, found.runs[one["reference"]].name
        patterns = found.patterns(one["run"], one["reference"])
        if patterns:
            yield f"## What {_named(run)} against {_named(reference)} looks like"
            yield patterns_markdown(patterns)


def patterns_markdown(patterns: Iterable[Pattern]) -> str:
    """A point for each pattern, its evidence below it."""
    lines = []
    for pattern in patterns:
        needed = f" {pattern.needed} queries would show it." if pattern.needed else ""
        lines.append(f"- **{pattern.title}**: {pattern.advice}{needed}")
        lines += [f"  - {evidence_text(fact)}" for fact in pattern.evidence]
    return "\n".join(lines)


def evidence_text(fact: Fact) -> str:
    """A difference in one line: measure, slice, number, interval, queries.

    Examples
    --------
    >>> evidence_text(Fact("nDCG@10", "all", 0.02, 0.01, 0.03, 60))
    'nDCG@10 over all (60 queries): up, +0.0200 (+0.0100 to +0.0300), level within ±0.0100'
    """
    direction = fact.direction.value if fact.direction else "undefined"
    size = f" ({fact.n} queries)" if fact.n else ""
    return (
        f"{fact.measure} over {_named(fact.slice.strip())}{size}: {direction}, "
        f"{fact.difference:+.4f} ({fact.low:+.4f} to {fact.high:+.4f}), "
        f"level within ±{fact.margin:.4f}"
    )


def queries_markdown(rows: Sequence[QueryDifference], run: str, reference: str) -> str:
    """Values of both runs and the difference, a line for each query."""
    lines = [
        [_named(row.qid), _named(row.text), _number(row.run), _number(row.reference),
         _signed(row.difference)]
        for row in rows
    ]  # fmt: skip
    columns = ["query", "text", _named(run), _named(reference), "difference"]
    return markdown_table(columns, lines) + "\n"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of cells that hold no line break; what is None is a dash."""
    head = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    body = [
        f"| {' | '.join(DASH if cell is None else str(cell) for cell in row)} |" for row in rows
    ]
    return "\n".join([*head, *body])


def _named(text: str) -> str:
    """Words of a person that end no cell and begin no markup."""
    words = " ".join(text.split())
    for sign in "\\|`*_<>[]":
        words = words.replace(sign, f"\\{sign}")
    return words


def _number(value: float | None, digits: int = 4) -> str:
    return DASH if value is None else f"{value:.{digits}f}"


def _signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.4f}"


def _between(ends: Mapping[str, float | None], form: str = ".4f") -> str:
    low, high = ends["low"], ends["high"]
    return DASH if low is None or high is None else f"{low:{form}} to {high:{form}}"
