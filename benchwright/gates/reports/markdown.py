"""The report as Markdown, for a merge request: the verdict first, then what it rests on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchwright.gates.rehearsal.rehearsing import COLUMNS, summary_of, table_of
from benchwright.texts.counting import signed_beside
from benchwright.texts.markdown import table_lines

SIGNS = {"good": "✓", "warn": "!", "bad": "✗", "note": "-"}
LISTED = 10


def written(result: Mapping[str, Any]) -> str:
    """The result as a page of Markdown."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {result['title']}: {text(result['candidate'])}"
    yield from ("", text(result["sentence"]))
    if result["changes"]:
        yield from ("", "**What would change it**", "")
        yield from (f"- {text(change)}" for change in result["changes"])
    for check in result["checks"]:
        yield from _check(check)
    if result.get("power"):
        yield from ("", text(result["power"]["sentence"]))
    yield from _rehearsal(result.get("rehearsal"))
    yield from _wanted(result["wanted"])
    yield from _patterns(result["patterns"])
    yield from ("", *_foot(result))


def _check(check: Mapping[str, Any]) -> Iterator[str]:
    if not check["findings"]:
        return
    yield from ("", f"### {check['title']}", "")
    if any("difference" in finding["numbers"] for finding in check["findings"]):
        yield from _differences(check["findings"])
        return
    yield from table(
        ["", "check", "outcome", "why"],
        [
            [SIGNS[finding["level"]], finding["name"], finding["outcome"], finding["reason"]]
            for finding in check["findings"]
        ],
    )


def _differences(findings: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield from table(
        [
            "",
            "what",
            "queries",
            "difference",
            "at least",
            "at most",
            "p of a loss",
            "outcome",
            "why",
        ],
        [
            [
                SIGNS[finding["level"]],
                finding["name"],
                _count(finding["numbers"].get("n")),
                _number(finding["numbers"].get("difference")),
                _number(finding["numbers"].get("lower")),
                _number(finding["numbers"].get("upper")),
                _p(finding["numbers"].get("p_adjusted", finding["numbers"].get("p"))),
                finding["outcome"],
                finding["reason"],
            ]
            for finding in findings
        ],
    )


def _wanted(to_judge: Mapping[str, Any]) -> Iterator[str]:
    if not to_judge["needed"]:
        return
    yield from ("", f"### Documents to judge ({to_judge['needed']:,})", "")
    listed = to_judge["documents"][: min(LISTED, to_judge["needed"])]
    yield from table(["query", "document"], listed)
    if to_judge["needed"] > len(listed):
        yield from (
            "",
            f"… and {to_judge['needed'] - len(listed):,} more; the JSON report has all.",
        )


def _rehearsal(rehearsal: Mapping[str, Any] | None) -> Iterator[str]:
    if not rehearsal:
        return
    yield from ("", "### How often this policy is right", "", text(summary_of(rehearsal)), "")
    yield from table(COLUMNS, table_of(rehearsal))
    yield from (f"\n- {text(warning)}" for warning in rehearsal["warnings"])


def _patterns(patterns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if patterns:
        yield from ("", "### What it looks like", "")
        for pattern in patterns:
            yield f"- {text(pattern['text'])}"
            yield from (f"  - {text(fact)}" for fact in pattern["evidence"])


def _foot(result: Mapping[str, Any]) -> Iterator[str]:
    methods, provenance = result["methods"], result.get("provenance", {})
    yield (
        f"Policy `{result['policy_sha256'][:12]}`, goal {result['policy']['goal']}, margin "
        f"{result['policy']['margin']:g}, {result['n_queries']:,} queries in "
        f"{result['n_families']:,} families. {methods['test']}, {methods['draws']:,} draws, seed "
        f"{methods['seed']}."
    )
    files = [*provenance.get("files", {}).values(), *provenance.get("runs", ())]
    for file in files:
        yield from ("", f"{text(file['file'])}: SHA-256 `{file['sha256']}`")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table, whatever its cells hold."""
    return table_lines(
        columns, (map(text, row) for row in rows), rule=f"|{' --- |' * len(columns)}"
    )


def text(value: str) -> str:
    """A text as Markdown shows it letter by letter: names of runs and slices are anybody's.

    Examples
    --------
    >>> text("a|b\\n<c>")
    'a\\\\|b &lt;c&gt;'
    """
    line = " ".join(value.split())
    for special in "\\`*_[]|":
        line = line.replace(special, f"\\{special}")
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _number(value: float | None) -> str:
    return "" if value is None else signed_beside(value)


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<.0001" if value < 0.0001 else f"{value:.4f}"
