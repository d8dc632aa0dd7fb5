"""A judge held against people: which pairs count, and what the page and the API say of it."""

from collections import Counter

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.selectors import slices_of_queries
from annotation.campaigns.services.calibrating import calibration_of
from annotation.campaigns.services.errors import CalibrationChoiceError
from annotation.campaigns.services.running import judge_here
from annotation.models import Campaign
from benchwright.agreement.coefficients import Weights
from benchwright.agreement.two_raters import cohen
from tests import factories
from tests.annotation import making
from tests.annotation.campaigns.making import draft, say

pytestmark = pytest.mark.django_db
# What people say; the stub says 2, 0 and 3.
PEOPLE = {"d1": 2, "d2": 1, "d4": 0}


@pytest.fixture
def graded(pool, judge):
    return judge_here(campaign=draft(pool, judge), user=pool.created_by)


@pytest.fixture
def both(graded, ada, pool):
    for docid, grade in PEOPLE.items():
        say(ada, docid, grade, pool)
    return graded


def test_pairs_that_both_graded_are_counted_by_hand(both):
    calibration = calibration_of(both)

    machine = {"d1": 2, "d2": 0, "d4": 3}
    cells = Counter((PEOPLE[docid], machine[docid]) for docid in PEOPLE)
    counts = {
        (people, by_machine): n
        for people, row in enumerate(calibration.calibration.confusion)
        for by_machine, n in enumerate(row)
        if n
    }
    assert counts == cells
    assert (calibration.n_drawn, calibration.n_shared, calibration.is_partly_judged) == (5, 3, True)
    away = [machine[docid] - PEOPLE[docid] for docid in PEOPLE]
    assert calibration.calibration.bias.mean == pytest.approx(sum(away) / 3)
    assert calibration.calibration.exact == pytest.approx(1 / 3)
    assert "Too few for a verdict" in calibration.verdict


def test_more_labels_of_people_are_seen_at_once(both, ada, pool):
    before = calibration_of(both).n_shared

    say(ada, "d3", 1, pool)

    assert (before, calibration_of(both).n_shared) == (3, 4)


def test_two_people_are_two_and_not_one_who_was_asked_again(both, ada, bo, benchmark):
    again = making.pool(benchmark, {"q1": ["d1", "d2"], "q2": ["d4"]}, overlap=2)
    say(ada, "d1", 0, again)
    say(bo, "d1", 3, again)
    say(bo, "d2", 1, again)
    say(ada, "d4", 3, again)

    calibration = calibration_of(both).calibration

    table = np.zeros((4, 4), dtype=np.int64)
    for first, second in ((PEOPLE["d1"], 3), (PEOPLE["d2"], 1)):
        table[first, second] += 1
    assert calibration.people_with_people.n_items == 2
    assert calibration.people_with_people.value == cohen(table, Weights.QUADRATIC).value


def test_bias_by_slice_is_of_members_and_not_of_who_was_suggested_or_rejected(both, benchmark):
    facts = {"is_registered": True, "registered_at": timezone.now(), "members_sha256": "a"}
    q1, q2 = (benchmark.queries.get(qid=qid) for qid in ("q1", "q2"))
    of = factories.query_slice(benchmark, "short", q1, **facts)
    members = benchmark.slices.get(pk=of.pk).members
    members.create(query=q2, source="rule", state="suggested")
    other = factories.query_slice(benchmark, "late", q2, **facts)
    other.members.create(query=q1, source="rule", state="rejected")

    rows = {row.name: row.n_pairs for row in calibration_of(both).calibration.bias_by["slice"]}

    assert rows == {"short": 2, "late": 1}
    assert slices_of_queries(benchmark) == {q1.pk: (of.pk,), q2.pk: (other.pk,)}

    members.filter(query=q2).update(state="member")

    rows = {row.name: row.n_pairs for row in calibration_of(both).calibration.bias_by["slice"]}
    assert rows == {"short": 3, "late": 1}


def test_without_a_persons_label_nothing_is_said(graded):
    calibration = calibration_of(graded)

    assert calibration.calibration is None
    assert "nothing can be said" in calibration.verdict


def test_documents_that_were_not_drawn_are_refused(graded):
    Campaign.objects.filter(pk=graded.pk).update(choice="unjudged")
    graded.refresh_from_db()

    with pytest.raises(CalibrationChoiceError, match="not drawn"):
        calibration_of(graded)


def test_page_and_api_say_what_is_lacking(benchmark, both, owner, signed_in):
    client = signed_in(owner)
    of = [benchmark.slug, both.pk]

    page = client.get(reverse("annotation:campaign-calibration", args=of)).content.decode()
    answer = client.get(reverse("api:campaign-calibration", args=of)).json()

    assert "Not enough for a verdict" in page
    assert "197 more pairs" in page
    assert "3 of 5 documents graded by people too" in page
    assert (answer["n_shared"], answer["calibration"]["n_pairs"]) == (3, 3)
    assert answer["verdict"] in page.replace("&#x27;", "'")
