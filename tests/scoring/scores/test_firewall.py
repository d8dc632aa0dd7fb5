"""What is shown of a release with a hidden split: rounded means, public queries, audited looks."""

import csv
import io
import re
from math import fsum

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from benchmarks_app.common.services.exposure import READ_ACTION
from benchmarks_app.models import AuditEvent
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.services.firewall import DECIMALS, Sight, sight_of, sight_written_down
from scoring.scores.services.slice_scores import board_split
from tests import factories
from tests.scoring.hiding import HIDDEN, PUBLIC, hiding_benchmark, hiding_release, lines, plain_run

pytestmark = pytest.mark.django_db
CLEAR, DIM = Sight(), Sight(frozenset({"h"}), DECIMALS, frozenset({"AP"}))
MEANS = st.floats(0, 1)


# --- the rules -----------------------------------------------------------------------------------


@given(MEANS)
def test_keeper_sees_a_mean_in_full_and_others_to_three_decimals(mean):
    assert CLEAR.rounded(mean) == mean
    assert DIM.rounded(mean) == round(mean, 3)
    assert (CLEAR.rounded(None), DIM.rounded(None)) == (None, None)


@given(MEANS, MEANS, st.floats(-0.0004, 0.0004), st.floats(-0.0004, 0.0004))
def test_difference_says_no_more_than_the_two_means_do(one, other, moved, also_moved):
    same = (round(one + moved, 3), round(other + also_moved, 3)) == (round(one, 3), round(other, 3))

    if same:
        assert DIM.difference(one + moved, other + also_moved) == DIM.difference(one, other)
    assert CLEAR.difference(one, other) == one - other


@pytest.mark.parametrize(
    ("sight", "shown"),
    [(CLEAR, (0.12345, 0.1, 0.15678, 0.98765)), (DIM, (0.123, 0.1, 0.157, 0.988))],
)
def test_all_numbers_of_a_stored_mean_are_rounded(sight, shown):
    stored = Score(score_set=ScoreSet(), measure="AP", mean=0.12345, judged_share=0.98765)
    stored.ci_low, stored.ci_high = 0.1, 0.15678

    (mean,) = sight.means([stored])

    assert (mean.mean, mean.ci_low, mean.ci_high, mean.judged_share) == shown
    assert stored.mean == 0.12345


def test_hidden_queries_are_left_out_and_a_sentence_says_why():
    assert DIM.seen(["a", "h", "b"]) == ["a", "b"]
    assert CLEAR.seen(["a", "h"]) == ["a", "h"]
    assert "rounded to 3 decimals" in DIM.why
    assert CLEAR.why == ""


# --- who sees what -------------------------------------------------------------------------------


@pytest.fixture
def run(db):
    bench = hiding_benchmark()
    good_first = [f"{HIDDEN[0]}-good"]
    run = factories.run(bench, lines(plain_run(**{HIDDEN[0]: good_first})), name="system")
    factories.run(bench, lines(plain_run()), name="bm25", kind="baseline")
    hiding_release(bench)
    for name, role in (("olga", "owner"), ("sam", "submitter"), ("vi", "viewer")):
        factories.member(bench, name, role)
    return run


@pytest.mark.parametrize(("who", "is_clear"), [("olga", True), ("sam", False), ("vi", False)])
def test_sight_is_by_role_and_a_keepers_look_is_written_down(run, who, is_clear):
    release = run.benchmark.releases.get()
    user = factories.user(who)

    assert sight_of(user, release).is_clear is is_clear
    assert not AuditEvent.objects.filter(action=READ_ACTION).exists()
    assert sight_written_down(user, release, "a look").is_clear is is_clear
    assert AuditEvent.objects.filter(action=READ_ACTION, actor=user).exists() is is_clear


def pages(run, *, version: str = "1.0.0") -> dict[str, str]:
    """Addresses of pages, files and endpoints that show means, by what they are."""
    slug, named = run.benchmark.slug, {"slug": run.benchmark.slug, "pk": run.pk}
    board = {"slug": slug, "version": version}
    chart = {**named, "version": version, "measure": "nDCG@10", "format": "csv"}
    return {
        "scores": reverse("scoring:run-scores", kwargs=named),
        "added": reverse("scoring:run-scores", kwargs=named) + "?measure=nDCG@3",
        "slices": reverse("scoring:run-slices", kwargs=named),
        "slices as a chart": reverse(
            "scoring:run-chart", kwargs={**chart, "run_chart": "slices-none"}
        ),
        "api": reverse("api:run-scores", kwargs=named),
        "board": reverse("scoring:leaderboard-release", kwargs=board),
        "board as a file": reverse("scoring:leaderboard-csv", kwargs=board),
    }


@pytest.mark.parametrize("what", ["scores", "added", "slices", "slices as a chart",
                                  "api", "board", "board as a file"])  # fmt: skip
def test_means_have_three_decimals_for_all_but_keepers(run, signed_in, what):
    url = pages(run)[what]
    of_board = board_split(run.benchmark.releases.get()).slice_name
    named = {"measure": "nDCG@10", "slice_name": of_board if what.startswith("board") else ""}
    mean = ScoreSet.objects.get(run=run).scores.get(**named).mean
    in_full = re.compile(re.escape(f"{mean:.4f}"[:6]))
    assert round(mean, 3) != round(mean, 4)

    seen = signed_in(factories.user("vi")).get(url).content.decode()
    kept = signed_in(factories.user("olga")).get(url).content.decode()

    assert f"{mean:.3f}" in seen
    assert not in_full.search(seen)
    assert in_full.search(kept)


def test_a_slice_with_a_single_hidden_query_is_not_public():
    bench = hiding_benchmark()
    for name, qids in (("open", PUBLIC), ("mixed", [*PUBLIC, HIDDEN[0]]), ("hidden", HIDDEN)):
        factories.query_slice(bench, name, *bench.queries.filter(qid__in=qids))
    release = hiding_release(bench)

    sight = sight_of(AnonymousUser(), release)

    public = {name: sight.is_public(name) for name in ("open", "mixed", "hidden", "none", "")}
    assert [name for name, is_public in public.items() if is_public] == ["open"]


def test_a_zero_of_a_board_has_no_sign(run):
    release = run.benchmark.releases.get()
    Score.objects.filter(score_set__run=run).update(mean=-0.0003, ci_low=-0.0004, ci_high=0.0)

    rows = leaderboard(
        release=release,
        user=factories.user("vi"),
        sight=sight_of(factories.user("vi"), release),
    )

    (row,) = [row for row in rows if row.run == run]
    assert str((row.scores["nDCG@10"], *row.intervals["nDCG@10"])) == "(0.0, 0.0, 0.0)"


def test_values_of_public_queries_alone_are_told_one_by_one(run, signed_in):
    client, named = signed_in(factories.user("vi")), {"slug": "hiding", "pk": run.pk}
    chart = {**named, "version": "1.0.0", "measure": "nDCG@10", "format": "csv"}

    table = client.get(reverse("scoring:run-queries", kwargs=named))
    file = client.get(reverse("scoring:run-queries-csv", kwargs=named)).content.decode()
    api = client.get(reverse("api:run-queries", kwargs=named)).json()
    holes = client.get(reverse("api:run-holes", kwargs=named)).json()
    counts = client.get(
        reverse("scoring:run-chart", kwargs={**chart, "run_chart": "distribution"})
    ).content.decode()
    grades = client.get(
        reverse("scoring:run-chart", kwargs={**chart, "run_chart": "grades"})
    ).content.decode()

    assert [row.qid for row in table.context["rows"]] == PUBLIC
    assert b"Hidden splits are left out" in table.content
    assert [row["query"] for row in csv.DictReader(io.StringIO(file))] == PUBLIC
    assert [row["query"] for row in api["results"]] == PUBLIC
    assert {row["query"] for row in holes["results"]} == set(PUBLIC)
    assert sum(int(row["queries"]) for row in csv.DictReader(io.StringIO(counts))) == len(PUBLIC)
    assert sum(int(row["documents"]) for row in csv.DictReader(io.StringIO(grades))) == len(PUBLIC)


def test_page_of_a_hidden_query_names_no_document_and_says_why(run, signed_in):
    url = reverse("scoring:run-query", args=["hiding", run.pk, HIDDEN[0]])

    seen = signed_in(factories.user("sam")).get(url).content.decode()
    kept = signed_in(factories.user("olga")).get(url).content.decode()

    assert "This query is in a hidden split" in seen
    assert f"{HIDDEN[0]}-good" not in seen
    assert f"{HIDDEN[0]}-good" in kept


@pytest.mark.parametrize("name", ["scores", "queries", "holes"])
def test_each_look_of_a_keeper_at_single_queries_is_written_down(run, signed_in, name):
    signed_in(factories.user("olga")).get(reverse(f"scoring:run-{name}", args=["hiding", run.pk]))

    assert AuditEvent.objects.filter(action=READ_ACTION, actor__username="olga").count() == 1


def test_patterns_are_read_off_public_queries_alone(run, signed_in):
    url = reverse("scoring:run-reading", args=["hiding", run.pk])
    client = signed_in(factories.user("vi"))

    seen = client.get(url)
    of_public = client.get(reverse("api:run-queries", args=["hiding", run.pk])).json()["results"]
    kept = signed_in(factories.user("olga")).get(url)

    assert b"worked out from the public queries alone" in seen.content
    assert seen.context["judged"] == pytest.approx(0.1)
    assert kept.context["judged"] == pytest.approx((32 * 0.1 + 1) / 33)  # its one of a hidden query
    assert seen.context["patterns"] == []  # three queries are too few for any
    assert [pattern.code for pattern in kept.context["patterns"]]
    assert seen.context["scenarios"].raw == pytest.approx(
        fsum(row["scores"]["nDCG@10"] for row in of_public) / len(PUBLIC)
    )
