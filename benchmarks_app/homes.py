"""Homes: what somebody meets first in a benchmark, by what they do there.

Each app brings its parts: a home (`@home`), what waits for the keepers (`@need`), what a release
still lacks (`@check`), a card of the overview (`@card`). A need that an app adds is three lines:

    @need(Action.EDIT)
    def unread_labels(benchmark: Benchmark, user: Any) -> Iterator[Need]:
        yield Need(90, "bad", "Ben's labels look unread", "180 in 38 s", "Look at 10", url)
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, may

# --- homes ---------------------------------------------------------------------------------------

Context = dict[str, Any]


@dataclass(frozen=True)
class Home:
    """A page in the place of the overview; `order` says which of somebody's homes comes first."""

    key: str
    label: str
    order: int
    template: str
    is_for: Callable[[Any, Benchmark], bool]
    context: Callable[[Any, Benchmark], Context]
    is_translated: bool = False


HOMES: list[Home] = []


def home(
    key: str,
    label: str,
    *,
    order: int,
    template: str,
    is_for: Callable[[Any, Benchmark], bool],
    is_translated: bool = False,
) -> Callable[[Callable[[Any, Benchmark], Context]], Callable[[Any, Benchmark], Context]]:
    """Register a function of request and benchmark that fills the template of a home."""

    def register(
        context: Callable[[Any, Benchmark], Context],
    ) -> Callable[[Any, Benchmark], Context]:
        HOMES.append(Home(key, label, order, template, is_for, context, is_translated))
        return context

    return register


def homes_of(user: Any, benchmark: Benchmark) -> list[Home]:
    """The homes of a person, the one they land on first; never empty."""
    mine = [home for home in HOMES if home.is_for(user, benchmark)]
    return sorted(mine, key=lambda home: home.order)


def home_asked(request: HttpRequest, homes: Iterable[Home]) -> Home:
    """The home that `?as=` names; the first where it names none of this person's."""
    by_key = {home.key: home for home in homes}
    return by_key.get(request.GET.get("as", "")) or next(iter(by_key.values()))


# --- what waits for somebody ---------------------------------------------------------------------


@dataclass(frozen=True)
class Need:
    """Something that waits, with the one act that settles it; `kind` is bad, warn or info.

    The heaviest come first: from 80 on what makes labels or scores wrong, from 50 on what holds
    people up, below what can wait.
    """

    weight: int
    kind: str
    title: str
    detail: str
    call: str
    url: str


NeedMaker = Callable[[Benchmark, Any], Iterable[Need]]
NEEDS: list[tuple[Action, NeedMaker]] = []


def need(action: Action) -> Callable[[NeedMaker], NeedMaker]:
    """Register what waits for those who may do `action`; nobody else is asked about."""

    def register(maker: NeedMaker) -> NeedMaker:
        NEEDS.append((action, maker))
        return maker

    return register


def needs_of(benchmark: Benchmark, user: Any) -> list[Need]:
    """Everything that waits for a person, the heaviest first."""
    waiting = [
        each
        for action, maker in NEEDS
        if may(user, action, benchmark)
        for each in maker(benchmark, user)
    ]
    return sorted(waiting, key=lambda each: -each.weight)


# --- how far the next release is -----------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One thing a release should have: `state` is good, bad, warn, or wait where it is not known.

    `why` says what was found, or why nothing is known; `call` is the link's word.
    """

    order: int
    state: str
    title: str
    why: str
    url: str
    call: str

    @property
    def is_good(self) -> bool:
        return self.state == "good"


CheckMaker = Callable[[Benchmark, Any], Check | None]
CHECKS: list[CheckMaker] = []


def check(maker: CheckMaker) -> CheckMaker:
    """Register what looks at one thing; cheap, for it is asked whenever the overview is opened."""
    CHECKS.append(maker)
    return maker


def checks_of(benchmark: Benchmark, user: Any) -> list[Check]:
    """What can be said of the next release, in order; what does not apply is left out."""
    checks = (maker(benchmark, user) for maker in CHECKS)
    return sorted((check for check in checks if check is not None), key=lambda check: check.order)


# --- cards of the overview -----------------------------------------------------------------------


@dataclass(frozen=True)
class Card:
    """A part of the overview, drawn by its own template from `context`."""

    order: int
    template: str
    is_aside: bool = False
    context: Context = field(default_factory=dict)


CardMaker = Callable[[Benchmark, Any], Card | None]
CARDS: list[tuple[Action, CardMaker]] = []


def card(action: Action) -> Callable[[CardMaker], CardMaker]:
    """Register a card for those who may do `action`; None where it has nothing to show."""

    def register(maker: CardMaker) -> CardMaker:
        CARDS.append((action, maker))
        return maker

    return register


def cards_of(benchmark: Benchmark, user: Any) -> list[Card]:
    cards = (maker(benchmark, user) for action, maker in CARDS if may(user, action, benchmark))
    return sorted((card for card in cards if card is not None), key=lambda card: card.order)
