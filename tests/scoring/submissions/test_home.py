"""My runs: quota, ranks, changes with their intervals, what was refused, and hidden splits."""

from datetime import timedelta
from html import unescape

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import QueryFamily, Run
from benchwright.linting import release_rules
from scoring.comparisons.services.against import difference_interval, slices_against
from scoring.models import Phase, ScoreSet, Submission
from scoring.scores.services.firewall import Sight
from scoring.submissions.services import submitting
from scoring.submissions.services.home import Change, home_context
from tests import factories
from tests.scoring.conftest import GOOD, GRADES
from tests.test_query_counts import FEW, MANY, asked

pytestmark = pytest.mark.django_db
WORSE = b"q1 Q0 d3 1 3.0 s\nq1 Q0 d2 2 2.0 s\nq2 Q0 d5 1 5.0 s\nq2 Q0 d4 2 4.0 s\nq3 Q0 d6 1 1 s\n"
BAD = b"q1 Q0 d1 1 3.0 s\nq1 Q0 d2 2 n/a s\n"


@pytest.fixture
def send(upload, do_jobs):
    """A function that submits to a phase and scores at once."""

    def send(phase: Phase, person, content: bytes, name: str) -> Submission:
        stored = upload(phase.benchmark, person, content)
        submission = submitting.accept_submission(
            phase=phase, user=person, upload=stored, name=name
        )
        do_jobs()
        submission.refresh_from_db()
        return submission

    return send


def page_of(client, benchmark, **asked_for) -> str:
    url = reverse("benchmark-detail", args=[benchmark.slug])
    return unescape(client.get(url, asked_for).content.decode())


def test_first_run_gets_a_snippet_and_a_form(phase, sam, signed_in, benchmark):
    page = page_of(signed_in(sam), benchmark)

    assert "Your first run" in page
    assert "20 <small>of 20 in 24 hours" in page
    assert f'action="{reverse("scoring:submission-new", args=[benchmark.slug])}"' in page


def test_form_of_the_page_is_taken_by_the_one_it_is_sent_to(phase, sam, signed_in, benchmark):
    from django.core.files.uploadedfile import SimpleUploadedFile

    file = SimpleUploadedFile("mine.run", GOOD)
    fields = {"file": file, "name": "mine", "visibility": "benchmark"}

    sent = signed_in(sam).post(reverse("scoring:submission-new", args=[benchmark.slug]), fields)

    assert sent.status_code == 302
    assert sam.submissions.get().name == "mine"


def test_run_stands_beside_ones_last_and_the_baseline(phase, sam, send, scored, benchmark):
    baseline = scored(WORSE.decode(), name="bm25", kind=Run.Kind.BASELINE).run
    older, newer = send(phase, sam, WORSE + b"q3 Q0 d9 2 1 s\n", "v1"), send(phase, sam, GOOD, "v2")

    context = home_context(benchmark, sam)

    first, second = context["runs"]
    assert [first.submission, second.submission] == [newer, older]
    assert context["baseline"].run == baseline
    assert (first.to_last.other, second.to_last) == ("v1", None)
    assert first.to_last.difference == pytest.approx(first.mean - second.mean)
    assert first.to_baseline.difference == pytest.approx(first.mean - context["baseline_mean"])


def test_interval_of_a_change_is_that_of_the_runs_own_page(phase, sam, send):
    older, newer = send(phase, sam, WORSE, "v1"), send(phase, sam, GOOD, "v2")
    mine, theirs = (ScoreSet.objects.get(run=entry.run) for entry in (newer, older))

    low, high = difference_interval(mine, theirs, "nDCG@10")

    (whole, *_) = slices_against(mine, theirs, "nDCG@10", Sight(), sam)
    assert (low, high) == (whole.difference_low, whole.difference_high)
    assert low <= whole.difference <= high
    assert not np.isclose(low, high)


@pytest.mark.parametrize(
    ("low", "high", "kind", "words"),
    [
        (0.01, 0.05, "up", "Shown to be better."),
        (-0.05, -0.01, "down", "Shown to be worse."),
        (-0.01, 0.05, "", "Not shown to be better."),
        (None, None, "", "Whether that is shown is not told here"),
    ],
)
def test_change_says_whether_it_is_shown(low, high, kind, words):
    change = Change("v1", 0.02, low, high)

    assert change.kind == kind
    assert change.verdict.startswith(words)


def test_refused_file_is_told_with_its_line_and_costs_nothing(
    phase, sam, send, signed_in, benchmark
):
    send(phase, sam, BAD, "broken")

    page = page_of(signed_in(sam), benchmark)

    assert "score is 'n/a'; expected a number." in page
    assert "20 <small>of 20 in 24 hours" in page


def test_used_up_quota_takes_the_form_away(phase, sam, send, signed_in, benchmark):
    Phase.objects.update(daily_limit=1)
    send(phase, sam, GOOD, "v1")

    page = page_of(signed_in(sam), benchmark)

    assert "No submission left for now" in page
    assert 'id="run-file"' not in page


def test_next_phase_is_told_with_its_rules(phase, sam, signed_in, benchmark):
    Phase.objects.update(opens_at=timezone.now() + timedelta(days=2), total_limit=7)

    page = page_of(signed_in(sam), benchmark)

    assert "No phase takes runs now" in page
    assert "20 submissions in 24 hours. 7 in all." in page


def test_runs_of_others_are_not_here(phase, sam, vi, send, benchmark):
    send(phase, factories.member(benchmark, "sue", "submitter"), GOOD, "hers")

    assert home_context(benchmark, sam)["runs"] == []


def test_keepers_see_their_own_runs_alone(phase, sam, owner, send, benchmark):
    send(phase, sam, GOOD, "his")

    assert home_context(benchmark, owner)["runs"] == []


def test_hidden_split_tells_rounded_means_and_no_interval(
    benchmark, publish, sam, send, signed_in, monkeypatch
):
    monkeypatch.setattr(release_rules, "SMALLEST_HIDDEN_SPLIT", 1)
    qrels = factories.qrel_set(benchmark, GRADES)
    QueryFamily.objects.filter(benchmark=benchmark).update(split="test")
    benchmark.hidden_splits = ["test"]
    benchmark.save()
    phase = Phase.objects.get(release=publish(qrels))
    Phase.objects.update(has_ladder=False)
    for name, lines in (("v1", WORSE), ("v2", GOOD)):
        send(phase, sam, lines, name)

    first, second = home_context(benchmark, sam)["runs"]

    assert first.mean == round(first.mean, 3)
    assert not first.to_last.has_interval
    assert first.to_last.difference == pytest.approx(round(first.mean - second.mean, 3))
    assert "it would tell of hidden grades" in page_of(signed_in(sam), benchmark)


def test_page_asks_as_often_for_20_runs_as_for_2(phase, benchmark, sam, send, signed_in):
    Phase.objects.update(daily_limit=100)
    client, url = signed_in(sam), reverse("benchmark-detail", args=[benchmark.slug])

    def submissions(first: int, last: int) -> None:
        for number in range(first, last):
            send(phase, sam, GOOD + b"q3 Q0 e%d 2 0 s\n" % number, f"s{number}")

    submissions(0, FEW)
    few, short = asked(client, url)
    submissions(FEW, MANY)
    many, long = asked(client, url)

    assert len(long) > len(short)
    # A list that is cut off is counted.
    assert len(many) <= len(few) + 1, "\n".join(sql for sql in many if sql not in few)
