"""What the API answered, for people: rows as a table, facts a line each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchwright.cli.tables import Table, plain

INDENT = "  "


def row_lines(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as a table of these members."""
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    numbers = {place for place, name in enumerate(columns) if _is_number(name, rows)}
    left = set(range(len(columns))) - numbers
    yield plain(Table([worded(name) for name in columns], cells, left=left))


def lines_of(answer: Any) -> Iterator[str]:
    """Whatever was answered."""
    from benchwright.cli.sites.job import is_job, job_lines

    if isinstance(answer, Mapping):
        lines = job_lines(answer) if is_job(answer) else fact_lines(answer)
    else:
        lines = _below(answer)
    yield from list(lines) or ["none"]


def fact_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """A line for each member that says something; rows below its name, as a table.

    Examples
    --------
    >>> facts = {"name": "head", "n_members": 2, "rule": None, "of": [{"query": "q1", "n": 3}]}
    >>> print("\\n".join(fact_lines(facts)))
    name: head
    members: 2
    of:
      query  n
      q1     3
    """
    for name, value in facts.items():
        if value is None or value in ("", [], {}):
            continue
        below = list(_below(value))
        yield f"{worded(name)}:" if below else f"{worded(name)}: {cell(value)}"
        yield from (f"{INDENT}{line}" for line in below)


def _below(value: Any) -> Iterator[str]:
    """Lines of what does not stand in one: a thing, rows of things, or a text of several."""
    rows = list(value.values()) if isinstance(value, Mapping) else value
    if _are_rows(rows):
        if isinstance(value, Mapping):
            rows = [{"": name, **row} for name, row in value.items()]
        if any(_are_rows(member) for row in rows for member in row.values()):
            for row in rows:
                yield from fact_lines(row)
            return
        names = dict.fromkeys(name for row in rows for name in row)
        columns = [name for name in names if any(row.get(name) is not None for row in rows)]
        for block in row_lines(columns, rows):
            yield from block.splitlines()
    elif isinstance(value, Mapping):
        yield from fact_lines(value)
    elif isinstance(value, str) and "\n" in value.strip():
        yield from value.splitlines()


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(of, Mapping) for of in value)


def worded(name: str) -> str:
    """The name of a member as words."""
    return name.removeprefix("n_").removeprefix("is_").replace("_", " ")


def cell(value: Any) -> str:
    """A member as a table has it: one line, whatever it holds."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(cell, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{name} {cell(of)}" for name, of in value.items()) or "-"
    return " ".join(str(value).split())


def _is_number(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    values = [row[name] for row in rows if row.get(name) is not None]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
