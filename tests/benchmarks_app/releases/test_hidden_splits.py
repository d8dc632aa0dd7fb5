"""Grades of a hidden split: scored on, shown to nobody who may not see them, never hidden late."""

import csv
import io
import json
import zipfile

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.common.selectors.reading import release_file_path, release_qrels
from benchmarks_app.common.services.exposure import READ_ACTION, mark_exposed, refuse_hiding
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Benchmark, Job, Query, QueryFamily, Release
from benchmarks_app.releases.selectors import release_source
from benchmarks_app.releases.services import exporting, releasing
from benchmarks_app.splits.services.splitting import choose_hidden
from benchwright.exports import EXPORTERS
from benchwright.linting import release_rules
from benchwright.releases.canonical import content_sha256
from benchwright.releases.errors import ExposedQueriesError
from benchwright.releases.options import ReleaseOptions
from scoring.models import Score
from tests import factories
from tests.world import addresses

pytestmark = pytest.mark.django_db

# A judged document and a query's value that are nowhere but in the hidden split.
SENTINEL = "d-sentinel-77"
RUN = f"q1 Q0 d1 1 2.0 s\nq2 Q0 {SENTINEL} 1 2.0 s\nq2 Q0 d1 2 1.0 s"


@pytest.fixture(autouse=True)
def small_splits_may_be_hidden(monkeypatch):
    monkeypatch.setattr(release_rules, "SMALLEST_HIDDEN_SPLIT", 1)


@pytest.fixture
def hiding(db) -> Benchmark:
    """`dev` with q1 is public, `test` with q2 is hidden; q2 has the sentinel as its document."""
    bench = factories.benchmark("hiding")
    bench.visibility = Benchmark.Visibility.PUBLIC
    bench.hidden_splits = ["test"]
    bench.save()
    factories.member(bench, "olga", "owner")
    grades = {("q1", "d1"): 2, ("q1", "d2"): 0, ("q2", SENTINEL): 1, ("q2", "d1"): 3}
    ours = factories.qrel_set(bench, grades, name="ours")
    type(ours).objects.update(n_relevant=2, digest="d1" * 32)
    for qid, split in (("q1", "dev"), ("q2", "test")):
        QueryFamily.objects.filter(queries__qid=qid).update(split=split)
    return bench


@pytest.fixture
def release(hiding) -> Release:
    factories.run(hiding, RUN, name="runs-here")
    release = factories.release(hiding.qrel_sets.get())
    jobs.run_queued()
    return release


def client_of(benchmark: Benchmark, role: str) -> Client:
    client = Client()
    client.force_login(
        factories.member(benchmark, f"the-{role}", role),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    return client


# --- what is written -----------------------------------------------------------------------------


def test_hidden_grades_are_in_their_own_file_and_in_no_other(release):
    held = {
        name: release_file_path(release, name).read_text("utf-8")
        for name in release.manifest["files"]
    }

    assert [name for name, text in held.items() if SENTINEL in text] == ["hidden/test.tsv"]
    assert "q2" in held["queries.jsonl"]
    assert held["qrels.trec"] == "q1 0 d1 2\nq1 0 d2 0\n"
    assert SENTINEL not in str(release.manifest) + str(release.label_diff) + str(release.findings)


@pytest.mark.parametrize("is_moved", [False, True])
def test_split_that_is_hidden_while_a_release_is_made_is_not_published(
    hiding, monkeypatch, is_moved
):
    """Nor a query that is moved into the hidden split: one publishes, another hides meanwhile."""
    olga = factories.user("olga")
    choose_hidden(benchmark=hiding, user=olga, hidden=["test"] if is_moved else [])
    build = releasing.build

    def hidden_meanwhile(job, wanted):
        built = build(job, wanted)
        if is_moved:
            QueryFamily.objects.update(split="test")
        choose_hidden(benchmark=hiding, user=olga, hidden=["test"])
        return built

    monkeypatch.setattr(releasing, "build", hidden_meanwhile)
    arguments = releasing.release_arguments(qrel_set=hiding.qrel_sets.get(), version="1.0.0")

    job = jobs.run_here(benchmark=hiding, user=olga, **arguments)

    assert job.state == Job.State.FAILED
    assert "hidden" in job.error
    assert not hiding.releases.published().exists()
    assert not Query.objects.exclude(exposed_at=None).exists()


def said_of(release: Release, code: str) -> list[str]:
    return [finding["message"] for finding in release.findings if finding["code"] == code]


def test_how_much_of_runs_is_judged_is_told_of_public_queries(hiding):
    """Which of them has more of a hidden query judged is told by the order of their names."""
    first, second = "q1 Q0 d1 1 2.0 s\n", "q1 Q0 elsewhere 1 2.0 s\n"
    factories.run(hiding, f"{first}q2 Q0 elsewhere 1 2.0 s\n", name="hidden-unjudged")
    factories.run(hiding, f"{second}q2 Q0 {SENTINEL} 1 2.0 s\n", name="hidden-judged")
    # Compared before it was taken back: whoever has the link still sees it.
    gone = factories.run(hiding, second, name="withdrawn")
    type(gone).objects.filter(pk=gone.pk).update(withdrawn_at=timezone.now())

    release = factories.release(hiding.qrel_sets.get())

    (finding,) = said_of(release, "release-judged-share")
    assert (
        "Of 1 run less than 80% of the first 10 documents are judged: hidden-judged 0%." in finding
    )


def test_how_many_documents_were_drawn_is_not_told_where_some_are_hidden(hiding):
    hiding.qrel_sets.update(parameters={"n_for_estimates": 7})

    (finding,) = said_of(factories.release(hiding.qrel_sets.get()), "release-drawn-untold")

    assert "7" not in finding
    assert finding.startswith("Drawn to estimate runs: graded documents, and")


def test_counts_of_the_manifest_are_of_the_public_splits(release):
    assert release.manifest["qrels"]["n"] == 2
    assert release.manifest["splits"]["test"] == {"n_queries": 1, "is_hidden": True}


def test_source_shows_hidden_grades_only_where_that_is_asked_for(release):
    plain = release_source(release)
    whole = release_source(release, see_hidden=True)

    assert (plain.splits, plain.hidden) == (("dev",), ("test",))
    assert {query.qid for query in plain.queries()} == {"q1", "q2"}
    with pytest.raises(KeyError):
        list(plain.qrels("test"))
    assert list(whole.qrels("test")) == [("q2", SENTINEL, 1), ("q2", "d1", 3)]
    assert content_sha256(whole) == release.content_sha256 == content_sha256(plain)


def test_scoring_reads_hidden_grades(release):
    means = dict(Score.objects.filter(slice_name="").values_list("measure", "mean"))

    # 1 on q1; on q2 grades 1 and 3 in this order, of which the ideal is the other one.
    assert means["nDCG@10"] == pytest.approx((1 + 0.7967) / 2, abs=1e-4)
    assert release_qrels(release)["q2"] == {"d1": 3, SENTINEL: 1}


def test_no_export_holds_a_hidden_grade(release):
    for offer in exporting.offers(release):
        if offer.is_possible:
            pieces = b"".join(exporting.export_zip(release, offer.exporter))
            with zipfile.ZipFile(io.BytesIO(pieces)) as archive:
                for name in archive.namelist():
                    assert SENTINEL.encode() not in archive.read(name), (offer.exporter.name, name)


def told_by(pieces) -> bytes:
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_no_digest_is_told_that_could_be_tried_against_guesses(release):
    """Whoever knows all grades but one would find that one by it."""
    facts, qrels = release.manifest["files"]["hidden/test.tsv"], release.qrel_set
    assert len(facts["sha256"]) == len(qrels.digest) == 64
    client = client_of(release.benchmark, "viewer")
    slug, version = release.benchmark.slug, release.version
    words = [name for name in release.manifest["files"] if name.endswith((".md", ".json"))]
    texts = [
        client.get(reverse("release-files", args=[slug, version])).content,
        client.get(reverse("release-detail", args=[slug, version])).content,
        client.get(reverse("api:release-detail", args=[slug, version])).content,
        exporting.manifest_bytes(release),
        *(release_file_path(release, name).read_bytes() for name in words),
        told_by(exporting.export_zip(release, EXPORTERS["trec"])),
    ]

    for text in texts:
        assert facts["sha256"].encode() not in text
        assert qrels.digest.encode() not in text
    report = json.loads(exporting.manifest_bytes(release))
    assert report["files"]["hidden/test.tsv"] == {}
    assert report["files"]["qrels.trec"] == release.manifest["files"]["qrels.trec"]


def test_how_grades_came_about_is_told_without_digests_and_counts_of_labels(hiding):
    """The file that they were imported from holds the hidden ones, and so does what was fitted."""
    qrels = hiding.qrel_sets.get()
    secrets = {
        "sha256": "f1" * 32,
        "mapped_from_digest": "f2" * 32,
        "n_labels": 7_301,
        "decided": {"one label": 7_302},
        "dawid_skene": {"priors": [0.7303]},
    }
    fields = {"file": "ours.tsv", "settings": {"unresolved": "leave-out"}, "judge": "nova"}
    type(qrels).objects.update(parameters={**secrets, **fields})
    release = factories.release(hiding.qrel_sets.get())
    words = [name for name in release.manifest["files"] if name.endswith((".md", ".json"))]
    client = client_of(hiding, "viewer")
    address = reverse("api:release-detail", args=[hiding.slug, release.version])

    texts = [
        client.get(address).content,
        client.get(release.get_absolute_url()).content,
        exporting.manifest_bytes(release),
        *(release_file_path(release, name).read_bytes() for name in words),
        told_by(exporting.export_zip(release, EXPORTERS["trec"])),
    ]

    for secret in (b"f1f1f1", b"f2f2f2", b"7301", b"7302", b"7,301", b"7303"):
        assert [secret in text for text in texts] == [False] * len(texts), secret
    assert client.get(address).json()["manifest"]["qrels"]["derivation"] == fields
    assert release.manifest["qrels"]["derivation"] == {**secrets, **fields}


# --- what is shown -------------------------------------------------------------------------------


def seen_addresses(release: Release) -> list[str]:
    """Every page and endpoint of a release or a run that can be asked for."""
    run = release.benchmark.runs.get()
    known = {
        "slug": release.benchmark.slug,
        "version": release.version,
        "docid": "d1",
        "name": "hidden/test.tsv",
        "export": "trec",
        "export_": "trec",
    }
    keys = {"run": run.pk, "query": release.benchmark.queries.get(qid="q2").pk}
    results = []
    for address in addresses():
        kind = address.name.rpartition(":")[2].split("-")[0]
        named = {**known, "pk": keys.get(kind)}
        if "slug" in address.parameters and all(
            named.get(name) is not None for name in address.parameters
        ):
            values = {name: named[name] for name in address.parameters}
            results.append(reverse(address.name, kwargs=values))
    return results


def test_sentinel_is_shown_to_no_viewer_or_submitter_anywhere(release):
    urls = seen_addresses(release)
    run = release.benchmark.runs.get()
    asked = f"{reverse('scoring:run-queries', args=[release.benchmark.slug, run.pk])}?measure=P@1"

    assert len(urls) > 30
    for role in ("viewer", "submitter", "annotator"):
        client = client_of(release.benchmark, role)
        for url in [*urls, asked]:
            response = client.get(url)
            body = b"".join(response) if response.streaming else response.content
            assert SENTINEL.encode() not in body, (role, url)


@pytest.mark.parametrize("role", ["viewer", "submitter"])
def test_values_of_hidden_queries_are_withheld_query_by_query(release, role):
    run = release.benchmark.runs.get()
    url = reverse("scoring:run-queries", args=[release.benchmark.slug, run.pk])

    page = client_of(release.benchmark, role).get(url)

    assert [row.qid for row in page.context["rows"]] == ["q1"]
    assert page.context["n_withheld"] == 1
    assert page.context["chart"].n == 1
    assert b"1 query withheld" in page.content


def test_keeper_sees_them_and_that_is_written_down(release):
    run = release.benchmark.runs.get()
    client = client_of(release.benchmark, "maintainer")

    page = client.get(reverse("scoring:run-queries", args=[release.benchmark.slug, run.pk]))
    query = release.benchmark.queries.get(qid="q2")
    client.get(reverse("query-detail", args=[release.benchmark.slug, query.pk]))

    assert {row.qid for row in page.context["rows"]} == {"q1", "q2"}
    reads = AuditEvent.objects.filter(action=READ_ACTION).order_by("pk")
    assert [event.target for event in reads] == [
        "run runs-here on 1.0.0, query by query",
        "query q2",
    ]
    assert {event.actor.username for event in reads} == {"the-maintainer"}


@pytest.mark.parametrize("role", ["viewer", "owner"])
def test_hidden_file_is_downloaded_by_nobody(release, role):
    client = client_of(release.benchmark, role)
    slug, version = release.benchmark.slug, release.version

    for name in ("release-file", "api:release-file"):
        url = reverse(name, args=[slug, version, "hidden/test.tsv"])
        assert client.get(url).status_code == 404
    page = client.get(reverse("release-files", args=[slug, version]))
    assert b"hidden/test.tsv" in page.content
    assert b'href="/b/hiding/releases/1.0.0/files/hidden' not in page.content


def test_leaderboard_table_has_means_and_no_single_values(release):
    slug, version = release.benchmark.slug, release.version
    url = reverse("scoring:leaderboard-csv", args=[slug, version])

    text = client_of(release.benchmark, "viewer").get(url).content.decode()

    (row,) = csv.DictReader(io.StringIO(text))
    assert row["n_queries"] == "2"


# --- exposure ------------------------------------------------------------------------------------


def test_publishing_exposes_graded_queries_of_public_splits_alone(release, hiding):
    factories.query(hiding, "q3")

    exposed = dict(hiding.queries.values_list("qid", "exposed_at"))

    assert exposed["q1"] == release.published_at
    assert exposed["q2"] is None


def test_exposed_query_keeps_its_first_time(release, hiding):
    query = hiding.queries.get(qid="q1")

    n_new = mark_exposed(benchmark=hiding, queries=[query.pk], at=timezone.now())

    assert n_new == 0
    assert Query.objects.get(pk=query.pk).exposed_at == release.published_at


def test_exposed_queries_are_named_when_they_would_be_hidden(release, hiding):
    keys = list(hiding.queries.values_list("pk", flat=True))

    with pytest.raises(ExposedQueriesError, match=r"1 queries .* \(q1\), so they can not be"):
        refuse_hiding(benchmark=hiding, hidden=keys)
    refuse_hiding(benchmark=hiding, hidden=[hiding.queries.get(qid="q2").pk])


def test_release_that_would_hide_what_was_public_is_refused(release, hiding):
    QueryFamily.objects.filter(queries__qid="q1").update(split="test")
    arguments = releasing.release_arguments(qrel_set=hiding.qrel_sets.get(), version="2.0.0")

    job = jobs.run_here(benchmark=hiding, user=factories.user("keeper"), **arguments)

    assert job.state == Job.State.FAILED
    assert "release-exposed (query q1)" in job.error
    assert hiding.releases.count() == 1


def test_hidden_split_that_is_too_small_is_refused(hiding, monkeypatch):
    monkeypatch.setattr(release_rules, "SMALLEST_HIDDEN_SPLIT", 30)
    arguments = releasing.release_arguments(qrel_set=hiding.qrel_sets.get(), version="1.0.0")

    job = jobs.run_here(benchmark=hiding, user=factories.user("keeper"), **arguments)

    assert job.state == Job.State.FAILED
    assert "release-hidden-small" in job.error


def test_findings_of_hidden_queries_are_not_published(hiding):
    qrels = factories.qrel_set(hiding, {("q1", "d1"): 2, ("q2", SENTINEL): 0}, name="zeros")
    type(qrels).objects.filter(pk=qrels.pk).update(n_relevant=1)
    qrels.refresh_from_db()

    release = factories.release(qrels)

    assert SENTINEL not in str(release.findings)
    assert "release-query-all-zero" not in {finding["code"] for finding in release.findings}


@pytest.mark.parametrize("grade", [0, 1])
def test_hidden_query_without_a_grade_above_0_is_not_dropped(hiding, grade):
    """Its absence would tell the grades of all that is judged for it."""
    grades = {("q1", "d1"): 2, ("q2", SENTINEL): grade, ("q3", "d1"): 0}
    qrels = factories.qrel_set(hiding, grades, name="zeros")
    type(qrels).objects.filter(pk=qrels.pk).update(n_relevant=1)
    QueryFamily.objects.filter(queries__qid="q3").update(split="dev")
    qrels.refresh_from_db()

    release = factories.release(qrels, options=ReleaseOptions(drops_all_zero=True))

    queries = release_file_path(release, "queries.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["_id"] for line in queries] == ["q1", "q2"]
    assert release.manifest["dropped"] == {"drops_all_zero": True, "n_queries": 1}
