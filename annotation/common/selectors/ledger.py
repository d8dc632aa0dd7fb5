"""The ledger as rules read it, and which documents have labels already, and how many."""

from collections.abc import Collection, Iterable

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from annotation.models import Judgment
from annotation.models.judgments import JudgmentQuerySet
from benchmarks_app.models import Benchmark, Query, User
from benchwright.pools import Pair
from benchwright.qrels.events import Event

# A machine's label replaces one that had passed for a person's.
SAYS_SOMETHING = ~Q(kind=Judgment.Kind.MACHINE) | Q(supersedes__isnull=False)

# Whose label it is: a person's of the site, or one's whom a file names, apart also in digits.
RATER = Concat("actor", Value(" "), "rater")


def rule_events(benchmark: Benchmark) -> JudgmentQuerySet:
    """What rules read of a ledger: people's events, and what took back a label of theirs."""
    return Judgment.events.filter(SAYS_SOMETHING, benchmark=benchmark)


EVENT_FIELDS = (
    "pk",
    "query__qid",
    "docid",
    "kind",
    "grade",
    "actor_id",
    "supersedes_id",
    "rater",
    "purpose",
    "outcome",
)


def ledger_events(
    benchmark: Benchmark,
    as_of: int,
    *,
    actor: int | None = None,
    without: Collection[int] = (),
) -> Iterable[Event]:
    """The events up to `as_of`, those of a pair next to each other, streamed from the database.

    Labels that were entered from a file count as those of whom it names, or else of their importer,
    who vouches for them. Machines, practice, repeats and hidden checks are no part of it.
    `actor` limits it to what one person of the site said themselves; what the people `without` said
    themselves is left out, not what they settled.
    """
    rows = rule_events(benchmark).wanted().filter(pk__lte=as_of)
    rows = said_by(rows, actor=actor, without=without)
    values = rows.order_by("query_id", "docid", "pk").values_list(*EVENT_FIELDS)
    return (Event(*row) for row in values.iterator(chunk_size=5000))


def said_by(
    events: JudgmentQuerySet, *, actor: int | None, without: Collection[int]
) -> JudgmentQuerySet:
    """What one person of the site said themselves, or all but what some people did."""
    if actor is not None:
        events = events.filter(actor=actor, rater="").exclude(kind=Judgment.Kind.ADJUDICATE)
    if without:
        own = Q(actor__in=without, rater="") & ~Q(kind=Judgment.Kind.ADJUDICATE)
        events = events.exclude(own)
    return events


def last_event(benchmark: Benchmark) -> int:
    """The newest event of a benchmark's ledger, 0 without one."""
    return Judgment.objects.filter(benchmark=benchmark).aggregate(last=Max("pk"))["last"] or 0


def last_event_of(benchmark: Benchmark) -> int:
    """The newest event that rules read; 0 before the first."""
    # By the primary key from its end: no count of a long ledger.
    newest = rule_events(benchmark).order_by("-pk")
    return newest.values_list("pk", flat=True).first() or 0


def annotators_of(benchmark: Benchmark) -> QuerySet[User]:
    """Everybody of the site who has graded something in the benchmark, and did not only settle."""
    # Asked person by person, each by the index of their own events.
    own = own_grades(benchmark).filter(actor=OuterRef("pk"))
    return User.objects.filter(Exists(own)).order_by("username")


def own_grades(benchmark: Benchmark) -> JudgmentQuerySet:
    """Grades that people of the site gave themselves."""
    grades = Judgment.objects.wanted().exclude(kind=Judgment.Kind.ADJUDICATE)
    return grades.filter(benchmark=benchmark, rater="", grade__isnull=False)


def query_keys(benchmark: Benchmark) -> dict[str, int]:
    """{qid: primary key} of the benchmark's queries."""
    return dict(Query.objects.committed().filter(benchmark=benchmark).values_list("qid", "pk"))


def n_events_since(benchmark: Benchmark, event: int) -> int:
    """How many judgments of people the ledger of a benchmark got after an event."""
    return Judgment.objects.filter(benchmark=benchmark, pk__gt=event).count()


def _labels(benchmark: Benchmark, as_of: int) -> JudgmentQuerySet:
    """People's grades as of an event; 0 is before them all.

    Practice, repeats and hidden checks do not count, nor what was taken back by then.
    """
    labels = Judgment.objects.filter(benchmark=benchmark, pk__lte=as_of, grade__isnull=False)
    wanted_labels = labels.wanted().exclude(kind=Judgment.Kind.RETRACT)
    return wanted_labels.exclude(superseded_by__pk__lte=as_of).order_by()


def judged_pairs(benchmark: Benchmark, as_of: int) -> dict[Pair, int]:
    """{(qid, docid): by how many people it was graded}, as of an event."""
    pairs = _labels(benchmark, as_of).values_list("query__qid", "docid")
    rows = pairs.annotate(n=Count(RATER, distinct=True))
    return {(qid, docid): n for qid, docid, n in rows}


def queries_with_labels(benchmark: Benchmark, as_of: int) -> set[str]:
    """The queries of which people graded a document, as of an event."""
    return set(_labels(benchmark, as_of).values_list("query__qid", flat=True).distinct())


def newest_grades(benchmark: Benchmark, as_of: int) -> dict[str, dict[str, int]]:
    """{query: {document: the newest of people's grades}}, as of an event."""
    grades: dict[str, dict[str, int]] = {}
    rows = _labels(benchmark, as_of).order_by("pk").values_list("query__qid", "docid", "grade")
    for qid, docid, grade in rows:
        grades.setdefault(qid, {})[docid] = grade
    return grades
