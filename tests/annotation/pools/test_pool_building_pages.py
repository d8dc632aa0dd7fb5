import json
from datetime import date

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Pool
from annotation.pools.services import previewing
from benchmarks_app.models import CandidateList, Job
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db
LINES = {
    "bm25": "q1 Q0 a 1 9 x\nq1 Q0 b 2 8 x\nq1 Q0 c 3 7 x\nq2 Q0 a 1 5 x",
    "dense": "q1 Q0 b 1 9 y\nq1 Q0 d 2 8 y\nq2 Q0 e 1 7 y",
}
FORM = {"name": "mine", "depth": 2, "overlap": 1, "seconds": 20, "doubles": 10, "seed": 7}


@pytest.fixture
def runs(benchmark):
    for qid in ("q1", "q2"):
        factories.query(benchmark, qid)
    return [factories.run(benchmark, lines, name=name) for name, lines in LINES.items()]


@pytest.fixture
def form(runs):
    return {**FORM, "runs": [run.pk for run in runs]}


def url(view, of, *more):
    return reverse(f"annotation:{view}", args=[of.slug, *more])


def text(answer):
    return answer.content.decode()


def test_a_preview_shows_size_hours_and_what_each_run_adds_and_writes_nothing(
    benchmark, owner, signed_in, form
):
    answer = signed_in(owner).post(url("pool-new", benchmark), {**form, "preview": "1", "name": ""})

    assert answer.status_code == 200
    preview = answer.context["preview"]
    assert (preview["n_entries"], preview["n_labels"]) == (5, 6)
    assert preview["judged_new"] == pytest.approx((1 / 6 + 1 / 4) / 2)
    assert "of the first ten, by depth 2, each run left out; least 0.17" in preview["new_note"]
    page = text(answer)
    for words in ("2 to 3 a query, median 2.5", "Two runs", "Judged@10", "on Robust 2003"):
        assert words in page
    assert not Pool.objects.exists()
    assert not Job.objects.exists()


def test_what_was_filled_in_stays_beside_a_preview(benchmark, owner, signed_in, form):
    answer = signed_in(owner).post(
        url("pool-new", benchmark), {**form, "preview": "1", "depth": 3, "name": "as typed"}
    )

    assert 'value="as typed"' in text(answer)
    assert answer.context["form"]["depth"].value() == "3"


def test_a_long_preview_is_a_job_that_leads_back_to_the_form(
    benchmark, owner, signed_in, form, do_jobs, monkeypatch
):
    monkeypatch.setattr(previewing, "ROWS_AT_ONCE", 1)
    client = signed_in(owner)

    client.post(url("pool-new", benchmark), {**form, "preview": "1", "depth": 3})
    (job,) = do_jobs()
    answer = client.get(job.result_url)
    assert answer.context["preview"]["n_entries"] == 6
    assert answer.context["form"]["depth"].value() == "3"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": []}, "Choose the runs"),
        ({"strategy": "layered"}, "A layered pool has no budget"),
        ({"strategy": "top-up"}, "Choose a list"),
        ({"strategy": "stratified", "strata": "ten"}, "rank, colon, per cent"),
        ({"strategy": "stratified", "strata": "10:100 5:20"}, "do not go deeper"),
        ({"strategy": "stratified", "strata": f"10:100 {10**20}:5"}, "at most 100000"),
        ({"manual": "q7 a"}, "There is no query &#x27;q7&#x27;"),
        ({"manual": "q1"}, "line:1: 1 column"),
        ({"doubles": 101}, "Expected a number from 0 to 100, in per cent."),
        ({"order": "listed"}, "no list whose order"),
    ],
)
def test_what_does_not_fit_together_is_said(benchmark, owner, signed_in, form, change, message):
    answer = signed_in(owner).post(url("pool-new", benchmark), {**form, **change})

    assert answer.status_code == 422
    assert message in text(answer)
    assert not Job.objects.exists()


def test_every_choice_of_the_form_reaches_the_pool(
    benchmark, owner, ada, signed_in, form, runs, do_jobs
):
    chosen = {
        **form,
        "strategy": "layered",
        "budget": 2,
        "order": "rrf",
        "control": 50,
        "control_run": runs[0].pk,
        "manual": "q2\td",
        "repeats": 4,
        "gold": 5,
        "due_on": "2026-11-27",
        "assignment": "family-rotated",
        "annotators": [ada.pk],
        "enough_doubles": "on",
    }

    signed_in(owner).post(url("pool-new", benchmark), chosen)
    do_jobs()
    record = Pool.objects.get()
    assert (record.strategy, record.order, record.seed, record.assignment) == (
        "layered",
        "rrf",
        7,
        "family-rotated",
    )
    assert (record.double_share, record.repeat_share, record.gold_share) == (0.1, 0.04, 0.05)
    assert record.parameters["budget"] == 2
    assert record.parameters["control"] == [0.5, 200, "bm25"]
    assert record.parameters["manual"] == [["q2", "d"]]
    assert list(record.annotators.all()) == [ada]
    assert record.due_on == date(2026, 11, 27)
    # All documents get a second label, since there are fewer than 500.
    assert record.n_wanted == 2 * record.n_entries


# Top-up


def test_the_unjudged_top_of_a_run_leads_to_a_pool_of_it(
    benchmark, owner, signed_in, runs, do_jobs, ada
):
    small_pool = pool(benchmark, {"q1": ["a"]})
    judge(small_pool.slots.get(), ada, 1)
    client = signed_in(owner)

    answer = client.post(url("pool-top-up", benchmark), {"run": runs[0].pk, "depth": 2})
    listed = CandidateList.objects.get()
    assert answer.url.endswith(f"?list={listed.pk}")
    page = client.get(answer.url)
    assert page.context["form"]["candidates"].value() == str(listed.pk)
    assert page.context["form"]["strategy"].value() == "top-up"
    client.post(
        url("pool-new", benchmark),
        {**FORM, "strategy": "top-up", "candidates": listed.pk, "doubles": 0},
    )
    do_jobs()
    built = Pool.objects.get(name="mine")
    pairs = built.entries.order_by("priority").values_list("query__qid", "document__docid")
    assert set(pairs) == {("q1", "b"), ("q2", "a")}
    assert "top-up: a list of candidates" in text(client.get(built.get_absolute_url()))


def test_a_run_is_chosen_already_where_its_page_leads_here(benchmark, owner, signed_in, runs):
    where = f"{url('pool-top-up', benchmark)}?run={runs[1].pk}"

    assert f'<option value="{runs[1].pk}" selected>' in text(signed_in(owner).get(where))


def test_a_file_becomes_a_list_by_its_priorities(benchmark, owner, signed_in, runs):
    import polars as pl

    from benchmarks_app.common.selectors.reading import candidates_path

    file = SimpleUploadedFile("worth.tsv", b"qid\tdocid\tpriority\nq1\ta\t2\nq2\tb\t1\nq1\tz\t9\n")

    signed_in(owner).post(url("pool-top-up", benchmark), {"file": file, "upload": "1"})
    listed = CandidateList.objects.get()
    rows = pl.read_parquet(candidates_path(listed)).rows()
    assert rows == [("q2", "b", 1), ("q1", "a", 2), ("q1", "z", 3)]
    assert (listed.name, listed.origin) == ("worth.tsv", "file worth.tsv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"q1\n", "worth.tsv:1: 1 column"),
        (b"q1 a first\n", "priority is &#x27;first&#x27;"),
        (b"q9 a 1\n", "names no document of this benchmark"),
    ],
)
def test_a_file_that_is_no_list_is_refused_with_its_line(
    benchmark, owner, signed_in, runs, content, message
):
    file = SimpleUploadedFile("worth.tsv", content)

    answer = signed_in(owner).post(url("pool-top-up", benchmark), {"file": file, "upload": "1"})
    assert answer.status_code == 422
    assert message in text(answer)


def test_a_second_list_of_one_name_is_refused(benchmark, owner, signed_in, runs):
    client = signed_in(owner)
    for status in (302, 422):
        file = SimpleUploadedFile("worth.tsv", b"q1 a\n")
        answer = client.post(url("pool-top-up", benchmark), {"file": file, "upload": "1"})
        assert answer.status_code == status


# Comparing orders


@pytest.fixture
def compared(benchmark, owner, signed_in, runs, do_jobs):
    """The client and the finished job of a comparison."""
    grades = {("q1", "a"): 0, ("q1", "b"): 1, ("q2", "e"): 1, ("q2", "a"): -1}
    qrels = factories.qrel_set(benchmark, grades, name="known")
    client = signed_in(owner)
    client.post(
        url("pool-simulate", benchmark),
        {"runs": [run.pk for run in runs], "qrel_set": qrels.pk, "depth": 2, "burn_in": 0},
    )
    return client, do_jobs()[-1]


def test_orders_are_compared_on_known_grades(benchmark, compared):
    client, job = compared

    assert (job.result["n_judged"], job.result["n_unjudged"], job.result["n_known"]) == (3, 2, 2)
    assert set(job.result["curves"]) == {"layered", "rrf", "rbp", "mtf", "maxmean"}
    # b is of both runs, and relevant: fused ranks put it first.
    assert job.result["curves"]["rrf"] == [0, 2, 2]
    page = text(client.get(job.result_url))
    assert "Relevant documents found per label" in page
    assert "bandit (MaxMean)" in page


def test_share_of_relevant_documents_is_undefined_where_none_is_known(
    benchmark, owner, signed_in, runs, do_jobs
):
    qrels = factories.qrel_set(benchmark, {("q1", "a"): 0, ("q1", "b"): 0}, name="none")
    client = signed_in(owner)
    fields = {"runs": [run.pk for run in runs], "qrel_set": qrels.pk, "depth": 2, "burn_in": 0}
    client.post(url("pool-simulate", benchmark), fields)

    job = do_jobs()[-1]
    page = text(client.get(job.result_url))
    chart = client.get(url("pool-simulation-chart", benchmark, job.pk, "json"))

    assert "No document is known to be relevant." in page
    assert {row["share"] for row in json.loads(chart.content)["data"]["values"]} == {None}


@pytest.mark.parametrize("format", ["csv", "json"])
def test_the_curves_are_there_as_numbers(benchmark, compared, format):
    client, job = compared

    answer = client.get(url("pool-simulation-chart", benchmark, job.pk, format))
    assert answer.status_code == 200
    if format == "json":
        rows = json.loads(answer.content)["data"]["values"]
        assert {"order": "RRF", "labels": 1, "found": 2, "share": 1.0} in rows
    else:
        assert "order,labels,found,share" in text(answer)


def test_a_comparison_of_another_benchmark_is_not_shown(compared, owner):
    client, job = compared
    other = factories.benchmark("elsewhere")
    factories.member(other, owner.username, "owner")

    assert client.get(url("pool-simulation-chart", other, job.pk, "csv")).status_code == 404


def test_without_runs_or_grades_it_says_what_is_missing(benchmark, owner, signed_in):
    assert "Nothing to compare on" in text(signed_in(owner).get(url("pool-simulate", benchmark)))
