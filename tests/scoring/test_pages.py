"""The pages of submissions, boards and runs: what they say, to whom, in how many queries."""

import csv
import io
from math import log2

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.models import Benchmark, Job, QrelSet, Run
from benchwright.measures.families import FAMILIES
from scoring.models import Phase, Score, ScoreSet, Submission
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.shown import measure_named
from tests import factories
from tests.scoring.conftest import GOOD, GRADES

SUBMIT = ["scoring:submission-new", ["stdlib"]]
BOARD = ["scoring:leaderboard-release", ["stdlib", "1.0.0"]]
PERFECT = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
DASH = "\N{EN DASH}"
HALF = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s"


def url_of(name: str, args: list) -> str:
    return reverse(name, args=args)


def form(content: bytes = GOOD, **more) -> dict:
    return {
        "file": SimpleUploadedFile("my.run", content),
        "name": "mine",
        "visibility": Run.Visibility.BENCHMARK,
        **more,
    }


# --- submitting ----------------------------------------------------------------------------


def test_submission_page_without_release_says_what_is_needed(signed_in, owner):
    answer = signed_in(owner).get(url_of(*SUBMIT))

    assert answer.status_code == 200
    assert b"Scores need a release" in answer.content
    assert url_of("release-new", ["stdlib"]).encode() in answer.content


def test_posted_run_is_received_and_its_page_shows_the_scores(signed_in, sam, phase, do_jobs):
    client = signed_in(sam)
    posted = client.post(url_of(*SUBMIT), form(metadata="model: bm25\n\nk1: 0.9"))
    submission = Submission.objects.get()
    assert posted.status_code == 302
    assert posted.url == submission.get_absolute_url()
    waiting = client.get(posted.url)
    assert b'hx-trigger="every 1s"' in waiting.content

    do_jobs()

    page = client.get(posted.url)
    submission.refresh_from_db()
    assert submission.run.metadata == {"model": "bm25", "k1": "0.9"}
    assert b"0.6546" in page.content  # nDCG@10: (3.5 / 3.6309 + 1 + 0) / 3
    assert b'hx-trigger="every' not in page.content


def test_refused_file_shows_every_line_that_is_wrong(signed_in, sam, phase, do_jobs):
    client = signed_in(sam)
    posted = client.post(url_of(*SUBMIT), form(GOOD + b"q1 Q0 d7 9 n/a s\nq2 d4\n"))
    do_jobs()

    page = client.get(posted.url).content.decode()

    assert "my.run:6" in page
    assert "my.run:7" in page
    assert "score is &#x27;n/a&#x27;; expected a number" in page
    assert "not counted against your daily limit" in page


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"name": ""}, "This field is required"),
        ({"metadata": "no colon"}, "is not &#x27;name: value&#x27;"),
        ({"metadata": "a: 1\na: 2"}, "stands there twice"),
        ({"file": ""}, "This field is required"),
        ({"file": SimpleUploadedFile("my.run", b"")}, "my.run is empty"),
        ({"visibility": "all"}, "Select a valid choice"),
    ],
)
def test_wrong_form_is_shown_again_with_the_reason(signed_in, sam, phase, more, words):
    answer = signed_in(sam).post(url_of(*SUBMIT), form(**more))

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Submission.objects.exists()


def test_name_in_use_is_told_at_the_name(signed_in, sam, phase, benchmark):
    factories.run(benchmark, HALF, name="mine")

    answer = signed_in(sam).post(url_of(*SUBMIT), form())

    assert answer.status_code == 422
    assert "Choose another name" in str(answer.context["form"].errors["name"])


def test_used_up_day_is_refused_with_the_time_of_the_next(signed_in, sam, phase, submit):
    Phase.objects.update(daily_limit=1)
    submit(sam)

    answer = signed_in(sam).post(url_of(*SUBMIT), form(GOOD + b"q2 Q0 d5 2 1 s\n", name="more"))

    assert answer.status_code == 422
    assert b"The next is possible from" in answer.content
    assert sam.uploads.count() == 1


def test_same_file_again_leads_to_the_first_submission(signed_in, sam, submit):
    first = submit(sam)

    answer = signed_in(sam).post(url_of(*SUBMIT), form(name="again"), follow=True)

    assert answer.redirect_chain[-1][0] == first.get_absolute_url()
    assert "not scored again" in answer.content.decode()


# --- who sees what -------------------------------------------------------------------------


def test_submitter_sees_own_submissions_and_keeper_all(signed_in, sam, maintainer, submit):
    hers = submit(maintainer, name="mia's run")
    his = submit(sam, name="sam's run")
    list_url = url_of("scoring:submission-list", ["stdlib"])

    seen_by_sam = signed_in(sam).get(list_url).content
    assert b"sam&#x27;s run" in seen_by_sam
    assert b"mia&#x27;s run" not in seen_by_sam
    assert signed_in(sam).get(hers.get_absolute_url()).status_code == 404
    seen_by_mia = signed_in(maintainer).get(list_url).content
    assert b"sam&#x27;s run" in seen_by_mia
    assert signed_in(maintainer).get(his.get_absolute_url()).status_code == 200


@pytest.mark.parametrize(
    ("who", "status"),
    [("sam", 200), ("maintainer", 200), ("owner", 200), ("vi", 403), ("ada", 403), ("cy", 404)],
)
def test_only_who_may_submit_sees_the_form(who, status, signed_in, phase, request):
    person = request.getfixturevalue(who)

    assert signed_in(person).get(url_of(*SUBMIT)).status_code == status
    assert signed_in(person).post(url_of(*SUBMIT), {}).status_code in {status, 422}


def test_stranger_is_sent_to_sign_in(client, phase):
    assert client.get(url_of(*SUBMIT)).url.startswith(reverse("sign-in"))


def test_private_run_is_on_the_board_of_its_owner_and_the_keepers_only(
    signed_in, sam, vi, maintainer, scored
):
    run = scored(PERFECT, "secret system", owner=sam, visibility=Run.Visibility.OWNER).run

    def sees(person) -> list[bool]:
        client = signed_in(person)
        pages = [url_of(*BOARD), url_of("scoring:leaderboard-csv", BOARD[1])]
        return [b"secret system" in client.get(page).content for page in pages]

    assert sees(sam) == sees(maintainer) == [True, True]
    assert sees(vi) == [False, False]
    for name in ("scoring:run-scores", "scoring:run-queries"):
        assert signed_in(vi).get(url_of(name, ["stdlib", run.pk])).status_code == 404


@pytest.mark.parametrize("who", ["vi", "maintainer"])
def test_private_run_that_waits_for_scores_is_told_to_who_sees_it(
    signed_in, benchmark, release, who, request
):
    client = signed_in(request.getfixturevalue(who))
    factories.run(benchmark, PERFECT, name="private", visibility=Run.Visibility.OWNER)

    page = client.get(url_of(*BOARD)).content

    progress = url_of("scoring:rescoring", BOARD[1]).encode()
    assert (progress in page) == (who == "maintainer")


def test_board_of_a_public_benchmark_is_open_to_everybody(client, scored, benchmark):
    scored(PERFECT, "open system")
    Benchmark.objects.update(visibility=Benchmark.Visibility.PUBLIC)

    assert b"open system" in client.get(url_of(*BOARD)).content


@pytest.mark.parametrize("name", ["scoring:runs-score", "scoring:baselines-create"])
def test_buttons_of_keepers_refuse_others(name, signed_in, sam, release):
    assert signed_in(sam).post(url_of(name, ["stdlib"])).status_code == 403


# --- boards --------------------------------------------------------------------------------


def test_bare_address_shows_the_newest_release_and_links_to_it(
    signed_in, vi, release, publish, benchmark
):
    publish(QrelSet.objects.get(benchmark=benchmark), "1.9.0")
    publish(QrelSet.objects.get(benchmark=benchmark), "1.10.0")

    answer = signed_in(vi).get(url_of("scoring:leaderboard", ["stdlib"]) + "?m=mrr@10")

    assert answer.context["release"].version == "1.10.0"
    board = url_of("scoring:leaderboard-release", ["stdlib", "1.10.0"])
    assert f"{board}?m=MRR@10" in answer.content.decode()


def test_bare_address_takes_a_measure_asked_by_name(signed_in, vi, release):
    answer = signed_in(vi).get(url_of("scoring:leaderboard", ["stdlib"]) + "?measure=ERR@10")

    assert answer.context["measure"].label == "ERR@10"


def test_board_without_release_says_what_is_needed(signed_in, vi):
    answer = signed_in(vi).get(url_of("scoring:leaderboard", ["stdlib"]))

    assert b"Scores need a release" in answer.content


@pytest.mark.parametrize("version", ["2.0.0", "01.0.0", "1.0", "x", "1.0.0.0", "1.0.²"])
def test_release_that_is_not_there_has_no_board(version, signed_in, vi, release):
    url = url_of("scoring:leaderboard-release", ["stdlib", version])

    assert signed_in(vi).get(url).status_code == 404


def test_equal_scores_share_a_rank_and_the_next_counts_all_before_it(scored, release, vi):
    scored(PERFECT, "best")
    scored(HALF, "b")
    scored(HALF, "a")
    scored("q1 Q0 d3 1 1 s", "last")

    board = leaderboard(release=release, user=vi)

    ranks = [(row.rank, row.is_tied, row.run.name) for row in board]
    assert ranks == [(1, False, "best"), (2, True, "a"), (2, True, "b"), (4, False, "last")]


def test_measure_of_the_address_ranks_the_board(scored, release, vi, signed_in):
    scored("q1 Q0 d1 1 1 s\nq2 Q0 d4 1 1 s", "precise")
    scored("q1 Q0 x 1 9 s\nq1 Q0 d1 2 5 s\nq1 Q0 d2 3 4 s\nq2 Q0 d4 1 1 s", "complete")

    def first(measure: str) -> str:
        return leaderboard(release=release, user=vi, measure=measure_named(measure))[0].run.name

    assert (first("nDCG@10"), first("Recall@100")) == ("precise", "complete")
    page = signed_in(vi).get(url_of(*BOARD) + "?m=MAP").content.decode()
    assert page.count('aria-sort="descending"') == 1
    assert "ranked by MAP" in page


def test_board_shows_missing_and_extra_queries(scored, signed_in, vi):
    scored(HALF + "\nnew Q0 d1 1 1 s", "partial")

    client = signed_in(vi)
    page = " ".join(client.get(url_of(*BOARD) + "?cols=answered").content.decode().split())
    usual = client.get(url_of(*BOARD)).content.decode()

    assert '1 of 3<span class="ci is-below">2 missing, 1 extra</span></td>' in page
    assert "<title>answers 1 of 3 queries</title>" in usual


def test_csv_has_every_measure_in_full_and_no_formula(scored, signed_in, vi, owner):
    scored(PERFECT, "=cmd()", owner=owner)

    text = signed_in(vi).get(url_of("scoring:leaderboard-csv", BOARD[1])).content.decode()

    (row,) = csv.DictReader(io.StringIO(text))
    assert row["run"] == "'=cmd()"
    assert float(row["nDCG@10"]) == pytest.approx(2 / 3, abs=1e-15)
    assert (row["n_queries"], row["n_missing"]) == ("3", "0")


def test_keeper_scores_the_runs_a_release_lacks(signed_in, maintainer, release, benchmark, do_jobs):
    factories.run(benchmark, PERFECT, name="late")
    client = signed_in(maintainer)
    assert b"1 run has no scores on 1.0.0" in client.get(url_of(*BOARD)).content

    posted = client.post(url_of("scoring:runs-score", ["stdlib"]), {"release": "1.0.0"})
    do_jobs()

    assert posted.url == Job.objects.latest("pk").get_absolute_url()
    assert ScoreSet.objects.get().run.name == "late"
    assert b"has no scores" not in client.get(url_of(*BOARD)).content


def test_scoring_runs_without_release_is_a_conflict(signed_in, maintainer):
    answer = signed_in(maintainer).post(url_of("scoring:runs-score", ["stdlib"]))

    assert answer.status_code == 409


# --- one run -------------------------------------------------------------------------------


def test_scores_of_a_run_are_a_part_for_htmx_and_a_page_without(scored, signed_in, vi):
    url = url_of("scoring:run-scores", ["stdlib", scored(PERFECT).run.pk])

    part = signed_in(vi).get(url, headers={"HX-Request": "true"}).content
    page = signed_in(vi).get(url).content

    assert b"0.6667" in part
    assert b"<html" not in part
    assert b"<html" in page


def test_scores_of_each_release_stand_apart(scored, signed_in, vi, publish, benchmark):
    first = scored(PERFECT, "system")
    other = publish(factories.qrel_set(benchmark, {**GRADES, ("q3", "d6"): 1}), "2.0.0")
    from scoring.scores.services.scoring import Target, score_run

    score_run(run=first.run, target=Target.of(other), folder=factories_folder())

    page = signed_in(vi).get(url_of("scoring:run-scores", ["stdlib", first.run.pk])).content
    assert b"2.0.0" in page
    assert b"are not comparable" in page


def factories_folder():
    from django.conf import settings

    return settings.STAGING_DIR / "second"


def test_queries_stand_worst_first_with_their_texts(scored, signed_in, vi):
    run = scored("q1 Q0 d2 1 1 s\nq2 Q0 d4 1 1 s").run

    answer = signed_in(vi).get(url_of("scoring:run-queries", ["stdlib", run.pk]))

    assert [row.qid for row in answer.context["rows"]] == ["q3", "q1", "q2"]
    page = answer.content.decode()
    assert "text of q3" in page
    assert page.count("not in the run") == 1
    assert "<svg" in page


def test_queries_are_ordered_by_the_measure_and_order_of_the_address(scored, signed_in, vi):
    run = scored("q1 Q0 d2 1 1 s\nq2 Q0 d4 1 1 s").run
    url = url_of("scoring:run-queries", ["stdlib", run.pk])

    answer = signed_in(vi).get(f"{url}?release=1.0.0&m=Judged@10&order=best")

    # What is not defined, the share of a query that found nothing, stands last either way.
    assert [row.qid for row in answer.context["rows"]] == ["q1", "q2", "q3"]
    assert signed_in(vi).get(f"{url}?release=9.0.0").status_code == 404


def test_run_without_scores_has_no_queries_page(signed_in, vi, benchmark, release):
    run = factories.run(benchmark, PERFECT)

    url = url_of("scoring:run-queries", ["stdlib", run.pk])
    assert signed_in(vi).get(url).status_code == 404


# --- constant numbers of queries -----------------------------------------------------------


def n_queries_of(client, url: str) -> int:
    client.get(url)  # warm: sessions, content types
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


@pytest.mark.parametrize("query", ["", "?measure=AP@3"])
def test_board_asks_as_often_for_20_runs_as_for_2(scored, signed_in, vi, query):
    counts = []
    for size in (2, 18):
        for _ in range(size):
            scored(PERFECT, owner=factories.user())
        counts.append(n_queries_of(signed_in(vi), url_of(*BOARD) + query))

    assert counts[0] == counts[1]


def test_submissions_ask_as_often_for_20_as_for_2(submit, signed_in, owner, benchmark, do_jobs):
    counts = []
    n_made = 0
    for size in (2, 18):
        for _ in range(size):
            n_made += 1
            person = factories.member(benchmark, f"p{n_made}", "submitter")
            submit(person, GOOD + b"q2 Q0 x%d 2 1 s\n" % n_made, f"run {n_made}")
        do_jobs()
        url = url_of("scoring:submission-list", ["stdlib"])
        counts.append(n_queries_of(signed_in(owner), url))

    assert counts[0] == counts[1]


def test_queries_page_asks_as_often_for_20_queries_as_for_2(
    benchmark, publish, signed_in, vi, scored
):
    counts = []
    for version, size in (("2.0.0", 2), ("3.0.0", 20)):
        grades = {(f"n{number}", "d1"): 1 for number in range(size)}
        release = publish(factories.qrel_set(benchmark, grades), version)
        run = scored("n0 Q0 d1 1 1 s\nn1 Q0 d2 1 1 s", on=release).run
        counts.append(
            n_queries_of(signed_in(vi), url_of("scoring:run-queries", ["stdlib", run.pk]))
        )

    assert counts[0] == counts[1]


# --- measures by name, intervals, ranks ----------------------------------------------------

ASKED = "?measure=nDCG(dcg%3D'exp-log2')%4020"
ASKED_NAME = "nDCG(dcg='exp-log2')@20"


def test_board_ranks_by_any_measure_without_reading_a_run(scored, signed_in, vi):
    scored("q1 Q0 d2 1 9 s\nq1 Q0 d1 2 5 s", "later")
    run_path(scored(HALF, "first").run).unlink()

    answer = signed_in(vi).get(url_of(*BOARD) + ASKED)

    assert [row.run.name for row in answer.context["page"]] == ["first", "later"]
    # Gain 7 and 1 for grades 3 and 1, in the other order for "later"; two queries find nothing.
    first, later = (row.scores[ASKED_NAME] for row in answer.context["page"])
    best = 7 + 1 / log2(3)
    assert (first, later) == pytest.approx((1 / 3, (1 + 7 / log2(3)) / best / 3))
    assert Score.objects.filter(measure=ASKED_NAME).count() == 2
    page = answer.content.decode()
    assert page.count('aria-sort="descending"') == 1
    assert "<option selected>nDCG(dcg=&#x27;exp-log2&#x27;)@20</option>" in page


def test_measure_that_was_added_can_be_chosen_by_the_next_who_looks(scored, signed_in, vi, ada):
    scored(HALF)
    signed_in(vi).get(url_of(*BOARD) + "?measure=Success@1")

    assert "<option>Success@1</option>" in signed_in(ada).get(url_of(*BOARD)).content.decode()


@pytest.mark.parametrize("name", ["scoring:leaderboard-release", "scoring:run-scores"])
def test_name_that_is_no_measure_is_told_where_it_was_typed(name, scored, signed_in, vi):
    run = scored(HALF).run
    last = {"scoring:run-scores": run.pk}.get(name, "1.0.0")

    answer = signed_in(vi).get(url_of(name, ["stdlib", last]) + "?measure=nDGC@10")

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "&#x27;nDGC@10&#x27; is no measure we know" in page
    assert 'value="nDGC@10"' in page
    assert 'aria-invalid="true"' in page
    assert "0.3333" in page  # the scores are there all the same


def test_run_leads_to_its_corrected_mean(scored, signed_in, vi):
    run = scored(HALF).run

    page = signed_in(vi).get(url_of("scoring:run-scores", ["stdlib", run.pk])).content.decode()

    board = url_of("scoring:leaderboard-corrected", ["stdlib", "1.0.0"])
    assert f'{board}?m=nDCG%4010#run-{run.pk}"' in page


def test_who_is_not_signed_in_reads_by_query_what_scoring_stores(client, scored, signed_in, vi):
    runs = [scored(HALF, name).run.pk for name in ("a", "b")]
    Benchmark.objects.update(visibility=Benchmark.Visibility.PUBLIC)
    table = url_of("scoring:run-queries", ["stdlib", runs[0]])
    lists = url_of("scoring:side-by-side", ["stdlib"]) + f"?runs={runs[0]},{runs[1]}"

    stored, other = client.get(table + "?m=MAP"), client.get(table + "?m=AP@3")
    answers = [client.get(lists + "&m=" + name).status_code for name in ("MAP", "AP@3")]

    assert [answer.context["measure"].label for answer in (stored, other)] == ["MAP", "nDCG@10"]
    assert b"computed for people who are signed in" in other.content
    assert answers == [200, 409]
    assert signed_in(vi).get(table + "?m=AP@3").context["measure"].label == "AP@3"


def test_old_address_of_a_measure_that_is_none_shows_the_first(scored, signed_in, vi):
    scored(HALF)

    answer = signed_in(vi).get(url_of(*BOARD) + "?m=nothing")

    assert (answer.status_code, answer.context["measure"].label) == (200, "nDCG@10")


def test_runs_that_wait_for_an_added_measure_are_told(scored, signed_in, vi, monkeypatch):
    for name in ("a", "b"):
        scored(HALF, name)
    monkeypatch.setattr("scoring.scores.services.measuring.SECONDS", -1)

    page = signed_in(vi).get(url_of(*BOARD) + "?measure=AP@3").content.decode()

    assert "2 runs wait for AP@3" in page
    assert "m=AP%403" in page


def test_private_run_gets_no_score_by_the_look_of_a_stranger(scored, signed_in, vi, sam):
    scored(HALF, "secret system", owner=sam, visibility=Run.Visibility.OWNER)

    signed_in(vi).get(url_of(*BOARD) + "?measure=AP@3")

    assert not Score.objects.filter(measure="AP@3").exists()


def test_who_is_not_signed_in_has_no_measure_computed(client, scored, benchmark, signed_in, vi):
    scored(HALF)
    Benchmark.objects.update(visibility=Benchmark.Visibility.PUBLIC)

    typed = client.get(url_of(*BOARD) + "?measure=AP@3")
    chosen = client.get(url_of(*BOARD) + "?m=AP@3")

    assert (typed.status_code, chosen.status_code) == (422, 200)
    assert b"computed for people who are signed in" in typed.content
    assert not Score.objects.filter(measure="AP@3").exists()
    signed_in(vi).get(url_of(*BOARD) + "?measure=AP@3")
    assert b"ranked by AP@3" in client.get(url_of(*BOARD) + "?m=AP@3").content


CUTS = {"needed": "@10", "allowed": "@10", "none": ""}
SHARES_OF_RECALL = {"IPrec": "@0.5", "Rprec_mult": "@0.5"}


def test_measure_of_every_family_can_be_shown(scored, signed_in, vi):
    run = scored("q1 Q0 d2 1 9 s\nq1 Q0 x 2 8 s\nq2 Q0 d4 1 1 s").run
    scored("q1 Q0 x 1 1 s", "nothing found")
    client = signed_in(vi)

    for family, of in FAMILIES.items():
        asked = {"measure": family + SHARES_OF_RECALL.get(family, CUTS[of.cutoff])}
        board = client.get(url_of(*BOARD), asked)
        queries = client.get(url_of("scoring:run-queries", ["stdlib", run.pk]), asked)

        assert (board.status_code, queries.status_code) == (200, 200), asked
        means = {row.run.name: row.scores for row in board.context["page"]}
        mean = means[run.name][board.context["measure"].name]
        assert mean == pytest.approx(queries.context["mean"], nan_ok=True), asked


def test_run_page_adds_a_measure_by_its_name(scored, signed_in, vi):
    url = url_of("scoring:run-scores", ["stdlib", scored(HALF).run.pk])

    page = signed_in(vi).get(url + "?measure=P%40100").content.decode()

    assert '<th scope="row">P@100</th><td class="num">0.0067</td>' in page
    assert "P@100" in signed_in(vi).get(url).content.decode()


def test_queries_are_shown_by_any_measure(scored, signed_in, vi):
    run = scored("q1 Q0 d2 1 1 s\nq2 Q0 d4 1 1 s").run

    answer = signed_in(vi).get(url_of("scoring:run-queries", ["stdlib", run.pk]) + "?measure=DCG@5")

    assert [row.values["DCG@5"] for row in answer.context["rows"]] == [0, 1, 2]
    assert answer.context["mean"] == 1
    assert "from 0 to 2;" in answer.content.decode()


def test_board_shows_intervals_ranks_and_tie_groups(scored, signed_in, vi):
    scored(PERFECT, "best")
    scored(HALF, "half")

    answer = signed_in(vi).get(url_of(*BOARD))

    page, rows = answer.content.decode(), list(answer.context["page"])
    low, high = rows[0].intervals["nDCG@10"]
    assert low < 2 / 3 < high
    assert f"{low:.3f}{DASH}{high:.3f}" in page
    # Three queries tell little: the runs share ranks 1 and 2, and a tie group.
    assert [row.standing for row in rows] == [(1, 2, 1), (1, 2, 1)]
    assert page.count(f"1{DASH}2</span>") == 2


def test_csv_has_intervals_and_the_measure_that_was_asked_for(scored, signed_in, vi):
    scored(PERFECT, "best")

    url = url_of("scoring:leaderboard-csv", BOARD[1]) + "?measure=Success@1"
    (row,) = csv.DictReader(io.StringIO(signed_in(vi).get(url).content.decode()))

    assert float(row["Success@1"]) == pytest.approx(2 / 3)
    assert float(row["nDCG@10 low"]) < float(row["nDCG@10"]) < float(row["nDCG@10 high"])
    assert (row["best_rank"], row["worst_rank"], row["tie_group"]) == ("1", "1", "1")
