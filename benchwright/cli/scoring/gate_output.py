"""What `gate` prints: the verdict in a sentence, what would change it, and every check."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.cli.tables import Table, say, show_table
from benchwright.texts.counting import signed_beside

LISTED = 5


def print_result(result: Mapping[str, Any]) -> None:
    """Print a result as `Decision.as_dict` gives it."""
    say(f"{result['title']}: {result['sentence']}")
    for change in result["changes"]:
        say(f"  - {change}")
    for check in result["checks"]:
        if check["findings"]:
            say()
            show_table(_table(check))
    if result.get("power"):
        say()
        say(result["power"]["sentence"])
    if result.get("rehearsal"):
        print_rehearsal(result["rehearsal"])
    for line in _after(result):
        say(line)


def print_rehearsal(rehearsal: Mapping[str, Any]) -> None:
    """Print how often a policy is right on somebody's own runs."""
    from benchwright.gates.rehearsal.rehearsing import COLUMNS, summary_of, table_of

    say()
    say(summary_of(rehearsal))
    say()
    show_table(Table(list(COLUMNS), table_of(rehearsal), title="Rehearsed", left=(0, 1)))
    for warning in rehearsal["warnings"]:
        say(f"  ! {warning}")


def _table(check: Mapping[str, Any]) -> Table:
    rows, has_numbers = (
        check["findings"],
        any("difference" in f["numbers"] for f in check["findings"]),
    )
    columns = ["check", "outcome", *["difference", "at least", "queries"] * has_numbers, "why"]
    cells = [
        [row["name"], row["outcome"], *_numbers(row["numbers"]) * has_numbers, row["reason"]]
        for row in rows
    ]
    return Table(columns, cells, title=check["title"], left=(0, 1, len(columns) - 1))


def _numbers(of: Mapping[str, Any]) -> list[str]:
    ends = (of.get(key) for key in ("difference", "lower"))
    signed = ("" if end is None else signed_beside(end) for end in ends)
    return [*signed, "" if of.get("n") is None else f"{of['n']:,}"]


def _after(result: Mapping[str, Any]) -> Iterator[str]:
    needed = result["wanted"]["needed"]
    if needed:
        yield ""
        yield f"Documents to judge first (query, document), {needed:,} in all:"
        for query, docid in result["wanted"]["documents"][: min(needed, LISTED)]:
            yield f"  {query}\t{docid}"
    for pattern in result["patterns"]:
        yield f"\nIt looks like: {pattern['text']} ({'; '.join(pattern['evidence'])})."
    yield f"\nPolicy {result['policy_sha256'][:12]}, goal {result['policy']['goal']}."
