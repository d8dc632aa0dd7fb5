"""Case sets that are made of runs: what is in them, whether they are fresh, who sees them."""

import io
import zipfile
from base64 import b64encode
from hashlib import sha256
from random import Random

import pytest
from django.core.management import CommandError, call_command
from django.test import TestCase
from django.urls import reverse
from scipy import stats

from benchmarks_app.files import local_path
from benchmarks_app.models import Corpus, Query, Run
from benchwright.runs.store import tops_of
from scoring.contextual.selectors import case_sets_of, freshness_of
from scoring.contextual.services.errors import CaseSetNameError, CasesOfRunError
from scoring.contextual.services.from_runs import ANY_ANSWER, cases_arguments, start_cases_of_run
from scoring.contextual.services.importing import delete_case_set
from scoring.contextual.services.people import ask_people
from scoring.contextual.services.results import compare, results_of, values_of_run
from scoring.models import CaseSet, ContextualCase, ContextualEvaluation
from tests import factories
from tests.judge_stub import JudgeStub
from tests.scoring.making_contextual import evaluation, judge, judged, png

pytestmark = pytest.mark.django_db
LINES = """
q1 Q0 d1 1 4 s
q1 Q0 d2 2 3 s
q1 Q0 d3 3 2 s
q1 Q0 d4 4 1 s
q2 Q0 d9 1 2 s
q2 Q0 d0 2 1 s
q9 Q0 d1 1 1 s
"""


@pytest.fixture
def run(texts, tess) -> Run:
    return factories.run(texts, LINES, name="mine", owner=tess)


@pytest.fixture
def make_case_set(run, tess, do_jobs):
    """A function that makes a case set of the run."""

    def make(of: Run = run, **recipe) -> CaseSet:
        job = start_cases_of_run(run=of, user=tess, **recipe)
        do_jobs()
        job.refresh_from_db()
        factories.done(job)
        return case_sets_of(of.benchmark, of.owner).latest("pk")

    return make


@pytest.fixture
def stub(settings):
    settings.JUDGE_PRIVATE_ADDRESSES = True
    with JudgeStub() as stub:
        yield stub


def contents(of: CaseSet) -> list[dict]:
    return [case.content for case in of.cases.order_by("number")]


def test_first_documents_of_a_run_are_the_nodes_of_its_queries(make_case_set, run):
    cases = make_case_set(depth=3)

    first, second = contents(cases)
    assert (first["id"], first["input"]) == ("q1", ["river stone"])
    # Of `texts`: words number n, 3n and n // 2 of SEARCHED, round and round.
    assert first["retrieval_context"] == [
        ["stone engine river"],
        ["lamp paper stone"],
        ["engine lamp stone"],
    ]
    assert second["retrieval_context"] == [["lamp paper violet"], ["river river river"]]
    assert (cases.n_cases, cases.n_nodes, cases.name) == (2, 5, "mine, first 3")
    qids = cases.cases.order_by("pk").values_list("query__qid", flat=True)
    assert list(qids) == ["q1", "q2"]
    assert (cases.source.run, cases.source.depth, cases.source.seed) == (run, 3, None)


def test_what_is_left_out_or_lacking_is_said(make_case_set, texts, tess):
    odd = factories.run(texts, "q1 Q0 d1 1 2 s\nq1 Q0 nowhere 2 1 s", name="odd", owner=tess)

    cases = make_case_set(odd)

    assert contents(cases)[0]["retrieval_context"][1] == [""]
    assert cases.notes == [
        "odd has nothing for 2 queries: they are left out.",
        "1 of 1 cases have no expected answer: what leads to any correct one helps.",
        "1 document is not in the corpus: their nodes are empty.",
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("In Paris.", "In Paris."), (["a", "b"], "a\nb"), (7, "7"), ("  ", ANY_ANSWER)],
)
def test_expected_answers_come_from_a_column_of_the_queries(make_case_set, answer, expected):
    Query.objects.filter(qid="q1").update(metadata={"answer": answer})
    Query.objects.filter(qid="q2").update(metadata={"answer": "two"})

    cases = make_case_set(expected="answer")

    assert [content["expected_output"] for content in contents(cases)] == [[expected], ["two"]]
    assert cases.source.n_without == (expected == ANY_ANSWER)


def test_expected_answers_come_from_a_narrative(make_case_set):
    Query.objects.filter(qid="q2").update(narrative="Stones of rivers.")

    outputs = [
        content["expected_output"] for content in contents(make_case_set(expected="narrative"))
    ]
    assert outputs == [[ANY_ANSWER], ["Stones of rivers."]]


def test_slice_and_sample_choose_the_queries(make_case_set, texts):
    lines = "\n".join(f"n{n:02} Q0 d{n % 9} 1 1 s" for n in range(30))
    queries = [factories.query(texts, f"n{n:02}") for n in range(30)]
    factories.query_slice(texts, "even", *queries[::2])
    many = factories.run(texts, lines, name="many")

    in_slice = make_case_set(many, slice_name="even")
    drawn = make_case_set(many, slice_name="even", n_sample=5, seed=7)
    again = make_case_set(many, slice_name="even", n_sample=5, seed=7, name="again")

    even = [f"n{n:02}" for n in range(0, 30, 2)]
    ids = [[content["id"] for content in contents(of)] for of in (in_slice, drawn, again)]
    assert ids[0] == even
    assert ids[1] == ids[2] == sorted(Random(7).sample(even, 5))
    assert (in_slice.slices, drawn.name) == ({"even": 15}, "many, first 10, even, sample of 5")
    assert drawn.sha256 == again.sha256 != in_slice.sha256


def test_sample_without_a_seed_keeps_the_one_that_it_was_drawn_with(make_case_set):
    cases = make_case_set(n_sample=1)

    assert cases.n_cases == 1
    assert contents(cases)[0]["id"] == Random(cases.source.seed).sample(["q1", "q2"], 1)[0]


def test_many_queries_are_made_in_batches_as_in_one(make_case_set, monkeypatch):
    whole = contents(make_case_set(depth=2))

    monkeypatch.setattr("scoring.contextual.services.from_runs.DOCUMENTS_AT_ONCE", 1)

    assert contents(make_case_set(depth=2, name="small")) == whole


def test_first_documents_of_some_queries_are_those_of_the_file(run):
    from benchmarks_app.common.selectors.reading import run_path

    path = run_path(run)
    assert tops_of(path, ["q1", "q9", "nobody's"], 2) == {"q1": ["d1", "d2"], "q9": ["d1"]}
    assert tops_of(path, [], 2) == {}


def test_images_of_documents_are_nodes_that_go_with_the_set(make_case_set, do_jobs, stub):
    of = factories.texts_benchmark("pictures", unit="image")
    Corpus.objects.filter(pk=of.corpus_id).update(unit="image")
    table = b"doc_id\tfile\ttitle\na\tred.png\tred square\nb\tblue.png\t\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("images.tsv", table)
        for colour in ("red", "blue"):
            archive.writestr(f"{colour}.png", png(colour))
    of.refresh_from_db()
    factories.done(factories.imported(of, packed.getvalue(), "images.zip"))
    factories.query(of, "q1", "a red square")
    run = factories.run(of, "q1 Q0 b 1 2 s\nq1 Q0 a 2 1 s", name="seen")

    cases = make_case_set(run)

    names = {colour: f"{sha256(png(colour)).hexdigest()}.png" for colour in ("red", "blue")}
    assert contents(cases)[0]["retrieval_context"] == [
        [{"image": names["blue"]}],
        [{"image": names["red"]}, "red square"],
    ]
    assert (cases.n_images, cases.cases.get().n_images) == (2, 2)
    stored = {image.name: local_path(image.stored) for image in cases.images.all()}
    assert stored[names["red"]].read_bytes() == png("red")
    keeper = factories.user("keeper")
    done = evaluation(cases, judge(of, keeper, stub.url), keeper)
    do_jobs()
    asked = next(request for request in stub.requests if request.images)
    data = [
        f"data:image/png;base64,{b64encode(png(colour)).decode()}" for colour in ("blue", "red")
    ]
    assert (asked.images, done.outcomes.get().score) == (data, 1.0)
    # The corpus keeps its own files when the set goes.
    with TestCase.captureOnCommitCallbacks(execute=True):
        delete_case_set(case_set=cases, user=keeper)
    assert not any(path.exists() for path in stored.values())
    assert all(local_path(image.stored).exists() for image in of.corpus.images.all())


# --- refused ---------------------------------------------------------------------------------


def test_impossible_recipes_are_refused_at_once(run, texts, benchmark, make_case_set):
    make_case_set(name="taken")
    Query.objects.filter(qid="q1").update(metadata={"answer": "a"}, narrative="b")

    with pytest.raises(CaseSetNameError):
        cases_arguments(run=run, name="taken")
    with pytest.raises(CasesOfRunError, match="no slice 'nothing'"):
        cases_arguments(run=run, slice_name="nothing")
    with pytest.raises(CasesOfRunError, match="'gold'; fields that hold a text: answer, narrative"):
        cases_arguments(run=run, expected="gold")
    with pytest.raises(CasesOfRunError, match="has no texts"):
        cases_arguments(run=factories.run(benchmark, LINES))


@pytest.mark.parametrize(
    ("most", "slice_name", "words"),
    [(1, "", "2 queries; a set holds at most 1 cases"), (9, "empty", "nothing for any query of")],
)
def test_job_says_why_a_choice_cannot_be(
    run, texts, tess, settings, do_jobs, most, slice_name, words
):
    settings.CASES_MAX = most
    factories.query_slice(texts, "empty")

    job = start_cases_of_run(run=run, user=tess, slice_name=slice_name)
    do_jobs()

    job.refresh_from_db()
    assert (job.state, words in job.error) == ("failed", True)
    assert not CaseSet.objects.exists()


def test_what_a_lost_attempt_wrote_is_made_anew(run, tess, do_jobs, monkeypatch):
    from benchmarks_app.jobs.services import jobs
    from scoring.contextual.services import from_runs

    monkeypatch.setattr(from_runs, "DOCUMENTS_AT_ONCE", 1)
    whole = from_runs._Making.cases
    monkeypatch.setattr(
        from_runs._Making,
        "cases",
        lambda self, qids: whole(self, qids) if qids == ["q1"] else 1 / 0,
    )
    job = start_cases_of_run(run=run, user=tess)
    do_jobs()
    assert not CaseSet.objects.ready().exists()

    monkeypatch.setattr(from_runs._Making, "cases", whole)
    jobs.Job.objects.filter(pk=job.pk).update(state="queued", token=None)
    do_jobs()

    assert CaseSet.objects.get().is_ready
    assert ContextualCase.objects.count() == 2


# --- fresh -----------------------------------------------------------------------------------


def test_set_is_stale_once_the_run_or_the_corpus_has_changed(
    make_case_set, run, texts, tess, signed_in
):
    cases = make_case_set()
    assert freshness_of(cases).is_fresh
    assert "stale" not in signed_in(tess).get(cases.get_absolute_url()).content.decode()

    Run.objects.filter(pk=run.pk).update(sha256="0" * 64)
    cases = case_sets_of(texts, tess).get()
    assert (freshness_of(cases).is_run_changed, freshness_of(cases).is_corpus_changed) == (1, 0)
    page = signed_in(tess).get(cases.get_absolute_url()).content.decode()
    assert "The run has changed since." in page

    Run.objects.filter(pk=run.pk).update(sha256=cases.source.run_sha256)
    factories.snapshot_row(texts, 2, state="ready")
    cases = case_sets_of(texts, tess).get()
    assert (freshness_of(cases).is_run_changed, freshness_of(cases).is_corpus_changed) == (0, 1)
    for url in (cases.get_absolute_url(), reverse("scoring:contextual-list", args=["texts"])):
        assert (
            "Another version of the corpus is current." in signed_in(tess).get(url).content.decode()
        )


# --- judged ----------------------------------------------------------------------------------


def test_verdicts_of_a_judge_come_to_the_value_on_the_runs_page(
    texts, tess, make_case_set, stub, do_jobs, signed_in
):
    """By the stub's rule a node helps whose text says "useful"."""
    rows = "".join(
        f'{{"_id": "u{n}", "text": "{"useful" if n in (1, 3, 5) else "dull"} {n}"}}\n'
        for n in range(1, 7)
    )
    of = factories.texts_benchmark("judged")
    factories.done(factories.imported(of, rows.encode(), "corpus.jsonl", "corpus"))
    owner = factories.member(of, "olaf", "owner")
    queries = [factories.query(of, f"q{n}", f"question q{n}") for n in range(1, 5)]
    Query.objects.filter(qid="q4").update(family=queries[2].family)
    lines = {"q1": "u1 u2 u3", "q2": "u2 u5", "q3": "u4 u6", "q4": "u6 u2 u4 u1"}
    run = factories.run(
        of,
        "\n".join(
            f"{qid} Q0 {docid} {rank} {9 - rank} s"
            for qid, docids in lines.items()
            for rank, docid in enumerate(docids.split(), start=1)
        ),
        name="system",
        owner=owner,
    )
    case_set = make_case_set(run, depth=3)
    by = judge(of, owner, stub.url, price_in=1_000_000.0, price_out=0.0)

    done = evaluation(case_set, by, owner)
    do_jobs()

    # yes no yes: (1 + 2/3) / 2; no yes: 1/2; no no: 0; no no no, for u1 is the fourth: 0.
    scores = [5 / 6, 1 / 2, 0, 0]
    done = ContextualEvaluation.objects.get(pk=done.pk)
    assert list(done.outcomes.order_by("case__number").values_list("score", flat=True)) == (
        pytest.approx(scores)
    )
    mean = sum(scores) / 4
    # Student's t over three families, of which one has two queries (METHODS A).
    sums = [5 / 6 - mean, 1 / 2 - mean, -2 * mean]
    half = stats.t.ppf(0.975, 2) * (3 / 2 * sum(total**2 for total in sums)) ** 0.5 / 4
    row = results_of(done).overall
    assert (row.mean, row.low, row.high) == pytest.approx(
        (mean, max(0, mean - half), min(1, mean + half))
    )
    assert compare(done, done).difference == 0
    (value,) = values_of_run(run, owner, most=5).values
    assert (value.overall, value.freshness.is_fresh) == (row, True)

    client = signed_in(owner)
    page = client.get(reverse("scoring:contextual-run", args=["judged", run.pk])).content.decode()
    for words in ("system, first 3", "tiny", f"{mean:.4f}", "4 of 4", f"{done.cost:.4f}"):
        assert words in page
    assert done.get_absolute_url() in page
    answer = client.get(reverse("api:run-contextual", args=["judged", run.pk])).json()
    assert [(row["overall"]["mean"], row["cost"], row["is_fresh"]) for row in answer] == [
        (pytest.approx(mean), done.cost, True)
    ]
    # The judge was told of texts and ranks, and of nothing that names the run.
    assert not any("system" in asked.text for asked in stub.requests)


# --- seen ------------------------------------------------------------------------------------


def test_set_of_a_run_is_seen_by_who_sees_the_run(texts, tess, make_case_set, signed_in):
    private = factories.run(texts, LINES, name="secret", owner=tess, visibility="owner")
    vi = factories.member(texts, "vi2", "viewer")
    cases = make_case_set(private)
    done = judged(cases, judge(texts, tess, "https://judge.example.org/v1"), tess)
    urls = [
        cases.get_absolute_url(),
        done.get_absolute_url(),
        reverse("scoring:contextual-case", args=["texts", done.pk, 1]),
        reverse("scoring:contextual-run", args=["texts", private.pk]),
        reverse("api:contextual-set-detail", args=["texts", cases.pk]),
        reverse("api:contextual-set-cases", args=["texts", cases.pk]),
        reverse("api:contextual-evaluation-detail", args=["texts", done.pk]),
        reverse("api:contextual-evaluation-cases", args=["texts", done.pk]),
        reverse("api:run-contextual", args=["texts", private.pk]),
    ]

    for person, status in ((tess, 200), (vi, 404)):
        client = signed_in(person)
        assert [client.get(url).status_code for url in urls] == [status] * len(urls)
        page = client.get(reverse("scoring:contextual-list", args=["texts"])).content.decode()
        assert (cases.name in page) == (status == 200)
        for name in ("set", "evaluation"):
            listed = client.get(reverse(f"api:contextual-{name}-list", args=["texts"])).json()
            assert listed["count"] == (status == 200)


def test_viewer_sees_no_cost_and_no_button(texts, tess, run, make_case_set, signed_in):
    by = judge(texts, tess, "https://j.example.org/v1", price_in=1, price_out=1)
    done = judged(make_case_set(), by, tess)
    client = signed_in(factories.member(texts, "vi2", "viewer"))

    url = reverse("scoring:contextual-run", args=["texts", run.pk])
    page = client.get(url).content.decode()
    answer = client.get(reverse("api:run-contextual", args=["texts", run.pk])).json()

    assert done.get_absolute_url() in page
    assert ("Cost" in page, "Make cases" in page, "cost" in answer[0]) == (False, False, False)


# --- doors -----------------------------------------------------------------------------------


def test_form_makes_a_set(texts, tess, run, signed_in, do_jobs):
    Query.objects.filter(qid="q1").update(metadata={"answer": "One."})
    url = reverse("scoring:contextual-run-new", args=["texts", run.pk])
    client = signed_in(tess)

    page = client.get(url).content.decode()
    assert '<option value="answer" selected>' in page
    sent = {"depth": 2, "n_sample": 1, "seed": 3, "expected": "answer", "name": "two"}
    assert client.post(url, sent).status_code == 302
    do_jobs()
    assert client.post(url, sent).status_code == 422
    assert client.post(url, {**sent, "name": "", "depth": 0}).status_code == 422

    record = CaseSet.objects.ready().get()
    facts = ("depth", "n_sample", "seed", "expected")
    assert [getattr(record.source, name) for name in facts] == [2, 1, 3, "answer"]
    part = client.get(
        reverse("scoring:contextual-run", args=["texts", run.pk]), headers={"HX-Request": "true"}
    ).content.decode()
    assert "Not judged yet" in part
    assert "<html" not in part


def test_api_makes_a_set(texts, tess, run, signed_in, do_jobs):
    url = reverse("api:run-contextual", args=["texts", run.pk])
    client = signed_in(tess)

    answer = client.post(url, {"depth": 1, "slice": ""}, content_type="application/json")
    do_jobs()

    assert answer.status_code == 202
    (listed,) = client.get(reverse("api:contextual-set-list", args=["texts"])).json()["results"]
    assert (listed["name"], listed["is_fresh"]) == ("mine, first 1", True)
    assert listed["source"]["run_name"] == "mine"
    assert listed["source"]["corpus_version"] == 1
    refused = client.post(url, {"expected": "gold"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "cases-of-run")


def test_command_makes_a_set(texts, run, capsys):
    call_command("make_cases", "texts", "mine", "--depth", "2", "--sample", "1", "--seed", "5")

    assert "made case set 'mine, first 2, sample of 1' of 1 case" in capsys.readouterr().out
    assert CaseSet.objects.get().source.seed == 5
    with pytest.raises(CommandError, match="texts has no run 'other'; it has mine"):
        call_command("make_cases", "texts", "other")
    with pytest.raises(CommandError, match="no slice 'x'"):
        call_command("make_cases", "texts", "mine", "--slice", "x")


@pytest.mark.parametrize(
    ("role", "visibility", "is_told"),
    [
        ("annotator", Run.Visibility.BENCHMARK, False),  # blind, while anything is asked
        ("adjudicator", Run.Visibility.OWNER, False),
        ("adjudicator", Run.Visibility.BENCHMARK, True),
        ("owner", Run.Visibility.OWNER, True),
    ],
)
def test_who_judges_is_told_the_name_of_a_run_only_where_they_see_it(
    make_case_set, run, tess, signed_in, role, visibility, is_told
):
    Run.objects.filter(pk=run.pk).update(visibility=visibility)
    case_set = make_case_set(depth=3)
    ask_people(case_set=case_set, user=tess, is_asked=True)
    client = signed_in(tess if role == "owner" else factories.member(run.benchmark, "ada", role))
    pages = [
        reverse("scoring:contextual-verdicts", args=["texts"]),
        reverse("scoring:contextual-verdict-case", args=["texts", case_set.pk]),
    ]

    answers = [client.get(page).content.decode() for page in pages]

    assert case_set.name == "mine, first 3"
    assert [case_set.name in html for html in answers] == [is_told] * 2
    assert [f"Case set {case_set.pk}" in html for html in answers] == [not is_told] * 2
