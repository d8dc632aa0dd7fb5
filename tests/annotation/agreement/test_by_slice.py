"""Judging and agreement, taken apart by slice."""

import pytest
from django.urls import reverse

from annotation.agreement.selectors.agreement import Filters, agreement_report
from annotation.agreement.selectors.by_slice import slice_coverage
from annotation.common.selectors.ledger import last_event_of
from annotation.models import Slot
from benchmarks_app.models import SliceMember
from benchmarks_app.slices.services.changes import change_slice
from tests import factories
from tests.annotation import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


@pytest.fixture
def judged(benchmark, ada, ann):
    """q1 is agreed on by two people, of q2 they say opposite things, q3 nobody has judged."""
    small_pool = making.pool(
        benchmark, {"q1": ["d1", "d2"], "q2": ["d3", "d4"], "q3": ["d5"]}, overlap=2
    )
    grades = {"d1": (0, 0), "d2": (3, 3), "d3": (0, 3), "d4": (3, 0)}
    slots = Slot.objects.filter(pool=small_pool, entry__document__docid__in=grades)
    for slot in slots.select_related("entry__document").order_by("number", "pk"):
        which = slot.number - 1
        making.judge(slot, (ada, ann)[which], grades[slot.entry.document.docid][which])
    q1, q2, q3 = (benchmark.queries.get(qid=qid) for qid in ("q1", "q2", "q3"))
    factories.query_slice(benchmark, "both", q1, q2)
    factories.query_slice(benchmark, "easy", q1)
    factories.query_slice(benchmark, "open", q3)
    guessed = factories.query_slice(benchmark, "guessed", q2)
    guessed.members.update(state=SliceMember.State.SUGGESTED)
    return small_pool


def test_coverage_counts_labels_of_the_members_alone(benchmark, judged):
    results = {
        row.name: (row.n_pooled, row.n_done, row.n_wanted) for row in slice_coverage(benchmark)
    }

    assert results == {"both": (2, 8, 8), "easy": (1, 4, 4), "open": (1, 0, 2)}


def test_a_slice_outside_of_every_pool_is_listed_as_not_pooled(benchmark, judged, client, ada):
    factories.query_slice(benchmark, "new", factories.query(benchmark, "q9"))
    olga = factories.member(benchmark, "olga", "owner")
    client.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")

    page = client.get(reverse("annotation:slice-coverage", args=[benchmark.slug])).content.decode()

    assert "not pooled" in page
    assert "0 of 1" in page


def test_agreement_is_told_by_slice(benchmark, judged):
    report = agreement_report(benchmark, Filters(), last_event_of(benchmark))

    results = {row["name"]: (row["n"], row["exact"]["value"]) for row in report["slices"]}
    assert results == {"both": (8, 0.5), "easy": (4, 1.0)}


def test_the_page_of_agreement_follows_the_slices(benchmark, judged, client):
    olga = factories.member(benchmark, "olga", "owner")
    client.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")
    address = reverse("annotation:agreement", args=[benchmark.slug])
    before = client.get(address).content.decode()

    hard = factories.query_slice(benchmark, "hard", benchmark.queries.get(qid="q2"))

    assert ">hard<" not in before
    assert ">hard<" in client.get(address).content.decode()
    change_slice(of=hard, actor=olga, name="tough", description="")
    assert ">tough<" in client.get(address).content.decode()
