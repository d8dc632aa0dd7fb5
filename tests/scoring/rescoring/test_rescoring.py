"""A new release scores every run again: by several jobs, in an order, and after an upgrade."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks_app.jobs.services import jobs, sweeping
from benchmarks_app.models import Job, Run
from benchmarks_app.store import file_store
from benchmarks_app.store.errors import StoreAwayError
from scoring.models import Phase, ScoreSet
from scoring.rescoring.services import rescoring
from scoring.rescoring.services.rescoring import mark_looked_at, start_outdated, start_scoring_runs
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.selectors.rescoring import (
    outdated_releases,
    rescoring_of,
    scoring_jobs,
    scoring_order,
)
from scoring.scores.services import scoring
from tests import factories
from tests.scoring.conftest import GRADES
from tests.scoring.laddering import Site

TOP = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
POOR = "q1 Q0 x 1 3 s\nq2 Q0 y 1 1 s"
FOREIGN = "other Q0 d1 1 1 s"


@pytest.fixture
def second(benchmark, publish):
    """A function that publishes a later release with one more label."""
    return lambda: publish(factories.qrel_set(benchmark, {**GRADES, ("q1", "d9"): 2}), "1.1.0")


def runs_of(benchmark, n: int, lines: str = TOP) -> list[Run]:
    return [factories.run(benchmark, lines, name=f"run{number:02}") for number in range(n)]


def order(release) -> list[str]:
    return list(scoring_order(release).values_list("name", flat=True))


# --- several jobs --------------------------------------------------------------------------


def test_runs_are_shared_among_jobs_and_each_is_scored_once(benchmark, release, owner, do_jobs):
    runs_of(benchmark, 24)

    start_scoring_runs(release=release, user=owner)

    started = list(scoring_jobs(release))
    taken = [pk for job in started for pk in job.parameters["runs"]]
    assert [len(job.parameters["runs"]) for job in started] == [4, 4, 4, 4]
    assert len(set(taken)) == len(taken)
    jobs.run_queued()
    assert ScoreSet.objects.filter(release=release).count() == 24
    assert all(job.state == "done" for job in scoring_jobs(release))
    # Each job starts the next while runs are left: six of four runs.
    assert sum(len(job.parameters["runs"]) for job in scoring_jobs(release)) == 24


def test_no_more_than_four_jobs_wait_so_that_a_submission_does_not(benchmark, release, owner):
    runs_of(benchmark, 40)
    start_scoring_runs(release=release, user=owner)
    start_scoring_runs(release=release, user=owner)

    assert scoring_jobs(release).active().count() == 4

    jobs.execute(scoring_jobs(release).last().pk, has_heartbeat=False)
    assert scoring_jobs(release).active().count() == 4


def test_starting_twice_gives_no_run_to_two_jobs(benchmark, release, owner):
    runs_of(benchmark, 6)

    first = start_scoring_runs(release=release, user=owner)
    again = start_scoring_runs(release=release, user=owner)

    assert again in list(scoring_jobs(release))
    assert first.parameters["runs"]
    taken = [pk for job in scoring_jobs(release) for pk in job.parameters["runs"]]
    assert len(taken) == len(set(taken)) == 6


def test_nothing_more_is_looked_for_once_no_run_is_left(benchmark, release, owner):
    runs_of(benchmark, 2)

    with CaptureQueriesContext(connection) as captured:
        start_scoring_runs(release=release, user=owner)

    # The two runs for the first job, and none for a second.
    assert sum("looked_at" in query["sql"] for query in captured.captured_queries) == 2


def test_run_that_cannot_be_scored_is_not_tried_for_ever(benchmark, release, owner):
    runs_of(benchmark, 6, FOREIGN)

    start_scoring_runs(release=release, user=owner)

    assert jobs.run_queued() == 2
    assert scoring_jobs(release).count() == 2


def test_unforeseen_error_of_one_run_leaves_the_others_alone(
    benchmark, release, owner, monkeypatch
):
    broken, *_ = runs_of(benchmark, 3)
    score = scoring.scored_run

    def breaks(**arguments):
        if str(arguments["folder"]).endswith(str(broken.pk)):
            raise ZeroDivisionError
        return score(**arguments)

    monkeypatch.setattr(scoring, "scored_run", breaks)
    start_scoring_runs(release=release, user=owner)
    jobs.run_queued()

    rescoring = rescoring_of(release, owner)
    assert (rescoring.n_scored, rescoring.n_total) == (2, 3)
    (failed,) = rescoring.failed
    assert failed.run == broken
    assert failed.cause == "Unexpected error (ZeroDivisionError). The log has the details."


@pytest.mark.parametrize(("is_away", "n_scored"), [(True, 0), (False, 2)])
def test_job_comes_back_to_all_runs_where_the_store_is_away(
    benchmark, release, owner, do_jobs, monkeypatch, is_away, n_scored
):
    """A store that refuses the files of one run keeps no other from its scores."""
    broken, *_ = runs_of(benchmark, 3)
    score = scoring.scored_run

    def away(**arguments):
        if is_away or str(arguments.get("folder", "")).endswith(str(broken.pk)):
            raise StoreAwayError
        return score(**arguments)

    with monkeypatch.context() as patch:
        patch.setattr(scoring, "scored_run", away)
        patch.setattr(type(file_store()), "check", lambda store: away() if is_away else None)
        start_scoring_runs(release=release, user=owner)
        do_jobs()

    assert ScoreSet.objects.filter(release=release).count() == n_scored
    assert not is_away or not rescoring_of(release, owner).failed
    jobs.run_queued()
    assert ScoreSet.objects.filter(release=release).count() == (3 if is_away else 2)


def test_full_disk_ends_the_job_and_says_so_of_each_run(benchmark, release, owner, monkeypatch):
    runs_of(benchmark, 2)

    def no_room(**arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scoring, "scored_run", no_room)
    start_scoring_runs(release=release, user=owner)
    jobs.run_queued()

    rescoring = rescoring_of(release, owner)
    assert not rescoring.is_running
    assert {failure.cause[:30] for failure in rescoring.failed} == {
        "The disk of this site is full:"
    }


def test_failed_run_is_scored_when_it_is_tried_again(benchmark, release, owner, monkeypatch):
    runs_of(benchmark, 1)
    with monkeypatch.context() as broken:
        broken.setattr(scoring, "scored_run", lambda **arguments: 1 / 0)
        start_scoring_runs(release=release, user=owner)
        jobs.run_queued()
    assert rescoring_of(release, owner).failed

    start_scoring_runs(release=release, user=owner)
    waiting = rescoring_of(release, owner)
    jobs.run_queued()

    assert (waiting.failed, waiting.is_running) == ([], True)
    assert rescoring_of(release, owner).is_complete


# --- in which order ------------------------------------------------------------------------


def test_what_is_looked_at_comes_first_then_the_best_then_the_newest(
    benchmark, release, scored, second, owner
):
    poor, best = scored(POOR, "poor"), scored(TOP, "best")
    looked_at = scored(POOR, "looked at")
    mark_looked_at([looked_at])
    for name, days in (("old", 2), ("new", 1)):
        run = factories.run(benchmark, TOP, name=name)
        Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=days))
    later = second()

    assert order(later) == ["looked at", "best", "poor", "new", "old"]
    assert poor.run.name in order(later)
    assert best.run.name in order(later)


@pytest.fixture
def hiding(db, tmp_path):
    """Three submissions to a hidden split, the middle one looked at."""
    site = Site(tmp_path)
    for n_first in (20, 10, 0):
        site.submit(n_first, name=f"n{n_first}")
    mark_looked_at([ScoreSet.objects.get(run__name="n10")])
    return site


def test_where_a_split_is_hidden_runs_are_scored_as_they_were_sent(hiding):
    later = factories.release(hiding.benchmark.qrel_sets.get(), version="1.1.0")

    assert order(later) == ["n20", "n10", "n0"]


def test_run_that_is_not_to_be_scored_where_a_split_is_hidden_is_none_of_those_scored(hiding):
    release, keeper = hiding.release, hiding.people["olga"]
    hiding.phase = Phase.objects.create(benchmark=hiding.benchmark, release=release, split="dev")
    hiding.sent(5, name="of dev")

    rescoring = rescoring_of(release, keeper)

    assert (rescoring.n_scored, rescoring.n_total, rescoring.is_complete) == (3, 3, True)


def test_means_over_a_hidden_split_order_nothing_on_a_release_without_one(hiding):
    type(hiding.benchmark).objects.update(hidden_splits=[])
    later = factories.release(hiding.benchmark.qrel_sets.get(), version="1.1.0")

    assert later.hidden_splits == []
    assert order(later) == ["n10", "n0", "n20"]


def test_look_is_written_down_once_an_hour(scored):
    score_set = scored(TOP)
    mark_looked_at([score_set])
    score_set.refresh_from_db()
    first = score_set.looked_at

    with CaptureQueriesContext(
        connection,
    ) as asked:
        mark_looked_at([score_set])
    assert (len(asked), ScoreSet.objects.get().looked_at) == (0, first)

    ScoreSet.objects.update(looked_at=first - timedelta(minutes=61))
    score_set.refresh_from_db()
    mark_looked_at([score_set])
    assert ScoreSet.objects.get().looked_at >= first


def test_board_and_run_page_write_down_who_looks_and_is_signed_in(
    client, signed_in, benchmark, release, scored, vi
):
    type(benchmark).objects.update(visibility="public")
    score_set = scored(TOP)
    pages = [address(release, "leaderboard/"), f"/b/stdlib/runs/{score_set.run_id}/scores/"]
    for page in pages:
        assert client.get(page).status_code == 200
        assert ScoreSet.objects.get().looked_at is None

    for page in pages:
        ScoreSet.objects.update(looked_at=None)
        assert signed_in(vi).get(page).status_code == 200
        assert ScoreSet.objects.get().looked_at is not None
        client.logout()


def test_withdrawn_run_is_not_scored_again(scored, second):
    score_set = scored(TOP, "gone")
    Run.objects.filter(pk=score_set.run_id).update(withdrawn_at=timezone.now())

    assert order(second()) == []


# --- after an upgrade ----------------------------------------------------------------------


def upgraded(monkeypatch) -> None:
    """As if every score there is were of an earlier version of the scorer."""
    ScoreSet.objects.update(scorer_version="1")


def test_upgrade_scores_again_what_was_scored_and_nothing_else(
    benchmark, release, scored, owner, monkeypatch
):
    old = scored(TOP, "old")
    upgraded(monkeypatch)
    factories.run(benchmark, TOP, name="never scored there")

    assert start_outdated() == [release]
    jobs.run_queued()

    current = ScoreSet.objects.filter(scorer_version=SCORER_VERSION)
    assert [score_set.run for score_set in current] == [old.run]
    assert not outdated_releases().exists()


def test_upgrade_is_tried_once_by_itself(benchmark, release, scored, monkeypatch):
    scored(TOP, "old")
    upgraded(monkeypatch)
    monkeypatch.setattr(scoring, "scored_run", lambda **arguments: 1 / 0)

    assert start_outdated() == [release]
    jobs.run_queued()

    assert start_outdated() == []
    assert outdated_releases().exists()


def test_sweeper_looks_for_an_upgrade_now_and_then(release, scored, monkeypatch):
    scored(TOP, "old")
    upgraded(monkeypatch)
    jobs.load_handlers()
    monkeypatch.setitem(rescoring._looked, "at", float("-inf"))

    sweeping.sweep()
    assert scoring_jobs(release).count() == 1

    Job.objects.all().delete()
    sweeping.sweep()
    assert scoring_jobs(release).count() == 0


# --- pages ---------------------------------------------------------------------------------


def address(release, what: str = "rescoring/") -> str:
    return f"/b/{release.benchmark.slug}/v/{release.version}/{what}"


def test_page_tells_how_many_runs_are_scored_while_jobs_are_at_it(
    signed_in, benchmark, release, owner
):
    runs_of(benchmark, 6)
    start_scoring_runs(release=release, user=owner)
    jobs.execute(scoring_jobs(release).last().pk, has_heartbeat=False)

    page = signed_in(owner).get(address(release)).content.decode()

    assert "<span>4 of 6</span>" in page
    assert 'hx-trigger="every 2s"' in page


def test_page_lists_what_failed_with_the_cause_and_a_button(signed_in, benchmark, release, owner):
    factories.run(benchmark, FOREIGN, name="foreign")
    start_scoring_runs(release=release, user=owner)
    jobs.run_queued()

    client = signed_in(owner)
    page = client.get(address(release)).content.decode()
    assert "Run and qrels have no query in common" in page
    assert "Try again" in page
    client.post(address(release), {"do": "start"})

    assert scoring_jobs(release).active().count() == 1


def test_cause_is_told_to_keepers_and_the_owner_of_the_run_only(
    signed_in, benchmark, release, owner, sam, vi
):
    factories.run(benchmark, FOREIGN, name="foreign", owner=sam)
    start_scoring_runs(release=release, user=owner)
    jobs.run_queued()

    for person, is_told in ((sam, True), (vi, False)):
        page = signed_in(person).get(address(release)).content.decode()
        assert "foreign" in page
        assert ("have no query in common" in page) == is_told
        answer = signed_in(person).get(
            f"/api/v1/benchmarks/stdlib/releases/{release.version}/rescoring/"
        )
        (failed,) = answer.json()["failed"]
        assert bool(failed["cause"]) == is_told


def test_runs_that_one_may_not_see_are_not_counted(signed_in, benchmark, release, owner, vi):
    factories.run(benchmark, TOP, name="secret", visibility=Run.Visibility.OWNER)

    assert (rescoring_of(release, vi).n_total, rescoring_of(release, owner).n_total) == (0, 1)
    assert "secret" not in signed_in(vi).get(address(release)).content.decode()


def test_stopping_leaves_what_is_scored(signed_in, benchmark, release, owner):
    runs_of(benchmark, 20)
    start_scoring_runs(release=release, user=owner)
    jobs.execute(scoring_jobs(release).last().pk, has_heartbeat=False)

    signed_in(owner).post(address(release), {"do": "stop"})

    assert jobs.run_queued() == 0
    rescoring = rescoring_of(release, owner)
    assert (rescoring.n_scored, rescoring.is_running) == (4, False)


def test_viewer_may_neither_start_nor_stop(signed_in, benchmark, release, vi):
    factories.run(benchmark, TOP)

    assert signed_in(vi).post(address(release), {"do": "start"}).status_code == 403
    assert not scoring_jobs(release).exists()


@pytest.mark.parametrize("n", [2, 20])
def test_page_asks_the_database_as_often_for_many_runs(signed_in, benchmark, release, owner, n):
    runs_of(benchmark, n)
    start_scoring_runs(release=release, user=owner)
    client = signed_in(owner)
    client.get(address(release))

    with CaptureQueriesContext(connection) as asked:
        client.get(address(release))

    assert len(asked) <= 14


def test_score_runs_command_scores_all_in_one_process(benchmark, release, capsys):
    from django.core.management import call_command

    runs_of(benchmark, 6)
    factories.user("olga")
    call_command("score_runs", "stdlib", "--user", "keeper")

    assert "made scores of 6 runs" in capsys.readouterr().out


def test_rescore_command_scores_again_what_is_outdated(
    benchmark, release, scored, capsys, monkeypatch
):
    from django.core.management import call_command

    scored(TOP, "old")
    call_command("rescore")
    assert "nothing to score again" in capsys.readouterr().out
    upgraded(monkeypatch)

    call_command("rescore")

    assert "stdlib 1.0.0" in capsys.readouterr().out.lower().replace("standard library", "stdlib")
    assert ScoreSet.objects.filter(scorer_version=SCORER_VERSION).count() == 1


def test_rescore_command_refuses_a_benchmark_that_is_not_there(benchmark):
    from django.core.management import CommandError, call_command

    with pytest.raises(CommandError, match=r"No benchmark 'stdlbi'\. There are: stdlib\."):
        call_command("rescore", "stdlbi")
