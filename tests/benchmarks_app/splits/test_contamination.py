"""A benchmark against lists from outside: the job, its pages, the clean subset."""

import gzip
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.collections.services import uploading
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import ContaminationCheck, Job, Role
from benchmarks_app.splits.services import contamination
from benchwright.contamination.errors import (
    CheckNameTakenError,
    NothingToCheckError,
    OtherSaltError,
    SketchFormatError,
)
from benchwright.contamination.sketches import Hasher, write_sketch
from tests import factories

pytestmark = pytest.mark.django_db
OUTSIDE = "How long do GOLDFISH live?\ncheapest flights oslo lisbon\nsomething else entirely\n"


@pytest.fixture
def bench():
    bench = factories.benchmark("clean")
    queries = {
        "q1": "how long do goldfish live",
        "q2": "cheap flights oslo lisbon",
        "q3": "who painted the night watch",
    }
    for qid, text in queries.items():
        factories.query(bench, qid, text)
    factories.qrel_set(bench, {("q3", "d3"): 2, ("q3", "d4"): 0})
    factories.query_slice(bench, "travel", bench.queries.get(qid="q2"))
    return bench


@pytest.fixture
def olga(bench):
    return factories.member(bench, "olga", Role.OWNER)


def uploaded(bench, olga, content, name="train.txt"):
    content = content if isinstance(content, bytes) else content.encode()
    file = SimpleUploadedFile(name, content)
    return uploading.receive_upload(benchmark=bench, owner=olga, file=file)


def checked(bench, olga, content, file="train.txt", **options) -> ContaminationCheck:
    upload = uploaded(bench, olga, content, file)
    job = contamination.start_check(benchmark=bench, user=olga, upload=upload, **options)
    jobs.execute(job.pk, has_heartbeat=False)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, (job.error, job.problems)
    return ContaminationCheck.objects.latest("pk")


def found(check):
    return {match.query.qid: match.degree for match in check.matches.select_related("query")}


def test_a_list_is_compared_and_stored_with_counts_by_slice(bench, olga):
    check = checked(bench, olga, gzip.compress(OUTSIDE.encode()), "train.txt.gz", name="train")

    assert found(check) == {"q1": "exact", "q2": "possible"}
    assert (check.n_outside, check.n_exact, check.n_near, check.n_possible) == (3, 1, 0, 1)
    assert check.matches.get(query__qid="q2").outside_text == "cheapest flights oslo lisbon"
    assert [(row["name"], row["n"], row["n_clean"]) for row in check.result["slices"]] == [
        ("all queries", 3, 2),
        ("travel", 1, 1),
    ]


def test_an_outside_query_is_kept_as_every_database_takes_it(bench, olga):
    check = checked(bench, olga, "how long do gold\0fish live\n")

    assert check.matches.get().outside_text == "how long do gold\N{REPLACEMENT CHARACTER}fish live"


def test_relevant_documents_of_outside_queries_are_named(bench, olga):
    rows = '{"query": "the moon", "positives": ["d3"]}\n{"query": "x y", "positives": ["d4"]}\n'

    check = checked(bench, olga, rows, "train.jsonl")

    assert found(check) == {"q3": "document"}


def test_a_sketch_with_the_salt_of_the_page_finds_the_same_without_texts(bench, olga, tmp_path):
    path = tmp_path / "train.sketch"
    hasher = Hasher(contamination.salt_of(bench))
    write_sketch([(text, ()) for text in OUTSIDE.splitlines()], path, hasher=hasher)

    check = checked(bench, olga, path.read_bytes(), "train.sketch")

    assert check.kind == ContaminationCheck.Kind.SKETCH
    assert found(check)["q1"] == "exact"
    assert not check.matches.exclude(outside_text="").exists()


def test_a_sketch_with_a_salt_of_its_owners_needs_that_salt(bench, olga, tmp_path):
    path = tmp_path / "train.sketch"
    salt = "a salt of the owner's"
    write_sketch([("how long do goldfish live", ())], path, hasher=Hasher(salt))
    upload = uploaded(bench, olga, path.read_bytes(), "train.sketch")

    with pytest.raises(OtherSaltError, match="another salt"):
        contamination.start_check(benchmark=bench, user=olga, upload=upload)

    check = checked(bench, olga, path.read_bytes(), "train.sketch", name="again", salt=salt)
    assert found(check) == {"q1": "exact"}


def test_what_cannot_be_checked_says_why(bench, olga):
    upload = uploaded(bench, olga, OUTSIDE)
    factories.contamination_check(bench, "train")
    empty = factories.benchmark("empty")

    with pytest.raises(CheckNameTakenError, match="choose another name"):
        contamination.check_arguments(benchmark=bench, upload=upload, name="train")
    with pytest.raises(NothingToCheckError):
        contamination.check_arguments(benchmark=empty, upload=upload, name="other")
    damaged = uploaded(bench, olga, b"benchwright-sketch 9\n{}\n", "a.sketch")
    with pytest.raises(SketchFormatError, match="version 9"):
        contamination.check_arguments(benchmark=bench, upload=damaged)


def test_a_list_with_wrong_lines_fails_and_stores_nothing(bench, olga):
    upload = uploaded(bench, olga, '{"text": "one"}\n{"text": 7}\n', "train.jsonl")
    job = contamination.start_check(benchmark=bench, user=olga, upload=upload)

    jobs.execute(job.pk, has_heartbeat=False)

    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert job.problems == [
        {"file": "train.jsonl", "line": 2, "text": "text is 7; expected the words of a query"}
    ]
    assert not ContaminationCheck.objects.exists()


def test_the_clean_subset_becomes_a_slice(bench, olga):
    check = checked(bench, olga, OUTSIDE, name="train")

    clean_slice = contamination.make_clean_slice(check=check, user=olga)
    strict = contamination.clean_qids(
        check, [contamination.Degree.EXACT, contamination.Degree.POSSIBLE]
    )

    members = clean_slice.members.values_list("query__qid", flat=True)
    assert (clean_slice.name, sorted(members)) == ("clean-train", ["q2", "q3"])
    other = checked(bench, olga, OUTSIDE, file="other.txt", name="Train")
    assert contamination.clean_slice_name(other) == f"clean-train-{other.pk}"
    assert strict == ["q3"]


def test_queries_that_were_not_looked_for_are_not_called_clean(bench, olga, monkeypatch):
    """One that came while the lists were compared, one of an import, and one that was left out."""
    staging = Job.objects.create(kind="x", title="x", benchmark=bench)
    imported = factories.query(bench, "staged", "new one", staged_by=staging)
    left_out = factories.query(bench, "out", "another one", excluded_reason="a duplicate")

    compared = contamination._compared

    def slowly(*args):
        factories.query(bench, "meanwhile", "third one")
        return compared(*args)

    monkeypatch.setattr(contamination, "_compared", slowly)
    check = checked(bench, olga, OUTSIDE)
    type(imported).objects.filter(pk=imported.pk).update(staged_by=None)
    type(left_out).objects.filter(pk=left_out.pk).update(excluded_reason="")

    assert contamination.clean_qids(check) == ["q2", "q3"]


def test_queries_that_came_after_the_check_are_not_called_clean(bench, olga):
    check = checked(bench, olga, OUTSIDE)

    factories.query(bench, "q9", "how long do goldfish live")

    assert contamination.clean_qids(check) == ["q2", "q3"]


def test_pages_list_show_slice_and_delete(bench, olga, client):
    client.force_login(olga)
    new = reverse("contamination-new", args=[bench.slug])
    sent = client.post(new, {"file": SimpleUploadedFile("t.txt", OUTSIDE.encode()), "name": "t"})
    jobs.run_queued()
    check = ContaminationCheck.objects.get()
    page = reverse("contamination-detail", args=[bench.slug, check.pk])

    text = client.get(page).content.decode()
    clean = client.get(reverse("contamination-clean", args=[bench.slug, check.pk]))
    client.post(reverse("contamination-slice", args=[bench.slug, check.pk]))
    listed = client.get(reverse("contamination-list", args=[bench.slug])).content.decode()
    client.post(reverse("contamination-delete", args=[bench.slug, check.pk]))

    assert sent.status_code == 302
    assert "How long do GOLDFISH live?" in text
    assert clean.content == b"query-id\nq2\nq3\n"
    assert bench.slices.filter(name="clean-t").exists()
    assert page in listed
    assert not ContaminationCheck.objects.exists()


def test_matches_by_document_are_shown_to_keepers_alone(bench, olga, client):
    rows = '{"query": "the moon", "positives": ["d3"]}\n'
    check = checked(bench, olga, rows, "train.jsonl")
    page = reverse("contamination-detail", args=[bench.slug, check.pk])
    matches, detail = (
        reverse(f"api:contamination-{of}", args=[bench.slug, check.pk])
        for of in ("matches", "detail")
    )
    checks = reverse("api:contamination-list", args=[bench.slug])

    def told(person):
        client.force_login(person)
        text = client.get(page).content.decode()
        (row, *_) = client.get(detail).json()["slices"]
        (listed,) = client.get(checks).json()["results"]
        assert listed["slices"][0] == row
        results = client.get(matches).json()["results"]
        return ["Same documents" in text, "night watch" in text, "n_document" in row, len(results)]

    assert told(olga) == [True, True, True, 1]
    assert told(factories.member(bench, "vi", Role.VIEWER)) == [False, False, False, 0]


def test_command_checks_a_file_and_makes_the_slice(bench, olga, tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(OUTSIDE)
    out = StringIO()

    call_command("check_contamination", "clean", path, make_slice=True, stdout=out)
    call_command("check_contamination", "clean", show_salt=True, stdout=out)

    assert "all queries: 3 queries, 1 the same, 0 nearly, 1 possibly, 2 clean" in out.getvalue()
    assert "slice clean-traintxt" in out.getvalue()
    assert contamination.salt_of(bench) in out.getvalue()
    with pytest.raises(CommandError, match="no such file"):
        call_command("check_contamination", "clean", tmp_path / "nothing.txt")
