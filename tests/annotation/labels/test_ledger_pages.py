"""The pages of what was judged: the list, one pair's history, exports, imports, stale labels."""

import json
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.html import escape

from annotation.labels.services.publishing import publishing_arguments
from annotation.models import Judgment
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, DocumentContent, QrelSet, QueryFamily
from benchwright.qrels.rules import DEFAULT_RULE
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(benchmark, ada, mia):
    """d1 of q1, graded 0 by Ada and 3 by Mia."""
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    for slot, who, grade in zip(
        small_pool.slots.order_by("number"), (ada, mia), (0, 3), strict=True
    ):
        judge(slot, who, grade)
    return small_pool


@pytest.fixture
def mia(maintainer):
    return maintainer


def pair_url(benchmark, docid="d1") -> str:
    return reverse("annotation:pair-detail", args=["stdlib", benchmark.queries.get().pk, docid])


def published(benchmark, owner, name="ours", **more) -> QrelSet:
    arguments = publishing_arguments(benchmark=benchmark, name=name, rule=DEFAULT_RULE.name, **more)
    factories.done(jobs.run_here(benchmark=benchmark, user=owner, **arguments))
    return benchmark.qrel_sets.get(name=name)


def test_history_names_people_to_the_owner_and_not_to_an_adjudicator(
    benchmark, judged, owner, bo, signed_in
):
    full = signed_in(owner).get(pair_url(benchmark)).content.decode()
    blind = signed_in(bo).get(pair_url(benchmark)).content.decode()

    main = blind.partition("<main")[2]
    assert "<td>ada</td>" in full
    assert ">ada" not in main
    assert main.count("annotator-") == 2


def test_adjudicator_does_not_see_a_pair_on_which_people_agree(benchmark, bo, ada, signed_in):
    judge(pool(benchmark, {"q1": ["d1"]}).slots.get(), ada, 2)

    assert signed_in(bo).get(pair_url(benchmark)).status_code == 403


def test_adjudicator_does_not_see_a_pair_they_have_judged(benchmark, ada, bo, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    for slot, who, grade in zip(
        small_pool.slots.order_by("number"), (ada, bo), (0, 3), strict=True
    ):
        judge(slot, who, grade)

    assert signed_in(bo).get(pair_url(benchmark)).status_code == 403


def test_adjudicator_is_not_told_what_was_a_hidden_check(benchmark, judged, bo, ada, signed_in):
    hidden = Judgment.objects.create(
        benchmark=benchmark,
        query=benchmark.queries.get(),
        docid="d1",
        kind="grade",
        grade=1,
        purpose="gold",
        actor=ada,
        client_id=uuid.uuid4(),
    )

    text = signed_in(bo).get(pair_url(benchmark)).content.decode()

    assert f"event-{hidden.pk}" not in text
    assert "hidden check" not in text


def test_adjudicator_is_not_told_what_a_machines_set_says(benchmark, judged, bo, owner, signed_in):
    machines = factories.qrel_set(benchmark, {("q1", "d1"): 1}, name="by-a-machine")
    QrelSet.objects.filter(pk=machines.pk).update(kind=QrelSet.Kind.MACHINE)
    factories.qrel_set(benchmark, {("q1", "d1"): 1}, name="from-a-file")
    address = reverse("api:pair-detail", args=[benchmark.slug])

    for person, names in ((bo, {"from-a-file"}), (owner, {"from-a-file", "by-a-machine"})):
        client = signed_in(person)
        rows = client.get(pair_url(benchmark)).context["grades"]
        assert {row.qrel_set.name for row in rows} == names
        pair = client.get(address, {"query": "q1", "document": "d1"}).json()
        assert {row["qrels"] for row in pair["grades"]} == names


def test_undone_label_is_struck_through_and_says_by_what(benchmark, owner, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    first = judge(small_pool.slots.get(), ada, 2)
    second = judge(small_pool.slots.get(), ada, 3)

    text = signed_in(owner).get(pair_url(benchmark)).content.decode()

    row = text.partition(f'id="event-{first.pk}"')[2].partition("</tr>")[0]
    assert "<s>" in row
    assert f'replaced by <a href="#event-{second.pk}">' in row
    assert "<s>" not in text.partition(f'id="event-{second.pk}"')[2].partition("</tr>")[0]


def test_each_set_of_qrels_says_step_by_step_how_it_came_to_its_grade(
    benchmark, owner, ada, signed_in
):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    judge(small_pool.slots.get(), ada, 2)
    published(benchmark, owner)
    judge(small_pool.slots.get(), ada, 3)
    published(benchmark, owner, "later")
    factories.qrel_set(benchmark, {("q1", "d1"): 1}, name="official")

    response = signed_in(owner).get(pair_url(benchmark))

    grades = {str(row.qrel_set): row for row in response.context["grades"]}
    assert {name: row.grade for name, row in grades.items()} == {
        "ours": 2,
        "later": 3,
        "official": 1,
    }
    assert [step.title for step in grades["later"].steps][:2] == ["Left out", "Labels that count"]
    assert not any(row.differs for row in grades.values())
    assert b"It stood so in the file" in response.content


def test_stale_label_says_which_text_was_shown(benchmark, owner, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    document = small_pool.entries.get().document
    event = Judgment.objects.create(
        benchmark=benchmark,
        query=benchmark.queries.get(),
        docid="d1",
        kind="grade",
        grade=1,
        actor=ada,
        pool=small_pool,
        slot=small_pool.slots.get(),
        client_id=uuid.uuid4(),
        content_hash="hash of d1",
    )
    DocumentContent.objects.create(document=document, content_hash="new", text="Another")

    client = signed_in(owner)
    text = client.get(pair_url(benchmark)).content.decode()
    listed = client.get(
        reverse("annotation:stale-list", args=["stdlib", small_pool.pk])
    ).content.decode()

    row = text.partition(f'id="event-{event.pk}"')[2].partition("</tr>")[0]
    assert "text 1 of 2" in row
    assert "stale" in row
    assert "Have 1 judged again" in listed


def test_offering_from_the_page_queues_the_label(benchmark, owner, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    judge(small_pool.slots.get(), ada, 1)
    url = reverse("annotation:stale-offer", args=["stdlib", small_pool.pk])

    response = signed_in(owner).post(url, follow=True)

    assert "0 documents will be judged again" in response.content.decode()
    assert not small_pool.slots.filter(kind="rejudge").exists()


@pytest.mark.parametrize("split", ["test", "train"])
def test_reading_labels_of_test_queries_is_recorded(benchmark, judged, owner, signed_in, split):
    QueryFamily.objects.update(split=split)
    client = signed_in(owner)

    client.get(pair_url(benchmark))
    client.get(reverse("annotation:judgment-list", args=["stdlib"]))

    assert AuditEvent.objects.filter(action="read-judgments").count() == 2 * (split == "test")


def test_one_persons_view_is_explained_by_what_they_said(benchmark, judged, owner, mia, signed_in):
    published(benchmark, owner, "mia's", annotator=mia)

    (row,) = signed_in(owner).get(pair_url(benchmark)).context["grades"]

    assert (row.grade, row.derived, row.differs) == (3, 3, False)


def test_pair_that_nobody_knows_is_not_found(benchmark, judged, owner, signed_in):
    assert signed_in(owner).get(pair_url(benchmark, "nowhere")).status_code == 404


def test_document_id_with_slashes_and_quotes_has_a_page(benchmark, owner, ada, signed_in):
    docid = 'a/b?c=1#"x"&é'
    judge(pool(benchmark, {"q1": [docid]}).slots.get(), ada, 2)

    listed = signed_in(owner).get(reverse("annotation:judgment-list", args=["stdlib"]))
    response = signed_in(owner).get(pair_url(benchmark, docid))

    assert escape(pair_url(benchmark, docid)) in listed.content.decode()
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("asked", "n"), [("", 2), ("?q=q1", 2), ("?q=nothing", 0), ("?kind=import", 0), ("?kind=x", 2)]
)
def test_list_shows_what_is_asked_for(benchmark, judged, owner, signed_in, asked, n):
    url = reverse("annotation:judgment-list", args=["stdlib"])

    assert len(signed_in(owner).get(url + asked).context["page"].object_list) == n


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_export_is_a_file_that_is_sent_while_it_is_read(benchmark, judged, owner, signed_in, form):
    url = reverse("annotation:judgments-export", args=["stdlib"])

    response = signed_in(owner).get(f"{url}?format={form}")

    lines = b"".join(response.streaming_content).decode().splitlines()
    assert response.streaming
    assert f'filename="stdlib-judgments.{form}"' in response["Content-Disposition"]
    assert len(lines) == 2 + (form == "csv")
    if form == "jsonl":
        assert [json.loads(line)["grade"] for line in lines] == [0, 3]


def test_export_in_an_unknown_format_is_not_found(benchmark, owner, signed_in):
    url = reverse("annotation:judgments-export", args=["stdlib"])

    assert signed_in(owner).get(f"{url}?format=xls").status_code == 404


def test_labels_are_imported_from_the_page_by_a_job(benchmark, owner, signed_in, do_jobs):
    factories.query(benchmark, "q1")
    url = reverse("annotation:judgments-import", args=["stdlib"])
    file = SimpleUploadedFile("eve.qrels", b"q1 0 d1 2\n")

    response = signed_in(owner).post(url, {"file": file})
    (job,) = do_jobs()

    assert response["Location"] == job.get_absolute_url()
    assert job.result["n_labels"] == 1
    assert Judgment.objects.get().actor == owner


def test_page_asks_who_the_raters_of_a_file_are(benchmark, owner, ada, signed_in, do_jobs):
    factories.query(benchmark, "q1")
    url = reverse("annotation:judgments-import", args=["stdlib"])
    rows = b"query-id\tcorpus-id\tgrade\trater\nq1\td1\t2\tW1\nq1\td1\t3\tgpt-4o\nq1\td1\t1\tada\n"
    client, file = signed_in(owner), SimpleUploadedFile("crowd.tsv", rows)

    asked = client.post(url, {"file": file, "source": "the crowd"})

    (upload,) = benchmark.uploads.all()
    raters = asked.context["raters"]
    assert {field.label: field.initial for field, _ in raters.rows} == {
        "W1": "",
        "gpt-4o": "machine",
        "ada": "account:ada",
    }
    answers = {field.html_name: field.initial for field, _ in raters.rows}
    twice = dict.fromkeys(answers, "account:ada")
    refused = client.post(url, {"upload": upload.pk, "source": "the crowd", **twice})
    assert refused.status_code == 422
    assert "would all be &#x27;ada&#x27;" in refused.content.decode()
    assert (
        client.post(url, {"upload": upload.pk, "source": "the crowd", **answers}).status_code == 302
    )
    do_jobs()
    events = Judgment.events.order_by("grade").values_list("kind", "actor__username", "rater")
    assert list(events) == [
        ("import", "ada", ""),
        ("import", "olga", "W1"),
        ("machine", "olga", "gpt-4o"),
    ]
    assert Judgment.objects.first().source.startswith("the crowd")


def test_raters_beyond_those_asked_about_are_what_their_names_say(
    benchmark, owner, signed_in, do_jobs, monkeypatch
):
    monkeypatch.setattr("annotation.labels.forms.ledger.MOST_ASKED", 1)
    factories.query(benchmark, "q1")
    url = reverse("annotation:judgments-import", args=["stdlib"])
    rows = b"query-id\tcorpus-id\tgrade\trater\nq1\td1\t2\tW1\nq1\td2\t2\tW1\nq1\td1\t3\tgpt-4o\n"
    client, file = signed_in(owner), SimpleUploadedFile("crowd.tsv", rows)
    client.post(url, {"file": file})

    client.post(url, {"upload": benchmark.uploads.get().pk, "rater-0": ""})
    do_jobs()

    kinds = dict(Judgment.events.values_list("rater", "kind"))
    assert kinds == {"W1": "import", "gpt-4o": "machine"}


def test_file_of_somebody_else_is_not_to_be_named_as_ones_own(
    benchmark, owner, maintainer, signed_in
):
    url = reverse("annotation:judgments-import", args=["stdlib"])
    file = SimpleUploadedFile("eve.qrels", b"q1 0 d1 2\n")
    signed_in(owner).post(url, {"file": file, "rater": "Eve"})

    response = signed_in(maintainer).post(url, {"upload": benchmark.uploads.get().pk})

    assert response.status_code == 422


def test_import_page_says_what_is_wrong_with_the_mapping(benchmark, owner, signed_in):
    url = reverse("annotation:judgments-import", args=["stdlib"])
    file = SimpleUploadedFile("eve.qrels", b"q1 0 d1 2\n")

    response = signed_in(owner).post(url, {"file": file, "grade_map": "one=two"})

    assert response.status_code == 422
    assert "is not a grade mapping" in response.content.decode()
