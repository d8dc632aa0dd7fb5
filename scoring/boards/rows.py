"""Rows of the tables of boards, written as HTML: a template takes longer for one than for a page.

Rows say of nobody that they are theirs, so that all may be shown the same; `with_own` says it.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from django.template.defaultfilters import urlencode as urlquote
from django.urls import reverse
from django.utils.html import escape
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks_app.charts.axis import Whisker
from benchmarks_app.templatetags.benchwright import DASH, score
from scoring.boards.columns import Cell, interval_text
from scoring.boards.drawing import Stroke
from scoring.boards.lines import BoardLine, BoardLines, Mark
from scoring.boards.services.boards import Board
from scoring.boards.services.slices import SliceBoard, SliceCell

MINE = "mine"
# A legend, up to where its marks are.
MARKS = re.compile(r'(<ul class="legend".*?)(<li><svg class="mark |\n</ul>)', re.DOTALL)
# Where the bars of tie groups stand, by lane.
LANES = (5, 12, 19)


def run_addresses(view: str, slug: str) -> Callable[[int], str]:
    """The addresses of a view of runs, by their keys; the router is asked once."""
    before, after = reverse(view, args=[slug, 0]).rsplit("0", 1)
    return lambda pk: f"{before}{pk}{after}"


# --- a board -------------------------------------------------------------------------------


def board_rows(board: Board, table: BoardLines, *, has_intervals: bool) -> SafeString:
    """The rows of a board's table; `has_intervals` where these are wanted below the means."""
    slug = board.release.benchmark.slug
    query = urlencode({"release": board.release.version, "m": board.measure.label})
    run_of, queries_of = (run_addresses(v, slug) for v in ("run-detail", "scoring:run-queries"))
    compare, by_query = _("Compare %(run)s"), escape(_("Query by query"))
    has_standings = any(row.standing for row in board.whole)
    rows = []
    for line in table.lines:
        run = line.row.run
        mean = score(line.row.scores.get(board.measure.name), board.sight.digits)
        below = _below(line.interval) if has_intervals else ""
        rows.append(
            f'\n<tr><td class="is-pick"><input type="checkbox" name="run" value="{run.pk}" '
            f'form="compare" aria-label="{escape(compare % {"run": run.name})}"></td>'
            f'<td class="rank"><span title="{escape(line.rank_said)}">{line.rank}</span></td>'
            f"{_tie(line, has_bars=table.has_bars) if has_standings else ''}"
            f'<th scope="row" title="{escape(line.words)}"><div class="run-name">'
            f'<a href="{run_of(run.pk)}">{escape(run.name)}</a>{_badges(line.marks)}</div></th>'
            f'<td class="mean"><a href="{queries_of(run.pk)}?{escape(query)}" title="{by_query}">'
            f"{mean}</a>{below}</td>"
            f"{_plotted(line.whisker, line.interval) if table.axis else ''}"
            f"{''.join(_cell(label, cell) for label, cell in line.cells)}</tr>"
        )
    return mark_safe("".join(rows))


def _tie(line: BoardLine, *, has_bars: bool) -> str:
    if not has_bars:
        return f'<td class="tie">{line.letter}</td>'
    return f'<td class="tie">{_lanes(line.strokes)}<span class="sr-only">{line.letter}</span></td>'


def _lanes(strokes: Sequence[Stroke]) -> str:
    """The bars of tie groups in one row."""
    paths = [
        f'<path class="lane-{each.lane}{" is-claim" if each.is_claim else ""}'
        f'{" is-passing" if each.is_passing else ""}" '
        f'd="M{LANES[each.lane]} {6 if each.is_first else 0}V{34 if each.is_last else 40}"/>'
        for each in strokes
    ]
    svg = '<svg class="lanes" viewBox="0 0 24 40" preserveAspectRatio="none" aria-hidden="true">'
    return f"{svg}{''.join(paths)}</svg>" if paths else ""


def _badges(marks: Iterable[Mark]) -> str:
    badges = "".join(map(_mark, marks))
    return f'<span class="badges">{badges}</span>' if badges else ""


def _mark(mark: Mark) -> str:
    return (
        f'<svg class="mark is-{mark.kind}" role="img"><title>{escape(mark.said)}</title>'
        f'<use href="#i-{mark.kind}"/></svg>'
    )


def _plotted(whisker: Whisker | None, interval: str) -> str:
    if whisker is None:
        return '<td class="plotted"></td>'
    place, low, high = whisker
    line = "" if low is None else f'<line x1="{low}%" x2="{high}%" y1="50%" y2="50%"/>'
    return (
        '<td class="plotted"><svg class="plot" aria-hidden="true"><use href="#board-grid"/>'
        f'{line}<circle cx="{place}%" cy="50%" r="4"/></svg>'
        f'<span class="sr-only">{interval}</span></td>'
    )


def _cell(label: str, cell: Cell) -> str:
    text: str = escape(cell.text)
    if cell.at:
        at = localtime(cell.at).isoformat()
        text = f'<time datetime="{at}" data-format="date">{text}</time>'
    kind = f' class="{cell.kind}"' if cell.kind else ""
    title = f' title="{escape(cell.title)}"' if cell.title else ""
    aside = f'<span class="sr-only"> {escape(cell.aside)}</span>' if cell.aside else ""
    return f'<td{kind} data-l="{escape(label)}"{title}>{text}{_below(cell.below)}{aside}</td>'


def _below(text: str) -> str:
    return f'<span class="ci is-below">{escape(text)}</span>' if text else ""


# --- slice by slice ------------------------------------------------------------------------


def slice_rows(board: Board, slices: SliceBoard) -> SafeString:
    """The rows of runs by slices: means with their intervals, or differences from the baseline."""
    slug, version = board.release.benchmark.slug, board.release.version
    run_of = run_addresses("run-detail", slug)
    address = reverse("scoring:leaderboard-release", args=[slug, version])
    address += f"?m={urlquote(board.measure.label)}"
    boards = [
        f"{address}&amp;slice={urlquote(part.name)}" if part.name else address
        for part in slices.slices
    ]
    has_baseline = slices.baseline is not None
    return mark_safe(
        "".join(
            f'<tr>\n      <th scope="row"><a href="{run_of(of.row.run.pk)}">'
            f"{escape(of.row.run.name)}</a></th>\n      "
            + "".join(
                _slice_cell(cell, href, has_baseline=has_baseline)
                for cell, href in zip(of.cells, boards, strict=True)
            )
            + "\n    </tr>"
            for of in slices.rows
        )
    )


def _slice_cell(cell: SliceCell, href: str, *, has_baseline: bool) -> str:
    if has_baseline:
        kind = f"is-{cell.direction} strength-{cell.shade}" if cell.direction else ""
    else:
        kind = "" if cell.mean is None else f"heat-{cell.shade}"
    number = cell.difference if has_baseline else cell.mean
    td = f'<td class="num {kind}" data-value="{"" if number is None else number}">'
    if cell.mean is None:
        return f"{td}{DASH}</td>"
    mean, ends, title = score(cell.mean, 3), interval_text(cell.interval), ""
    if cell.interval:
        summary = ngettext(
            "mean {mean}, 95 % interval {interval}, {n} query",
            "mean {mean}, 95 % interval {interval}, {n} queries",
            cell.n,
        ).format(mean=mean, interval=ends, n=f"{cell.n:,}")
        title = f' title="{escape(summary)}"'
    if not has_baseline:
        text = f'{mean}<span class="ci">{ends}</span>'
    elif cell.difference is None:
        text = mean
    else:
        text = f"{'+' if cell.difference > 0 else ''}{score(cell.difference, 3)}"
    return f'{td}<a class="slice-cell"{title} href="{href}">{text}</a></td>'


# --- whose a row is ------------------------------------------------------------------------


def with_own(html: SafeString, slug: str, keys: Iterable[int]) -> SafeString:
    """A board's page in which the rows of these runs are pointed out as their reader's."""
    run_of, page = run_addresses("run-detail", slug), str(html)
    label = _("yours")
    badge = f'<span class="badges">{_mark(Mark(MINE, label))}'
    for key in keys:
        row = f'<tr><td class="is-pick"><input type="checkbox" name="run" value="{key}"'
        if row not in page:
            continue
        page = page.replace(row, row.replace("<tr>", '<tr class="is-mine">'))
        name = rf'({re.escape(f"""<a href="{run_of(key)}">""")}[^<]*</a>)(<span class="badges">)?'
        page = re.sub(name, lambda of: f"{of[1]}{badge}{'' if of[2] else '</span>'}", page, count=1)
    if page == html:
        return html
    item = f'<li><svg class="mark is-{MINE}" aria-hidden="true"><use href="#i-{MINE}"/></svg>'
    return mark_safe(MARKS.sub(rf"\1{item}{escape(label)}</li>\2", page, count=1))
