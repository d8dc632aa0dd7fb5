"""A judge held against people: which pairs count, and what the page and the API say of it."""

from collections import Counter

import pytest
from django.urls import reverse

from annotation.campaigns.services.calibrating import calibration_of
from annotation.campaigns.services.errors import CalibrationChoiceError
from annotation.campaigns.services.running import judge_here
from annotation.models import Campaign
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
    told = calibration_of(both)

    machine = {"d1": 2, "d2": 0, "d4": 3}
    cells = Counter((PEOPLE[docid], machine[docid]) for docid in PEOPLE)
    counts = {
        (people, by_machine): n
        for people, row in enumerate(told.calibration.confusion)
        for by_machine, n in enumerate(row)
        if n
    }
    assert counts == cells
    assert (told.n_drawn, told.n_shared, told.is_partly_judged) == (5, 3, True)
    away = [machine[docid] - PEOPLE[docid] for docid in PEOPLE]
    assert told.calibration.bias.mean == pytest.approx(sum(away) / 3)
    assert told.calibration.exact == pytest.approx(1 / 3)
    assert "Too few for a verdict" in told.verdict


def test_more_labels_of_people_are_seen_at_once(both, ada, pool):
    before = calibration_of(both).n_shared

    say(ada, "d3", 1, pool)

    assert (before, calibration_of(both).n_shared) == (3, 4)


def test_without_a_persons_label_nothing_is_said(graded):
    told = calibration_of(graded)

    assert told.calibration is None
    assert "nothing can be said" in told.verdict


def test_documents_that_were_not_drawn_are_refused(graded):
    Campaign.objects.filter(pk=graded.pk).update(choice="unjudged")
    graded.refresh_from_db()

    with pytest.raises(CalibrationChoiceError, match="not drawn"):
        calibration_of(graded)


def test_page_and_api_say_what_is_lacking(benchmark, both, owner, signed_in):
    client = signed_in(owner)
    of = [benchmark.slug, both.pk]

    page = client.get(reverse("annotation:campaign-calibration", args=of)).content.decode()
    told = client.get(reverse("api:campaign-calibration", args=of)).json()

    assert "Not enough for a verdict" in page
    assert "197 more pairs" in page
    assert "3 of 5 documents graded by people too" in page
    assert (told["n_shared"], told["calibration"]["n_pairs"]) == (3, 3)
    assert told["verdict"] in page.replace("&#x27;", "'")
