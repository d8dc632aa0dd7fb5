"""Boards outside of the site: what an outsider may see, and a badge of one line."""

from dataclasses import dataclass
from html import escape
from typing import Any

from django.contrib.auth.models import AnonymousUser

from benchmarks_app.models import Release
from scoring.boards.services.boards import Board, board_of
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.services.firewall import measure_seen
from scoring.scores.services.slice_scores import board_split

MOST_LETTERS = 60
# Of a letter of 11 px, on the average; the drawing holds each text to what is reckoned.
LETTER, PADDING, HEIGHT = 6.6, 8, 20
COLORS = {"blue": "#1f5fa8", "lightgrey": "#6b7280"}


def outside_board(release: Release, measure: str = "") -> Board:
    """The board of a release as somebody sees it whom nobody knows, by a measure they may see.

    Raises
    ------
    MeasureWithheldError, ScoringError
        If the measure is none, or is not told.
    """
    nobody = AnonymousUser()
    return board_of(
        release=release,
        user=nobody,
        measure=measure_seen(nobody, release, measure),
        split=board_split(release),
    )


@dataclass(frozen=True)
class Badge:
    """A label and what is said of it, both short."""

    label: str
    message: str
    color: str = "blue"

    def as_json(self) -> dict[str, Any]:
        """As the endpoint badges of shields.io have it."""
        return {
            "schemaVersion": 1,
            "label": self.label,
            "message": self.message,
            "color": self.color,
            "cacheSeconds": 300,
        }

    def as_svg(self) -> str:
        """A picture of it; texts are escaped, and nothing in it is loaded or run."""
        left, right = _width(self.label), _width(self.message)
        words = escape(f"{self.label}: {self.message}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" '
            f'role="img" aria-label="{words}"><title>{words}</title>'
            f'<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="#374151"/>'
            f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z" '
            f'fill="{COLORS[self.color]}"/>'
            '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
            f"{_text(self.label, 0, left)}{_text(self.message, left, right)}</g></svg>\n"
        )


def _width(text: str) -> int:
    """Pixels; letters of East Asia are twice as wide."""
    n_letters = sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)
    return round(LETTER * n_letters) + 2 * PADDING


def _text(text: str, x: int, width: int) -> str:
    inner = width - 2 * PADDING
    return f'<text x="{x + PADDING}" y="14" textLength="{inner}">{escape(text)}</text>'


def badge_of(board: Board, run: str = "") -> Badge:
    """The best run of a board and its mean; or the mean of a named run, and its rank."""
    label = _short(board.release.benchmark.name)
    rows = board.whole
    if not rows:
        return Badge(label, f"no run on {board.release.version}", "lightgrey")
    if not run:
        best = rows[0]
        return Badge(label, f"{_short(best.run.name)} {_mean(board, best)}")
    row = next((row for row in rows if row.run.name == run), None)
    if row is None:
        return Badge(label, "not on this board", "lightgrey")
    return Badge(label, f"{_mean(board, row)}, rank {_rank(row)} of {len(rows)}")


def _mean(board: Board, row: BoardRow) -> str:
    mean = row.scores.get(board.measure.name)
    value = "-" if mean is None else f"{mean:.{board.sight.digits}f}"
    return f"{board.measure.label} {value}"


def _rank(row: BoardRow) -> str:
    if row.standing is None:
        return "-" if row.rank is None else str(row.rank)
    best, worst = row.standing.best, row.standing.worst
    return str(best) if best == worst else f"{best}-{worst}"


def _short(text: str) -> str:
    """At most so many letters, and none that XML does not take."""
    words = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return words if len(words) <= MOST_LETTERS else f"{words[: MOST_LETTERS - 1]}…"
