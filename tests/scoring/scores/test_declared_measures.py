"""Measures declared for hidden splits: how they come in, and what who keeps no grades sees."""

import csv

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.models import Benchmark, Job, Release
from benchmarks_app.releases.services.drafting import create_draft
from benchmarks_app.releases.services.releasing import release_arguments
from benchwright.releases.errors import DeclaredMeasureError
from benchwright.releases.options import ReleaseOptions
from scoring.scores.services import ranking
from scoring.scores.services.firewall import MeasureWithheldError, measure_seen
from scoring.scores.services.scoring import Target, score_run
from tests import factories
from tests.scoring.hiding import hiding_benchmark, hiding_release, lines, plain_run

pytestmark = pytest.mark.django_db
FORM = {"version": "1.0.0", "notes": "", "passes_on_texts": "on", "formats": []}


def declared(*names: str) -> ReleaseOptions:
    return ReleaseOptions(measures=names)


@pytest.fixture
def hiding() -> Benchmark:
    return hiding_benchmark()


@pytest.fixture
def owner(hiding):
    return factories.member(hiding, "olga", "owner")


def test_a_draft_keeps_the_canonical_names_each_once(hiding, owner):
    draft = create_draft(
        user=owner,
        qrel_set=hiding.qrel_sets.get(),
        options=declared("recall_100", "ndcg_cut_10", "R@100", "MRR@10"),
    )

    assert draft.options["measures"] == ["R@100", "nDCG@10", "RR@10"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("DCG(gains={0:4e8,1:1})@3", "gains of its own"),
        ("NumRelRet", "no mean"),
        ("nonsense", "nonsense"),
    ],
)
def test_what_would_tell_grades_cannot_be_declared(hiding, owner, name, why):
    qrels = hiding.qrel_sets.get()

    for make in (
        lambda: create_draft(user=owner, qrel_set=qrels, options=declared(name)),
        lambda: release_arguments(qrel_set=qrels, version="1.0.0", options=declared(name)),
    ):
        with pytest.raises(DeclaredMeasureError, match=why):
            make()
    assert not Release.objects.exists()


def test_command_page_and_api_declare(hiding, owner, client):
    with pytest.raises(CommandError, match="no mean"):
        call_command("publish_release", "hiding", qrels="ours", draft=True, measure=["NumRet"])
    client.force_login(owner)
    call_command("publish_release", "hiding", qrels="ours", draft=True, measure=["P@5"])
    form = {**FORM, "qrel_set": hiding.qrel_sets.get().pk, "version": "2.0.0"}
    measures = "P@5, R@50 RBP(p=0.5, rel=2)"
    page = client.post("/b/hiding/releases/new/", {**form, "measures": measures})
    api = client.post(
        "/api/v1/benchmarks/hiding/releases/",
        {"qrels": "ours", "version": "3.0.0", "measures": ["AP"]},
        content_type="application/json",
    )
    refused = client.post("/b/hiding/releases/new/", {**form, "measures": "NumRet"})

    assert (page.status_code, api.status_code) == (302, 201), api.content
    rows = Release.objects.order_by("major")
    by_page = ["P@5", "R@50", "RBP(rel=2,p=0.5)"]
    assert [row.options["measures"] for row in rows] == [["P@5"], by_page, ["AP"]]
    assert "no mean" in refused.content.decode()


def test_only_who_has_hidden_splits_is_asked(owner, client):
    plain = factories.benchmark("plain")
    factories.qrel_set(plain, {("q1", "d1"): 2})
    boss = factories.member(plain, "boss", "owner")
    client.force_login(boss)

    assert b'name="measures"' not in client.get("/b/plain/releases/new/").content


def test_others_see_what_was_declared_and_keepers_everything(hiding, owner, tmp_path, client):
    hiding_release(hiding)
    newest = factories.release(hiding.qrel_sets.get(), "2.0.0", options=declared("P@5", "R@50"))
    run = factories.run(hiding, lines(plain_run()), name="one")
    score_run(run=run, target=Target.of(newest), folder=tmp_path)
    sam = factories.member(hiding, "sam", "submitter")
    first = measure_seen(sam, newest)

    assert newest.manifest["measures"] == ["P@5", "R@50"]
    assert first.name == "P@5"
    assert measure_seen(sam, newest, "recall_50").name == "R@50"
    with pytest.raises(MeasureWithheldError, match="There are: P"):
        measure_seen(sam, newest, "nDCG@10")
    assert measure_seen(owner, newest, "nDCG@10").name == "nDCG@10"
    client.force_login(sam)
    for address in ("v/2.0.0/leaderboard/", f"runs/{run.pk}/scores/", "v/2.0.0/leaderboard.csv"):
        text = client.get(f"/b/hiding/{address}").content.decode()
        assert 'stat-label">nDCG@10' not in text
        assert "R@50" in text


@pytest.fixture
def few(hiding, owner, tmp_path, client):
    """Client of a viewer; a release of which P@10 alone is told has a run and a baseline."""
    release = factories.release(hiding.qrel_sets.get(), "1.0.0", options=declared("P@10"))
    for name, kind in (("bm25", "baseline"), ("one", "uploaded")):
        facts = {"system": "hybrid-rrf"}
        run = factories.run(hiding, lines(plain_run()), name=name, kind=kind, metadata=facts)
        score_run(run=run, target=Target.of(release), folder=tmp_path)
    client.force_login(factories.member(hiding, "vi", "viewer"))
    return client


def test_choice_of_runs_to_compare_is_ranked_by_what_is_told(few, owner):
    page = few.get("/b/hiding/compare/")

    assert [row.scores.keys() for row in page.context["rows"]] == [{"P@10"}] * 2
    assert b'class="num">P@10</th>' in page.content
    assert b'class="num">nDCG@10</th>' not in page.content
    few.force_login(owner)
    # Of each run the one mean alone is loaded, for whoever may see more as well.
    assert [row.scores.keys() for row in few.get("/b/hiding/compare/").context["rows"]] == [
        {"P@10"}
    ] * 2


def test_baselines_are_shown_with_what_is_told(few, owner):
    page = few.get("/b/hiding/runs/baselines/")
    systems = few.get("/api/v1/benchmarks/hiding/baselines/").json()

    assert [row.board.scores.keys() for row in page.context["rows"]] == [{"P@10"}]
    assert page.context["columns"] == []
    assert [run["scores"] for system in systems for run in system["runs"]] == [{}]
    few.force_login(owner)
    assert len(few.get("/b/hiding/runs/baselines/").context["columns"]) == 3


@pytest.fixture
def pair(hiding, tmp_path) -> list[int]:
    """Two runs of 33 queries on a release of which P@5 alone is told, which no other board has."""
    release = factories.release(hiding.qrel_sets.get(), "1.0.0", options=declared("P@5"))
    runs = [factories.run(hiding, lines(plain_run()), name=name) for name in ("one", "other")]
    for run in runs:
        score_run(run=run, target=Target.of(release), folder=tmp_path / run.name)
    return [run.pk for run in runs]


@pytest.mark.parametrize(
    ("measure", "most_values", "is_ranked"),
    [("P@5", 66, True), ("P@5", 65, False), ("P@2", 66, False)],
)
def test_large_board_is_ranked_by_what_is_declared_and_says_so(
    pair, owner, client, monkeypatch, measure, most_values, is_ranked
):
    monkeypatch.setattr(ranking, "MOST_RUNS", 1)
    monkeypatch.setattr(ranking, "MOST_JOB_VALUES", most_values)
    client.force_login(owner)

    page = client.get(f"/b/hiding/v/1.0.0/leaderboard/?measure={measure}")

    assert ("worked out in the background" in page.content.decode()) is is_ranked
    assert Job.objects.filter(kind=ranking.JOB_KIND).exists() is is_ranked


def test_who_is_not_signed_in_is_told_what_was_declared_at_every_address(pair, client):
    one, other = pair
    api, runs = "/api/v1/benchmarks/hiding/", f"?runs={one},{other}"

    addresses = [
        f"{api}releases/1.0.0/leaderboard/",
        f"{api}runs/{one}/queries/",
        f"{api}comparisons/{runs}",
        f"/b/hiding/compare/{runs}",
        f"/b/hiding/runs/{one}/charts/1.0.0/P@5/distribution.svg",
    ]

    assert [client.get(address).status_code for address in addresses] == [200] * 5


def test_who_submits_is_told_what_was_declared(hiding, client):
    release = factories.release(hiding.qrel_sets.get(), "1.0.0", options=declared("P@5"))
    sam = factories.member(hiding, "sam", "submitter")
    phase = release.phases.get(split="test")
    submission = factories.submission(phase, lines(plain_run()), by=sam, name="mine")
    client.force_login(sam)

    page = client.get(submission.get_absolute_url()).content.decode()
    listed = client.get(reverse("scoring:submission-list", args=["hiding"])).content.decode()
    answer = client.get(f"/api/v1/benchmarks/hiding/submissions/{submission.pk}/").json()

    assert '<dt class="stat-label">P@5</dt><dd class="stat-value">0.200</dd>' in page
    assert '<tr><th scope="row">P@5</th><td class="num">0.200</td>' in page
    assert '<td class="num">0.2000</td>' in listed
    assert (answer["scores"]["P@5"], answer["split_scores"]) == (0.2, {"P@5": 0.2})


def test_judged_share_of_a_row_is_told_where_it_is_declared(few, owner):
    def told() -> set[str]:
        file = few.get("/b/hiding/v/1.0.0/leaderboard.csv").content.decode()
        return {row["comparability"] for row in csv.DictReader(file.splitlines())}

    assert told() == {""}
    few.force_login(owner)
    assert told() == {"not comparable"}
