"""A machine's grades as qrels of their own kind, and what a release of them says."""

import hashlib
import json

import pytest
from django.urls import reverse

from annotation.campaigns.services.errors import (
    CampaignActiveError,
    MixedModelsError,
    NothingGradedError,
)
from annotation.campaigns.services.publishing import publish_labels
from annotation.campaigns.services.running import judge_here, start_campaign
from annotation.models import Judgment
from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.models import QrelSet
from benchmarks_app.releases.services.exporting import export_zip
from benchmarks_app.releases.services.files import Contents
from benchwright.exports import EXPORTERS
from benchwright.formats.errors import QrelSetNameTakenError
from benchwright.releases.errors import MachineLabelsError
from benchwright.releases.options import ReleaseOptions
from scoring.scores.services.scoring import Target, score_run
from tests import factories
from tests.annotation import making_machines
from tests.annotation.campaigns.making import GRADES, draft, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded(pool, judge):
    return judge_here(campaign=draft(pool, judge, name="first"), user=pool.created_by)


def test_a_set_is_of_the_machines_grades_alone_and_says_whose(graded, ada, pool):
    say(ada, "d1", 0, pool)

    qrels = publish_labels(campaign=graded, user=pool.created_by, name="by umbrela2")

    rows = qrels.qrels.order_by("query__qid", "docid").values_list("query__qid", "docid", "grade")
    assert list(rows) == GRADES
    lines = "".join(f"{qid}\t{docid}\t{grade}\n" for qid, docid, grade in GRADES)
    assert qrels.digest == hashlib.sha256(lines.encode()).hexdigest()
    assert (qrels.kind, qrels.rule, qrels.as_of_event) == ("machine", "machine", None)
    assert (qrels.n_qrels, qrels.n_queries, qrels.n_relevant) == (5, 2, 4)
    parameters = qrels.parameters
    assert (parameters["judge"], parameters["models"]) == ("umbrela2", ["m-1-2026-01-01"])
    assert parameters["prompt_hash"] == graded.prompt.digest
    assert Judgment.objects.count() == 1


@pytest.fixture
def of_two_models(graded):
    """A campaign whose endpoint named two models: a label by each."""
    later = making_machines.campaign(graded.pool, name="later")
    for (qid, docid, grade), model in zip(GRADES[:2], ("m-1-a", "m-1-b"), strict=True):
        query = graded.pool.benchmark.queries.get(qid=qid)
        label = making_machines.label(later, query, docid, grade, model=model)
        making_machines.pair(later, query, docid, grade + 1, state="graded", judgment=label)
    return later


def test_labels_of_two_models_are_never_mixed(of_two_models, owner, signed_in):
    with pytest.raises(MixedModelsError, match="answered as m-1-a, m-1-b: another model is"):
        publish_labels(campaign=of_two_models, user=owner)
    at = {"slug": of_two_models.benchmark.slug, "pk": of_two_models.pk}
    client, sent = signed_in(owner), {"name": "new", "model": "m-1-b"}
    page = client.get(reverse("annotation:campaign-detail", kwargs=at)).content.decode()
    client.post(reverse("annotation:campaign-publish", kwargs=at), sent)

    record = QrelSet.objects.get(name="new")
    assert "<option>m-1-b</option>" in page
    assert record.parameters["models"] == ["m-1-b"]
    assert list(record.qrels.values_list("query__qid", "docid", "grade")) == GRADES[1:2]


def test_what_cannot_be_published_is_refused(graded, pool, judge):
    publish_labels(campaign=graded, user=pool.created_by)

    with pytest.raises(QrelSetNameTakenError):
        publish_labels(campaign=graded, user=pool.created_by)
    empty = draft(pool, judge)
    with pytest.raises(NothingGradedError):
        publish_labels(campaign=empty, user=pool.created_by)
    start_campaign(campaign=empty, user=pool.created_by)
    empty.refresh_from_db()
    with pytest.raises(CampaignActiveError):
        publish_labels(campaign=empty, user=pool.created_by)


def test_a_release_says_machine_judged_wherever_it_is_seen(
    benchmark, graded, owner, pool, signed_in
):
    client = signed_in(owner)
    client.post(reverse("annotation:campaign-publish", args=[benchmark.slug, graded.pk]))
    release = factories.release(QrelSet.objects.get(name="first"))
    slug, of = benchmark.slug, [benchmark.slug, release.version]

    pages = {
        "page": client.get(reverse("release-detail", args=of)),
        "board": client.get(reverse("scoring:leaderboard-release", args=of)),
        "card": client.get(reverse("release-file", args=[*of, "README.md"])),
        "croissant": client.get(reverse("release-file", args=[*of, "croissant.json"])),
        "qrels": client.get(reverse("qrels-list", args=[slug])),
    }

    results = {
        name: b"".join(page) if page.streaming else page.content for name, page in pages.items()
    }
    silent = [name for name, text in results.items() if b"achine" not in text]
    assert silent == []
    for name in ("page", "board"):
        assert b"Machine-judged" in results[name]
    assert "A machine gave these grades" in json.loads(results["croissant"])["description"]
    findings = {finding["code"] for finding in release.findings}
    assert "release-machine-untold" in findings


@pytest.fixture
def machines(graded, pool):
    return publish_labels(campaign=graded, user=pool.created_by, name="by umbrela2")


@pytest.fixture
def qrel_set(benchmark, pool):
    people = factories.qrel_set(benchmark, {("q1", "d1"): 3, ("q2", "d4"): 0}, "people")
    QrelSet.objects.filter(pk=people.pk).update(n_relevant=1)
    return QrelSet.objects.get(pk=people.pk)


def test_board_files_say_machine_judged(benchmark, machines, owner, signed_in, tmp_path):
    release = factories.release(machines)
    run = factories.run(benchmark, "q1 Q0 d1 1 1.0 s", name="bm25")
    score_run(run=run, target=Target.of(release), folder=tmp_path / "scores")
    client, of = signed_in(owner), [benchmark.slug, release.version]
    sentence = "A machine gave these grades, not people: umbrela2 (m-1-2026-01-01), prompt "

    files = {
        name: client.get(reverse(f"scoring:leaderboard-{name}", args=of)).content.decode()
        for name in ("csv", "json", "markdown")
    }
    answer = client.get(reverse("api:leaderboard-detail", args=of)).json()

    head, row = (line.split(",") for line in files["csv"].splitlines()[:2])
    assert dict(zip(head, row, strict=True))["machine_judged"] == "yes"
    report = json.loads(files["json"])
    assert report["machine_judged"].startswith(sentence)
    assert report["rows"][0]["machine_judged"] is True
    assert f"**Machine-judged.** {sentence}" in files["markdown"]
    assert answer["machine_judged"] == report["machine_judged"]


def test_a_people_board_says_nothing_of_machines(benchmark, machines, owner, signed_in, qrel_set):
    release = factories.release(qrel_set)
    client, of = signed_in(owner), [benchmark.slug, release.version]

    answer = client.get(reverse("scoring:leaderboard-json", args=of)).json()

    assert answer["machine_judged"] == ""
    assert "machine_judged" not in answer["columns"]


def lines_of(release, name: str) -> list[str]:
    return release_file_path(release, name).read_text().splitlines()


def test_a_people_release_carries_machine_labels_beside_its_grades(
    benchmark, machines, qrel_set, graded
):
    options = ReleaseOptions(machine_labels=("by umbrela2",))
    plain = factories.release(qrel_set)
    release = factories.release(qrel_set, "1.0.1", options=options)

    prompt = f"1 ({graded.prompt.digest[:12]})"
    assert lines_of(release, "machine_labels.tsv") == [
        "query-id\tcorpus-id\tgrade\tjudge\tmodel\tprompt-version",
        *(f"{q}\t{d}\t{grade}\tumbrela2\tm-1-2026-01-01\t{prompt}" for q, d, grade in GRADES),
    ]
    assert lines_of(release, "qrels.trec") == lines_of(plain, "qrels.trec")
    beside = release.manifest["machine_labels"]
    assert [(row["name"], row["judge"], row["n"]) for row in beside] == [
        ("by umbrela2", "umbrela2", 5)
    ]
    assert "machine_labels" not in plain.manifest
    card = "\n".join(lines_of(release, "README.md"))
    assert "5 labels of a machine (umbrela2: m-1-2026-01-01) lie in machine_labels.tsv" in card


def test_the_model_that_answered_is_told_with_its_labels(of_two_models, owner, qrel_set):
    for model in ("m-1-a", "m-1-b"):
        publish_labels(campaign=of_two_models, user=owner, name=f"by {model}", model=model)

    release = factories.release(
        qrel_set, options=ReleaseOptions(machine_labels=("by m-1-a", "by m-1-b"))
    )

    models = [line.split("\t")[4] for line in lines_of(release, "machine_labels.tsv")[1:]]
    assert models == ["m-1-a", "m-1-b"]


def test_labels_of_hidden_splits_are_in_no_file(machines, qrel_set, monkeypatch):
    monkeypatch.setattr(Contents, "is_public", lambda self, qid: qid != "q1")

    release = factories.release(qrel_set, options=ReleaseOptions(machine_labels=("by umbrela2",)))

    assert {line.split("\t")[0] for line in lines_of(release, "machine_labels.tsv")[1:]} == {"q2"}
    assert release.manifest["machine_labels"][0]["n"] == 2
    (finding,) = [f for f in release.findings if f["code"] == "release-machine-share-untold"]
    assert finding["message"].startswith("Beside 1 grade of people: 2 labels of a machine (67%")


def test_a_set_of_people_cannot_lie_beside_the_grades_as_a_machines(machines, qrel_set):
    with pytest.raises(MachineLabelsError, match="Sets of kind machine are: by umbrela2"):
        factories.release(qrel_set, options=ReleaseOptions(machine_labels=(qrel_set.name,)))


@pytest.mark.parametrize("kind", ["machine", "click"])
def test_an_export_of_grades_by_no_person_comes_back_as_what_it_was(machines, kind):
    QrelSet.objects.filter(pk=machines.pk).update(kind=kind)
    machines.refresh_from_db()
    content = b"".join(export_zip(factories.release(machines), EXPORTERS["ids-only"]))
    other = factories.benchmark()

    factories.done(factories.imported(other, content, "plain-name.zip", machine=False))

    assert [each.kind for each in other.qrel_sets.all()] == [kind]
