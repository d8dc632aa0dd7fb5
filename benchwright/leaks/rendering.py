"""The leak report as JSON for machines and as Markdown for people."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.leaks.types import LEVELS
from benchwright.texts.counting import number_beside, percent_beside

NO = "\N{EN DASH}"


def as_json(report: Mapping[str, Any]) -> str:
    """The report as text that is the same for the same report."""
    return json.dumps(report, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def as_markdown(report: Mapping[str, Any], title: str = "Leak report") -> str:
    """The report for people to read; tables, and the nearest pairs with their texts."""
    return "\n".join(_lines(report, title)) + "\n"


def _lines(report: Mapping[str, Any], title: str) -> Iterator[str]:
    yield f"# {title}"
    yield ""
    yield from _verdict(report)
    yield from _sizes(report)
    for pair in report["pairs"]:
        yield from _pair(pair)
    yield from _slices(report)
    yield from _made(report)


def _verdict(report: Mapping[str, Any]) -> Iterator[str]:
    if not report["findings"]:
        yield "Nothing leaks from one split into another."
    for finding in report["findings"]:
        head = f"**{finding['severity']}** `{finding['code']}` ({finding['where']})"
        yield f"- {_plain(head + ': ' + finding['message'])} {finding['advice']}"
    yield ""


def _sizes(report: Mapping[str, Any]) -> Iterator[str]:
    yield "| split | queries | share | families | without a relevant document | first | last |"
    yield "|---|---:|---:|---:|---:|---|---|"
    for part in report["splits"]:
        hidden = " (hidden)" if part["name"] in report["hidden_splits"] else ""
        without = part["n_without_relevant"]
        cells = [
            f"{part['name']}{hidden}",
            f"{part['n_queries']:,}",
            _percent(part["share"]),
            f"{part['n_families']:,}",
            NO if without is None else f"{without:,}",
            _day(part["first"]),
            _day(part["last"]),
        ]
        yield f"| {' | '.join(cells)} |"
    if report["corpus_snapshot"]:
        yield ""
        yield f"The corpus is of {report['corpus_snapshot']}, for every split."
    yield ""


def _pair(pair: Mapping[str, Any]) -> Iterator[str]:
    documents, levels = pair["shared_documents"], pair["pairs_at_least"]
    yield f"## {pair['a']} and {pair['b']}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| families on both sides | {pair['shared_families']:,} |"
    yield f"| texts on both sides, but for case and punctuation | {pair['shared_exact_keys']:,} |"
    yield f"| the same words on both sides, in any order | {pair['shared_bag_keys']:,} |"
    nearest = pair["max_similarity"]
    most = f"below {pair['searched_from']:.2f}" if nearest is None else _similarity(nearest)
    yield f"| greatest similarity across | {most} |"
    yield (
        f"| pairs from .60 / .70 / .80 | {levels['from_60']:,} / {levels['from_70']:,} / "
        f"{levels['from_80']:,} |"
    )
    if pair["told_apart"]:
        yield f"| pairs of any likeness said to differ by a person | {pair['told_apart']:,} |"
    if documents is None:
        yield "| documents relevant on both sides, of hidden grades | not told |"
    else:
        yield (
            f"| documents relevant on both sides | {documents['n']:,} "
            f"({_percent(documents['share_of_a'])} of {pair['a']}'s, "
            f"{_percent(documents['share_of_b'])} of {pair['b']}'s) |"
        )
    if time := pair["time"]:
        yield (
            f"| last of {pair['a']}, first of {pair['b']} | {_day(time['a_last'])}, "
            f"{_day(time['b_first'])}; {time['n_inverted']:,} asked after |"
        )
    yield ""
    yield from _nearest(pair)


def _nearest(pair: Mapping[str, Any]) -> Iterator[str]:
    if not pair["nearest"]:
        return
    yield f"The nearest {len(pair['nearest'])}:"
    yield ""
    yield f"| similarity | {pair['a']} | {pair['b']} |"
    yield "|---:|---|---|"
    for neighbours in pair["nearest"]:
        sides = (
            f"{_cell(neighbours[side]['text'])} ({_cell(neighbours[side]['qid'])})" for side in "ab"
        )
        yield f"| {_similarity(neighbours['similarity'])} | {' | '.join(sides)} |"
    yield ""


def _slices(report: Mapping[str, Any]) -> Iterator[str]:
    names = [part["name"] for part in report["splits"]]
    rows = [("slice", row) for row in report["slices"]]
    rows += [("relevant documents", row) for row in report["label_density"]]
    if not rows:
        return
    yield "## Balance"
    yield ""
    yield f"| | queries | of all | {' | '.join(names)} | deviation |"
    yield f"|---|---:|---:|{'---:|' * len(names)}---:|"
    for kind, row in rows:
        shares = " | ".join(_percent(row["shares"].get(name)) for name in names)
        yield (
            f"| {kind}: {_cell(row['name'])} | {row['n']:,} | {_percent(row['share'])} | {shares} "
            f"| {_percent(row['deviation'])} |"
        )
    yield ""


def _made(report: Mapping[str, Any]) -> Iterator[str]:
    yield "## How it was made"
    yield ""
    for key, value in (report["plan"] or {}).items():
        shown_value = (
            json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        )
        yield f"- {key}: {_cell(str(shown_value))}"
    yield f"- SHA-256 of what was looked at: `{report['inputs_sha256']}`"
    yield f"- SHA-256 of the assignment: `{report['assignment_sha256']}`"


def _similarity(value: float) -> str:
    return number_beside(value, *LEVELS, decimals=3)


def _percent(share: float | None) -> str:
    return NO if share is None else f"{percent_beside(share, 0, 1)} %"


def _day(moment: str | None) -> str:
    return moment[:10] if moment else NO


def _cell(text: str) -> str:
    """A text inside a table: on one line, and with nothing that Markdown would take for its own."""
    return _plain(" ".join(text.split())).replace("|", "\\|")


def _plain(text: str) -> str:
    return text.replace("<", "&lt;").replace("[", "\\[")
