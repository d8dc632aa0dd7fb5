"""Pages of results as people saw them: read from a log as a stream, put together by their ids.

Three forms, told by their columns. *Pages*: a row is a page, with the query, what was shown and
what was clicked. *Impressions*: a row is a document on a page, with the page's id, its position,
and whether it was clicked. *UBI*, the schema of User Behavior Insights: a file of queries, whose
`query_response_hit_ids` are the page, and one of events, of which clicks count; both in one file
where rows of either have their columns. Rows of a page may lie anywhere: they are sorted on disk.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchwright.clicks.columns import NAMES
from benchwright.clicks.errors import ClickColumnsError, NoClicksError
from benchwright.files.external_sort import ExternalSort
from benchwright.logs.columns import said
from benchwright.logs.tables import Bad, LogTable, open_table

MOST_POSITIONS = 1_000
MOST_PROBLEMS = 20
ROWS_AT_ONCE = 20_000
PAGES_A_MESSAGE = 20_000
Tell = Callable[[int, int, str], None]
CLICKS = ("click", "click_through", "item_click", "product_click", "result_click")
SEPARATORS = re.compile(r"[\s,;|]+")
WHOLE = re.compile(r"\d{1,9}(\.0+)?")
YES = {"1", "1.0", "true", "yes", "y", "t", "clicked"}
NO = {"", "0", "0.0", "false", "no", "n", "f", "none", "null"}


@dataclass(frozen=True, slots=True)
class Page:
    """What somebody saw after a query, best first, and what they clicked.

    `clicked` are positions from 1, rising. `session` groups the pages of one visit, `arm` is the
    system that they came from; both may be empty. `ranks` are where the documents stood, where that
    is not 1, 2, 3, …: on a second page, or below what was not logged.
    """

    query: str
    docs: tuple[str, ...]
    clicked: tuple[int, ...] = ()
    session: str = ""
    arm: str = ""
    ranks: tuple[int, ...] = ()

    def rank(self, position: int) -> int:
        """Where the document at a position stood."""
        return self.ranks[position - 1] if self.ranks else position


@dataclass(slots=True)
class Reading:
    """What was counted while the log was read."""

    n_rows: int = 0
    n_pages: int = 0
    n_clicks: int = 0
    n_elsewhere: int = 0  # clicks on what the page did not show, or of no page of the log
    actions: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    n_bad: int = 0

    def note(self, file: str, line: int, why: str) -> None:
        self.n_bad += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(f"{file}:{line}: {why}")

    @property
    def facts(self) -> dict[str, Any]:
        """The counts, the most frequent actions and the first problems, as plain values."""
        names = ("n_rows", "n_pages", "n_clicks", "n_elsewhere", "n_bad")
        actions = [name for name, _ in self.actions.most_common(8)]
        counts = {name: getattr(self, name) for name in names}
        return {**counts, "actions": actions, "problems": self.problems}


def told_pages(
    paths: Sequence[Path],
    folder: Path,
    reading: Reading,
    *,
    names: Sequence[str],
    columns: Mapping[str, str],
    actions: Sequence[str],
    progress: Tell,
) -> Iterator[Page]:
    """`read_pages` of files from outside, telling how far it is; without actions by `CLICKS`."""
    click_actions = actions or CLICKS
    pages = read_pages(
        paths, folder, reading, names=names, columns=columns, click_actions=click_actions
    )
    for number, page in enumerate(pages):
        if number % PAGES_A_MESSAGE == 0:
            progress(number, 0, "reading pages of results")
        yield page


def read_pages(
    paths: Sequence[Path],
    folder: Path,
    reading: Reading,
    *,
    names: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    click_actions: Iterable[str] = CLICKS,
) -> Iterator[Page]:
    """Yield every page of the logs, in the order of their ids; memory holds one page at a time.

    Parameters
    ----------
    paths
        One file, or UBI's queries and events in either order: CSV, TSV, JSON lines or Parquet, the
        first three also as .gz or .zst.
    folder
        An empty folder for what is sorted; whoever made it removes it.
    reading
        Is told what was counted; complete once the last page is out.
    names
        What messages call the files, where that is not what they are called on the disk.
    columns
        {role: name of the column} where the names do not tell.
    click_actions
        Which actions of UBI's events are clicks.

    Raises
    ------
    ClickColumnsError
        If the columns of a file say nothing of pages.
    NoClicksError
        If there is no page at all.
    """
    called = names or [path.name for path in paths]
    tables = [open_table(path, file=name) for path, name in zip(paths, called, strict=True)]
    chosen_roles = columns or {}
    _check_there(chosen_roles, tables)
    roles = [_roles(table, chosen_roles) for table in tables]
    forms = [_form(of) for of in roles]
    if "nothing" in forms:
        at = forms.index("nothing")
        raise ClickColumnsError(file=tables[at].file, why=_expected(tables[at]))
    if forms == ["events"]:
        why = "has events and no queries; give UBI's file of queries beside it, which has the pages"
        raise ClickColumnsError(file=tables[0].file, why=f"{why}.")
    actions = frozenset(click_actions)
    rows = (
        row
        for log, (table, of, form) in enumerate(zip(tables, roles, forms, strict=True))
        for row in _rows(log, table, of, form, actions, reading)
    )
    yield from _pages(_sorted(rows, folder), reading)
    if not reading.n_pages:
        raise NoClicksError(file=tables[0].file, why="no row of it is a page of results.")


# --- columns -------------------------------------------------------------------------------------


def _check_there(chosen_roles: Mapping[str, str], tables: Sequence[LogTable]) -> None:
    """Each chosen column is one of some file: of UBI's two, most are of one alone."""
    there = dict.fromkeys(name for table in tables for name in table.columns)
    for name in chosen_roles.values():
        if name not in there:
            why = f"has no column '{name}'; there are {', '.join([*there][:24])}."
            raise ClickColumnsError(file=" or ".join(table.file for table in tables), why=why)


def _roles(table: LogTable, chosen_roles: Mapping[str, str]) -> dict[str, str]:
    by_name = {said(name): name for name in reversed(table.columns)}
    roles = {
        role: by_name[name]
        for role, names in NAMES.items()
        for name in reversed(names)
        if name in by_name
    }
    return roles | {role: name for role, name in chosen_roles.items() if name in table.columns}


def _form(roles: Mapping[str, str]) -> str:
    if "action" in roles and "page" in roles:
        return "ubi" if "shown" in roles else "events"
    if {"query", "shown", "clicked"} <= roles.keys():
        return "pages"
    if {"query", "shown", "page"} <= roles.keys():
        return "ubi"
    if {"page", "query", "doc", "position", "clicked"} <= roles.keys():
        return "impressions"
    return "nothing"


def _expected(table: LogTable) -> str:
    return (
        f"its columns ({', '.join(table.columns[:12])}) are of no known log of clicks. Expected a "
        "row a page (query, shown, clicked), a row a shown document (page id, query, docid, "
        "position, clicked), or UBI's queries and events; or name the columns."
    )


# --- rows: (page, kind, position, text, docs, session, arm) --------------------------------------

Row = tuple[str, int, int, str, str, str, str]
SHOWN, IMPRESSION, CLICK = 0, 1, 2


def _rows(
    log: int,
    table: LogTable,
    roles: Mapping[str, str],
    form: str,
    actions: frozenset[str],
    reading: Reading,
) -> Iterator[Row]:
    make = {"pages": _of_page, "impressions": _of_impression}.get(form, _of_ubi)
    for line, cells in table.rows():
        reading.n_rows += 1
        if isinstance(cells, Bad):
            reading.note(table.file, line, f"{cells.why}.")
            continue
        try:
            # Two logs may have one name.
            yield from make(cells, roles, f"{log}:{line}", actions, reading)
        except ValueError as error:
            reading.note(table.file, line, str(error))


def _of_page(
    cells: Mapping[str, Any],
    roles: Mapping[str, str],
    place: str,
    actions: frozenset[str],
    reading: Reading,
) -> Iterator[Row]:
    docs = _docs(cells.get(roles["shown"]))
    text, session, arm = _about(cells, roles)
    yield place, SHOWN, 0, text, json.dumps(docs), session, arm
    for doc in _docs(cells.get(roles.get("clicked", ""))):
        yield place, CLICK, 0, "", doc, "", ""


def _of_impression(
    cells: Mapping[str, Any],
    roles: Mapping[str, str],
    place: str,
    actions: frozenset[str],
    reading: Reading,
) -> Iterator[Row]:
    page, doc = _text(cells.get(roles["page"])), _text(cells.get(roles["doc"]))
    if not page or not doc:
        message = "has no page or no document; expected both."
        raise ValueError(message)
    text, session, arm = _about(cells, roles)
    position = _position(cells.get(roles.get("position", "")))
    is_clicked = _is_yes(cells.get(roles["clicked"]))
    yield page, IMPRESSION, position, text, doc, session, arm
    if is_clicked:
        yield page, CLICK, position, "", doc, "", ""


def _of_ubi(
    cells: Mapping[str, Any],
    roles: Mapping[str, str],
    place: str,
    actions: frozenset[str],
    reading: Reading,
) -> Iterator[Row]:
    page = _text(cells.get(roles["page"]))
    action = _text(cells.get(roles.get("action", "")))
    if not page:
        message = "has no query_id; expected the id of the page that it belongs to."
        raise ValueError(message)
    if "shown" in roles and not action:
        text, session, arm = _about(cells, roles)
        more = _object(cells.get(roles.get("more", "")))
        arm = arm or _text(more.get("arm", more.get("variant")))
        yield page, SHOWN, 0, text, json.dumps(_docs(cells.get(roles["shown"]))), session, arm
        return
    reading.actions[action] += 1
    if action not in actions:
        return
    attributes = _object(cells.get(roles.get("attributes", "")))
    thing, where = _object(attributes.get("object")), _object(attributes.get("position"))
    doc = _text(thing.get("object_id", cells.get(roles.get("doc", ""))))
    position = where.get("ordinal", cells.get(roles.get("position", "")))
    if isinstance(position, Mapping):  # as UBI's schema had it up to 1.2.0
        position = position.get("index")
    if not doc:
        message = "is a click on nothing; expected event_attributes.object.object_id."
        raise ValueError(message)
    yield page, CLICK, _position(position), "", doc, "", ""


def _about(cells: Mapping[str, Any], roles: Mapping[str, str]) -> tuple[str, str, str]:
    text = " ".join(_text(cells.get(roles["query"])).split()) if "query" in roles else ""
    session, arm = (_text(cells.get(roles.get(role, ""))) for role in ("session", "arm"))
    return text, session, arm


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _docs(value: Any) -> list[str]:
    """Ids in order: a list, a JSON list, or ids with blanks, commas, semicolons or bars between."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                value = SEPARATORS.split(text.strip("[]").replace('"', "").replace("'", ""))
        else:
            value = SEPARATORS.split(text)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        value = [value]
    docs = [_text(doc) for doc in value if _text(doc)]
    if len(docs) > MOST_POSITIONS:
        message = f"shows {len(docs):,} documents; expected at most {MOST_POSITIONS:,} a page."
        raise ValueError(message)
    return docs


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str) and value.strip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def _position(value: Any) -> int:
    text = _text(value)
    if not text:
        return 0
    number = float(text) if WHOLE.fullmatch(text) else -1
    if not 0 <= number <= MOST_POSITIONS:
        message = f"has the position '{text[:40]}'; expected a whole number to {MOST_POSITIONS:,}."
        raise ValueError(message)
    return int(number)


def _is_yes(value: Any) -> bool:
    text = _text(value).casefold()
    if text in YES or text in NO:
        return text in YES
    if WHOLE.fullmatch(text):
        return float(text) > 0
    message = f"says '{text[:40]}' of the click; expected 1 or 0, true or false."
    raise ValueError(message)


# --- pages ---------------------------------------------------------------------------------------

SCHEMA = ("page", "kind", "position", "text", "docs", "session", "arm")


def _sorted(rows: Iterable[Row], folder: Path) -> Iterator[Row]:
    import polars as pl

    sorting = ExternalSort(folder, by=["page", "kind", "position"])
    types = {name: pl.Int32 if name in ("kind", "position") else pl.String for name in SCHEMA}
    waiting: list[Row] = []

    def spill() -> None:
        if waiting:
            sorting.add(pl.DataFrame(waiting, schema=types, orient="row"))
            waiting.clear()

    for row in rows:
        waiting.append(row)
        if len(waiting) >= ROWS_AT_ONCE:
            spill()
    spill()
    for frame in sorting.merged():
        yield from frame.iter_rows()


def _pages(rows: Iterable[Row], reading: Reading) -> Iterator[Page]:
    rows_of: list[Row] = []
    for row in rows:
        if rows_of and row[0] != rows_of[0][0]:
            yield from _page(rows_of, reading)
            rows_of = []
        rows_of.append(row)
    if rows_of:
        yield from _page(rows_of, reading)


def _page(rows: Sequence[Row], reading: Reading) -> Iterator[Page]:
    """The page that these rows are of; none where no row says what was shown."""
    heads = [row for row in rows if row[1] in (SHOWN, IMPRESSION)]
    if not heads:
        reading.n_elsewhere += len(rows)
        return
    displays = [row for row in heads if row[1] == SHOWN]
    listed = json.loads(displays[0][4]) if displays else [row[4] for row in heads]
    docs = tuple(dict.fromkeys(listed))
    place = {doc: position for position, doc in enumerate(docs, start=1)}
    clicks = {row[4] for row in rows if row[1] == CLICK}
    clicked = tuple(sorted(place[doc] for doc in clicks if doc in place))
    reading.n_pages += 1
    reading.n_clicks += len(clicked)
    reading.n_elsewhere += len(clicks) - len(clicked)
    text, session, arm = (next((str(row[at]) for row in heads if row[at]), "") for at in (3, 5, 6))
    yield Page(text, docs, clicked, session, arm, () if displays else _ranks(heads))


def _ranks(impressions: Sequence[Row]) -> tuple[int, ...]:
    """Where each document stood, if the positions rise from 1 on and are not just 1, 2, 3, …"""
    first: dict[str, int] = {}
    for row in impressions:
        first.setdefault(row[4], row[2])
    ranks = tuple(first.values())
    is_rising = all(above < below for above, below in pairwise((0, *ranks)))
    return ranks if is_rising and ranks[-1] > len(ranks) else ()
