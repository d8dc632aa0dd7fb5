"""Pages, files, endpoints and commands of judged cases."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchwright.contextual.cases import read_cases
from scoring.models import CaseOutcome, CaseSet, ContextualEvaluation
from tests.judge_stub import JudgeStub
from tests.scoring.making_contextual import (
    CASES,
    HELPS,
    case,
    case_set,
    evaluation,
    judge,
    judged,
    lines,
    png,
)

pytestmark = pytest.mark.django_db
PUBLIC = "https://judge.example.org/v1"


@pytest.fixture
def four(benchmark, owner):
    return case_set(benchmark, owner)


@pytest.fixture
def by(benchmark, owner):
    return judge(benchmark, owner, PUBLIC, price_in=1.0, price_out=2.0)


def url(name: str, *args: object) -> str:
    return reverse(f"scoring:contextual-{name}", args=["stdlib", *args])


def test_ten_lines_to_try_are_cases():
    cases = read_cases(Path(finders.find("benchmarks_app/cases.jsonl")))

    assert len(cases.cases) == 10
    assert cases.warnings == ()


def test_empty_page_leads_who_may_import_and_tells_who_may_not(benchmark, owner, vi, signed_in):
    page = signed_in(owner).get(url("list")).content.decode()
    assert "Begin with ten cases" in page
    assert url("import") in page

    page = signed_in(vi).get(url("list")).content.decode()
    assert "results are seen here by everybody" in page
    assert url("import") not in page


def test_viewer_sees_results_and_neither_cost_nor_answers(four, by, owner, vi, signed_in):
    evaluation = judged(four, by, owner)
    CaseOutcome.objects.update(cost=0.25, answers=[{"kind": "verdicts", "text": "RAW"}])

    for person, sees in ((owner, True), (vi, False)):
        client = signed_in(person)
        page = client.get(evaluation.get_absolute_url()).content.decode()
        case_page = client.get(url("case", evaluation.pk, 1)).content.decode()
        assert ("1.0000</dd>" in page, "RAW" in case_page) == (True, sees)
        assert (">Cost<" in page, "Delete this evaluation" in page) == (sees, sees)


def test_case_page_shows_the_arithmetic(four, by, owner, signed_in):
    evaluation = judged(four, by, owner)
    verdicts = [{"node": n, "is_relevant": n != 2, "reason": "so"} for n in (1, 2, 3)]
    evaluation.outcomes.filter(case__number=4).update(score=5 / 6, verdicts=verdicts)

    page = signed_in(owner).get(url("case", evaluation.pk, 4)).content.decode()

    assert "(1/1 + 2/3) / 2 = 0.8333" in page


def test_placeholder_and_markup_of_a_node_stay_text(benchmark, by, owner, signed_in):
    words = "[DEEPEVAL:IMAGE:/etc/passwd] <script>alert(1)</script>"
    evaluation = judged(case_set(benchmark, owner, [case(1, words)]), by, owner)

    page = signed_in(owner).get(url("case", evaluation.pk, 1)).content.decode()

    assert "[DEEPEVAL:IMAGE:/etc/passwd] &lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_slices_of_any_name_are_listed(benchmark, owner, signed_in):
    cases = case_set(benchmark, owner, [case(1, HELPS, slices=["items", "a\0"])])
    page = signed_in(owner).get(cases.get_absolute_url()).content.decode()

    assert 'items <span class="count">1</span>' in page
    assert 'a\N{REPLACEMENT CHARACTER} <span class="count">1</span>' in page


def test_image_elsewhere_is_named_and_not_loaded(benchmark, by, owner, signed_in):
    cases = [case(1, {"url": "https://pictures.example.org/a.png"})]
    evaluation = judged(case_set(benchmark, owner, cases), by, owner)

    page = signed_in(owner).get(url("case", evaluation.pk, 1)).content.decode()

    assert 'href="https://pictures.example.org/a.png"' in page
    assert 'src="https://pictures' not in page


def test_estimate_follows_the_form(four, by, owner, signed_in):
    client = signed_in(owner)
    asked = {"judge": by.pk, "threshold": "0.5", "has_reasons": "on"}

    every = client.get(url("estimate", four.pk), {**asked, "which": "all"}).content.decode()
    easy = client.get(url("estimate", four.pk), {**asked, "which": "slice:easy"}).content.decode()

    assert '<dd class="stat-value">4</dd>' in every
    assert '<dd class="stat-value">8</dd>' in every  # two questions a case
    assert '<dd class="stat-value">2</dd>' in easy


def test_page_starts_what_the_form_says(four, by, owner, signed_in):
    sent = {"judge": by.pk, "which": "first", "first": 2, "threshold": "0.7", "cost_cap": "3"}

    response = signed_in(owner).post(url("evaluation-new", four.pk), sent)

    record = ContextualEvaluation.objects.get()
    assert response.url == record.get_absolute_url()
    assert (record.n_cases, record.threshold, record.cost_cap, record.has_reasons) == (
        2,
        0.7,
        3,
        False,
    )
    assert "waiting for a worker" in signed_in(owner).get(response.url).content.decode()


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"threshold": "2"}, "Expected a number from 0 to 1."),
        ({"cost_cap": "0"}, "above 0"),
        ({"cost_cap": "nan"}, "Expected a number above 0"),
        ({"which": "slice:none"}, "Select a valid choice"),
    ],
)
def test_page_says_what_is_wrong_with_a_start(four, by, owner, signed_in, sent, words):
    asked = {"judge": by.pk, "which": "all", "threshold": "0.5", **sent}

    response = signed_in(owner).post(url("evaluation-new", four.pk), asked)

    assert response.status_code == 422
    assert words in response.content.decode()
    assert not ContextualEvaluation.objects.exists()


def test_progress_part_asks_until_the_end(four, by, owner, vi, signed_in):
    of_case_set = evaluation(four, by, owner)
    client = signed_in(vi)

    page = client.get(url("progress", of_case_set.pk), headers={"HX-Request": "true"})
    assert "every 1s" in page.content.decode()
    assert "HX-Refresh" not in page
    ContextualEvaluation.objects.update(state="done")
    page = client.get(url("progress", of_case_set.pk), headers={"HX-Request": "true"})
    assert page["HX-Refresh"] == "true"


def test_exports_hold_every_case(four, by, owner, vi, signed_in):
    evaluation = judged(four, by, owner)
    evaluation.outcomes.filter(case__number=2).update(reason="=1+1")
    failed = {"state": "failed", "score": None, "error_code": "judge-busy", "error": "no"}
    evaluation.outcomes.filter(case__number=3).update(verdicts=[], **failed)
    client = signed_in(vi)

    text = b"".join(client.get(url("export", evaluation.pk, "csv"))).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["case"] for row in rows] == ["c1", "c2", "c3", "c4"]
    assert [row["verdicts"] for row in rows] == ["yes no", "yes no", "", "yes no no"]
    assert rows[1]["reason"] == "'=1+1"
    assert (rows[2]["state"], rows[2]["error_code"]) == ("failed", "judge-busy")
    report = json.loads(b"".join(client.get(url("export", evaluation.pk, "json"))))
    assert (report["model"], len(report["cases"])) == ("tiny", 4)
    assert report["cases"][0]["verdicts"][1] == {"node": 2, "is_relevant": False, "reason": "so"}
    assert client.get(url("export", evaluation.pk, "exe")).status_code == 404


def test_the_api_says_which_judges_there_are(four, by, benchmark, owner, signed_in):
    address = f"/api/v1/benchmarks/{benchmark.slug}/contextual/evaluations/"
    sent = {"case_set": four.pk, "judge": "another"}

    answer = signed_in(owner).post(address, sent, content_type="application/json")

    words = f"There is no judge 'another'; the benchmark has {by.name}."
    assert (answer.status_code, answer.json()["errors"]) == (400, {"judge": [words]})


def test_evaluations_of_two_sets_are_not_compared(four, by, benchmark, owner, signed_in):
    other = judged(case_set(benchmark, owner, name="other"), by, owner)
    mine = judged(four, by, owner)

    asked = {"before": mine.pk, "after": other.pk}
    response = signed_in(owner).get(url("compare", four.pk), asked)

    assert response.status_code == 422


def test_lists_ask_as_often_for_many_rows(benchmark, by, owner, signed_in):
    client, counts = signed_in(owner), []
    cases = [case(n, {"image": "a.png"}, HELPS) for n in range(1, 11)]
    for n in (2, 10):
        made = case_set(benchmark, owner, cases[:n], {"a.png": png()}, name=f"of {n}")
        done = [judged(made, by, owner) for _ in range(max(2, n // 3))][-1]
        pages = (url("list"), made.get_absolute_url(), done.get_absolute_url())
        counts.append([])
        for page in (*pages, url("compare", made.pk)):
            client.get(page)
            with CaptureQueriesContext(
                connection,
            ) as asked:
                assert client.get(page).status_code == 200
            counts[-1].append(len(asked))

    assert counts[0] == counts[1]


# --- the API ---------------------------------------------------------------------------------


def test_api_goes_all_the_way(benchmark, owner, settings, signed_in, do_jobs):
    settings.JUDGE_PRIVATE_ADDRESSES = True
    client, of = signed_in(owner), "/api/v1/benchmarks/stdlib/contextual/"
    file = io.BytesIO(lines([case(1, HELPS, {"image": "a.png"}), case(2, "no")]))
    file.name = "mine.jsonl"
    image = io.BytesIO(png())
    image.name = "a.png"

    with JudgeStub() as stub:
        sent = {"name": "j", "base_url": stub.url, "model": "m", "price_in": 1, "price_out": 1}
        created = client.post(f"{of}judges/", sent, content_type="application/json")
        assert (created.status_code, created.json()["has_stored_key"]) == (201, False)
        taken = client.post(f"{of}sets/", {"cases": file, "images": [image]})
        assert taken.status_code == 202
        do_jobs()
        case_set = client.get(f"{of}sets/").json()["results"][0]
        images = client.get(f"{of}sets/{case_set['id']}/").json()["images"][0]
        assert (images["name"], images["media_type"]) == ("a.png", "image/png")
        started = client.post(
            f"{of}evaluations/",
            {"case_set": case_set["id"], "judge": "j", "threshold": None},
            content_type="application/json",
        )
        assert (started.status_code, started.json()["state"]) == (202, "queued")
        do_jobs()
    answer = client.get(f"{of}evaluations/{started.json()['id']}/").json()
    assert (answer["state"], answer["overall"]["mean"], answer["n_success"]) == ("done", 0.5, 0)
    assert answer["cost"] > 0
    rows = client.get(f"{of}evaluations/{answer['id']}/cases/").json()["results"]
    assert [row["score"] for row in rows] == [1.0, 0.0]
    assert rows[0]["verdicts"][1]["is_relevant"] is True


def test_api_tells_no_cost_to_who_does_not_pay(four, by, owner, vi, signed_in):
    evaluation = judged(four, by, owner)
    address = f"/api/v1/benchmarks/stdlib/contextual/evaluations/{evaluation.pk}/"

    assert "cost" in signed_in(owner).get(address).json()
    assert "cost" not in signed_in(vi).get(address).json()


# --- commands --------------------------------------------------------------------------------


def told_by(*args: object, **options: object) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out, stderr=out, **options)
    return out.getvalue()


def test_commands_import_and_judge(benchmark, owner, settings, tmp_path):
    settings.JUDGE_PRIVATE_ADDRESSES = True
    (tmp_path / "images" / "deep").mkdir(parents=True)
    (tmp_path / "images" / "deep" / "a.png").write_bytes(png())
    file = tmp_path / "mine.jsonl"
    file.write_bytes(lines([case(1, {"image": "deep/a.png"}), *CASES[1:]]))

    result = told_by("import_cases", "stdlib", str(file), images=tmp_path / "images")
    assert "case set 'mine' of 4 cases" in result
    with JudgeStub() as stub:
        judge(benchmark, owner, stub.url)
        stub.always_fault("question 3 ", "refusal")
        result = told_by("judge_cases", "stdlib", "mine", endpoint="stub")

    assert "all\t0.7778\t3" in result
    assert "failed\t1\tleft\t0" in result
    assert "c3: The judge declined to answer" in result


def test_commands_say_what_is_wrong(benchmark, owner, vi, tmp_path):
    file = tmp_path / "bad.jsonl"
    file.write_text("{\n{}")
    with pytest.raises(CommandError, match=r"bad\.jsonl:2"):
        told_by("import_cases", "stdlib", str(file))
    assert not CaseSet.objects.exists()
    case_set(benchmark, owner)
    with pytest.raises(CommandError, match="has no judge 'x'; it has none yet"):
        told_by("judge_cases", "stdlib", "cases", endpoint="x")
    with pytest.raises(CommandError, match="may not start a judge"):
        told_by("judge_cases", "stdlib", "cases", endpoint="x", user="vi")
