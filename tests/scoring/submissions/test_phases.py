"""Phases: when, over which queries and how often runs may be submitted; withdrawing one."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import AuditEvent, QueryFamily, Release, Run
from benchmarks_app.people.services.teams import make_team
from benchwright.linting import release_rules
from scoring.gates.services.policies import make_policy
from scoring.models import Comparison, Phase, Score, ScoreSet, Submission
from scoring.rescoring.services.rescoring import start_outdated
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.selectors.phases import scope_of, splits_of, state_of_phase
from scoring.scores.selectors.releases import open_phase, open_phases
from scoring.scores.selectors.rescoring import outdated_releases
from scoring.scores.selectors.score_sets import runs_without_scores
from scoring.scores.services import scoring
from scoring.scores.services.errors import (
    DailyLimitError,
    NameInUseError,
    NoOpenPhaseError,
    NotInTeamError,
    NotWithdrawableError,
    PhaseChoiceError,
    PhaseDatesError,
    PhaseExistsError,
    PhaseSplitError,
    SubmittedBeforeError,
    TotalLimitError,
)
from scoring.scores.services.slice_scores import board_split
from scoring.submissions.services import phases
from scoring.submissions.services.sight import scores_as_seen
from scoring.submissions.services.submitting import n_left_in_all, n_left_today, phase_open_in
from scoring.submissions.services.withdrawing import withdraw_submission
from tests import factories
from tests.open_pages import opened
from tests.scoring.conftest import GOOD, GRADES

State = Submission.State
MORE = GOOD + b"q2 Q0 d5 2 1 s\n"
YET_MORE = GOOD + b"q2 Q0 d8 2 1 s\n"
DEV, TEST = b"q1 Q0 d1 1 3.0 s\n", b"q2 Q0 d5 1 2 s\nq2 Q0 d4 2 1 s\nq3 Q0 d9 1 1 s\n"


def again(submission: Submission) -> Submission:
    related = ("run", "job", "phase__release", "phase__benchmark")
    return Submission.objects.select_related(*related).get(pk=submission.pk)


@pytest.fixture
def split_up(benchmark, publish):
    """A function that publishes a release: q1 is dev, q2 and q3 are test, perhaps hidden."""

    def publish_split(*, hidden: bool) -> Release:
        qrels = factories.qrel_set(benchmark, GRADES)
        for qid, split in (("q1", "dev"), ("q2", "test"), ("q3", "test")):
            QueryFamily.objects.filter(queries__qid=qid).update(split=split)
        benchmark.hidden_splits = ["test"] if hidden else []
        benchmark.save()
        return publish(qrels)

    return publish_split


@pytest.fixture
def send(upload, do_jobs):
    """A function that submits to a phase and scores at once."""
    from scoring.submissions.services import submitting

    def send(phase: Phase, person, content: bytes, name: str = "mine", **more) -> Submission:
        stored = upload(phase.benchmark, person, content)
        submission = submitting.accept_submission(
            phase=phase, user=person, upload=stored, name=name, **more
        )
        do_jobs()
        return again(submission)

    return send


@pytest.fixture(autouse=True)
def small_splits_may_be_hidden(monkeypatch):
    monkeypatch.setattr(release_rules, "SMALLEST_HIDDEN_SPLIT", 1)


# --- making and changing -------------------------------------------------------------------


def test_phase_is_made_once_for_a_release_and_a_split(split_up, maintainer):
    release = split_up(hidden=False)

    phase = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=50
    )

    assert (phase.benchmark, phase.split, phase.daily_limit) == (release.benchmark, "dev", 50)
    with pytest.raises(PhaseExistsError, match="'Warm-up'"):
        phases.make_phase(
            release=release, split="dev", user=maintainer, name="Again", daily_limit=1
        )
    assert AuditEvent.objects.get(action="make-phase").target == "Warm-up"


def test_split_that_the_release_does_not_grade_is_refused(release, maintainer):
    with pytest.raises(PhaseSplitError, match="a split 'dev'; it has test"):
        phases.make_phase(release=release, split="dev", user=maintainer, name="x", daily_limit=1)


def test_phase_that_would_close_before_it_opens_is_refused(phase, maintainer):
    earlier = phase.opens_at - timedelta(days=1)

    with pytest.raises(PhaseDatesError):
        phases.change_phase(phase=phase, user=maintainer, closes_at=earlier)
    phase.refresh_from_db()
    assert phase.closes_at is None


@pytest.mark.parametrize("opens_in", [timedelta(days=-1), timedelta(days=3)])
def test_closed_phase_takes_nothing_from_now_on(phase, maintainer, benchmark, opens_in):
    Phase.objects.update(opens_at=timezone.now() + opens_in)

    closed = phases.close_phase(phase=phase, user=maintainer)

    assert state_of_phase(closed) == "over"
    assert phases.close_phase(phase=closed, user=maintainer).closes_at == closed.closes_at
    with pytest.raises(NoOpenPhaseError, match="closed on"):
        phase_open_in(benchmark)


def test_phase_that_is_to_come_is_named_with_its_day(phase, benchmark):
    Phase.objects.update(opens_at=timezone.now() + timedelta(days=2))

    with pytest.raises(NoOpenPhaseError, match="'Open submissions' opens on"):
        phase_open_in(benchmark)


def test_chosen_phase_is_taken_and_another_number_names_those_that_are_open(
    split_up, maintainer, benchmark
):
    release = split_up(hidden=False)
    dev = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=5
    )
    first = release.phases.get(split="test")

    assert set(open_phases(benchmark)) == {dev, first}
    assert phase_open_in(benchmark, first.pk) == first
    assert phase_open_in(benchmark) == open_phase(benchmark) == dev
    with pytest.raises(PhaseChoiceError, match=rf"{dev.pk} \(Warm-up\)"):
        phase_open_in(benchmark, 0)


# --- limits --------------------------------------------------------------------------------


def test_day_is_used_up_by_a_person_over_all_teams(phase, sam, send):
    Phase.objects.update(daily_limit=2)
    phase.refresh_from_db()
    teams = [make_team(name=name, user=sam) for name in ("one", "two", "three")]
    send(phase, sam, GOOD, "a", team=teams[0])
    send(phase, sam, MORE, "b", team=teams[1])

    with pytest.raises(DailyLimitError, match="You have submitted 2 runs"):
        send(phase, sam, YET_MORE, "c", team=teams[2])
    assert n_left_today(phase=phase, user=sam) == 0


def test_day_is_used_up_by_a_team_over_all_members(phase, sam, maintainer, send):
    Phase.objects.update(daily_limit=2)
    phase.refresh_from_db()
    team = make_team(name="Both", user=sam)
    team.members.add(maintainer)
    send(phase, sam, GOOD, "a", team=team)
    send(phase, sam, MORE, "b", team=team)

    with pytest.raises(DailyLimitError, match="The team Both has submitted 2 runs"):
        send(phase, maintainer, YET_MORE, "c", team=team)
    assert send(phase, maintainer, YET_MORE, "in her own name").state == State.SCORED


def test_total_limit_counts_the_whole_phase(phase, sam, send):
    Phase.objects.update(total_limit=1)
    phase.refresh_from_db()
    first = send(phase, sam, GOOD, "a")
    long_ago = timezone.now() - timedelta(days=30)
    Submission.objects.filter(pk=first.pk).update(created_at=long_ago)

    with pytest.raises(TotalLimitError, match="takes 1 in all"):
        send(phase, sam, MORE, "b")
    assert n_left_in_all(phase=phase, user=sam) == n_left_today(phase=phase, user=sam) == 0


def test_invalid_submission_is_not_counted_in_all(phase, sam, send):
    Phase.objects.update(total_limit=1)
    phase.refresh_from_db()

    assert send(phase, sam, b"x", "a").state == State.INVALID
    assert send(phase, sam, GOOD, "b").state == State.SCORED


def test_team_of_others_cannot_be_submitted_for(phase, sam, maintainer, send):
    team = make_team(name="Hers", user=maintainer)

    with pytest.raises(NotInTeamError, match="'Hers'"):
        send(phase, sam, GOOD, team=team)


def test_same_bytes_of_a_team_mate_are_recognised(phase, sam, maintainer, send):
    team = make_team(name="Both", user=sam)
    team.members.add(maintainer)
    first = send(phase, sam, GOOD, "a", team=team)

    with pytest.raises(SubmittedBeforeError) as caught:
        send(phase, maintainer, GOOD, "b", team=team)
    assert caught.value.submission == first


# --- over which queries --------------------------------------------------------------------


def test_phase_of_everything_a_release_grades_has_one_mean(phase, sam, send):
    submission = send(phase, sam, GOOD)

    assert scope_of(phase).is_whole
    assert scores_as_seen(sam, submission).of_split == {}


def test_mean_of_the_split_stands_beside_that_of_all_queries(split_up, maintainer, sam, send):
    release = split_up(hidden=False)
    dev = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=5
    )

    submission = send(dev, sam, DEV + b"q2 Q0 d5 1 1 s\n")

    scores = scores_as_seen(sam, submission)
    assert splits_of(release) == ["dev", "test"]
    assert scores.of_split["RR@10"].mean == 1.0  # d1 of q1 is relevant and first
    assert scores.means["RR@10"] == pytest.approx(1 / 3)  # q2 finds nothing, q3 is missing
    assert (scores.of_split["RR@10"].n, scores.score_set.n_queries) == (1, 3)


def test_run_of_another_split_is_refused_with_what_it_has(split_up, sam, send):
    release = split_up(hidden=False)

    submission = send(release.phases.get(split="test"), sam, DEV)

    assert submission.state == State.INVALID
    assert "answers no graded query of the split 'test'" in submission.problems[0]["text"]
    assert "1 of dev" in submission.problems[0]["text"]


def test_phase_beside_a_hidden_split_tells_nothing_of_it(split_up, maintainer, sam, send):
    release = split_up(hidden=True)
    dev = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=500
    )

    submission = send(dev, sam, DEV + TEST)

    scores = scores_as_seen(sam, submission)
    assert submission.state == State.SCORED
    assert (scores.score_set.n_queries, scores.means["RR@10"]) == (1, 1.0)
    assert not ScoreSet.objects.exclude(scorer_version__endswith="/dev").exists()
    assert not Score.objects.exclude(score_set__scorer_version__endswith="/dev").exists()
    assert leaderboard(release=release, user=maintainer) == []
    # Nor by the way round of scoring all runs again.
    assert not runs_without_scores(release).exists()


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        # Of q1, which is public, with ids that nobody knows; whatever is judged for the others.
        (b"q1 Q0 x1 1 3 s\nq2 Q0 x2 1 2 s\nq3 Q0 x3 1 1 s\n", State.INVALID),
        (b"q1 Q0 x1 1 3 s\nq2 Q0 d5 1 2 s\nq3 Q0 d9 1 1 s\n", State.INVALID),
        # Of hidden queries alone.
        (b"q2 Q0 x2 1 2 s\nq3 Q0 x3 1 1 s\n", State.SCORED),
        (b"q2 Q0 d5 1 2 s\nq3 Q0 d9 1 1 s\n", State.SCORED),
    ],
)
def test_which_documents_are_judged_for_hidden_queries_is_not_told_by_a_refusal(
    split_up, sam, send, lines, state
):
    release = split_up(hidden=True)

    submission = send(release.phases.get(split="test"), sam, lines)

    assert submission.state == state
    _, _, judged = str(submission.problems).partition("release 1.0.0 judged ")
    assert not [docid for qid, docid in GRADES if qid != "q1" and f"'{docid}'" in judged]


def test_upgrade_scores_again_what_a_phase_scored_on_its_split_alone(
    split_up, maintainer, sam, send, do_jobs
):
    release = split_up(hidden=True)
    dev = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=5
    )
    submission = send(dev, sam, DEV + TEST)
    before = scores_as_seen(sam, submission).means
    ScoreSet.objects.update(scorer_version="1/dev")
    assert scores_as_seen(sam, submission) is None
    assert list(outdated_releases()) == [release]

    assert start_outdated() == [release]
    do_jobs()

    assert scores_as_seen(sam, submission).means == before
    assert not outdated_releases().exists()
    # Still nothing over all queries, and nothing on a board.
    assert not ScoreSet.objects.exclude(scorer_version__endswith="/dev").exists()
    assert leaderboard(release=release, user=maintainer) == []


def test_upgrade_keeps_the_means_over_the_split_of_a_phase(
    split_up, maintainer, sam, send, do_jobs
):
    release = split_up(hidden=False)
    dev = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=5
    )
    submission = send(dev, sam, DEV)
    ScoreSet.objects.update(scorer_version="1")

    start_outdated()
    do_jobs()

    scores = scores_as_seen(sam, submission)
    assert (scores.of_split["RR@10"].mean, scores.score_set.n_queries) == (1.0, 3)


def test_board_ranks_on_the_split_of_the_open_phase(
    split_up, maintainer, benchmark, signed_in, tmp_path, capsys
):
    """Dev and test together only on request: on the page, in files, the API and the command."""
    from django.core.management import call_command

    release = split_up(hidden=False)
    assert [open_phase.split for open_phase in open_phases(benchmark)] == ["test"]
    for name, lines in (("on dev", DEV), ("on test", TEST)):
        run = factories.run(benchmark, lines.decode(), name=name)
        scoring.score_run(run=run, target=scoring.Target.of(release), folder=tmp_path / name)
    page = reverse("scoring:leaderboard-release", args=[benchmark.slug, "1.0.0"])
    api = f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/leaderboard/"
    client = signed_in(maintainer)

    def best(query: str) -> tuple[str, str, str]:
        answer = client.get(page + query)
        row = answer.context["page"][0]
        text = client.get(api + query).json()
        assert text["rows"][0]["run"] == row.run.name
        assert text["queries"] in answer.content.decode()
        # What is linked to stays what it is when another phase opens.
        split = f"split={text['split'] or 'all'}"
        assert split in text["url"]
        assert split in answer.context["permanent"]
        return row.run.name, text["split"], text["queries"]

    assert best("") == ("on test", "test", "2 queries of the split test")
    assert best("?split=dev") == ("on dev", "dev", "1 query of the split dev")
    together = "all 3 queries together: 1 of dev, 2 of test"
    assert best("?split=all&m=Success@1") == ("on dev", "", together)
    assert client.get(page + "?split=other").status_code == 422
    assert "dev, test, all" in client.get(api + "?split=other").content.decode()

    call_command("leaderboard", benchmark.slug)
    call_command("leaderboard", benchmark.slug, "--split", "all")
    text = capsys.readouterr().out
    assert "by nDCG@10, 2 queries of the split test" in text
    assert f"by nDCG@10, {together}" in text


def test_board_without_an_open_phase_stands_on_test_and_all_together_is_a_choice(split_up):
    release = split_up(hidden=False)
    Phase.objects.update(daily_limit=0)

    split, together = board_split(release), board_split(release, "all")

    assert (split.name, split.said) == ("test", "2 queries of the split test")
    assert together.said == "all 3 queries together: 1 of dev, 2 of test"


@pytest.mark.parametrize(
    ("splits", "expected"),
    [
        ({"q1": "dev", "q2": "test", "q3": "train"}, "test"),
        ({"q1": "dev", "q2": "train", "q3": "train"}, "dev"),
        ({"q1": "test", "q2": "test", "q3": "test"}, ""),
    ],
)
def test_board_without_a_phase_stands_on_test_then_dev(benchmark, publish, splits, expected):
    grades = factories.qrel_set(benchmark, GRADES)
    for qid, split in splits.items():
        QueryFamily.objects.filter(queries__qid=qid).update(split=split)
    release = publish(grades)
    Phase.objects.all().delete()

    assert board_split(release).name == expected


def test_same_bytes_in_the_hidden_phase_are_the_same_run_and_on_the_board(
    split_up, maintainer, sam, send
):
    release = split_up(hidden=True)
    dev = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=5
    )
    first = send(dev, sam, DEV + TEST)

    second = send(release.phases.get(split="test"), sam, DEV + TEST)

    assert second.state == State.SCORED
    assert second.run == first.run
    assert [row.run for row in leaderboard(release=release, user=sam)] == [second.run]


def test_name_of_ones_own_run_is_taken_for_other_bytes(phase, sam, send):
    send(phase, sam, GOOD)

    with pytest.raises(NameInUseError):
        send(phase, sam, MORE)


def test_means_of_a_hidden_split_are_rounded_for_who_submits(
    split_up, sam, maintainer, send, signed_in
):
    release = split_up(hidden=True)
    hidden = release.phases.get(split="test")

    submission = send(hidden, sam, DEV + TEST)

    exact = Score.objects.get(score_set__run=submission.run, measure="nDCG@10", slice_name="").mean
    assert scores_as_seen(sam, submission).means["nDCG@10"] == round(exact, 3) != exact
    assert scores_as_seen(maintainer, submission).means["nDCG@10"] == exact
    page = signed_in(sam).get(submission.get_absolute_url()).content.decode()
    assert f">{exact:.3f}<" in page
    assert f"{exact:.4f}" not in page
    of = "/api/v1/benchmarks/stdlib/submissions/"
    one, listed = (
        signed_in(sam).get(url).content.decode() for url in (f"{of}{submission.pk}/", of)
    )
    assert f'"nDCG@10":{round(exact, 3)}' in one
    assert f'"nDCG@10":{round(exact, 3)}' in listed
    assert str(exact)[:7] not in one + listed


# --- withdrawing ---------------------------------------------------------------------------


def test_withdrawn_run_is_on_no_board_and_keeps_its_place(phase, sam, vi, release, send):
    submission = send(phase, sam, GOOD)

    withdrawn = withdraw_submission(submission=submission, user=sam)

    assert withdrawn.withdrawn_at == withdrawn.run.withdrawn_at is not None
    assert leaderboard(release=release, user=sam) == []
    assert n_left_today(phase=phase, user=sam) == phase.daily_limit - 1
    assert withdrawn.run in Run.objects.visible_to(sam)
    assert withdrawn.run not in Run.objects.visible_to(vi)
    assert AuditEvent.objects.filter(action="withdraw-run", actor=sam).exists()


def test_withdrawn_run_stays_with_whom_it_was_compared(phase, sam, vi, release, send):
    submission = send(phase, sam, GOOD)
    compared = Comparison.objects.create(benchmark=phase.benchmark, release=release, key="k")
    compared.runs.add(submission.run)

    withdrawn = withdraw_submission(submission=submission, user=sam)

    assert withdrawn.run in Run.objects.visible_to(vi)
    assert leaderboard(release=release, user=vi) == []


def test_withdrawn_run_that_a_policy_names_as_lexical_stays(phase, sam, vi, release, send):
    submission = send(phase, sam, GOOD)
    baseline = factories.run(phase.benchmark, "q1 Q0 d1 1 2.0 s", name="baseline", owner=sam)
    make_policy(
        benchmark=phase.benchmark,
        name="exact",
        baseline=baseline,
        lexical=submission.run,
        content={},
        user=sam,
    )

    withdraw_submission(submission=submission, user=sam)

    assert Run.objects.visible_to(vi).filter(pk=submission.run_id).exists()


def test_withdrawal_is_not_undone_by_sending_the_file_again(phase, sam, send):
    first = send(phase, sam, GOOD)
    withdraw_submission(submission=first, user=sam)

    with pytest.raises(SubmittedBeforeError, match="withdrawn, and stays so"):
        send(phase, sam, GOOD, "again")
    with pytest.raises(NotWithdrawableError, match="it was, on"):
        withdraw_submission(submission=again(first), user=sam)


def test_only_what_is_scored_can_be_withdrawn(phase, sam, send):
    submission = send(phase, sam, b"x")

    with pytest.raises(NotWithdrawableError, match="it is invalid"):
        withdraw_submission(submission=submission, user=sam)


def test_withdrawn_run_is_not_scored_on_the_next_release(phase, sam, send, publish, benchmark):
    submission = send(phase, sam, GOOD)
    withdraw_submission(submission=submission, user=sam)

    newer = publish(benchmark.qrel_sets.get(), "2.0.0")

    assert not runs_without_scores(newer).exists()


# --- who it is by --------------------------------------------------------------------------


def test_board_and_its_file_do_not_tell_who_an_anonymous_run_is_by(
    phase, sam, vi, maintainer, send, signed_in
):
    later = timezone.now() + timedelta(days=9)
    send(phase, sam, GOOD, "hush", team=make_team(name="Owls", user=sam), anonymous_until=later)
    args = ["stdlib", phase.release.version]
    urls = [reverse(f"scoring:leaderboard-{name}", args=args) for name in ("release", "csv")]

    results = {
        who: "".join(signed_in(who).get(url).content.decode() for url in urls)
        for who in (vi, maintainer)
    }

    assert "hush" in results[vi]
    assert results[vi].count("anonymous") >= 2
    assert "Owls" not in results[vi]
    assert "Owls" in results[maintainer]


# --- pages ---------------------------------------------------------------------------------


def url_of(name: str, *args) -> str:
    return reverse(f"scoring:{name}", args=["stdlib", *args])


def test_keeper_makes_changes_and_closes_a_phase_on_its_pages(split_up, maintainer, signed_in):
    release = split_up(hidden=True)
    client = signed_in(maintainer)
    fields = {"name": "Warm-up", "release": release.pk, "split": "dev", "daily_limit": "50"}

    answer = client.post(url_of("phase-new"), fields)
    phase = Phase.objects.get(split="dev")
    page = client.get(answer.url).content.decode()
    changed = client.post(
        url_of("phase-edit", phase.pk),
        {"name": "Warm-up", "daily_limit": "9", "closes_at": "2099-01-01T10:00"},
    )
    client.post(url_of("phase-close", phase.pk))

    assert answer.url == changed.url == url_of("phase-detail", phase.pk)
    assert "this phase tells nothing" in " ".join(page.split())
    phase.refresh_from_db()
    assert (phase.daily_limit, state_of_phase(phase)) == (9, "over")
    assert "over" in client.get(url_of("phase-list")).content.decode()


def test_page_that_was_open_for_a_while_changes_what_was_changed_on_it(
    phase, maintainer, signed_in
):
    """The Ladder that another has switched on meanwhile stays on, and the end stays the end."""
    Phase.objects.update(has_ladder=False)
    client, url = signed_in(maintainer), url_of("phase-edit", phase.pk)
    initials = opened(client.get(url).content.decode())
    end = timezone.now() + timedelta(days=1)
    phases.change_phase(phase=phase, user=maintainer, has_ladder=True, closes_at=end)

    fields = {name.removeprefix("initial-"): value for name, value in initials.items()}
    del fields["has_ladder"]  # a box without its tick is not sent
    answer = client.post(url, {**initials, **fields, "description": "Mine."})

    begun_at = phase.opens_at
    phase.refresh_from_db()
    assert (answer.status_code, phase.description) == (302, "Mine.")
    assert (phase.has_ladder, phase.closes_at, phase.opens_at) == (True, end, begun_at)


def test_phase_of_a_hidden_split_says_what_is_withheld(split_up, sam, signed_in):
    release = split_up(hidden=True)

    page = signed_in(sam).get(url_of("phase-detail", release.phases.get().pk)).content.decode()

    assert "rounded to three decimals" in page
    assert "Edit" not in page


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"name": ""}, "This field is required"),
        ({"daily_limit": "-1"}, "Expected a whole number from 0 to 10,000."),
        ({"split": "dev"}, "grades no query of a split"),
        ({"opens_at": "2030-01-01T00:00", "closes_at": "2029-01-01T00:00"}, "expected a later end"),
        ({"split": "test"}, "has a phase of the split"),
    ],
)
def test_wrong_phase_form_is_shown_again(release, maintainer, signed_in, more, words):
    fields = {"name": "x", "release": release.pk, "split": "test", "daily_limit": "5", **more}

    answer = signed_in(maintainer).post(url_of("phase-new"), fields)

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert Phase.objects.count() == 1


def test_submitter_chooses_between_open_phases(split_up, maintainer, sam, signed_in):
    from django.core.files.uploadedfile import SimpleUploadedFile

    release = split_up(hidden=False)
    dev = phases.make_phase(
        release=release, split="dev", user=maintainer, name="Warm-up", daily_limit=5
    )
    test = release.phases.get(split="test")
    client = signed_in(sam)
    page = client.get(url_of("submission-new") + f"?phase={test.pk}").content.decode()
    fields = {
        "file": SimpleUploadedFile("my.run", GOOD),
        "name": "mine",
        "visibility": "benchmark",
        "phase": test.pk,
    }

    client.post(url_of("submission-new"), fields)

    assert f'value="{test.pk}" required id="id_phase_1" checked' in page or (
        f'value="{test.pk}"' in page and "checked" in page
    )
    assert Submission.objects.get().phase == test != dev


def test_team_dates_and_facts_of_the_form_reach_the_run(phase, sam, signed_in, do_jobs):
    from django.core.files.uploadedfile import SimpleUploadedFile

    team = make_team(name="Owls", user=sam)
    day = (timezone.now() + timedelta(days=30)).date()
    fields = {
        "file": SimpleUploadedFile("my.run", GOOD),
        "name": "mine",
        "visibility": "team",
        "team": team.pk,
        "public_from": day.isoformat(),
        "anonymous_until": day.isoformat(),
        "type": "sparse",
        "latency_ms": "12.5",
        "repository": "https://example.org/x",
        "ir_metadata": "tag: from-yaml\nimplementation:\n  source:\n    commit: ab12\n",
    }

    posted = signed_in(sam).post(url_of("submission-new"), fields)
    do_jobs()

    run = Submission.objects.get().run
    assert posted.status_code == 302
    assert (run.team, run.visibility, run.public_from.date()) == (team, "team", day)
    assert run.anonymous_until == run.public_from
    assert run.metadata["latency_ms"] == 12.5
    assert (run.metadata["system"], run.metadata["commit"]) == ("from-yaml", "ab12")
    page = signed_in(sam).get(posted.url).content.decode()
    assert '<a href="https://example.org/x" rel="nofollow noopener noreferrer">' in page


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"visibility": "team"}, "Select a valid choice"),
        ({"public_from": "2001-01-01"}, "Choose a day after today"),
        ({"repository": "javascript:alert(1)"}, "is no web address"),
        ({"latency_ms": "fast"}, "expected a number from 0"),
        ({"ir_metadata": "a: *b"}, "holds an alias"),
        ({"ir_metadata": "- 1"}, "expected YAML"),
        ({"metadata": "x: " + "y" * 600}, "at most 500 are kept"),
    ],
)
def test_wrong_facts_are_told_at_their_fields(phase, sam, signed_in, more, words):
    from django.core.files.uploadedfile import SimpleUploadedFile

    fields = {
        "file": SimpleUploadedFile("my.run", GOOD),
        "name": "m",
        "visibility": "owner",
        **more,
    }

    answer = signed_in(sam).post(url_of("submission-new"), fields)

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Submission.objects.exists()


def test_withdrawing_on_the_page(phase, sam, vi, send, signed_in):
    submission = send(phase, sam, GOOD)
    page = signed_in(sam).get(submission.get_absolute_url())
    assert b"place of the day is not given back" in page.content

    answer = signed_in(sam).post(url_of("submission-withdraw", submission.pk), follow=True)

    assert b"stands on no board" in answer.content
    assert again(submission).withdrawn_at is not None
    assert signed_in(vi).post(url_of("submission-withdraw", submission.pk)).status_code == 403


def test_scored_files_of_a_withdrawn_run_stay(phase, sam, send):
    submission = send(phase, sam, GOOD)

    withdraw_submission(submission=submission, user=sam)

    score_set = ScoreSet.objects.get(run=submission.run)
    assert scoring.score_files(score_set).per_query.exists()
