"""Releases and their exports: written once, and read by others as they were meant."""

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from annotation.models import Judgment
from benchmarks_app import files
from benchmarks_app.collections.services.snapshots import take_snapshot
from benchmarks_app.common.selectors.reading import (
    benchmark_documents,
    corpus_reader,
    qrels_of,
    release_file_path,
    release_qrels,
)
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Qrel, QrelSet, Query, Release
from benchmarks_app.releases.services import exporting, releasing
from benchwright.exports import BEIR
from benchwright.ids import text_hash
from benchwright.releases.errors import NothingToReleaseError, VersionError, VersionTakenError
from tests import factories

pytestmark = pytest.mark.django_db
TINY = factories.TINY


@pytest.fixture
def tiny(db) -> Benchmark:
    """`fixtures/tiny_benchmark`, taken in by the command from its folder."""
    bench = factories.texts_benchmark("tiny")
    factories.member(bench, "olga", "owner")
    call_command("import_beir", "tiny", TINY, name="official", verbosity=0)
    return bench


@pytest.fixture
def official(tiny) -> QrelSet:
    return tiny.qrel_sets.get(name="official")


# --- publishing ----------------------------------------------------------------------------------


def test_taken_version_is_refused_before_a_job_starts(official):
    factories.release(official, "1.0.0")

    with pytest.raises(VersionTakenError, match=r"Version 1\.0\.0 is published already"):
        releasing.start_release(user=factories.user("olga"), qrel_set=official, version="1.0.0")
    assert not Job.objects.filter(state=Job.State.QUEUED, kind=releasing.JOB_KIND).exists()


def test_second_job_for_one_version_fails_and_leaves_the_first_release(official, tiny):
    arguments = releasing.release_arguments(qrel_set=official, version="1.0.0")
    ended = [jobs.run_here(benchmark=tiny, user=factories.user("olga"), **arguments) for _ in "ab"]

    assert [job.state for job in ended] == [Job.State.DONE, Job.State.FAILED]
    assert "Version 1.0.0 is published already" in ended[1].error
    assert Release.objects.count() == 1


@pytest.mark.parametrize("version", ["1.0", "1.0.0.0", "v1.0.0", "01.0.0", "1.0.x", ""])
def test_what_is_no_version_is_refused(official, version):
    with pytest.raises(VersionError, match="is not a version; write three whole numbers"):
        releasing.release_arguments(qrel_set=official, version=version)


def test_grades_without_a_relevant_one_are_not_released(tiny):
    qrel_set = factories.qrel_set(tiny, {("1", "123"): 0}, name="zeros")

    with pytest.raises(NothingToReleaseError, match="'zeros' hold no relevant document"):
        releasing.release_arguments(qrel_set=qrel_set, version="1.0.0")


def test_proposed_version_follows_the_newest_by_number(official):
    assert releasing.proposed_version(official.benchmark) == "0.1.0"

    for version in ("0.9.0", "0.10.0"):
        factories.release(official, version)

    assert releasing.proposed_version(official.benchmark) == "0.11.0"


def test_release_knows_the_one_before_it(official):
    first, second = (factories.release(official, version) for version in ("0.1.0", "0.2.0"))

    assert (first.parent, second.parent) == (None, first)


def test_manifest_has_the_hashes_of_the_files(official):
    release = factories.release(official)

    named = release.manifest["files"]
    assert set(named) == {
        *("queries.jsonl", "qrels.trec", "qrels/dev.tsv", "qrels/test.tsv"),
        *("families.tsv", "splits.json", "leaks.json", "leaks.md"),
        *("README.md", "CITATION.bib", "CHANGELOG.md", "croissant.json"),
    }
    for name, facts in named.items():
        content = release_file_path(release, name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == facts["sha256"], name
        assert len(content) == facts["n_bytes"]
    assert release.manifest["qrels"]["digest"] == official.digest
    assert release.manifest["corpus"]["sha256"] == official.benchmark.current_corpus_version.sha256


def test_files_of_a_release_stay_when_the_same_is_released_again(official):
    first, second = (factories.release(official, version) for version in ("0.1.0", "0.2.0"))

    assert first.folder != second.folder
    assert first.content_sha256 == second.content_sha256
    for name in ("queries.jsonl", "qrels.trec", "qrels/dev.tsv", "qrels/test.tsv", "families.tsv"):
        one, other = (release_file_path(it, name) for it in (first, second))
        assert one.read_bytes() == other.read_bytes()


def release_queries(release: Release) -> list[dict[str, Any]]:
    lines = release_file_path(release, "queries.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def everything(release: Release) -> dict[str, Any]:
    return {
        "qrels": release_qrels(release),
        "queries": release_queries(release),
        "zip": b"".join(exporting.export_zip(release, BEIR)),
        "manifest": exporting.manifest_bytes(release),
    }


def test_release_stays_as_it_was_whatever_happens_to_the_benchmark(official, tiny):
    release = factories.release(official)
    before = everything(release)

    Qrel.objects.filter(qrel_set=official).update(grade=0)
    factories.qrel_set(tiny, {("q-unjudged", "d-unjudged"): 3})
    factories.query(tiny, "q-new")
    Query.objects.filter(qid="1").update(text="another text", excluded_reason="straddles")
    corpus = b'{"_id": "123", "title": "", "text": "another text"}\n'
    factories.done(factories.imported(tiny, corpus, "corpus.jsonl"))

    assert everything(Release.objects.get(pk=release.pk)) == before


def test_release_pins_the_documents_it_was_made_of(official, tiny, monkeypatch):
    """And not those that were taken while it was being made."""
    proposed, build = factories.snapshot(tiny), releasing.build

    def taken_meanwhile(job, wanted):
        built = build(job, wanted)
        take_snapshot(version=proposed, benchmark=tiny, actor=factories.user("keeper"))
        return built

    monkeypatch.setattr(releasing, "build", taken_meanwhile)

    release = factories.release(official)

    assert tiny.current_corpus_version == proposed
    assert release.corpus_version.number == release.manifest["corpus"]["version"]


def test_excluded_query_is_not_released(official, tiny):
    Query.objects.filter(qid="q-quote").update(excluded_reason="straddles the splits")

    release = factories.release(official)

    released = {query["_id"] for query in release_queries(release)}
    assert released == {"1", "q-all-zero", "q-cjk", "q-unjudged"}
    assert "q-quote" not in release_qrels(release)


def test_files_are_in_the_order_of_the_ids_bytes_however_they_came_in(benchmark):
    qids, docids = ("é", "a", "B", "10", "9"), ("z", "Z", "ü")
    qrel_set = factories.qrel_set(benchmark, {(q, d): 1 for q in qids for d in docids})
    QrelSet.objects.filter(pk=qrel_set.pk).update(n_relevant=1)
    qrel_set.refresh_from_db()

    release = factories.release(qrel_set)

    lines = release_file_path(release, "qrels.trec").read_text("utf-8").splitlines()
    wanted = [(q, d) for q in ("10", "9", "B", "a", "é") for d in ("Z", "z", "ü")]
    assert [(line.split()[0], line.split()[2]) for line in lines] == wanted
    ids = [query["_id"] for query in release_queries(release)]
    assert ids == ["10", "9", "B", "a", "é"]


def test_attempt_that_died_leaves_no_release_and_the_next_makes_it(official, tiny, monkeypatch):
    arguments = releasing.release_arguments(qrel_set=official, version="1.0.0")
    publish = files.publish

    def dies(path: Path, name: str, sha256: str) -> str:
        publish(path, name, sha256)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "publish", dies)
    failed = jobs.run_here(benchmark=tiny, user=factories.user("olga"), **arguments)
    monkeypatch.undo()

    assert failed.state == Job.State.FAILED
    assert not Release.objects.exists()
    assert factories.release(official, "1.0.0").version == "1.0.0"


def test_pooled_and_unjudged_pairs_are_in_the_trec_qrels_only(tiny):
    grades = {("1", "123"): 2, ("1", "d-line"): -1}
    qrel_set = factories.qrel_set(tiny, grades)
    QrelSet.objects.filter(pk=qrel_set.pk).update(n_relevant=1)
    qrel_set.refresh_from_db()

    release = factories.release(qrel_set)

    texts = [
        release_file_path(release, name).read_text("utf-8")
        for name in ("qrels.trec", "qrels/test.tsv")
    ]
    assert texts == ["1 0 123 2\n1 0 d-line -1\n", "query-id\tcorpus-id\tscore\n1\t123\t2\n"]
    assert "In qrels.trec only: 1 pair pooled, not judged." in release.manifest["warnings"]


@pytest.fixture
def hears():
    """Make a function hear of releases that are published."""
    from benchmarks_app.signals import release_published

    def hear(listener) -> None:
        release_published.connect(listener, dispatch_uid="test", weak=False)

    yield hear
    release_published.disconnect(dispatch_uid="test")


def test_release_is_announced_once(official, tiny, hears):
    heard = []
    hears(lambda sender, release, **unused: heard.append(release.version))

    factories.release(official)

    assert heard == ["1.0.0"]


def test_what_follows_from_a_release_is_written_with_it_or_not_at_all(official, tiny, hears):
    def breaks_off(sender: type, release: Release, **unused: Any) -> None:
        assert Release.objects.filter(pk=release.pk).exists()
        raise OperationalError("the database went away")

    hears(breaks_off)
    arguments = releasing.release_arguments(qrel_set=official, version="1.0.0")

    job = jobs.run_here(benchmark=tiny, user=factories.user("olga"), **arguments)

    assert (job.state, Release.objects.count()) == ("running", 0)


# --- the export, rule by rule ---------------------------------------------------------------------


@pytest.fixture
def exported(official, tmp_path) -> Path:
    """The zip that the command writes."""
    call_command("publish_release", "tiny", qrels="official", release="1.0.0", verbosity=0)
    path = tmp_path / "tiny-1.0.0.zip"
    call_command("export_release", "tiny", "1.0.0", output=path, verbosity=0)
    return path


@pytest.fixture
def members(exported) -> dict[str, bytes]:
    """Content of the zip by the name below its top folder."""
    with zipfile.ZipFile(exported) as archive:
        assert archive.testzip() is None
        top = f"{exported.stem}/"
        return {name.removeprefix(top): archive.read(name) for name in archive.namelist()}


def objects(members: dict[str, bytes], name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in members[name].decode().removesuffix("\n").split("\n")]


def qrels(members: dict[str, bytes]) -> list[list[str]]:
    tables = [content for name, content in members.items() if name.startswith("qrels/")]
    return [
        row.split("\t")
        for table in tables
        for row in table.decode().removesuffix("\n").split("\n")[1:]
    ]


def test_zip_has_one_folder_named_like_its_stem(exported):
    with zipfile.ZipFile(exported) as archive:
        names = archive.namelist()

    assert {name.split("/")[0] for name in names} == {exported.stem}
    assert [name.partition("/")[2] for name in names] == [
        "corpus.jsonl",
        "qrels/dev.tsv",
        "qrels/test.tsv",
        "queries.jsonl",
        "families.tsv",
        "manifest.json",
    ]


@pytest.mark.parametrize(
    "name", ["corpus.jsonl", "queries.jsonl", "qrels/dev.tsv", "qrels/test.tsv"]
)
def test_lines_end_in_lf_and_none_is_blank(members, name):
    content = members[name]

    assert not content.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert all(line.strip() for line in content.removesuffix(b"\n").split(b"\n"))


@pytest.mark.parametrize("split", ["dev", "test"])
def test_qrels_have_a_header_three_columns_and_whole_grades(members, split):
    header, *rows = members[f"qrels/{split}.tsv"].decode().removesuffix("\n").split("\n")

    assert header == "query-id\tcorpus-id\tscore"
    assert rows
    assert all(re.fullmatch(r"[^\s\"]\S*\t[^\s\"]\S*\t\d+", row) for row in rows)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_ids_are_strings_in_the_order_of_their_bytes(members, name):
    ids = [record["_id"] for record in objects(members, name)]

    assert all(isinstance(id_, str) for id_ in ids)
    assert ids == sorted(set(ids), key=str.encode)


def test_qrels_are_sorted_once_each_and_join(members):
    pairs = [(qid.encode(), docid.encode()) for qid, docid, _ in qrels(members)]
    queries = {query["_id"].encode() for query in objects(members, "queries.jsonl")}
    documents = {document["_id"].encode() for document in objects(members, "corpus.jsonl")}

    assert len(set(pairs)) == len(pairs) == 11
    assert {qid for qid, _ in pairs} <= queries
    assert {docid for _, docid in pairs} <= documents
    for split in ("dev", "test"):
        rows = members[f"qrels/{split}.tsv"].removesuffix(b"\n").split(b"\n")[1:]
        assert rows == sorted(rows)


def test_title_and_text_are_there_and_never_null(members):
    for document in objects(members, "corpus.jsonl"):
        assert list(document) == ["_id", "title", "text", "metadata"]
        assert isinstance(document["title"], str)
        assert isinstance(document["text"], str)
    for query in objects(members, "queries.jsonl"):
        assert list(query) == ["_id", "text", "metadata"]
        assert isinstance(query["text"], str)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_metadata_has_the_same_keys_and_types_in_every_row(members, name):
    results = [record["metadata"] for record in objects(members, name)]

    assert len({tuple(metadata) for metadata in results}) == 1
    for key in results[0]:
        kinds = {type(metadata[key]) for metadata in results} - {type(None)}
        assert len(kinds) <= 1, key


def test_texts_come_back_as_they_went_in(members):
    source = {"corpus.jsonl": (TINY / "corpus.jsonl").read_bytes()}
    wanted = {it["_id"]: (it["title"], it["text"]) for it in objects(source, "corpus.jsonl")}

    assert {
        document["_id"]: (document["title"], document["text"])
        for document in objects(members, "corpus.jsonl")
    } == wanted
    assert members["corpus.jsonl"] == (TINY / "corpus.jsonl").read_bytes()


def test_separators_and_other_scripts_are_kept_as_they_are(members):
    corpus = members["corpus.jsonl"].decode()

    for kept in ("\u2028", "\u0085", "寿司"):
        assert kept in corpus
    for escaped in (r"Flour\t500 g", r"knead the dough.\nThe second", r"The \"proof\" of"):
        assert escaped in corpus


def test_grades_of_each_split_come_back_byte_for_byte(members):
    for split in ("dev", "test"):
        assert members[f"qrels/{split}.tsv"] == (TINY / f"qrels/{split}.tsv").read_bytes()


def test_all_zero_and_unjudged_queries_are_kept(members):
    graded = qrels(members)

    assert {score for qid, _, score in graded if qid == "q-all-zero"} == {"0"}
    assert "q-unjudged" not in {qid for qid, _, _ in graded}
    assert "q-unjudged" in {query["_id"] for query in objects(members, "queries.jsonl")}


def test_export_of_a_release_is_the_same_bytes_again(exported, tmp_path):
    again = tmp_path / "again.zip"
    call_command("export_release", "tiny", "1.0.0", output=again, verbosity=0)

    assert again.read_bytes() == exported.read_bytes()


def test_trec_qrels_of_the_command_are_the_releases(exported, tmp_path):
    path = tmp_path / "tiny.qrels"
    call_command("export_release", "tiny", "1.0.0", output=path, format="qrels", verbosity=0)

    lines = path.read_text("utf-8").split("\n")
    assert len(lines) == 12
    assert lines[0] == "1 0 123 0"
    assert lines[-1] == ""


def facts(of: Benchmark) -> dict[str, Any]:
    version = of.current_corpus_version
    documents = corpus_reader(version).iterate()
    return {
        "corpus": [(d.docid, d.title, d.text, d.metadata) for d in documents],
        "queries": sorted(of.queries.values_list("qid", "text", "family__split")),
        "qrels": list(qrels_of(of.qrel_sets.get())),
    }


def test_exported_zip_taken_in_again_is_the_same_benchmark(exported, tiny):
    again = factories.texts_benchmark("again")
    factories.member(again, "olga", "owner")
    call_command("import_beir", "again", exported, verbosity=0)

    assert facts(again) == facts(tiny)


def test_command_says_what_it_cannot_export(official, benchmark, tmp_path):
    path = tmp_path / "out.zip"

    with pytest.raises(CommandError, match=r"tiny has no release 9\.0\.0"):
        call_command("export_release", "tiny", "9.0.0", output=path)
    with pytest.raises(CommandError, match="No benchmark 'nothing'"):
        call_command("export_release", "nothing", "1.0.0", output=path)
    with pytest.raises(CommandError, match="'latest' is not a version"):
        call_command("export_release", "tiny", "latest", output=path)

    assert not path.exists()


def test_ids_only_benchmark_has_no_beir_zip_and_overwrites_none(benchmark, tmp_path):
    qrel_set = factories.qrel_set(benchmark, {("q1", "d1"): 1})
    QrelSet.objects.filter(pk=qrel_set.pk).update(n_relevant=1)
    qrel_set.refresh_from_db()
    factories.release(qrel_set, "1.0.0")
    path = tmp_path / "out.zip"
    path.write_text("an earlier export")

    with pytest.raises(CommandError, match="holds ids only"):
        call_command("export_release", benchmark.slug, "1.0.0", output=path)

    assert path.read_text() == "an earlier export"


# --- the demo's grades ---------------------------------------------------------------------------


@pytest.fixture
def pool(tiny) -> Any:
    """A pool of three documents of one query."""
    run = factories.run(tiny, "1 Q0 d-tab 1 3 s\n1 Q0 d-quote 2 2 s\n1 Q0 d-line 3 1 s")
    return factories.depth_pool(tiny, [run], name="demo", depth=3)


def test_grades_with_the_demos_columns_enter_the_ledger_once(pool, tmp_path):
    demo = TINY.parent / "demo" / "grades.tsv"
    header = demo.read_text("utf-8").split("\n")[0]
    document = benchmark_documents(pool.benchmark, ["d-tab"])["d-tab"]
    rows = [
        ("1", "d-tab", "3", "tells how much", text_hash(document.title, document.text)),
        ("1", "d-quote", "0", "", "0" * 16),
        ("1", "123", "2", "beside the pool", ""),
    ]
    path = tmp_path / "grades.tsv"
    path.write_text("\n".join([header, *map("\t".join, rows)]) + "\n", "utf-8")

    results = []
    for _ in "ab":
        out = io.StringIO()
        call_command("import_judgments", "tiny", "demo", path, stdout=out)
        results.append(out.getvalue())

    assert header == "query-id\tcorpus-id\tgrade\treason\ttext-hash"
    assert list(Judgment.objects.order_by("docid").values_list("docid", "grade", "kind")) == [
        ("d-quote", 0, "import"),
        ("d-tab", 3, "import"),
    ]
    assert "1 were given for another text and are stale" in results[0]
    assert "1 are of pairs the pool does not hold" in results[0]


def test_grade_off_the_scale_is_refused_whole_with_its_line(pool, tmp_path):
    path = tmp_path / "grades.tsv"
    path.write_text("query-id\tcorpus-id\tgrade\n1\td-tab\t3\n1\td-quote\t7\n", "utf-8")

    with pytest.raises(CommandError) as caught:
        call_command("import_judgments", "tiny", "demo", path)

    assert "grades.tsv:3" in str(caught.value)
    assert "grade is '7'; expected one of 0, 1, 2, 3" in str(caught.value)
    assert not Judgment.objects.exists()
