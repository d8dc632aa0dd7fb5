"""What a set of qrels would be made of, before it is."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, Q

from annotation.agreement.selectors.careless import KEPT_SECONDS, CarelessSign, careless_signs
from annotation.common.selectors.ledger import last_event_of
from annotation.common.selectors.pools import labelled_for_estimates
from annotation.models import Judgment
from benchmarks_app.models import Benchmark, User


@dataclass(frozen=True)
class Doubtful:
    """Somebody whose work there are signs about, and how many labels of theirs count."""

    person: User
    n_labels: int
    signs: list[CarelessSign]


@dataclass(frozen=True)
class Publication:
    """Everything that was judged so far: labels that count, of how many documents, by how many."""

    n_labels: int
    n_people: int
    n_documents: int
    n_queries: int
    doubtful: list[Doubtful]
    # Documents that were drawn for estimates, and are in no other pool.
    n_for_estimates: int = 0

    @property
    def n_doubtful(self) -> int:
        return sum(each.n_labels for each in self.doubtful)

    @property
    def share_doubtful(self) -> float:
        return self.n_doubtful / self.n_labels if self.n_labels else 0.0


def publication_of(benchmark: Benchmark) -> Publication:
    """What would be published now; labels are counted once for each state of the ledger."""
    kept_as = f"labels-to-publish-{benchmark.pk}-{benchmark.created_at.timestamp()}"
    kept_as = f"{kept_as}-{last_event_of(benchmark)}"
    counts = cache.get(kept_as)
    if counts is None:
        counts = _counts(benchmark)
        cache.set(kept_as, counts, KEPT_SECONDS)
    return Publication(
        **counts,
        doubtful=_doubtful(benchmark, careless_signs(benchmark)),
        # A pool that comes without a label changes it.
        n_for_estimates=labelled_for_estimates(benchmark),
    )


def _counts(benchmark: Benchmark) -> dict[str, int]:
    labels = (
        Judgment.objects.wanted()
        .current()
        .filter(benchmark=benchmark, kind__in=Judgment.LABELS, grade__isnull=False)
        .order_by()
    )
    return {
        "n_people": labels.values("actor", "rater").distinct().count(),
        "n_documents": labels.values("query", "docid").distinct().count(),
        **labels.aggregate(n_labels=Count("pk"), n_queries=Count("query", distinct=True)),
    }


def _doubtful(benchmark: Benchmark, signs: Iterable[CarelessSign]) -> list[Doubtful]:
    signs_of: dict[User, list[CarelessSign]] = {}
    for sign in signs:
        signs_of.setdefault(sign.annotator, []).append(sign)
    if not signs_of:
        return []
    labels = (
        Judgment.objects.wanted()
        .current()
        .filter(benchmark=benchmark, actor__in=signs_of, rater="", grade__isnull=False)
    )
    rows = (
        labels.exclude(kind=Judgment.Kind.ADJUDICATE)
        .order_by()
        .values_list("actor")
        .annotate(n=Count("pk", filter=Q(kind__in=Judgment.LABELS)))
    )
    n_of = dict(rows)
    return [
        Doubtful(person, n_of[person.pk], signs)
        for person, signs in signs_of.items()
        if n_of.get(person.pk)
    ]
