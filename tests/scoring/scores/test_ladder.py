"""The Ladder on the site: what is told of a team's submissions to a hidden split, and to whom."""

import re
from datetime import timedelta

import polars
import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Run, Team
from benchwright.linting import release_rules
from benchwright.releases.options import ReleaseOptions
from benchwright.slices import telling
from scoring.models import LadderStep, Phase, Score, ScoreSet, Submission
from scoring.rescoring.services import rescoring
from scoring.rescoring.services.rescoring import start_scoring_runs
from scoring.scores.selectors import ladder as ladder_selectors
from scoring.scores.services import firewall, scoring
from scoring.scores.services.ladder import decide_all
from scoring.scores.services.scoring import Target
from scoring.submissions.services.phases import close_phase, make_phase
from scoring.submissions.services.sight import scores_as_seen
from tests import factories
from tests.scoring.hiding import HIDDEN, PUBLIC, lines
from tests.scoring.laddering import BOARD, Site, mean, ranking

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_a_value_moves_only_where_it_is_significantly_better(site):
    for n_first in (0, 1, 9, 10):
        site.submit(n_first)

    values = site.board().values()

    assert sorted(values) == pytest.approx([mean(0), mean(0), mean(9), mean(9)], abs=1e-3)


@pytest.mark.parametrize(("before", "n_told"), [((0,), 2), ((0, 0), 1)])
def test_a_step_is_greater_after_more_submissions(site, before, n_told):
    for n_first in (*before, 3):
        site.submit(n_first)

    assert len(set(site.board().values())) == n_told


def test_the_best_so_far_is_so_by_the_values_there_are(site):
    """Judged@10 of a query without an answer is no number."""
    answered = PUBLIC + HIDDEN[1:]
    site.submit_lines(lines({qid: [f"{qid}-x", f"{qid}-good"] for qid in answered}))
    best = site.submit_lines(lines({qid: [f"{qid}-good"] for qid in PUBLIC + HIDDEN}))

    later = site.submit(0)

    assert LadderStep.objects.get(score_set=later, measure="Judged@10").source == best


def test_a_submission_without_a_number_holds_none_back(site):
    """Accuracy is defined where something relevant was found."""
    options = ReleaseOptions(measures=["Accuracy@10"])
    site.release = factories.release(site.benchmark.qrel_sets.get(), "1.1.0", options=options)
    site.submit_lines(lines({qid: [f"{qid}-x"] for qid in PUBLIC + HIDDEN}))

    first, second = site.submit(10), site.submit(11)

    assert LadderStep.objects.get(score_set=first).source == first
    assert LadderStep.objects.get(score_set=second).source == first


def test_keepers_see_the_exact_value_of_each(site):
    for n_first in (0, 1, 2):
        site.submit(n_first)

    exact = sorted(site.board("olga").values())

    assert exact == pytest.approx([mean(0), mean(1), mean(2)], abs=1e-3)


def test_the_first_submission_of_each_team_is_told(site):
    site.submit(0, by="sam")
    site.submit(1, by="tim")

    assert len(set(site.board("").values())) == 2


def test_a_second_member_of_a_team_gets_no_ladder_of_his_own(site):
    team = Team.objects.create(name="two")
    team.members.add(site.people["sam"], site.people["tim"])
    site.submit(0, by="sam", team=team)
    site.submit(1, by="tim", team=team)

    assert len(set(site.board("tim").values())) == 1


def test_what_is_withdrawn_still_counts_as_told(site):
    first = site.submit(0)
    Run.objects.filter(pk=first.run_id).update(withdrawn_at=timezone.now())
    site.submit(1)

    assert list(site.board().values()) == pytest.approx([mean(0)], abs=1e-3)


def team_of(site, *names):
    team = Team.objects.create(name=" and ".join(names))
    team.members.add(*(site.people[name] for name in names))
    return team


def test_a_team_of_ones_own_gives_no_ladder_of_its_own(site):
    site.submit(0)
    site.submit(1, team=team_of(site, "sam"))

    assert list(site.board("").values()) == pytest.approx([mean(0)] * 2, abs=1e-3)


def test_the_better_one_stands_of_what_the_team_and_its_member_sent(site):
    team = team_of(site, "sam", "tim")
    site.submit(0, by="tim", team=team)
    site.submit(12, by="sam")
    site.submit(13, by="sam", team=team)

    result = sorted(site.board("").values())

    assert result == pytest.approx([mean(0), mean(12), mean(12)], abs=1e-3)


def test_a_keeper_in_a_team_climbs_as_the_team_does(site):
    team = team_of(site, "olga", "sam")
    for n_first in (0, 1):
        site.submit(n_first, by="olga", team=team)
        site.submit(n_first, by="olga")

    # What she has sent alone is told as it is; she sees it anyway.
    assert sorted(site.board("").values()) == pytest.approx(
        [mean(0), mean(0), mean(0), mean(1)], abs=1e-3
    )


def test_no_team_is_told_what_its_member_sent_without_it(site):
    site.submit(0, by="sam", name="own affair")
    site.submit(1, by="sam", team=team_of(site, "sam", "tim"))

    board = "/b/hiding/v/1.0.0/leaderboard/"

    assert "improvement on “own affair”" in told(site.client("sam"), board)
    assert "improvement on an earlier submission: the" in told(site.client("tim"), board)


def test_attempts_are_those_of_the_team_and_of_who_sent_it(site):
    team = team_of(site, "sam", "tim")
    for by, of in (("sam", None), ("sam", team), ("tim", team), ("tim", None)):
        site.submit(0, by=by, team=of, name=f"{by} {of}")

    rows = site.client("").get(BOARD, {"split": "test"}).json()["rows"]

    assert {row["run"]: row["attempts"] for row in rows} == {
        "sam None": 2,
        "sam sam and tim": 3,
        "tim sam and tim": 3,
        "tim None": 2,
    }


# --- in which order ------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_order_in_which_they_are_scored_is_no_matter(site, order):
    sent = [site.sent(n_first, name=f"r{n_first}") for n_first in (0, 1, 10, 12)]

    for place in order:
        site.score(sent[place])

    assert {name: round(of, 3) for name, of in site.board().items()} == {
        "r0": pytest.approx(mean(0), abs=1e-3),
        "r1": pytest.approx(mean(0), abs=1e-3),
        "r10": pytest.approx(mean(10), abs=1e-3),
        "r12": pytest.approx(mean(10), abs=1e-3),
    }


def test_nothing_is_told_of_one_while_an_earlier_one_waits(site):
    first, second = site.sent(0), site.sent(1)

    site.score(second)
    assert set(site.board().values()) == {None}

    site.score(first)
    assert list(site.board().values()) == pytest.approx([mean(0)] * 2, abs=1e-3)


def test_one_waits_for_one_that_waits(site):
    team = team_of(site, "sam", "tim")
    site.sent(0, team=team)
    site.submit(1, by="tim", team=team)
    site.submit(2, by="tim")

    assert set(site.board().values()) == {None}


def test_one_that_cannot_be_scored_holds_nobody_up(site, monkeypatch):
    first, second = site.sent(0, name="first"), site.sent(1, name="second")
    site.score(second)
    with monkeypatch.context() as broken:
        broken.setattr(scoring, "scored_run", lambda **arguments: 1 / 0)
        start_scoring_runs(release=site.release, user=None)
        jobs.run_queued()
    assert decide_all(site.release) == 1
    assert site.board() == {"second": pytest.approx(mean(1), abs=1e-3)}

    site.score(first)  # what was told is not taken back

    assert list(site.board().values()) == pytest.approx([mean(1)] * 2, abs=1e-3)


def test_values_are_read_once_however_many_are_decided(site, monkeypatch):
    for n_first in range(5):
        site.submit(n_first)
    LadderStep.objects.all().delete()
    read, paths = polars.read_parquet, []

    def counted(path, **arguments):
        paths.append(path)
        return read(path, **arguments)

    monkeypatch.setattr(polars, "read_parquet", counted)

    assert decide_all(site.release) == 5
    assert len(paths) == len(set(paths)) == 5


def next_release(site, *, is_scored=True):
    site.release = factories.release(site.benchmark.qrel_sets.get(), version="1.1.0")
    if is_scored:
        jobs.run_queued()


def test_what_is_withdrawn_keeps_its_place_on_a_later_release(site):
    first = site.submit(0)
    site.submit(1, name="second")
    Run.objects.filter(pk=first.run_id).update(withdrawn_at=timezone.now())

    next_release(site)

    assert site.board(version="1.1.0") == {"second": pytest.approx(mean(0), abs=1e-3)}


def test_what_is_withdrawn_keeps_its_place_when_a_new_version_scores_again(site):
    first = site.submit(0)
    site.submit(1, name="second")
    Run.objects.filter(pk=first.run_id).update(withdrawn_at=timezone.now())
    ScoreSet.objects.update(scorer_version="1")

    rescoring.start_outdated()
    jobs.run_queued()

    assert site.board() == {"second": pytest.approx(mean(0), abs=1e-3)}


def test_a_later_release_keeps_the_order_in_which_it_was_decided(site):
    site.submit(1)
    slow = site.sent(0)
    sent_at = timezone.now() - timedelta(days=1)
    Submission.objects.filter(run=slow).update(created_at=sent_at)
    site.score(slow)

    next_release(site)

    for version in ("1.0.0", "1.1.0"):
        items = list(site.board(version=version).values())
        assert items == pytest.approx([mean(1)] * 2, abs=1e-3)


def test_what_was_told_on_a_later_release_stands_before_what_is_scored_there_since(
    site, monkeypatch
):
    first = site.submit(0).run
    next_release(site, is_scored=False)
    with monkeypatch.context() as broken:
        broken.setattr(scoring, "rescored_run", lambda **arguments: 1 / 0)
        jobs.run_queued()
    site.submit(1)

    site.score(first)

    items = list(site.board(version="1.1.0").values())
    assert items == pytest.approx([mean(1)] * 2, abs=1e-3)


def test_what_was_sent_to_another_release_counts(site, monkeypatch):
    next_release(site)
    later, site.release = site.release, site.benchmark.releases.get(minor=0)
    site.submit(0)
    site.release = later
    site.submit(1, name="second")
    assert site.board(version="1.1.0") == {"second": None}

    monkeypatch.setitem(rescoring._looked, "at", float("-inf"))
    rescoring.start_outdated_now_and_then()
    jobs.run_queued()

    items = list(site.board(version="1.1.0").values())
    assert items == pytest.approx([mean(0)] * 2, abs=1e-3)


# --- when ----------------------------------------------------------------------------------


def test_all_see_exact_values_when_the_phase_has_ended(site):
    site.submit(0)
    site.submit(1)
    Phase.objects.update(
        opens_at=timezone.now() - timedelta(days=2), closes_at=timezone.now() - timedelta(days=1)
    )

    assert len(set(site.board("").values())) == 2


@pytest.mark.parametrize(("days", "until"), [((1, 2), 2), ((2, 1), 2), ((1, None), None)])
def test_exact_values_are_shown_when_the_last_phase_of_the_same_queries_closes(site, days, until):
    next_release(site)
    now = timezone.now()
    moments = [now + timedelta(days=n) if n else None for n in days]
    for phase, moment in zip(Phase.objects.filter(split="test"), moments, strict=True):
        Phase.objects.filter(pk=phase.pk).update(closes_at=moment)

    for release in site.benchmark.releases.all():
        ladder = ladder_selectors.ladder_on(release)
        assert ladder.until == (now + timedelta(days=until) if until else None)


def test_a_phase_of_public_queries_holds_no_value_of_hidden_ones(site):
    make_phase(release=site.release, split="dev", user=site.people["olga"])
    close_phase(phase=site.phase, user=site.people["olga"])

    assert ladder_selectors.ladder_on(site.release) is None


def test_values_of_a_release_without_a_phase_are_held(site):
    next_release(site)
    Phase.objects.filter(release=site.release).delete()
    close_phase(phase=site.phase, user=site.people["olga"])

    assert ladder_selectors.ladder_on(site.release).until is None


def test_of_two_hidden_splits_each_has_its_ladder(site, monkeypatch):
    monkeypatch.setattr(release_rules, "SMALLEST_HIDDEN_SPLIT", 1)
    monkeypatch.setattr(telling, "is_safe", lambda *_, **__: True)
    site.benchmark.families.filter(queries__qid__in=HIDDEN[:10]).update(split="train")
    site.benchmark.hidden_splits = ["test", "train"]
    site.benchmark.save()
    site.release = factories.release(site.benchmark.qrel_sets.get(), version="2.0.0")
    site.phase = site.release.phases.get(split="test")
    target = Target.of_split(site.release, "test", HIDDEN[10:])

    for n_first in (0, 11):
        run = site.sent(n_first)
        scoring.score_run(run=run, target=target, folder=site.folder / str(run.pk))

    seen = scores_as_seen(site.people["sam"], run.submissions.get())
    assert seen.means["nDCG@10"] == mean(0)
    assert seen.answered is None


def test_all_see_exact_values_where_the_ladder_is_off(site):
    site.submit(0)
    site.submit(1)
    Phase.objects.filter(split="test").update(has_ladder=False)

    assert len(set(site.board("").values())) == 2


def test_runs_that_are_no_submissions_are_as_they_are(site):
    for n_first in (0, 1):
        run = factories.run(site.benchmark, ranking(n_first), owner=site.people["olga"])
        site.score(run)

    assert len(set(site.board("").values())) == 2
    assert not LadderStep.objects.exists()


def test_what_is_not_decided_is_not_told(site):
    site.submit(0)
    site.submit(1)
    LadderStep.objects.all().delete()

    assert set(site.board().values()) == {None}
    assert len(set(site.board("olga").values())) == 2
    assert decide_all(site.release) == 2
    assert len(set(site.board().values())) == 1


def test_anonymous_runs_are_not_tied_to_those_of_a_known_team(site):
    site.submit(0)
    for n_first in (1, 2):
        run = site.sent(n_first)
        run.anonymous_until = timezone.now() + timedelta(days=9)
        run.save()
        site.score(run)

    assert sorted(set(site.board("").values())) == pytest.approx([mean(0), mean(1)], abs=1e-3)


DOORS = (
    BOARD,
    f"{BOARD}?split=test",
    f"{BOARD}slices/",
    f"{BOARD}history/",
    "/api/v1/benchmarks/hiding/runs/{run}/scores/",
    "/api/v1/benchmarks/hiding/submissions/",
    "/b/hiding/v/1.0.0/leaderboard/",
    "/b/hiding/v/1.0.0/leaderboard/?split=all",
    "/b/hiding/v/1.0.0/leaderboard.csv",
    "/b/hiding/v/1.0.0/leaderboard.json",
    "/b/hiding/v/1.0.0/leaderboard.md",
    "/b/hiding/v/1.0.0/leaderboard/slices/",
    "/b/hiding/v/1.0.0/leaderboard/slices.csv",
    "/b/hiding/v/1.0.0/leaderboard/history/",
    "/b/hiding/v/1.0.0/leaderboard/nDCG@10/history.svg",
    "/b/hiding/runs/{run}/scores/",
    "/b/hiding/runs/{run}/slices/?baseline={other}",
    "/b/hiding/runs/{run}/reading/",
    "/b/hiding/runs/{run}/charts/1.0.0/nDCG@10/slices-{other}.svg",
    "/b/hiding/reliability/?release=1.0.0",
    "/b/hiding/runs/baselines/",
    "/api/v1/benchmarks/hiding/baselines/",
)


def told(client, address):
    """All that is answered but the tokens that each page has of its own."""
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return re.sub(r"[A-Za-z0-9]{64}", "token", body.decode())


def given_numbers_of(score_set, other):
    """The score set has the files and means of another from now on; nothing is decided anew."""
    ScoreSet.objects.filter(pk=score_set.pk).update(per_query=other.per_query, hits=other.hits)
    for score in Score.objects.filter(score_set=other):
        Score.objects.filter(
            score_set=score_set, measure=score.measure, slice_name=score.slice_name
        ).update(mean=score.mean, ci_low=score.ci_low, ci_high=score.ci_high)
    cache.clear()


def test_no_door_tells_what_a_held_submission_is_worth(site):
    first, second = site.submit(0), site.submit(1)
    elsewhere = factories.run(
        site.benchmark, ranking(6), owner=site.people["olga"], visibility=Run.Visibility.OWNER
    )
    other = site.score(elsewhere)
    doors = [door.format(run=second.run_id, other=first.run_id) for door in DOORS]
    client, keeper = site.client("sam"), site.client("olga")
    for of in (client, keeper):  # the menu leads to the tabs used last: the same from here on
        assert all(told(of, door) for door in doors)
    before, seen = ({door: told(of, door) for door in doors} for of in (client, keeper))

    given_numbers_of(second, other)

    assert [door for door in doors if told(client, door) != before[door]] == []
    # What keepers see does differ: the doors are those of these numbers.
    assert len([door for door in doors if told(keeper, door) != seen[door]]) > len(doors) / 2


def test_board_and_run_say_to_the_team_whose_value_it_is(site):
    site.people["ada"] = factories.member(site.benchmark, "ada", "submitter")
    team = team_of(site, "sam", "ada")
    site.submit(0, name="first one", team=team)
    second = site.submit(1, name="second one", team=team)
    board, run = "/b/hiding/v/1.0.0/leaderboard/", f"/b/hiding/runs/{second.run_id}/scores/"

    for address in (board, run):
        for mate in ("sam", "ada"):
            held = told(site.client(mate), address)
            assert "Not a significant improvement on “first one”" in held
        others = told(site.client("tim"), address)
        assert "Not a significant improvement on an earlier submission" in others
        assert "others are shown the value of “first one”" in told(site.client("olga"), address)
    text = "significantly better than the best so far of its team and its sender"
    assert text in told(site.client(""), board)


def test_files_and_the_api_mark_what_is_held(site):
    site.submit(0, name="one")
    site.submit(1, name="two")

    answer = site.client("tim").get(BOARD, {"split": "test"}).json()

    assert answer["held"].endswith("exact values are shown when the phase ends.")
    assert {row["run"]: row["held"] for row in answer["rows"]} == {"one": False, "two": True}


# --- the switch ----------------------------------------------------------------------------


def test_page_and_api_switch_it_and_it_is_written_down(site):
    keeper = site.client("olga")
    page = f"/b/hiding/phases/{site.phase.pk}/edit/"
    assert "Hold exact means" in told(keeper, page)

    keeper.post(page, {"name": "friendly", "daily_limit": 5})
    assert not Phase.objects.get(pk=site.phase.pk).has_ladder
    address = f"/api/v1/benchmarks/hiding/phases/{site.phase.pk}/"
    keeper.patch(address, {"has_ladder": True}, content_type="application/json")

    assert Phase.objects.get(pk=site.phase.pk).has_ladder
    events = AuditEvent.objects.filter(action="change-phase").order_by("pk")
    assert [event.detail.get("ladder") for event in events] == [False, True]


def test_command_switches_it(site):
    call_command("switch_ladder", "hiding", str(site.phase.pk), "off", user="olga")

    assert not Phase.objects.get(pk=site.phase.pk).has_ladder
    with pytest.raises(CommandError, match="0 phases are called 'none'"):
        call_command("switch_ladder", "hiding", "none", "off", user="olga")


def test_who_does_not_keep_the_benchmark_does_not_switch_it(site):
    address = f"/api/v1/benchmarks/hiding/phases/{site.phase.pk}/"

    answer = site.client("sam").patch(
        address, {"has_ladder": False}, content_type="application/json"
    )

    assert answer.status_code == 403
    assert Phase.objects.get(pk=site.phase.pk).has_ladder


def test_phase_of_a_later_release_holds_an_earlier_one_too(site):
    site.submit(0)
    site.submit(1)
    ended = timezone.now() - timedelta(days=1)
    Phase.objects.update(opens_at=ended - timedelta(days=1), closes_at=ended)
    assert len(set(site.board("").values())) == 2

    later = factories.release(site.benchmark.qrel_sets.get(), version="1.1.0")
    jobs.run_queued()

    assert Phase.objects.filter(release=later, split="test").exists()
    assert len(set(site.board("").values())) == 1


def test_one_submission_reads_whose_values_are_told_of_it_alone(site, monkeypatch):
    read = []

    def sources_on(release, score_sets=None):
        read.append(score_sets)
        return ladder_selectors.sources_on(release, score_sets)

    monkeypatch.setattr(firewall, "sources_on", sources_on)
    first, _ = site.submit(5), site.submit(6)
    counts = []
    for _ in range(2):
        scores_as_seen(site.people["tim"], first.run.submissions.get())  # caches are warm
        with CaptureQueriesContext(connection) as queries:
            seen = scores_as_seen(site.people["tim"], first.run.submissions.get())
        assert {score.measure: score.mean for score in seen.overall}["nDCG@10"] == 0.687
        counts.append(len(queries))
        for n in (7, 8, 9):
            site.submit(n)

    assert counts[0] == counts[1]
    assert read and all(score_sets == {first.pk} for score_sets in read)
