"""Two releases whose hidden grades differ in few families: a run's two means tell what differs."""

import pytest

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Run
from benchwright.slices import telling
from scoring.scores.services.scoring import Target, score_run
from scoring.submissions.selectors.submissions import submission_rows
from scoring.submissions.services.phases import make_phase
from scoring.submissions.services.sight import rows_as_seen, scores_as_seen
from tests import factories
from tests.scoring.hiding import HIDDEN, PUBLIC, hiding_benchmark, hiding_release, lines, plain_run
from tests.scoring.laddering import Site

pytestmark = pytest.mark.django_db
BOARD = "/api/v1/benchmarks/hiding/releases/{version}/leaderboard/?split=test"


def mended(benchmark, changed, version="2.0.0"):
    """A later release, on which these hidden queries have another relevant document."""
    grades = {(qid, f"{qid}-good"): 2 for qid in PUBLIC + HIDDEN}
    for qid in changed:
        grades |= {(qid, f"{qid}-good"): 0, (qid, f"{qid}-x"): 2}
    qrels = factories.qrel_set(benchmark, grades, name=f"mended for {version}")
    type(qrels).objects.filter(pk=qrels.pk).update(n_relevant=len(grades))
    qrels.refresh_from_db()
    return factories.release(qrels, version=version)


@pytest.fixture
def releases(tmp_path):
    """A function that publishes 1.0.0, then 2.0.0 with some grades changed; runs are on both."""

    def releases(changed):
        benchmark = hiding_benchmark()
        first = hiding_release(benchmark)
        run = factories.run(benchmark, lines(plain_run()), name="probe", kind=Run.Kind.UPLOADED)
        score_run(run=run, target=Target.of(first), folder=tmp_path / "first")
        second = mended(benchmark, changed)
        jobs.run_queued()
        # Other accounts: the same bytes, a byte changed where no measure looks, another ranking.
        last = {"p00": [*plain_run()["p00"], "p00-z"]}
        for name, content in (
            ("again", plain_run()),
            ("twin", plain_run(**last)),
            ("new", plain_run(p00=["p00-good"])),
        ):
            new = factories.run(benchmark, lines(content), name=name, owner=factories.user(name))
            score_run(run=new, target=Target.of(second), folder=tmp_path / name)
        return benchmark

    return releases


def learnt(client, later="probe"):
    """Whether the hidden documents that stand first became relevant, as the two boards tell it.

    Of one run, or of another that differs from it in one byte on the later board.
    """
    before, after = _mean(client, "1.0.0"), _mean(client, "2.0.0", later)
    return None if before is None or after is None else after > before


def _mean(client, version, name="probe"):
    answer = client.get(BOARD.format(version=version)).json()
    return next(row["nDCG@10"] for row in answer["rows"] if row["run"] == name)


@pytest.mark.parametrize("n", [1, 29])
@pytest.mark.parametrize("later", ["probe", "again", "twin", "new"])
def test_few_changed_families_are_told_by_no_two_means(releases, client, n, later):
    releases(HIDDEN[:n])

    assert learnt(client, later) is None
    assert _mean(client, "1.0.0") is not None


@pytest.mark.parametrize("n", [1, 29])
def test_two_accounts_read_the_difference_where_both_releases_are_told(
    releases, client, n, monkeypatch
):
    monkeypatch.setattr(telling, "is_safe", lambda *_, **__: True)
    releases(HIDDEN[:n])

    assert learnt(client, "twin") is True


@pytest.mark.parametrize("n", [0, 30])
def test_equal_grades_and_many_changed_families_are_told(releases, client, n):
    releases(HIDDEN[:n])

    assert learnt(client) is (n == 30)
    assert learnt(client, "twin") is (n == 30)


def test_of_a_chain_of_close_releases_those_are_told_that_are_far_from_all_told(
    releases, client, tmp_path
):
    """15 families differ from one to the next, 30 between the first and the last."""
    benchmark = releases(HIDDEN[:15])
    third = mended(benchmark, HIDDEN, version="3.0.0")
    jobs.run_queued()
    score_run(run=benchmark.runs.get(name="probe"), target=Target.of(third), folder=tmp_path / "3")

    means = [_mean(client, version) for version in ("1.0.0", "2.0.0", "3.0.0")]
    assert [mean is not None for mean in means] == [True, False, True]


def test_keepers_see_both(releases, client):
    benchmark = releases(HIDDEN[:1])
    client.force_login(factories.member(benchmark, "olga", "owner"))

    assert learnt(client) is True
    page = client.get("/b/hiding/v/2.0.0/leaderboard/?split=test").content.decode()
    assert "differ from those of another one in fewer than 30 families" in page


def test_one_that_was_told_on_the_later_release_is_not_told_on_the_earlier_one(tmp_path):
    site = Site(tmp_path)
    first = site.release
    site.release = mended(site.benchmark, HIDDEN[:1])
    run = site.submit(5, name="probe").run

    site.release = first
    site.score(run)

    client = site.client("tim")
    assert _mean(client, "2.0.0") is not None
    assert _mean(client, "1.0.0") is None


def test_a_held_submission_has_no_value_that_is_withheld(tmp_path):
    site = Site(tmp_path)
    site.submit(5, name="probe")
    site.release = mended(site.benchmark, HIDDEN[:1])
    jobs.run_queued()

    site.submit(6, name="new")

    client = site.client("tim")
    assert _mean(client, "2.0.0") is None
    assert _mean(client, "2.0.0", "new") is None
    page = client.get("/b/hiding/v/2.0.0/leaderboard/?split=test").content.decode()
    assert page.count("<title>on another release: ") == 2


def test_a_phase_of_public_queries_is_told_where_hidden_ones_are_told_elsewhere(tmp_path):
    site = Site(tmp_path)
    site.submit(5, name="probe")
    site.release = mended(site.benchmark, HIDDEN[:1])
    site.phase = make_phase(release=site.release, split="dev", user=site.people["olga"])

    run = site.sent(5, name="new")
    score_run(run=run, target=Target.of_split(site.release, "dev", PUBLIC), folder=tmp_path / "dev")

    seen = scores_as_seen(site.people["sam"], run.submissions.get())
    assert seen.means["nDCG@10"] == 0.631
    assert seen.held == []
    assert {score.n for score in seen.overall} == {len(PUBLIC)}
    (row,) = rows_as_seen(site.people["sam"], submission_rows(run.submissions.all()))
    assert row.scores["nDCG@10"] == 0.631
