"""When a label is stale, and how many of each slice are."""

from datetime import UTC, datetime, timedelta
from math import isnan

import pytest

from benchwright.qrels.freshness import Label, State, freshness_of, state_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)
YEAR = timedelta(days=365)


def label(qid="q", docid="d", *, read="aa", days=10, current="aa", is_there=True):
    at = None if days is None else NOW - timedelta(days=days)
    return Label(qid, docid, read, at, current, is_there)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (label(), State.FRESH),
        (label(days=365), State.FRESH),
        (label(days=366), State.OLD),
        (label(current="bb"), State.CHANGED),
        (label(current="bb", days=400), State.CHANGED),
        (label(is_there=False, current="bb"), State.GONE),
        (label(read="", current="bb"), State.FRESH),
        (label(current="", days=366), State.OLD),
        (label(days=None), State.FRESH),
    ],
)
def test_the_first_reason_that_applies_is_told(given, expected):
    assert state_of(given, now=NOW, max_age=YEAR) is expected


def test_shares_are_of_all_labels_and_of_each_slice():
    labels = [
        label("q1", "a"),
        label("q1", "b", current="bb"),
        label("q2", "a", is_there=False),
        label("q2", "c", read=""),
    ]

    freshness = freshness_of(labels, {"first": ["q1"], "none": ["q9"]}, now=NOW, max_age=YEAR)

    assert (freshness.overall.n, freshness.overall.n_stale, freshness.overall.share) == (4, 2, 0.5)
    assert freshness.overall.n_unknown == 1
    assert (freshness.slices["first"].n, freshness.slices["first"].n_stale) == (2, 1)
    assert isnan(freshness.slices["none"].share)


def test_documents_that_are_gone_come_before_changed_and_old_ones():
    labels = [
        label("q1", "old", days=999),
        label("q1", "changed", current="bb"),
        label("q2", "gone", is_there=False),
    ]

    freshness = freshness_of(labels, {}, now=NOW, max_age=YEAR)

    assert [row.docid for row, _ in freshness.stale] == ["gone", "changed", "old"]
    assert freshness.overall.n_stale == sum(freshness.overall.counts[state] for state in State)
