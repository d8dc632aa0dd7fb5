"""The dashboard of a pool: its numbers, its charts, and that neither keeps a page waiting."""

import json
import re
import uuid
from datetime import timedelta
from typing import Any
from unittest import mock

import altair
import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.agreement.selectors.careless import CarelessSign, Kind
from annotation.common.selectors.pools import due_of, pool_progress
from annotation.models import Judgment, Pool, Slot
from annotation.pools.charts import CHARTS
from annotation.pools.selectors import contributions_to, due_note, pool_report, read_signals
from annotation.pools.services import watching
from benchmarks_app.models import Job
from benchwright.progress.pace import Projection
from benchwright.progress.signals import StopSignal
from tests import factories
from tests.annotation import making

NOW = timezone.now()


@pytest.fixture
def shared_pool(benchmark):
    """Twelve documents of three queries, each wanted twice."""
    queries = {f"q{n}": [f"d{n}-{place}" for place in range(4)] for n in range(3)}
    statistics = {
        "runs": [{"run": "bm25", "n": 12, "n_unique": 0}, {"run": "dense", "n": 6, "n_unique": 0}],
        "overlaps": [{"a": "bm25", "b": "dense", "n_shared": 6, "jaccard": 0.5}],
        "n_queries": 3,
        "per_query": {"min": 4, "median": 4, "max": 4},
        "hours": 1.0,
        "seconds": 20,
    }
    return making.pool(benchmark, queries, overlap=2, statistics=statistics)


def given(of: Pool, person, n: int, number: int = 1, **values: Any) -> list[Judgment]:
    """The first `n` wanted labels of that number, given by a person."""
    slots = Slot.objects.filter(pool=of, number=number).order_by("queue_position")[:n]
    return [judged(slot, person, grade=place % 2, **values) for place, slot in enumerate(slots)]


def judged(slot: Slot, person, **values: Any) -> Judgment:
    Slot.objects.filter(pk=slot.pk).update(state=Slot.State.DONE, annotator=person)
    return Judgment.objects.create(
        benchmark=slot.pool.benchmark,
        query=slot.query,
        docid=slot.entry.document.docid,
        kind=values.pop("kind", Judgment.Kind.GRADE),
        actor=person,
        slot=slot,
        pool=slot.pool,
        purpose=slot.kind,
        client_id=uuid.uuid4(),
        **{"grade": 1, "dwell_ms": 10_000, "shown_chars": 300, **values},
    )


def url(view: str, of: Pool, *more: str) -> str:
    return reverse(f"annotation:{view}", args=[of.benchmark.slug, of.pk, *more])


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_days", "done_in", "note"),
    [
        (4, 6, "in 4 days; at this pace 2 days late"),
        (4, 4, "in 4 days; at this pace in time"),
        (1, None, "in 1 day"),
        (0, 1, "today; at this pace 1 day late"),
        (-1, 1, "1 day ago, 24 labels left"),
    ],
)
def test_due_date_is_held_against_the_pace(shared_pool, n_days, done_in, note):
    today = NOW.date()
    shared_pool.due_on = today + timedelta(days=n_days)
    end = Projection(1.0, today + timedelta(days=done_in)) if done_in else None

    assert due_note(due_of(shared_pool, today), pool_progress(shared_pool), end) == note


def test_labels_are_counted_as_the_ledger_has_them(shared_pool, ada, bo):
    first, *_ = given(shared_pool, ada, 6)
    given(shared_pool, bo, 2, number=2)
    Judgment.objects.create(
        benchmark=shared_pool.benchmark,
        query=first.query,
        docid=first.docid,
        kind=Judgment.Kind.RETRACT,
        actor=ada,
        slot=first.slot,
        pool=shared_pool,
        supersedes=first,
        client_id=uuid.uuid4(),
    )

    signals = read_signals(shared_pool)

    assert (signals["n_labels"], signals["n_judged"], signals["n_complete"]) == (7, 6, 1)
    assert {row["person"]: row["n_labels"] for row in signals["people"]} == {ada.pk: 5, bo.pk: 2}
    assert sum(day["labels"] for day in signals["days"]) == 7


def test_repeats_and_hidden_checks_are_no_progress(shared_pool, ada):
    Slot.objects.filter(pool=shared_pool, number=2).update(kind=Slot.Kind.GOLD)
    shared_pool.n_wanted = 12
    given(shared_pool, ada, 3, number=2)

    assert read_signals(shared_pool)["n_labels"] == 0
    assert pool_progress(shared_pool).n_done == 0


def test_progress_counts_waived_aside_and_again(shared_pool, ada, bo):
    slots = Slot.objects.filter(pool=shared_pool, number=2).order_by("pk")
    keys = list(slots.values_list("pk", flat=True))
    Slot.objects.filter(pk__in=keys[:3]).update(state="waived")
    Slot.objects.filter(pk=keys[3]).update(state="aside", annotator=bo, lease_expires_at=NOW)
    Slot.objects.filter(pk__in=keys[4:6]).update(kind="rejudge")
    Slot.objects.filter(pk=keys[4]).update(state="done", annotator=bo)
    Pool.objects.filter(pk=shared_pool.pk).update(n_wanted=21 - 2, n_waived=3)
    shared_pool.refresh_from_db()
    given(shared_pool, ada, 5)

    progress = pool_progress(shared_pool)

    assert (progress.n_done, progress.n_wanted, progress.n_aside) == (5, 19, 1)
    assert progress.n_left == 19 - 5 + 1
    assert progress.other_note == "3 waived, 1 to be judged again"
    assert progress.held_note == "documents people hold, 1 wait for an answer"


def test_hours_left_follow_from_what_was_measured(shared_pool, ada, bo, owner):
    given(shared_pool, ada, 12)
    before = pool_report(shared_pool, read_signals(shared_pool), NOW, owner)["progress"]
    assert before["is_measured"] is False
    given(shared_pool, bo, 8, number=2)

    progress = pool_report(shared_pool, read_signals(shared_pool), NOW, owner)["progress"]

    assert (progress["seconds_a_label"], progress["is_measured"], progress["left"]) == (10, True, 4)
    assert progress["hours_left"] == pytest.approx(4 * 10 / 3600)


def test_report_is_json_with_names_and_a_day(shared_pool, ada, owner):
    given(shared_pool, ada, 12, created_at=NOW - timedelta(days=1))

    pool_facts = pool_report(shared_pool, read_signals(shared_pool), NOW, owner)

    assert json.loads(json.dumps(pool_facts)) == pool_facts
    assert [row["person"] for row in pool_facts["signals"]["people"]] == ["ada"]
    # Twelve labels in two days, twelve left.
    assert pool_facts["progress"]["done_on"] == (NOW + timedelta(days=2)).date().isoformat()


# --- the page ------------------------------------------------------------------------------------


def test_page_shows_people_by_name_and_no_ranking(shared_pool, ada, bo, owner, signed_in):
    given(shared_pool, bo, 12)
    given(shared_pool, ada, 3, number=2)

    page = signed_in(owner).get(url("pool-detail", shared_pool)).content.decode()

    table = page.partition("Who judged what")[2].partition("</table>")[0]
    names = re.findall(r'<tr><th scope="row">(\w+)</th><td class="num">(\d+)</td>', table)
    assert names == [("ada", "3"), ("bo", "12")]
    assert "Too early to tell" in page


def test_a_single_extra_label_is_one(shared_pool, ada, owner, signed_in):
    given(shared_pool, ada, 1, is_surplus=True)

    page = signed_in(owner).get(url("pool-detail", shared_pool)).content.decode()

    assert "1 extra label<" in page


def test_adjudicators_read_pseudonyms_wherever_people_are_counted(
    shared_pool, ada, bo, owner, signed_in
):
    """Counts beside names would say who is who on the pages that have pseudonyms."""
    sign = CarelessSign(ada, shared_pool, Kind.CHECKS, 12, {"n_right": 1, "n": 6})
    given(shared_pool, ada, 12)
    addresses = [
        *(url(view, shared_pool) for view in ("pool-detail", "pool-progress")),
        *(
            reverse(f"api:{view}", args=[shared_pool.benchmark.slug, shared_pool.pk])
            for view in ("pool-people", "pool-report")
        ),
    ]

    with mock.patch("annotation.pools.views.watching.careless_signs_in", lambda pool: [sign]):
        for address in addresses:
            by_owner = signed_in(owner).get(address).content.decode()
            by_adjudicator = signed_in(bo).get(address).content.decode()

            assert re.search(r"\bada\b", by_owner), address
            assert not re.search(r"\bada\b", by_adjudicator), address
            assert "annotator-" in by_adjudicator
            assert "hidden checks right" not in by_adjudicator


def test_every_chart_is_on_the_page_in_words(shared_pool, ada, owner, signed_in):
    given(shared_pool, ada, 12)

    page = signed_in(owner).get(url("pool-detail", shared_pool)).content.decode()

    for name in CHARTS:
        assert f'src="{url("pool-chart", shared_pool, name, "svg")}?size=column"' in page
    assert "12 of 24 labels are given." in page


@pytest.mark.parametrize("name", CHARTS)
def test_chart_is_valid_and_says_its_numbers(shared_pool, ada, name):
    given(shared_pool, ada, 12)
    signals = read_signals(shared_pool)

    chart = CHARTS[name](shared_pool, pool_progress(shared_pool), signals, NOW)

    altair.Chart.from_dict(chart.vega_lite())
    assert re.search(r"\d", chart.description)
    assert chart.rows


def test_an_order_that_turns_round_has_the_sign_of_negative_numbers():
    stop = StopSignal(first=None, last=None, change=None, finds_little=None, is_steady=False)
    signals = {"stability": {"n_draws": 200, "tau": 0.44, "low": -0.2, "high": 1.0}}

    page = render_to_string(
        "annotation/pools/_stop_signal.html", {"stop": stop, "signals": signals}
    )

    assert "[\N{MINUS SIGN}0.20, 1.00]" in page


def test_chart_of_no_such_name_is_not_found(shared_pool, owner, signed_in):
    client = signed_in(owner)

    assert client.get(url("pool-chart", shared_pool, "pie", "svg")).status_code == 404
    assert client.get(url("pool-chart", shared_pool, "coverage", "pdf")).status_code == 404
    assert client.get(url("pool-chart", shared_pool, "coverage", "csv")).status_code == 200


def test_nobody_judged_yet_has_no_charts(shared_pool, owner, signed_in):
    page = signed_in(owner).get(url("pool-detail", shared_pool)).content.decode()

    assert "Nobody has judged a document of this pool yet" in page
    assert "data-chart=" not in page


def test_end_is_foretold_from_the_last_days(shared_pool, ada):
    given(shared_pool, ada, 12, created_at=NOW)

    chart = CHARTS["labels-given"](
        shared_pool, pool_progress(shared_pool), read_signals(shared_pool), NOW
    )

    expected = [row["labels"] for row in chart.rows if row["kind"] == "expected"]
    assert expected == [12, 24]
    assert (NOW + timedelta(days=1)).date().isoformat() in chart.description


# --- large pools ---------------------------------------------------------------------------------


@pytest.fixture
def large(shared_pool, monkeypatch):
    monkeypatch.setattr(watching, "AT_ONCE", 5)
    return shared_pool


def test_large_pool_is_read_by_a_job_and_says_so(large, ada, owner, signed_in, do_jobs):
    given(large, ada, 12)
    client = signed_in(owner)

    before = client.get(url("pool-detail", large)).content.decode()
    assert "The labels are being read" in before
    assert f'hx-get="{url("pool-charts", large)}"' in before
    assert client.get(url("pool-chart", large, "coverage", "svg")).status_code == 404
    assert Job.objects.filter(kind=watching.JOB_KIND).count() == 1
    do_jobs()

    after = client.get(url("pool-charts", large)).content.decode()
    assert "12 of 24 labels are given." in after


def test_numbers_of_a_large_pool_are_renewed_at_times(large, ada, owner, do_jobs):
    given(large, ada, 6)
    assert watching.signals_of(large, owner) is None
    do_jobs()
    large.refresh_from_db()
    judged(Slot.objects.filter(pool=large, number=2).first(), owner)

    assert watching.signals_of(large, owner)["n_labels"] == 6
    assert not Job.objects.active().exists()  # they are young
    old = (timezone.now() - timedelta(minutes=6)).isoformat()
    large.statistics["signals"]["at"] = old
    large.save()
    Job.objects.update(created_at=old)
    assert watching.signals_of(large, owner)["n_labels"] == 6
    assert watching.signals_of(large, owner)["n_labels"] == 6
    assert Job.objects.active().count() == 1  # asked for once
    do_jobs()
    large.refresh_from_db()

    assert watching.signals_of(large, owner)["n_labels"] == 7
    assert Job.objects.filter(kind=watching.JOB_KIND).count() == 1


def test_job_leaves_other_statistics_alone(large, ada, owner, do_jobs):
    given(large, ada, 1)
    watching.signals_of(large, owner)
    Pool.objects.filter(pk=large.pk).update(statistics={**large.statistics, "more": 1})
    do_jobs()

    large.refresh_from_db()
    assert large.statistics["more"] == 1
    assert large.statistics["signals"]["n_labels"] == 1


def test_labels_from_a_file_are_told_of_whom_it_names(shared_pool, ada, owner, bo):
    given(shared_pool, ada, 3)
    given(shared_pool, owner, 2, number=2, kind="import", rater="w1")

    rows = {row["person"]: row["n_labels"] for row in contributions_to(shared_pool, owner)}

    assert rows == {"ada": 3, "w1": 2}
    people = [row["person"] for row in contributions_to(shared_pool, bo)]
    assert "w1" not in people and len(set(people)) == 2


def test_page_of_many_people_asks_no_more_than_that_of_two(shared_pool, owner, signed_in):
    client, counts = signed_in(owner), []
    for n in (2, 10):
        for _ in range(n):
            judged(Slot.objects.filter(pool=shared_pool).first(), factories.user())
        counts.append(n_queries(client, url("pool-detail", shared_pool)))

    assert counts[0] == counts[1]


def n_queries(client, where: str) -> int:
    client.get(where)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(where).status_code == 200
    return len(captured)


# --- the overview --------------------------------------------------------------------------------


def test_overview_tells_hours_labels_and_questions(shared_pool, ada, owner, signed_in):
    given(shared_pool, ada, 3)
    client = signed_in(owner)
    summary = reverse("annotation:pool-summary", args=[shared_pool.benchmark.slug])

    page = client.get(
        reverse("benchmark-detail", args=[shared_pool.benchmark.slug])
    ).content.decode()
    part = client.get(summary).content.decode()

    assert f'hx-get="{summary}"' in page
    assert "3 of 24 labels" in part
    assert "hours left" in part
    assert "<html" not in part


def test_overview_without_an_open_pool_says_nothing(shared_pool, owner, signed_in):
    Pool.objects.update(state="closed")
    summary = reverse("annotation:pool-summary", args=[shared_pool.benchmark.slug])

    assert signed_in(owner).get(summary).content.decode().strip() == ""
