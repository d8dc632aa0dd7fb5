"""Boards: who stands on them, what is known of each row, and every form they come in."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Job, Run, Team
from scoring.boards import keeping
from scoring.boards.selectors.scenarios import stored_scenarios
from scoring.boards.services.boards import board_of
from scoring.boards.services.scenarios import add_scenarios
from scoring.models import Score, Submission
from scoring.scores.selectors.boards import leaderboard, records_of
from scoring.scores.services import ranking
from scoring.scores.shown import measure_named
from tests import factories

PERFECT = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
HALF = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s"
NDCG = "nDCG@10"


def address(name: str = "leaderboard-release", *more: str, query: str = "") -> str:
    return reverse(f"scoring:{name}", args=["stdlib", "1.0.0", *more]) + query


def rows_of(answer) -> dict:
    return {row.run.name: row for row in answer.context["page"].object_list}


def submitted(scored, owner, lines=PERFECT, name="", **values):
    return scored(lines, name, owner=owner, kind=Run.Kind.SUBMITTED, **values)


@pytest.mark.parametrize(("measure", "n_notes"), [("unj@10", 1), ("Judged@10", 0)])
def test_a_board_says_of_which_measure_less_is_better(scored, signed_in, vi, measure, n_notes):
    scored(PERFECT, "there")

    page = signed_in(vi).get(address(query=f"?m={measure}")).content.decode()

    assert page.count(f"Of {measure} less is better") == n_notes


# --- who stands there ----------------------------------------------------------------------


def test_a_run_that_was_withdrawn_stands_on_no_board(scored, release, signed_in, vi, owner):
    scored(PERFECT, "there")
    gone = scored(HALF, "gone").run
    Run.objects.filter(pk=gone.pk).update(withdrawn_at=timezone.now())

    for person in (vi, owner):
        for name in ("leaderboard-release", "leaderboard-csv", "leaderboard-slices"):
            page = signed_in(person).get(address(name)).content.decode()
            assert "there" in page or name == "leaderboard-slices"
            assert "gone" not in page


def test_a_run_that_was_imported_by_mistake_is_taken_off_the_boards(
    scored, release, signed_in, vi, owner
):
    run = scored(PERFECT, "mistake").run
    page = reverse("run-detail", args=["stdlib", run.pk])
    address = reverse("scoring:run-withdraw", args=["stdlib", run.pk])
    assert address not in signed_in(vi).get(page).content.decode()
    assert address in signed_in(owner).get(page).content.decode()

    answer = signed_in(owner).post(address)

    assert answer["Location"] == page
    assert address not in signed_in(owner).get(page).content.decode()
    assert leaderboard(release=release, user=owner) == []
    assert not Run.objects.visible_to(vi).filter(pk=run.pk).exists()
    event = AuditEvent.objects.get(action="withdraw-run")
    assert (event.actor, event.target) == (owner, "mistake")


@pytest.mark.parametrize(
    ("kind", "reason"), [("uploaded", "it was, on 20"), ("submitted", "Withdraw the submission")]
)
def test_a_run_is_withdrawn_once_and_a_submission_as_one(scored, signed_in, owner, kind, reason):
    run = scored(PERFECT, "there", kind=kind).run
    address = f"/api/v1/benchmarks/stdlib/runs/{run.pk}/withdraw/"
    answers = [signed_in(owner).post(address) for _ in range(2)]

    assert answers[0].status_code == (200 if kind == "uploaded" else 409)
    assert answers[1].json()["code"] == "not-withdrawable"
    assert reason in answers[1].json()["message"]


def test_an_anonymous_run_is_nobodys_and_no_attempt_of_anybody(scored, signed_in, sam, vi):
    later = timezone.now() + timedelta(days=30)
    for n in range(2):
        submitted(scored, sam, name=f"secret {n}")
    Run.objects.update(anonymous_until=later)

    page = signed_in(vi).get(address(query="?q=sam"))
    assert page.context["page"].object_list == []
    rows = rows_of(signed_in(vi).get(address()))
    assert {(row.by, row.n_attempts, row.adjusted) for row in rows.values()} == {
        ("anonymous", 1, None)
    }
    own = rows_of(signed_in(sam).get(address()))
    assert {row.n_attempts for row in own.values()} == {2}


def test_known_runs_of_a_person_tell_nothing_of_the_anonymous_ones(
    scored, release, signed_in, sam, vi
):
    """Neither by how many attempts they are of, on the page and in files, nor by their error."""
    later = timezone.now() + timedelta(days=30)
    submitted(scored, sam, PERFECT, "known")
    submitted(scored, sam, HALF, "second")
    before = _attempts(release, vi)

    secret = submitted(scored, sam, "q2 Q0 d4 1 1 s", "secret").run
    Run.objects.filter(pk=secret.pk).update(anonymous_until=later)

    assert _attempts(release, vi) == before | {"secret": (1, None)}
    assert {n for n, _ in _attempts(release, sam).values()} == {3}
    text = signed_in(vi).get(address("leaderboard-markdown")).content.decode()
    head, _, *lines = [line.split(" | ") for line in text.splitlines() if line.startswith("|")]
    assert {line[head.index("attempts")] for line in lines} == {"1", "2"}


def _attempts(release, user):
    rows = board_of(release=release, user=user).whole
    return {row.run.name: (row.n_attempts, row.adjusted) for row in rows}


def test_a_run_without_a_value_has_no_rank(scored, release, vi):
    scored(PERFECT, "has")
    Score.objects.filter(score_set=scored(HALF, "lacks"), measure=NDCG).update(mean=None)

    rows = leaderboard(release=release, user=vi)

    assert [(row.run.name, row.rank, row.is_tied) for row in rows] == [
        ("has", 1, False),
        ("lacks", None, False),
    ]


def failed(phase, person, name, **values):
    return Submission.objects.create(
        phase=phase, name=name, submitter=person, state=Submission.State.INVALID, **values
    )


def test_failures_are_listed_for_their_owner_and_keepers_and_counted_for_others(
    phase, signed_in, sam, vi, maintainer
):
    cause = {"file": "my.run", "line": 6, "text": "score is 'n/a'; expected a number"}
    failed(phase, sam, "sam's try", problems=[cause])
    failed(phase, maintainer, "mia's try")

    def page(person) -> str:
        return " ".join(signed_in(person).get(address()).content.decode().split())

    assert "sam&#x27;s try" in page(sam)
    assert "expected a number" in page(sam)
    assert "mia&#x27;s try" not in page(sam)
    assert "1 more submission failed" in page(sam)
    assert "mia&#x27;s try" in page(maintainer)
    assert "sam&#x27;s try" in page(maintainer)
    assert "2 submissions failed" in page(vi)
    assert "try" not in page(vi).partition("Not ranked")[2]


# --- what is known of a row ----------------------------------------------------------------


def test_badges_say_what_changes_how_a_mean_is_read(scored, signed_in, vi):
    base = scored(PERFECT, "base", kind=Run.Kind.BASELINE).run
    Run.objects.filter(pk=base.pk).update(pooled_depth=10)
    scored(HALF, "cheat", metadata={"type": "Dense", "training sets": "stdlib"})
    scored("q1 Q0 d1 1 3 s\nq1 Q0 x 2 2 s", "half judged")

    page = signed_in(vi).get(address())
    rows = rows_of(page)

    assert (rows["base"].is_baseline, rows["base"].run.pooled_depth) == (True, 10)
    assert (rows["cheat"].type, rows["cheat"].is_trained) == ("dense", True)
    assert rows["half judged"].comparability == "not comparable"
    assert rows["base"].comparability == ""
    text = page.content.decode()
    for mark in ("baseline", "pooled to 10", "trained on this data"):
        assert f"<title>{mark}</title>" in text
    # Words and colour in its cell; what it means stands once, above the table.
    assert text.count('<span class="sr-only"> not comparable</span>') == 1
    assert text.count("cannot be compared with the others") == 1


@pytest.mark.parametrize(
    ("judged", "words"),
    [
        *((0.95, ""), (0.949, "provisional"), (0.80, "provisional"), (0.79, "not comparable")),
        # What means of tenths come to that are 0.95 and 0.8 on paper.
        *((0.9499999999999998, ""), (0.7999999999999999, "provisional")),
    ],
)
def test_judged_share_of_the_first_ten_says_how_far_runs_compare(
    scored, release, vi, judged, words
):
    scored(PERFECT)
    Score.objects.filter(measure="Judged@10", slice_name="").update(mean=judged)

    (row,) = leaderboard(release=release, user=vi)

    assert row.comparability == words


def test_judged_share_on_a_board_is_not_rounded_to_the_limit_that_it_falls_short_of(
    scored, signed_in, vi
):
    scored(PERFECT)
    Score.objects.filter(measure="Judged@10", slice_name="").update(mean=0.9496)

    html = signed_in(vi).get(address()).content.decode()

    assert "0.9496<" in html


def test_attempts_of_a_team_and_of_who_sent_a_run_count_together_withdrawn_ones_too(
    scored, release, sam, vi
):
    team = Team.objects.create(name="A team")
    submitted(scored, sam, PERFECT, "best", team=team)
    submitted(scored, vi, HALF, "other", team=team)
    gone = submitted(scored, sam, "q2 Q0 d4 1 1 s", "gone", team=team).run
    Run.objects.filter(pk=gone.pk).update(withdrawn_at=timezone.now())
    submitted(scored, sam, HALF, "alone")

    rows = {row.run.name: row for row in board_of(release=release, user=vi).whole}

    assert {name: row.n_attempts for name, row in rows.items()} == {
        "best": 4,
        "other": 3,
        "alone": 3,
    }
    assert rows["best"].adjusted < rows["best"].scores[NDCG]
    assert rows["alone"].adjusted < rows["alone"].scores[NDCG]
    assert rows["other"].adjusted is None


def test_adjustment_takes_off_what_the_best_of_so_many_has_by_chance(scored, release, sam, vi):
    """nDCG 1, 1, 0 and 1, 0, 0 of three queries: residuals ±1/3 once and ±1/6 twice.

    The squared error is 3/2 · 2 · mean of (1/9 + 2/36) / 9 = 1/18, times 0.5642 for two.
    """
    submitted(scored, sam, PERFECT, "best")
    submitted(scored, sam, HALF, "half")

    best = board_of(release=release, user=vi).whole[0]

    squared = 3 / 2 * 2 * (1 / 9 + 2 / 36) / 9
    assert best.adjusted == pytest.approx(2 / 3 - squared**0.5 * 0.5641895835)


def test_only_the_best_of_each_team_can_be_shown(scored, signed_in, sam, vi, ada):
    for person in (sam, ada):
        submitted(scored, person, PERFECT, f"{person} first")
        submitted(scored, person, HALF, f"{person} second")
    scored(HALF, "imported", owner=sam)

    rows = rows_of(signed_in(vi).get(address(query="?best=on")))

    assert set(rows) == {f"{sam} first", f"{ada} first", "imported"}


# --- ranks of large boards -----------------------------------------------------------------


def test_ranks_of_a_large_board_are_worked_out_by_one_job_for_all(
    scored, release, signed_in, vi, sam, monkeypatch, do_jobs
):
    for number, lines in enumerate((HALF, PERFECT, HALF)):
        scored(lines, f"run {number}")
    hidden = {"owner": sam, "visibility": Run.Visibility.OWNER}
    scored(PERFECT, "private", **hidden)
    shown = scored(HALF, "shown by now", **hidden).run
    Run.objects.filter(pk=shown.pk).update(public_from=timezone.now())
    small = rows_of(signed_in(vi).get(address()))
    monkeypatch.setattr(ranking, "MOST_RUNS", 2)
    monkeypatch.setattr(keeping, "find", lambda key: None)

    for person in (vi, sam):
        page = signed_in(person).get(address())
        assert page.context["is_ranking"]
        assert "worked out in the background" in page.content.decode()
        assert {row.standing for row in rows_of(page).values()} == {None}
    job = Job.objects.get(kind=ranking.JOB_KIND)
    do_jobs()
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error

    after = rows_of(signed_in(vi).get(address()))
    assert {name: row.standing for name, row in after.items()} == {
        name: row.standing for name, row in small.items()
    }
    assert rows_of(signed_in(sam).get(address()))["private"].standing is None
    assert Job.objects.filter(kind=ranking.JOB_KIND).count() == 1


def test_who_is_not_signed_in_starts_no_job(client, scored, benchmark, monkeypatch):
    monkeypatch.setattr(ranking, "MOST_RUNS", 1)
    type(benchmark).objects.update(visibility="public")
    for lines in (PERFECT, HALF):
        scored(lines)

    assert client.get(address()).status_code == 200
    assert not Job.objects.filter(kind=ranking.JOB_KIND).exists()


# --- unjudged documents --------------------------------------------------------------------


def test_scenarios_stand_together_and_are_stored(scored, release, signed_in, vi):
    score_set = scored("q1 Q0 x 1 9 s\nq1 Q0 d1 2 5 s\nq1 Q0 d2 3 4 s\nq2 Q0 d4 1 1 s", "one")

    page = signed_in(vi).get(address(query="?show=scenarios"))

    result = rows_of(page)["one"].unjudged
    # Without x it is perfect on two of three queries; with x of grade 3 the ideal is greater.
    assert result.condensed == pytest.approx(2 / 3)
    assert result.drawn[0] <= result.drawn[1]
    assert stored_scenarios([score_set], NDCG) == {score_set.pk: result}
    text = page.content.decode()
    for label in ("Condensed", "All relevant", "Drawn", "none of the scenarios is a bound"):
        assert label in text
    assert "Condensed" not in signed_in(vi).get(address()).content.decode()


def test_scenarios_are_computed_once_and_as_long_as_a_page_waits(scored, release, monkeypatch):
    sets = [scored(HALF, "a"), scored(HALF, "b")]
    monkeypatch.setattr("scoring.boards.services.scenarios.SECONDS", -1)
    assert add_scenarios(release=release, score_sets=sets, name=NDCG) == 2

    monkeypatch.setattr("scoring.boards.services.scenarios.SECONDS", 60)
    assert add_scenarios(release=release, score_sets=sets, name=NDCG) == 0
    monkeypatch.setattr("scoring.boards.services.scenarios.scenarios", None)
    assert add_scenarios(release=release, score_sets=sets, name=NDCG) == 0


def test_the_command_prints_scenarios_and_slices_apart(scored, capsys):
    scored("q1 Q0 x 1 9 s\nq1 Q0 d1 2 5 s\nq2 Q0 d4 1 1 s", "one")

    call_command("leaderboard", "stdlib", "--scenarios")

    head, row = capsys.readouterr().out.splitlines()[1:]
    assert head.split()[-4:] == ["condensed", "all", "relevant", "drawn"]
    assert row.split()[1] == "one"
    assert float(row.split()[-3]) > float(row.split()[2])
    with pytest.raises(CommandError, match=r"no slice 'few'\. There are: none"):
        call_command("leaderboard", "stdlib", "--slice", "few")
    with pytest.raises(CommandError, match="Scenarios are of all queries"):
        call_command("leaderboard", "stdlib", "--slice", "few", "--scenarios")


# --- history -------------------------------------------------------------------------------


def at(score_set, days: int):
    when = timezone.now() - timedelta(days=days)
    Run.objects.filter(pk=score_set.run_id).update(created_at=when)


def test_history_holds_the_runs_that_were_best_when_they_came(scored, release, vi):
    at(scored(HALF, "first"), 30)
    at(scored(HALF, "same"), 20)
    at(scored("q1 Q0 d3 1 1 s", "worse"), 15)
    at(scored(PERFECT, "best"), 10)
    gone = scored(PERFECT + "\nq2 Q0 d5 2 0 s", "gone")
    at(gone, 25)
    Run.objects.filter(pk=gone.run_id).update(withdrawn_at=timezone.now())

    records = records_of(leaderboard(release=release, user=vi), NDCG)

    assert [(record.row.run.name, record.gain) for record in records] == [
        ("first", None),
        ("best", pytest.approx(1 / 3, abs=1e-4)),
    ]


def test_history_is_a_page_with_a_chart_and_its_numbers(scored, signed_in, vi):
    at(scored(HALF, "first"), 30)
    at(scored(PERFECT, "best"), 10)
    client = signed_in(vi)

    page = client.get(address("leaderboard-history")).content.decode()
    chart = address("leaderboard-history-chart", NDCG, "svg")
    numbers = client.get(address("leaderboard-history-chart", NDCG, "csv")).content.decode()

    assert chart in page
    assert "From 0.3333 (first" in page
    rows = list(csv.DictReader(io.StringIO(numbers)))
    assert [(row["run"], float(row["value"])) for row in rows] == [
        ("first", 0.3333),
        ("best", 0.6667),
    ]


# --- files ---------------------------------------------------------------------------------


def test_files_of_a_board_have_the_same_columns_and_values(scored, signed_in, vi):
    scored(PERFECT, "=a|b")
    scored(HALF, "half")
    client = signed_in(vi)

    table = list(csv.reader(io.StringIO(client.get(address("leaderboard-csv")).content.decode())))
    text = client.get(address("leaderboard-json")).content.decode()
    content = json.loads(text)
    lines = client.get(address("leaderboard-markdown")).content.decode().splitlines()

    assert text == json.dumps(content, indent=1)
    assert content["columns"] == table[0]
    assert lines[2] == f"| {' | '.join(table[0])} |"
    assert [row["run"] for row in content["rows"]] == ["=a|b", "half"]
    assert [row[4] for row in table[1:]] == ["'=a|b", "half"]
    assert "| =a\\|b |" in lines[4]
    assert content["rows"][0][NDCG] == pytest.approx(2 / 3, abs=1e-15)
    assert (content["release"], content["measure"]) == ("1.0.0", NDCG)


def test_an_empty_board_is_a_file_of_columns(scored, signed_in, vi):
    client = signed_in(vi)

    text = client.get(address("leaderboard-csv")).content.decode()
    answer = client.get(address("leaderboard-json"))
    scored(PERFECT, "best")
    whole, filtered = (
        client.get(address("leaderboard-csv", query=query)).content.decode().splitlines()
        for query in ("", "?q=none")
    )

    assert text.startswith("rank,best_rank,worst_rank,tie_group,run,by,kind,nDCG@10,")
    assert text.splitlines() == filtered == whole[:1]
    assert answer.json()["rows"] == []
    assert answer.content.decode() == json.dumps(answer.json(), indent=1)


def test_the_link_of_a_board_pins_release_measure_and_filters(scored, signed_in, vi):
    scored(PERFECT, "dense one")
    client = signed_in(vi)

    link = client.get(address(query="?q=dense&page=1&slice=")).context["permanent"]

    assert link == f"http://testserver{address()}?q=dense&m=nDCG@10"
    assert set(rows_of(client.get(link))) == {"dense one"}


def test_ticked_runs_lead_to_their_comparison(scored, signed_in, vi):
    one, two = scored(PERFECT).run.pk, scored(HALF).run.pk

    url = reverse("scoring:leaderboard-compare", args=["stdlib"])
    answer = signed_in(vi).get(f"{url}?run={one}&run={two}&run=x%3D1&release=1.0.0")

    compare = reverse("scoring:comparison", args=["stdlib"])
    assert answer.url == f"{compare}?runs={one},{two}&release=1.0.0"


# --- a hidden split ------------------------------------------------------------------------


@pytest.fixture
def hidden(monkeypatch):
    """All queries are hidden from who does not keep the benchmark."""
    hide = {"q1", "q2", "q3"}
    for module in ("scoring.scores.services.firewall", "scoring.scores.services.slice_scores"):
        monkeypatch.setattr(f"{module}.hidden_queries", lambda release: frozenset(hide))


def close(scored) -> None:
    """Two runs whose means differ by less than is told of them."""
    scored(PERFECT, "b better")
    Score.objects.filter(score_set=scored(PERFECT, "a worse"), measure=NDCG).update(mean=0.66662)


def test_equal_rounded_means_share_a_rank_and_a_standing(scored, hidden, signed_in, vi, owner):
    close(scored)
    scored("q3 Q0 d6 1 1 s", "last")

    seen = rows_of(signed_in(vi).get(address()))
    kept = rows_of(signed_in(owner).get(address()))

    assert list(seen) == ["a worse", "b better", "last"]
    assert [row.rank for row in seen.values()] == [1, 1, 3]
    assert seen["a worse"].standing == seen["b better"].standing
    assert [row.rank for row in kept.values()] == [1, 2, 3]


@pytest.mark.parametrize("name", ["csv", "json", "markdown"])
def test_files_round_what_is_hidden(scored, hidden, signed_in, vi, owner, name):
    scored(PERFECT, "one")

    assert "0.6666" not in signed_in(vi).get(address(f"leaderboard-{name}")).content.decode()
    kept = signed_in(owner).get(address(f"leaderboard-{name}")).content.decode()
    assert "0.6666" in kept or "0.6667" in kept


def test_scenarios_and_sums_are_withheld_where_grades_are_hidden(
    scored, hidden, signed_in, vi, owner
):
    scored(PERFECT, "one")

    page = signed_in(vi).get(address(query="?show=scenarios"))
    assert rows_of(page)["one"].unjudged is None
    sums = signed_in(vi).get(address(query="?measure=NumRelRet"))
    assert sums.status_code == 422
    assert "is not told of release" in sums.content.decode()
    assert not Score.objects.filter(measure="NumRelRet").exists()
    assert signed_in(owner).get(address(query="?measure=NumRelRet")).status_code == 200


def test_history_and_slices_tell_rounded_values_alone(scored, hidden, signed_in, vi):
    close(scored)

    client = signed_in(vi)
    pages = [
        client.get(address("leaderboard-history")),
        client.get(address("leaderboard-history-chart", NDCG, "csv")),
        client.get(address("leaderboard-slices")),
        client.get(address("leaderboard-slices-csv")),
    ]
    for page in pages:
        assert page.status_code == 200
        assert "0.666" not in page.content.decode()
    assert len(pages[0].context["records"]) == 1


# --- constant numbers of queries -----------------------------------------------------------


@pytest.mark.parametrize("name", ["leaderboard-history", "leaderboard-csv"])
def test_pages_of_a_board_ask_as_often_for_20_runs_as_for_2(scored, signed_in, vi, benchmark, name):
    counts = []
    client = signed_in(vi)
    for size in (2, 18):
        for _ in range(size):
            submitted(scored, factories.user())
        client.get(address(name))
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address(name)).status_code == 200
        counts.append(len(captured))

    assert counts[0] == counts[1]


def test_job_of_ranks_is_one_of_ours():
    jobs.load_handlers()

    assert ranking.JOB_KIND in jobs.HANDLERS
    assert measure_named(NDCG).name == NDCG


# --- over the API --------------------------------------------------------------------------

API = "/api/v1/benchmarks/stdlib/releases/1.0.0/leaderboard/"


def test_the_api_gives_the_board_with_the_columns_of_its_files(scored, signed_in, vi):
    scored(PERFECT, "best")
    scored(HALF, "half")
    client = signed_in(vi)

    answer = client.get(f"{API}?q=half&measure=Recall%40100").json()
    table = list(csv.reader(io.StringIO(client.get(address("leaderboard-csv")).content.decode())))

    assert answer["columns"] == table[0]
    assert [(row["run"], row["rank"]) for row in answer["rows"]] == [("half", 2)]
    assert (answer["n_runs"], answer["n_unranked"], answer["decimals"]) == (2, 0, None)
    assert rows_of(client.get(answer["url"])).keys() == {"half"}


def test_the_api_rounds_what_is_hidden(scored, hidden, signed_in, vi):
    scored(PERFECT, "one")

    answer = signed_in(vi).get(API).json()

    assert (answer["decimals"], answer["rows"][0][NDCG]) == (3, 0.667)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("measure=nDGC@10", 422, "is no measure we know"),
        ("slice=few", 400, "No slice 'few' is shown"),
        ("since=yesterday", 400, "Enter a valid date"),
        ("sort=nothing", 400, "Select a valid choice"),
    ],
)
def test_the_api_says_what_is_wrong_of_a_board(scored, signed_in, vi, query, status, words):
    answer = signed_in(vi).get(f"{API}?{query}")

    assert answer.status_code == status
    assert words in answer.content.decode()


def test_the_api_gives_history_and_slices(scored, signed_in, vi):
    at(scored(HALF, "first"), 30)
    best = scored(PERFECT, "best")
    client = signed_in(vi)

    history = client.get(f"{API}history/").json()
    slices = client.get(f"{API}slices/?baseline={best.run_id}").json()

    assert [record["name"] for record in history["records"]] == ["first", "best"]
    assert [row["cells"][0]["difference"] for row in slices["rows"]] == [
        0.0,
        pytest.approx(-1 / 3),
    ]
    assert client.get(f"{API}slices/?baseline=999999").status_code == 404


@pytest.mark.parametrize(("address", "n_runs"), [(API, 3), (f"{API}slices/", None)])
def test_the_api_gives_a_board_in_pages_where_limit_is_given(
    scored, signed_in, vi, address, n_runs
):
    for name in ("a", "b", "c"):
        scored(PERFECT, name)
    client = signed_in(vi)
    whole = client.get(address).json()

    first = client.get(f"{address}?limit=2")
    second = client.get(first.json()["next"])

    assert (whole["next"], whole["previous"]) == (None, None)
    assert [len(page.json()["rows"]) for page in (first, second)] == [2, 1]
    assert [*first.json()["rows"], *second.json()["rows"]] == whole["rows"]
    assert (first.json().get("n_runs"), second.json()["next"]) == (n_runs, None)
    assert f'<{first.json()["next"]}>; rel="next"' in first["Link"]
    assert second.json()["previous"]
