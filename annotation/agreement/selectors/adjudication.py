"""What waits for an adjudicator, the most consequential first."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Count, F, Max, Min, Q

from annotation.common.selectors import ledger
from annotation.common.selectors.policies import policy_of
from annotation.models import Judgment, Pool, PoolEntry, PoolRun, Slot
from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.models import Benchmark, DocumentContent, Query, User
from benchwright.agreement.effects import NEGLIGIBLE, effect, ideal_gain
from benchwright.qrels.events import Event, Pair, pair_of
from benchwright.qrels.rules import Settings, rule_named, verdict_on

# The inbox is that of this rule, whichever rule the next qrels follow.
RULE = rule_named("adjudicated-first")
KEPT_SECONDS = 600
# More news than this, and the inbox is made anew.
MANY_PAIRS = 2000
CHUNK = 400
# So many labels are grouped within a page's time.
READ_AT_ONCE = 10_000
N_SIMILAR = 5
LOOKED_THROUGH = 40

Key = tuple[int, str]


@dataclass(frozen=True)
class Case:
    """A document whose labels lie apart; `judges` are the people who may not settle it."""

    query: int
    qid: str
    docid: str
    grades: tuple[int, ...]
    effect: float
    judges: frozenset[int]
    waits: bool = False

    @property
    def apart(self) -> int:
        return max(self.grades) - min(self.grades)


@dataclass(frozen=True)
class Inbox:
    """The open cases of a person, in order; `n_own` are their own, `n_waiting` wait for a label.

    A case whose further label nobody is asked for any more, as its pool was closed, is here again.
    """

    cases: list[Case]
    n_own: int
    n_waiting: int
    n_queries: int
    n_settled: int

    @property
    def mean_effect(self) -> float:
        """What all that remains could do to the difference of two runs, at most, over queries."""
        return sum(case.effect for case in self.cases) / self.n_queries if self.n_queries else 0.0

    @property
    def may_stop(self) -> bool:
        return self.mean_effect < NEGLIGIBLE

    def after(self, key: Key | None) -> Case | None:
        """The case below another one in the list; the first where there is none below."""
        keys = [(case.query, case.docid) for case in self.cases]
        place = keys.index(key) if key in keys else 0
        rest = self.cases[place:] + self.cases[:place]
        return next((case for case in rest if (case.query, case.docid) != key), None)


def inbox_of(benchmark: Benchmark, user: User) -> Inbox:
    open_rows = open_cases(benchmark)
    pairs_to_come = _to_come(
        benchmark, {(case.query, case.docid) for case in open_rows if case.waits}
    )
    waiting = [case for case in open_rows if (case.query, case.docid) in pairs_to_come]
    others = [
        case
        for case in open_rows
        if (case.query, case.docid) not in pairs_to_come and user.pk not in case.judges
    ]
    return Inbox(
        others,
        n_own=len(open_rows) - len(waiting) - len(others),
        n_waiting=len(waiting),
        n_queries=Query.objects.committed().filter(benchmark=benchmark).count(),
        n_settled=_n_settled(benchmark),
    )


def _to_come(benchmark: Benchmark, waiting: set[Key]) -> set[Key]:
    """Those of the pairs that somebody may give a further label still."""
    if not waiting:
        return set()
    slots = Slot.objects.filter(
        pool__benchmark=benchmark,
        query__in={query for query, _ in waiting},
        kind=Slot.Kind.LABEL,
        state__in=Slot.TO_COME,
    ).exclude(pool__state=Pool.State.CLOSED)
    return waiting & set(slots.values_list("query_id", "entry__document__docid"))


def inbox_at_hand(benchmark: Benchmark, user: User) -> Inbox | None:
    """The inbox, where it is kept or quickly made; None where every label had to be read for it."""
    is_kept = cache.get(_kept_as(benchmark, policy_of(benchmark).settings)) is not None
    n_labels = Judgment.objects.filter(benchmark=benchmark).order_by()[: READ_AT_ONCE + 1].count()
    return inbox_of(benchmark, user) if is_kept or n_labels <= READ_AT_ONCE else None


def _kept_as(benchmark: Benchmark, settings: Settings) -> str:
    created = benchmark.created_at.timestamp()
    return f"open-cases-{benchmark.pk}-{created}-{settings.adjudicate_from}"


def _n_settled(benchmark: Benchmark) -> int:
    """Counted once for each state of the ledger: there is no index of the kinds of events."""

    def count() -> int:
        settled = Judgment.objects.filter(
            benchmark=benchmark, kind=Judgment.Kind.ADJUDICATE, superseded_by=None
        )
        return settled.exclude(outcome=Judgment.Outcome.THIRD_OPINION).count()

    created, last = benchmark.created_at.timestamp(), ledger.last_event_of(benchmark)
    return cast(
        int, cache.get_or_set(f"settled-{benchmark.pk}-{created}-{last}", count, KEPT_SECONDS)
    )


# --- the open cases, kept and brought up to date --------------------------------------------------


def open_cases(benchmark: Benchmark) -> list[Case]:
    """Every open case, by effect, then by distance of the grades, then by id.

    The last answer is kept: only pairs that something was said about since are looked at again.
    """
    settings = policy_of(benchmark).settings
    last = ledger.last_event_of(benchmark)
    kept_as = _kept_as(benchmark, settings)
    as_of, cases = cache.get(kept_as, (0, {}))
    if as_of == last:
        return _sorted(cases)
    touched = _touched(benchmark, as_of, last) if as_of else None
    if touched is None:
        cases = _cases(benchmark, settings, last, _candidates(benchmark, settings, last))
    else:
        cases = {key: case for key, case in cases.items() if key not in touched}
        cases |= _cases(benchmark, settings, last, touched)
    cache.set(kept_as, (last, cases), KEPT_SECONDS)
    return _sorted(cases)


def _sorted(cases: dict[Key, Case]) -> list[Case]:
    return sorted(
        cases.values(),
        key=lambda case: (-case.effect, -case.apart, case.qid.encode(), case.docid.encode()),
    )


def _touched(benchmark: Benchmark, after: int, last: int) -> set[Key] | None:
    """Pairs with news; None if there are too many to look at one by one."""
    news = ledger.rule_events(benchmark).filter(pk__gt=after, pk__lte=last)
    pairs = set(news.values_list("query_id", "docid")[: MANY_PAIRS + 1])
    return pairs if len(pairs) <= MANY_PAIRS else None


def _candidates(benchmark: Benchmark, settings: Settings, last: int) -> set[Key]:
    """Pairs that may be open: two labels that stand and lie far enough apart, by the database."""
    labels = (
        Judgment.objects.current()
        .wanted()
        .filter(benchmark=benchmark, pk__lte=last, kind__in=Judgment.GRADES)
    )
    grouped = (
        labels.order_by()
        .values("query_id", "docid")
        .annotate(n=Count("pk"), low=Min("grade"), high=Max("grade"))
    )
    apart = grouped.filter(n__gte=2, high__gte=F("low") + settings.adjudicate_from)
    return set(apart.values_list("query_id", "docid"))


def _cases(
    benchmark: Benchmark, settings: Settings, last: int, keys: Iterable[Key]
) -> dict[Key, Case]:
    cases: dict[Key, Case] = {}
    sorted_keys = sorted(keys)
    for start in range(0, len(sorted_keys), CHUNK):
        chunk = set(sorted_keys[start : start + CHUNK])
        opened = {
            key: (pair, judges)
            for key, pair, judges in _pairs(benchmark, last, chunk)
            if _is_open(pair, settings)
        }
        effects = _effects(benchmark, {key: pair for key, (pair, _) in opened.items()})
        for key, (pair, judges) in opened.items():
            grades = tuple(sorted(pair.grades))
            cases[key] = Case(key[0], pair.query, key[1], grades, effects[key], judges, pair.waits)
    return cases


def _is_open(pair: Pair, settings: Settings) -> bool:
    if pair.is_set_aside:
        return False
    verdict = verdict_on(pair, RULE, settings)
    return verdict is not None and verdict.grade is None


def _pairs(
    benchmark: Benchmark, last: int, keys: set[Key]
) -> Iterable[tuple[Key, Pair, frozenset[int]]]:
    # Checks, repeats and practice as well: no labels, but who gave them has judged the document.
    events = ledger.rule_events(benchmark).filter(
        pk__lte=last,
        query__in={query for query, _ in keys},
        docid__in={docid for _, docid in keys},
    )
    rows = events.order_by("query_id", "docid", "pk").values_list("query_id", *ledger.EVENT_FIELDS)
    for key, group in groupby(rows, key=lambda row: (row[0], row[3])):
        if key in keys:
            of_pair = [Event(*row[1:]) for row in group]
            yield key, pair_of(of_pair[0].query, key[1], of_pair), judges_among(of_pair)


def judges_among(events: Iterable[Event]) -> frozenset[int]:
    """People who said themselves what a document deserves, whether it stands or not."""
    return frozenset(
        event.actor for event in events if event.kind in Judgment.LABELS and not event.rater
    )


def _effects(benchmark: Benchmark, pairs: dict[Key, Pair]) -> dict[Key, float]:
    if not pairs:
        return {}
    runs = _runs_of_pools(benchmark)
    ranks: dict[Key, dict[str, int]] = defaultdict(dict)
    names: dict[Key, set[str]] = defaultdict(set)
    entries = PoolEntry.objects.filter(
        pool__benchmark=benchmark,
        query__in={query for query, _ in pairs},
        document__docid__in={docid for _, docid in pairs},
    )
    for pool, query, docid, contributors in entries.values_list(
        "pool_id", "query_id", "document__docid", "contributors"
    ):
        ranks[query, docid] |= contributors
        names[query, docid] |= runs.get(pool, set()) | set(contributors)
    ideals = _ideals(benchmark, {query for query, _ in pairs})
    return {
        key: effect(
            pair.grades,
            [ranks[key].get(name) for name in sorted(names[key])],
            ideals.get(key[0], 0.0),
        )
        for key, pair in pairs.items()
    }


def _runs_of_pools(benchmark: Benchmark) -> dict[int, set[str]]:
    names: dict[int, set[str]] = defaultdict(set)
    rows = PoolRun.objects.filter(pool__benchmark=benchmark)
    for pool, name in rows.values_list("pool_id", "run__name"):
        names[pool].add(name)
    return names


def _ideals(benchmark: Benchmark, queries: set[int]) -> dict[int, float]:
    """The gain of each query's best ranking, from how many documents have which label."""
    labels = (
        Judgment.objects.current()
        .wanted()
        .filter(benchmark=benchmark, query__in=queries, grade__gt=0, kind__in=Judgment.GRADES)
    )
    counted = (
        labels.order_by().values("query_id", "grade").annotate(n=Count("docid", distinct=True))
    )
    grades: dict[int, list[int]] = defaultdict(list)
    for row in counted:
        grades[row["query_id"]] += [cast(int, row["grade"])] * row["n"]  # above 0 alone
    return {query: ideal_gain(of_query) for query, of_query in grades.items()}


# --- one case -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One rater's word, without their name: `letter` tells them apart on this page alone."""

    letter: str
    event: Judgment


@dataclass(frozen=True)
class Decided:
    """A case that was settled, with the labels it had."""

    event: Judgment
    grades: tuple[int, ...]


@dataclass(frozen=True)
class CaseDetail:
    """Everything an adjudicator may see of a document: what was said of it, and nothing of whom."""

    query: Query
    docid: str
    pair: Pair
    judges: frozenset[int]
    is_open: bool
    words: list[Said]
    decision: Judgment | None
    title: str = ""
    text: str = ""
    lang: str = ""
    similar: list[Decided] = field(default_factory=list)


def case_detail(benchmark: Benchmark, query: Query, docid: str) -> CaseDetail | None:
    """A document with its labels; None where nobody has said anything about it."""
    last = ledger.last_event_of(benchmark)
    pairs = list(_pairs(benchmark, last, {(query.pk, docid)}))
    if not pairs:
        return None
    _, pair, judges = pairs[0]
    title, text, lang = text_of(benchmark, docid)
    return CaseDetail(
        query,
        docid,
        pair,
        judges,
        _is_open(pair, policy_of(benchmark).settings),
        _said(benchmark, query, docid),
        decision_on(benchmark, query.pk, docid),
        title,
        text,
        lang,
        similar_decided(benchmark, query, docid, pair),
    )


def _said(benchmark: Benchmark, query: Query, docid: str) -> list[Said]:
    """What stands, in an order that says nothing about who said it or when."""
    events = (
        Judgment.objects.current()
        .wanted()
        .filter(benchmark=benchmark, query=query, docid=docid, kind__in=Judgment.LABELS)
    )
    newest = {
        (event.actor_id, event.rater): event
        for event in events.select_related("guideline").order_by("pk")
    }

    def place(event: Judgment) -> bytes:
        key = f"{query.pk} {docid} {event.actor_id} {event.rater}"
        return hashlib.sha256(key.encode()).digest()

    in_order = sorted(newest.values(), key=place)
    return [Said(_letter(number), event) for number, event in enumerate(in_order)]


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def decision_on(benchmark: Benchmark, query: int, docid: str) -> Judgment | None:
    """An adjudicator's newest word about a pair."""
    words = Judgment.objects.filter(
        benchmark=benchmark,
        query=query,
        docid=docid,
        kind=Judgment.Kind.ADJUDICATE,
        superseded_by=None,
    )
    return words.order_by("-pk").first()


def similar_decided(benchmark: Benchmark, query: Query, docid: str, pair: Pair) -> list[Decided]:
    """Cases settled lately: of the same query first, then those with the same grades."""
    settled = (
        Judgment.objects.filter(
            benchmark=benchmark, kind=Judgment.Kind.ADJUDICATE, superseded_by=None
        )
        .exclude(outcome=Judgment.Outcome.THIRD_OPINION)
        .exclude(query=query, docid=docid)
        .select_related("query")
        .order_by("-pk")
    )
    of_query = list(settled.filter(query=query)[:N_SIMILAR])
    looked = {event.pk: event for event in [*of_query, *settled[:LOOKED_THROUGH]]}
    keys = {(event.query_id, event.docid) for event in looked.values()}
    last = ledger.last_event_of(benchmark)
    grades = {key: tuple(sorted(p.grades)) for key, p, _ in _pairs(benchmark, last, keys)}
    grades_here = tuple(sorted(pair.grades))
    decided = [Decided(e, grades.get((e.query_id, e.docid), ())) for e in looked.values()]
    alike = [d for d in decided if d.event.query_id == query.pk or d.grades == grades_here]
    alike.sort(key=lambda d: (d.event.query_id != query.pk, -d.event.pk))
    return alike[:N_SIMILAR]


def text_of(benchmark: Benchmark, docid: str) -> tuple[str, str, str]:
    """(title, text, language) of a document as it is now; empty where there are no texts."""
    usual = benchmark.corpus.lang
    contents = DocumentContent.objects.filter(
        document__corpus=benchmark.corpus_id, document__docid=docid
    )
    content: Any = contents.order_by("-first_seen", "-pk").first()
    if content is None:
        content = benchmark_documents(benchmark, [docid]).get(docid)
    if content is None:
        return "", "", usual
    return content.title, content.text, getattr(content, "lang", "") or usual


def has_said_something(benchmark: Benchmark, query: int, docid: str, user: User) -> bool:
    """Whether a person has judged the pair themselves, even if they took it back."""
    own = Q(kind__in=["grade", "cant_judge"]) | Q(kind="import", rater="")
    events = Judgment.objects.filter(benchmark=benchmark, query=query, docid=docid, actor=user)
    return events.filter(own).exists()
