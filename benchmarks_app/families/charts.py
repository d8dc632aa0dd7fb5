"""A family's links as a drawing: places of wordings on a circle, and lines between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from benchmarks_app.models import FamilyLink, Query

WIDTH, HEIGHT, RADIUS, DOT = 640, 420, 170, 20
# More would be a ball of wool; the table has them all.
MOST_MEMBERS = 36
MOST_LINKS = 160


@dataclass(frozen=True)
class Dot:
    """A wording: where it is drawn, its number in the list, and where its number stands."""

    x: float
    y: float
    number: int
    query: Query


@dataclass(frozen=True)
class Line:
    """A link: from where to where, how thick, and of which kind (sure, doubtful, different)."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    kind: str
    label: str


@dataclass(frozen=True)
class Drawing:
    """Dots and lines in a frame, and what they show in words."""

    dots: Sequence[Dot]
    lines: Sequence[Line]
    description: str
    n_left_out: int
    width: int = WIDTH
    height: int = HEIGHT
    radius: int = DOT


def drawn(
    members: Sequence[Query], links: Sequence[FamilyLink], *, sure_from: float
) -> Drawing | None:
    """The links of a family; None for one query alone."""
    if len(members) < 2:
        return None
    drawn_members = members[:MOST_MEMBERS]
    place = {query.pk: _place(n, len(drawn_members)) for n, query in enumerate(drawn_members)}
    strongest = _strongest(links, place)
    lines = [_line(link, place, sure_from) for link in strongest[:MOST_LINKS]]
    dots = [Dot(*place[query.pk], n, query) for n, query in enumerate(drawn_members, start=1)]
    return Drawing(dots, lines, _described(members, lines), len(members) - len(drawn_members))


def _place(n: int, of: int) -> tuple[float, float]:
    """On a circle, from the left, clockwise."""
    angle = pi + 2 * pi * n / of
    across = WIDTH / 2 - 2 * DOT if of > 2 else RADIUS
    x = WIDTH / 2 + across * cos(angle)
    return round(x, 1), round(HEIGHT / 2 + RADIUS * sin(angle), 1)


def _strongest(links: Sequence[FamilyLink], place: Mapping[int, object]) -> list[FamilyLink]:
    """The strongest link of each pair that is drawn; a verdict counts before a similarity."""
    best: dict[tuple[int, int], FamilyLink] = {}
    for link in sorted(links, key=lambda link: (not link.verdict, -link.similarity)):
        if link.query_a_id in place and link.query_b_id in place:
            best.setdefault((link.query_a_id, link.query_b_id), link)
    return sorted(best.values(), key=lambda link: -link.similarity)


def _line(link: FamilyLink, place: Mapping[int, tuple[float, float]], sure_from: float) -> Line:
    (x1, y1), (x2, y2) = place[link.query_a_id], place[link.query_b_id]
    kind = "sure" if link.similarity >= sure_from - 1e-6 else "doubtful"
    if link.verdict:
        kind = "sure" if link.verdict == FamilyLink.Verdict.SAME else "different"
    label = link.get_verdict_display() if link.verdict else link.get_reason_display()
    return Line(
        x1, y1, x2, y2, round(1 + 3 * link.similarity, 1), kind, f"{label}, {link.similarity:.2f}"
    )


def _described(members: Sequence[Query], lines: Sequence[Line]) -> str:
    n = {kind: sum(line.kind == kind for line in lines) for kind in ("sure", "doubtful")}
    return (
        f"{len(members)} wordings with {n['sure']} sure and {n['doubtful']} doubtful links; "
        "the table below lists each."
    )
