"""Reads of corpora for their pages, commands and API."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from benchmarks_app.common.selectors.reading import corpus_documents, corpus_reader
from benchmarks_app.models import Benchmark, Corpus, CorpusVersion
from benchwright.corpora.store import StoredDocument

SAMPLES = 20
# Characters of a text that changed: so many in all, so many of them before the change.
SHOWN, SHOWN_BEFORE = 240, 80
DIFFERENCES = {
    "added": "added",
    "changed": "changed",
    "described": "other metadata only",
    "removed": "removed",
}


def corpora_visible_to(user: Any) -> QuerySet[Corpus]:
    """Corpora of the benchmarks that a person may see, with their newest version's size."""
    newest = CorpusVersion.objects.ready().filter(corpus=OuterRef("pk")).order_by("-number")
    benchmarks = Benchmark.objects.visible_to(user)
    proposed = Q(versions__state=CorpusVersion.State.PROPOSED)
    return (
        Corpus.objects.filter(benchmarks__in=benchmarks)
        .annotate(
            n_documents=Subquery(newest.values("n_documents")[:1]),
            newest_number=Subquery(newest.values("number")[:1]),
            is_cut=Subquery(newest.values("cut")[:1]),
            n_proposed=Count("versions", filter=proposed, distinct=True),
        )
        .select_related("owner")
        .order_by("name", "pk")
        .distinct()
    )


@dataclass(frozen=True)
class Sharing:
    """The benchmarks on one corpus: those that the asker may see, and how many others."""

    shown: list[Benchmark]
    n_others: int


def sharing_of(corpus: Corpus, user: Any) -> Sharing:
    everyone = corpus.benchmarks.count()
    visible = list(Benchmark.objects.visible_to(user).filter(corpus=corpus).order_by("name", "pk"))
    return Sharing(visible, everyone - len(visible))


def sample_documents(version: CorpusVersion) -> list[StoredDocument]:
    """Documents evenly from the whole order, the first and the last among them."""
    n = version.n_documents
    if n <= SAMPLES:
        return corpus_reader(version).at(range(n))
    return corpus_reader(version).at(number * (n - 1) // (SAMPLES - 1) for number in range(SAMPLES))


@dataclass(frozen=True)
class Change:
    """A document as it was and as it will be; None where it is not."""

    docid: str
    before: StoredDocument | None
    after: StoredDocument | None

    @property
    def said_before(self) -> str:
        return _around(_said(self.before), _said(self.after))

    @property
    def said_after(self) -> str:
        return _around(_said(self.after), _said(self.before))

    @property
    def begins(self) -> str:
        return _around(_said(self.after or self.before), "")


def _said(document: StoredDocument | None) -> str:
    if document is None:
        return ""
    return f"{document.title}: {document.text}" if document.title else document.text


def _around(text: str, other: str) -> str:
    """What a text says where it begins to differ from another one, with a little before it."""
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False))
    )
    start = max(0, same - SHOWN_BEFORE) if same > SHOWN_BEFORE * 2 else 0
    excerpt = text[start : start + SHOWN]
    before, after = "…" if start else "", "…" if start + SHOWN < len(text) else ""
    return f"{before}{excerpt}{after}"


def examples_of(version: CorpusVersion) -> list[tuple[str, int, list[Change]]]:
    """(what happened, to how many, the first few of them) of a version against its base."""
    difference = version.difference
    base = version.corpus.versions.filter(number=difference.get("base")).first()
    ids = difference.get("examples", {})
    wanted = [docid for some in ids.values() for docid in some]
    before = corpus_documents(base, wanted) if base else {}
    after = corpus_documents(version, wanted)
    return [
        (
            label,
            difference.get(kind, 0),
            [Change(docid, before.get(docid), after.get(docid)) for docid in ids.get(kind, ())],
        )
        for kind, label in DIFFERENCES.items()
        if difference.get(kind)
    ]


def labels_at_stake(version: CorpusVersion, user: Any) -> list[dict[str, Any]]:
    """For each benchmark on the corpus what of its labels and grades a snapshot touches.

    A benchmark that the asker may not see has no name.
    """
    seen = {one.pk: one for one in Benchmark.objects.visible_to(user).filter(corpus=version.corpus)}
    return [
        {**row, "benchmark": seen.get(row["benchmark"])}
        for row in version.difference.get("labels", [])
    ]


def benchmarks_of(some: Iterable[Corpus], user: Any) -> dict[int, list[Benchmark]]:
    """By the number of a corpus: the benchmarks on it that a person may see, by name."""
    seen = Benchmark.objects.visible_to(user).filter(corpus__in=[corpus.pk for corpus in some])
    of_corpus: dict[int, list[Benchmark]] = {}
    for benchmark in seen.order_by("name", "pk"):
        of_corpus.setdefault(benchmark.corpus_id, []).append(benchmark)
    return of_corpus
