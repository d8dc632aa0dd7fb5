"""Sets of qrels: how much of them is relevant, mapped anew, deleted."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from benchmarks_app.common.selectors.qrel_sets import merged_before
from benchmarks_app.common.selectors.reading import qrels_of
from benchmarks_app.models import AuditEvent, Job, Qrel, QrelSet, Upload
from benchmarks_app.releases.services.drafting import create_draft
from benchmarks_app.releases.services.qrel_sets import delete_qrels, map_qrels
from benchwright.exports import card
from benchwright.formats.errors import (
    GradeNotOnScaleError,
    NothingMappedError,
    QrelSetInUseError,
    QrelSetNotImportedError,
)
from tests import factories

pytestmark = pytest.mark.django_db

# Of a scale on which 2 and 3 are relevant: none is.
ONES = b"q1 0 d1 1\nq1 0 d2 1\nq2 0 d3 1\n"
TWOS = b"q1 0 d1 1\nq1 0 d2 2\nq2 0 d3 3\n"


@pytest.fixture
def asked(benchmark):
    benchmark.grades.filter(value=1).update(is_relevant=False)
    for qid in ("q1", "q2"):
        factories.query(benchmark, qid)
    return benchmark


@pytest.fixture
def ones(asked):
    factories.done(factories.imported(asked, ONES, "ones.qrels"))
    return asked.qrel_sets.get()


@pytest.fixture
def olga(owner, client):
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


# --- how much is relevant ------------------------------------------------------------------------


def test_import_without_a_relevant_grade_warns_and_any_other_says_how_many(asked):
    none = factories.done(factories.imported(asked, ONES, "ones.qrels"))
    some = factories.done(factories.imported(asked, ONES + b"q2 0 d4 3\n", "more.qrels"))

    assert none.result["notes"][0].startswith(
        "WARNING: None of the 3 grades counts as relevant (from grade 2 on): every score would be 0"
    )
    assert "1 of 4 grades count as relevant (from grade 2 on)." in some.result["notes"]


def test_command_prints_the_warning(asked, tmp_path, owner):
    path = tmp_path / "ones.qrels"
    path.write_bytes(ONES)
    result = StringIO()

    call_command("import_file", asked.slug, path, stdout=result, stderr=result)

    assert "note: WARNING: None of the 3 grades counts as relevant" in result.getvalue()


def test_page_counts_what_is_relevant_as_the_grades_are_mapped(asked, olga):
    upload = factories.waiting_upload(asked, "ones.qrels", ONES)
    address = f"/b/{asked.slug}/import/{upload.pk}/"

    before = olga.get(address).content.decode()
    mapped = olga.post(address, {"look": "1", "grade_1": "2"}).content.decode()

    assert "Nothing would be relevant" in before
    assert "None of the 3 grades counts as relevant" in before
    assert "does it list the relevant ones alone?" in before
    assert "Nothing would be relevant" not in mapped
    assert "3 of 3 grades count as relevant" in mapped


@pytest.mark.parametrize("sent", ["--2", "-", "x"])
def test_page_takes_no_nonsense_for_a_grade(asked, ones, olga, sent):
    upload = factories.waiting_upload(asked, "more.qrels", ONES + b"q2 0 d4 1\n")

    looked = olga.post(f"/b/{asked.slug}/import/{upload.pk}/", {"look": "1", "grade_1": sent})
    mapped = olga.post(f"/b/{asked.slug}/qrels/{ones.pk}/map/", {"map": "1", "grade_1": sent})

    assert looked.status_code == 200
    assert mapped.status_code == 422


def test_page_takes_what_unlisted_documents_are(asked, olga, do_jobs):
    upload = factories.waiting_upload(asked, "ones.qrels", ONES)
    sent = {"import": "1", "grade_1": "2", "unlisted": "not-relevant"}

    assert olga.post(f"/b/{asked.slug}/import/{upload.pk}/", sent).status_code == 302
    do_jobs()

    record = asked.qrel_sets.get()
    assert (record.unlisted, record.n_relevant) == ("not-relevant", 3)


@pytest.mark.parametrize(
    ("name", "words", "kind"),
    [
        ("gpt-4o.qrels", None, "machine"),
        ("gpt-4o.qrels", False, "imported"),
        ("ones.qrels", None, "imported"),
        ("ones.qrels", True, "machine"),
    ],
)
def test_grades_of_a_machine_are_a_set_of_that_kind(asked, name, words, kind):
    job = factories.done(factories.imported(asked, ONES, name, machine=words))

    assert asked.qrel_sets.get().kind == kind
    assert any("a machine's grades" in note for note in job.result["notes"]) is (kind == "machine")


def test_page_asks_whether_a_machine_gave_the_grades(asked, olga, do_jobs):
    upload = factories.waiting_upload(asked, "llama-3-70b.qrels", ONES)
    url = f"/b/{asked.slug}/import/{upload.pk}/"

    assert olga.get(url).context["options"]["machine"].value() is True
    olga.post(url, {"import": "1", "grade_1": "2", "name": "by a model", "machine": "on"})
    do_jobs()

    assert asked.qrel_sets.get().kind == "machine"


def test_api_takes_that_a_machine_gave_the_grades(asked, olga, do_jobs):
    start = f"/api/v1/benchmarks/{asked.slug}/uploads/"
    pk = olga.post(start, {"file": SimpleUploadedFile("ones.qrels", ONES)}).json()["id"]

    answer = olga.post(f"{start}{pk}/import/", {"machine": True}, content_type="application/json")
    do_jobs()

    assert (answer.status_code, asked.qrel_sets.get().kind) == (202, "machine")


def test_card_says_that_a_machine_gave_the_grades():
    facts = {"grades": [], "threshold": 1, "qrels": {"name": "x", "kind": "machine"}}

    assert "A machine gave these grades" in next(card._grades(facts))
    facts["qrels"]["kind"] = "imported"
    assert "A machine" not in next(card._grades(facts))


def test_api_tells_before_the_import(asked, olga):
    start = f"/api/v1/benchmarks/{asked.slug}/uploads/"
    pk = olga.post(start, {"file": SimpleUploadedFile("ones.qrels", ONES)}).json()["id"]

    answer = olga.get(f"{start}{pk}/").json()

    assert (answer["n_graded"], answer["n_relevant"]) == (3, 0)
    assert answer["warnings"][0].startswith("None of the 3 grades counts as relevant")


# --- mapped anew ---------------------------------------------------------------------------------


def test_a_set_is_mapped_as_a_new_one_beside_it(ones, owner):
    qrels = map_qrels(qrel_set=ones, actor=owner, grade_map="1=3", unlisted="not-relevant")

    assert (qrels.name, qrels.n_qrels, qrels.n_relevant) == ("ones (2)", 3, 3)
    assert qrels.unlisted == "not-relevant"
    assert list(qrels_of(qrels)) == [("q1", "d1", 3), ("q1", "d2", 3), ("q2", "d3", 3)]
    assert {grade for *_, grade in qrels_of(ones)} == {1}
    assert qrels.digest != ones.digest
    assert qrels.parameters["mapped_from"] == "ones"
    event = AuditEvent.objects.get(action="map-qrels")
    assert (event.actor, event.target, event.detail["grade_map"]) == (owner, qrels.name, {"1": 3})


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (NothingMappedError, {}),
        (NothingMappedError, {"grade_map": "2=3", "unlisted": "unknown"}),
        (GradeNotOnScaleError, {"grade_map": "1=7"}),
    ],
)
def test_what_cannot_be_mapped_is_refused_and_nothing_is_made(ones, owner, error, options):
    with pytest.raises(error):
        map_qrels(qrel_set=ones, actor=owner, **options)

    assert QrelSet.objects.count() == 1


def test_pair_that_nobody_judged_stays_one_in_the_mapped_set(ones, owner):
    Qrel.objects.filter(qrel_set=ones, docid="d2").update(grade=-1)

    mapped = map_qrels(qrel_set=ones, actor=owner, grade_map="1=2")

    assert dict(mapped.qrels.values_list("docid", "grade")) == {"d1": 2, "d2": -1, "d3": 2}
    assert mapped.n_relevant == 2


def test_a_set_of_judgments_is_derived_again_and_not_mapped(ones, owner):
    QrelSet.objects.update(kind="human")
    ones.refresh_from_db()

    with pytest.raises(QrelSetNotImportedError, match="Derive it again"):
        map_qrels(qrel_set=ones, actor=owner, grade_map="1=2")


def test_page_command_and_api_map(ones, olga):
    start = f"/b/{ones.benchmark.slug}/qrels/{ones.pk}/map/"
    assert "Nothing would be relevant" in olga.get(start).content.decode()

    counted = olga.post(start, {"look": "1", "grade_1": "2", "unlisted": "unknown"})
    by_page = olga.post(start, {"map": "1", "grade_1": "2", "unlisted": "unknown", "name": "page"})
    call_command("map_qrels", ones.benchmark.slug, "ones", grade_map="1=2", name="command")
    by_api = olga.post(
        f"/api/v1/benchmarks/{ones.benchmark.slug}/qrels/{ones.pk}/map/",
        json.dumps({"grade_map": "1=2", "name": "api"}),
        content_type="application/json",
    )

    assert "3 of 3 grades count as relevant" in counted.content.decode()
    assert (by_page.status_code, by_api.status_code) == (302, 201)
    assert by_api.json()["n_relevant"] == 3
    others = QrelSet.objects.exclude(pk=ones.pk)
    assert {case.name: case.n_relevant for case in others} == {"page": 3, "command": 3, "api": 3}


def test_page_says_why_nothing_was_made(ones, olga):
    sent = {"map": "1", "grade_1": "1", "unlisted": "unknown"}

    refused = olga.post(f"/b/{ones.benchmark.slug}/qrels/{ones.pk}/map/", sent)

    assert refused.status_code == 422
    assert "would be &#x27;ones&#x27; again" in refused.content.decode()


def test_page_and_command_tell_what_an_earlier_mapping_made_one(asked, olga, capsys):
    factories.done(factories.imported(asked, TWOS, "a.qrels", grade_map="2=3"))
    merged = asked.qrel_sets.get()
    address = f"/b/{asked.slug}/qrels/{merged.pk}/map/"

    page = olga.get(address).content.decode()
    call_command("map_qrels", asked.slug, "a", grade_map="3=1,1=0", name="b")

    text = "an earlier mapping made one stay one: 2 and 3 of the file are 3 here"
    assert text in page
    assert text in capsys.readouterr().err
    later = merged_before(QrelSet.objects.get(name="b"))
    assert "2 and 3 of the file are 1 here" in later
    assert "delete what was made of the file, and import it again" in later


def test_a_set_that_still_has_the_grades_apart_is_named(asked, owner):
    factories.done(factories.imported(asked, TWOS, "a.qrels"))
    apart = asked.qrel_sets.get()

    qrels = map_qrels(qrel_set=apart, actor=owner, grade_map="2=3")

    assert merged_before(apart) == ""
    assert "map 'a' instead, which still has them apart" in merged_before(qrels)


# --- deleted -------------------------------------------------------------------------------------


def test_a_deleted_set_is_gone_and_its_file_comes_in_again_with_another_mapping(ones, owner):
    delete_qrels(qrel_set=ones, actor=owner)

    event = AuditEvent.objects.get(action="delete-qrels")
    assert (event.actor, event.target, event.detail["grades"]) == (owner, "ones", {"1": 3})
    assert not Qrel.objects.exists()
    again = factories.imported(event.benchmark, ONES, "ones.qrels", grade_map="1=2")
    assert factories.done(again)
    assert QrelSet.objects.get().n_relevant == 3


def test_a_file_that_became_more_than_a_set_is_not_forgotten(owner):
    tiny = factories.tiny_benchmark()

    delete_qrels(qrel_set=tiny.qrel_sets.get(), actor=owner)

    assert Upload.objects.get(benchmark=tiny).imported_as


def test_a_file_of_which_a_mapped_set_is_left_is_not_forgotten(ones, owner):
    mapped = map_qrels(qrel_set=ones, actor=owner, grade_map="1=2")

    delete_qrels(qrel_set=ones, actor=owner)
    assert Upload.objects.get().imported_as

    delete_qrels(qrel_set=mapped, actor=owner)
    assert not Upload.objects.get().imported_as


def test_releases_drafts_and_jobs_that_use_a_set_are_named_and_keep_it(asked, owner):
    used = factories.qrel_set(asked, {("q1", "d1"): 2}, name="used")
    QrelSet.objects.filter(pk=used.pk).update(n_relevant=1)
    used.refresh_from_db()
    factories.release(used, "1.0.0")
    create_draft(user=owner, qrel_set=used)

    with pytest.raises(QrelSetInUseError, match=r"used by release 1\.0\.0, draft .* and stays"):
        delete_qrels(qrel_set=used, actor=owner)
    assert QrelSet.objects.filter(pk=used.pk).exists()


def test_a_job_that_waits_for_a_set_keeps_it(ones, owner):
    Job.objects.create(
        benchmark=ones.benchmark,
        created_by=owner,
        kind="publish-release",
        title="Publish 1.0.0",
        parameters={"qrel_set": ones.pk},
    )

    with pytest.raises(QrelSetInUseError, match=r"the job 'Publish 1\.0\.0'"):
        delete_qrels(qrel_set=ones, actor=owner)


def test_page_command_and_api_delete(ones, olga):
    for name in ("b", "c"):
        map_qrels(qrel_set=ones, actor=None, grade_map="1=2", name=name)
    of = {row.name: row.pk for row in QrelSet.objects.all()}
    slug = ones.benchmark.slug

    by_page = olga.post(f"/b/{slug}/qrels/{of['ones']}/delete/")
    call_command("delete_qrels", slug, "b")
    by_api = olga.delete(f"/api/v1/benchmarks/{slug}/qrels/{of['c']}/")

    assert (by_page.status_code, by_api.status_code) == (302, 204)
    assert not QrelSet.objects.exists()


def test_command_names_the_sets_that_there_are(ones):
    with pytest.raises(CommandError, match=r"No qrels 'x' in .* There are: ones"):
        call_command("delete_qrels", ones.benchmark.slug, "x")
