"""Drafts of releases: looked over, changed, published, thrown away; releases deprecated."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Job, Qrel, QrelSet, Release, User
from benchmarks_app.releases.selectors import release_source
from benchmarks_app.releases.services import drafting, exporting, releasing
from benchmarks_app.releases.services.releasing import deprecate_release
from benchwright.findings import Severity
from benchwright.releases.errors import (
    DeprecationError,
    DraftChangedError,
    DraftNotCheckedError,
    ReleaseRefusedError,
    ThresholdError,
    VersionTakenError,
    WarningsNotSeenError,
)
from benchwright.releases.options import ReleaseOptions
from tests import factories

pytestmark = pytest.mark.django_db
OPTIONS = ReleaseOptions(description="What is searched.", licence="CC0-1.0")


@pytest.fixture
def official(db) -> QrelSet:
    bench = factories.texts_benchmark("tiny")
    factories.member(bench, "olga", "owner")
    call_command("import_beir", "tiny", factories.TINY, name="official", verbosity=0)
    return bench.qrel_sets.get()


@pytest.fixture
def olga(official) -> User:
    return User.objects.get(username="olga")


def drafted(official: QrelSet, olga: User, **values) -> Release:
    """A draft that was looked over."""
    draft = drafting.create_draft(user=olga, qrel_set=official, **{"options": OPTIONS, **values})
    return looked_over(draft)


def looked_over(draft: Release) -> Release:
    jobs.run_queued()
    return Release.objects.get(pk=draft.pk)


def codes(release: Release, severity: Severity | None = None) -> set[str]:
    findings = releasing.findings_of(release)
    return {finding.code for finding in findings if severity in (None, finding.severity)}


def published(draft: Release, olga: User) -> Release:
    accepted = codes(draft, Severity.WARNING)
    drafting.publish_draft(user=olga, draft=draft, accepted=accepted)
    jobs.run_queued()
    record = Release.objects.get(pk=draft.pk)
    assert record.state == Release.State.PUBLISHED, draft.benchmark.jobs.latest("pk").error
    return record


def regraded(official: QrelSet, grade: int = 1) -> QrelSet:
    """The same grades in a set of their own, one of them another."""
    record = QrelSet.objects.create(
        benchmark=official.benchmark, name=f"regraded {grade}", kind="imported", state="ready"
    )
    rows = [
        Qrel(qrel_set=record, query_id=row.query_id, docid=row.docid, grade=row.grade)
        for row in official.qrels.order_by("query__qid", "docid")
    ]
    rows[1].grade = grade
    Qrel.objects.bulk_create(rows)
    relevant = sum(row.grade > 1 for row in rows)
    QrelSet.objects.filter(pk=record.pk).update(n_qrels=len(rows), n_relevant=relevant)
    record.refresh_from_db()
    return record


# --- looking over --------------------------------------------------------------------------------


def test_draft_is_looked_over_and_publishes_nothing(official, olga):
    draft = drafted(official, olga, notes="First.")

    assert draft.state == Release.State.DRAFT
    assert draft.version == "0.1.0"
    assert "release-size" in codes(draft, Severity.WARNING)
    assert draft.manifest["n_queries"] == 5
    assert not Release.objects.published().exists()
    assert not draft.folder


def test_version_of_a_draft_follows_what_changed(official, olga):
    factories.release(official, "1.2.0")

    same = drafted(official, olga)
    other = drafted(regraded(official), olga, version="")

    assert same.version == "1.2.1"
    assert same.label_diff["reasons"] == ["nothing but card and metadata changed"]
    assert other.version == "2.0.0"
    assert other.label_diff["labels"]["changed"] == 1
    assert other.label_diff["by_split"]["test"]["changed"] == 1


def test_version_that_says_too_little_is_an_error_with_its_reason(official, olga):
    factories.release(official, "1.2.0")

    draft = drafted(regraded(official), olga, version="1.2.1")

    with pytest.raises(ReleaseRefusedError, match=r"Since 1\.2\.0: 1 grade changed.*Call it 2\.0"):
        drafting.publish_draft(user=olga, draft=draft, accepted=codes(draft))
    assert codes(draft, Severity.ERROR) == {"release-version-step"}


def test_changed_draft_has_to_be_looked_over_again(official, olga):
    draft = drafted(official, olga)

    changed = drafting.change_draft(
        user=olga, draft=draft, qrel_set=official, version="0.5.0", options=OPTIONS
    )

    with pytest.raises(DraftNotCheckedError, match=r"Nobody has looked draft 0\.5\.0 over"):
        drafting.publish_draft(user=olga, draft=changed, accepted=[])
    assert looked_over(changed).manifest["version"] == "0.5.0"


def test_draft_that_was_changed_is_told_by_the_api_without_a_manifest(official, olga, signed_in):
    draft = drafted(official, olga)
    url = reverse("api:release-draft", args=["tiny", draft.pk])

    answer = signed_in(olga).patch(url, {"notes": "else"}, content_type="application/json")

    assert (answer.status_code, answer.json()["manifest"]) == (200, {})
    assert signed_in(olga).get(url).json()["manifest"] == {}


def test_findings_of_a_draft_that_was_changed_meanwhile_are_not_kept(official, olga):
    draft = drafting.create_draft(user=olga, qrel_set=official, options=OPTIONS)
    Release.objects.filter(pk=draft.pk).update(notes="changed while the job waited")

    job = jobs.run_here(benchmark=official.benchmark, user=olga, **drafting.check_arguments(draft))

    assert job.result["notes"][0].startswith("The draft was changed meanwhile")
    assert Release.objects.get(pk=draft.pk).manifest == {}


def test_second_draft_of_a_version_is_refused(official, olga):
    drafted(official, olga, version="1.0.0")

    with pytest.raises(VersionTakenError, match=r"Version 1\.0\.0 is drafted already"):
        drafting.create_draft(user=olga, qrel_set=official, version="1.0.0", options=OPTIONS)


def test_threshold_that_is_no_grade_is_refused_with_the_grades_there_are(official, olga):
    with pytest.raises(ThresholdError, match=r"7 is no grade above 0 .* choose one of 1, 2, 3"):
        drafting.create_draft(user=olga, qrel_set=official, options=ReleaseOptions(threshold=7))


# --- publishing ----------------------------------------------------------------------------------


def test_published_draft_is_the_release_that_was_looked_at(official, olga):
    draft = drafted(official, olga, notes="First.")

    release = published(draft, olga)

    assert release.content_sha256 == draft.content_sha256
    assert release.manifest["parts"] == draft.manifest["parts"]
    assert release.options["accepted"] == sorted(codes(draft))
    assert "First." in release_file_path(release, "CHANGELOG.md").read_text("utf-8")


def test_warning_that_nobody_has_accepted_stops_publishing(official, olga):
    draft = drafted(official, olga, options=ReleaseOptions())

    with pytest.raises(WarningsNotSeenError, match=r"release-licence-missing .*There is no lic"):
        drafting.publish_draft(user=olga, draft=draft, accepted=["release-card-missing"])


def test_warning_that_came_up_since_stops_the_job(official, olga):
    draft = drafted(official, olga)
    drafting.publish_draft(user=olga, draft=draft, accepted=codes(draft, Severity.WARNING))
    factories.run(official.benchmark, "1 Q0 nobody-judged-it 1 1.0 s", name="new")

    jobs.run_queued()

    job = official.benchmark.jobs.get(kind=releasing.JOB_KIND)
    assert job.state == Job.State.FAILED
    assert "nobody has accepted these warnings (release-judged-share)" in job.error


@pytest.mark.parametrize(
    "change",
    [None, {"notes": "Other words."}, {"version": "0.5.0"}, {"options": ReleaseOptions()}],
)
def test_draft_that_was_deleted_or_changed_meanwhile_is_not_published(official, olga, change):
    draft = drafted(official, olga, version="0.4.0")
    drafting.publish_draft(user=olga, draft=draft, accepted=codes(draft))
    if change is None:
        drafting.delete_draft(user=olga, draft=draft)
    else:
        fields = {"qrel_set": official, "version": "0.4.0", "options": OPTIONS, **change}
        drafting.change_draft(user=olga, draft=draft, **fields)

    jobs.run_queued()

    job = official.benchmark.jobs.get(kind=releasing.JOB_KIND)
    assert (job.state, Release.objects.published().count()) == (Job.State.FAILED, 0)
    assert "published, changed or deleted meanwhile" in job.error


def test_published_release_is_no_draft_any_more(official, olga):
    draft = drafted(official, olga)
    published(draft, olga)

    with pytest.raises(DraftChangedError):
        drafting.delete_draft(user=olga, draft=draft)
    with pytest.raises(DraftChangedError):
        drafting.change_draft(user=olga, draft=draft, qrel_set=official, options=OPTIONS)


# --- what the options do -------------------------------------------------------------------------


def test_queries_without_a_grade_above_0_are_dropped_where_that_was_chosen(official, olga):
    kept = drafted(official, olga)
    dropped = drafted(official, olga, options=ReleaseOptions(drops_all_zero=True))

    assert "release-query-all-zero" in codes(kept, Severity.WARNING)
    assert "release-all-zero-dropped" in codes(dropped, Severity.NOTE)
    assert dropped.manifest["dropped"] == {"drops_all_zero": True, "n_queries": 1}
    assert (kept.manifest["n_queries"], dropped.manifest["n_queries"]) == (5, 4)


def test_threshold_of_a_draft_says_what_is_relevant(official, olga):
    release = published(drafted(official, olga, options=ReleaseOptions(threshold=3)), olga)

    assert release.manifest["threshold"] == 3
    scale = {grade["value"]: grade["is_relevant"] for grade in release.manifest["grades"]}
    assert scale == {0: False, 1: False, 2: False, 3: True}


def test_texts_that_are_not_passed_on_are_in_no_export(official, olga):
    options = ReleaseOptions(passes_on_texts=False)
    release = published(drafted(official, olga, options=options), olga)

    source = release_source(release)
    assert source.documents is None
    assert "release-texts-withheld" in codes(release)
    assert "corpus.jsonl" not in release_file_path(release, "croissant.json").read_text()
    with pytest.raises(CommandError, match="needs the documents' texts"):
        call_command("export_release", "tiny", release.version, format="beir")


def test_format_that_was_left_out_is_neither_checked_nor_given(official, olga):
    every = drafted(official, olga)
    options = ReleaseOptions(left_out=("beir", "croissant"))
    release = published(drafted(official, olga, options=options), olga)

    offered = {offer.exporter.name for offer in exporting.offers(release)}
    targets = {finding.target for finding in releasing.findings_of(release)}
    assert {"beir", "croissant"} & (offered | targets) == set()
    assert every.manifest["formats_left_out"] == []
    with pytest.raises(CommandError, match="is not given as BEIR: its owner has left the format"):
        call_command("export_release", "tiny", release.version, format="beir")


def test_card_citation_and_metadata_are_written(official, olga):
    release = published(drafted(official, olga), olga)

    def text(name: str) -> str:
        return release_file_path(release, name).read_text("utf-8")

    assert "What is searched." in text("README.md")
    assert text("README.md").startswith("---\npretty_name: tiny\n")
    assert text("CITATION.bib").startswith("@misc{tiny-0.1.0,\n")
    metadata = json.loads(text("croissant.json"))
    assert metadata["version"] == "0.1.0"
    hashes = {file["@id"]: file["sha256"] for file in metadata["distribution"]}
    assert hashes["queries.jsonl"] == release.manifest["files"]["queries.jsonl"]["sha256"]
    assert hashes["corpus.jsonl"] == release.manifest["corpus"]["jsonl_sha256"]


def test_hashes_of_the_corpus_are_taken_once(official, olga, monkeypatch):
    first = published(drafted(official, olga), olga)
    monkeypatch.setattr("benchmarks_app.releases.services.building._hashes", None)

    second = published(drafted(official, olga), olga)

    assert second.manifest["corpus"] == first.manifest["corpus"]
    assert second.content_sha256 == first.content_sha256


# --- deprecating ---------------------------------------------------------------------------------


@pytest.fixture
def two(official) -> tuple[Release, Release]:
    return factories.release(official, "0.1.0"), factories.release(official, "0.2.0")


def test_deprecated_release_says_why_and_what_to_use(two, olga):
    old, new = two

    deprecate_release(user=olga, release=old, reason=" Wrong grades. ", successor=new)

    old.refresh_from_db()
    assert (old.state, old.deprecated_reason, old.successor) == ("deprecated", "Wrong grades.", new)
    assert Release.objects.published().filter(pk=old.pk).exists()
    event = AuditEvent.objects.get(action="deprecate-release")
    assert (event.target, event.detail["successor"]) == ("0.1.0", "0.2.0")


def test_deprecating_needs_a_reason_and_a_successor_that_can_be_used(two, olga):
    old, new = two

    with pytest.raises(DeprecationError, match="Say why"):
        deprecate_release(user=olga, release=old, reason=" ")
    with pytest.raises(DeprecationError, match=r"0\.1\.0 can not be used instead of 0\.1\.0"):
        deprecate_release(user=olga, release=old, reason="x", successor=old)
    deprecate_release(user=olga, release=new, reason="x")
    with pytest.raises(DeprecationError, match="only a published one"):
        deprecate_release(user=olga, release=new, reason="again")
    with pytest.raises(DeprecationError, match=r"0\.2\.0 can not be used"):
        deprecate_release(user=olga, release=old, reason="x", successor=new)


# --- nothing changes a release -------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE benchmarks_app_release SET notes = 'x' WHERE id = %s",
        "UPDATE benchmarks_app_release SET state = 'draft' WHERE id = %s",
        "UPDATE benchmarks_app_release SET manifest = '{}' WHERE id = %s",
        "UPDATE benchmarks_app_release SET content_sha256 = '' WHERE id = %s",
        "UPDATE benchmarks_app_release SET state = 'deprecated', deprecated_at = published_at, "
        "folder = 'x' WHERE id = %s",
        "DELETE FROM benchmarks_app_release WHERE id = %s",
    ],
)
def test_published_release_is_changed_by_no_sql(official, statement):
    release = factories.release(official)

    with (
        pytest.raises(DatabaseError, match="a published release never changes"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, [release.pk])


def test_deprecation_can_not_be_taken_back_by_sql(two, olga):
    deprecate_release(user=olga, release=two[0], reason="x")

    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        Release.objects.filter(pk=two[0].pk).update(state="published")


def test_no_page_or_endpoint_writes_to_a_published_release(official, olga):
    """Those that write know drafts alone; the only other one deprecates."""
    release = factories.release(official)
    client = Client()
    client.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")

    for name in ("", "-edit", "-check", "-delete"):
        url = reverse(f"release-draft{name}", args=["tiny", release.pk])
        assert client.post(url, {"version": "9.0.0"}).status_code == 404
    for name in ("", "-check", "-publish"):
        url = reverse(f"api:release-draft{name}", args=["tiny", release.pk])
        for method in ("post", "patch", "put", "delete"):
            assert getattr(client, method)(url, content_type="application/json").status_code in (
                404,
                405,
            )
    for method in ("post", "put", "patch", "delete"):
        url = reverse("api:release-detail", args=["tiny", release.version])
        assert getattr(client, method)(url).status_code == 405
    assert Release.objects.get(pk=release.pk).manifest == release.manifest


def test_command_does_not_publish_a_version_again(official):
    factories.release(official, "1.0.0")

    with pytest.raises(CommandError, match=r"Version 1\.0\.0 is published already"):
        call_command("publish_release", "tiny", qrels="official", release="1.0.0")


# --- the command ---------------------------------------------------------------------------------


def test_dry_run_prints_what_was_found_and_publishes_nothing(official):
    out = io.StringIO()

    call_command("publish_release", "tiny", qrels="official", dry_run=True, stdout=out)

    text = out.getvalue()
    assert text.startswith("would be 0.1.0\n")
    assert "warning release-licence-missing (release, licence): There is no licence" in text
    assert not Release.objects.exists()


def test_dry_run_with_errors_ends_with_an_error(official):
    factories.release(official, "1.0.0")
    regraded(official)
    out = io.StringIO()

    with pytest.raises(CommandError, match="There are errors"):
        call_command(
            "publish_release",
            "tiny",
            qrels="regraded 1",
            release="1.0.1",
            dry_run=True,
            stdout=out,
        )
    assert "since 1.0.0: 1 grade changed" in out.getvalue()


def test_strict_command_refuses_warnings_and_takes_its_words_from_files(official, tmp_path: Path):
    words = tmp_path / "card.md"
    words.write_text("All about docstrings.", "utf-8")
    options = {"qrels": "official", "licence": "CC0-1.0", "card": words, "verbosity": 0}

    with pytest.raises(CommandError, match="nobody has accepted these warnings"):
        call_command("publish_release", "tiny", strict=True, **options)
    call_command("publish_release", "tiny", **options)

    release = Release.objects.published().get()
    assert (release.version, release.manifest["licence"]) == ("0.1.0", "CC0-1.0")
    assert release.manifest["description"] == "All about docstrings."


def test_command_can_leave_a_draft(official):
    call_command("publish_release", "tiny", qrels="official", draft=True, verbosity=0)

    assert Release.objects.get().state == Release.State.DRAFT
