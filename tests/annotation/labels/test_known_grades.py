"""Documents whose grade is known: set, taken over, read from files, removed."""

import uuid
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.judging.services.starting import record_practice
from annotation.labels.selectors.known_grades import known_grades_of, settled_pairs, settled_rows
from annotation.models import Judgment, KnownGrade, Pool, PoolEntry, Slot
from benchmarks_app.models import Benchmark
from benchwright.ids import content_hash
from benchwright.qrels.known_grades import PURPOSES, known_grades_in
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db
LIST, IMPORT, SETTLED = "known-grade-list", "known-grade-import", "known-grade-settled"


@pytest.fixture
def tiny(db):
    return factories.tiny_benchmark()


@pytest.fixture
def olga(tiny):
    return factories.member(tiny, "olga", "owner")


@pytest.fixture
def small_pool(tiny) -> Pool:
    return pool(tiny, {"1": ["d-tab"]})


def url(view: str, of: Pool) -> str:
    return reverse(f"annotation:{view}", args=[of.benchmark.slug, of.pk])


def add(client, of: Pool, **values):
    known = {"qid": "1", "docid": "d-tab", "grade": 2, "purpose": "gold", "explanation": ""}
    return client.post(url(LIST, of), known | values)


def test_a_pair_of_the_pool_gets_its_grade(small_pool, olga, signed_in):
    answer = add(signed_in(olga), small_pool, explanation="It says so.")

    assert answer.status_code == 302
    known = KnownGrade.objects.get()
    assert (known.grade, known.purpose, known.explanation) == (2, "gold", "It says so.")
    assert known.entry == PoolEntry.objects.get(document__docid="d-tab")
    assert known.set_by == olga


def test_a_pair_beside_the_pool_becomes_an_entry_with_its_text_and_no_slot(
    small_pool, olga, signed_in
):
    add(signed_in(olga), small_pool, qid="q-quote", docid="d-quote", purpose="practice")

    entry = PoolEntry.objects.get(document__docid="d-quote")
    content = entry.document.contents.get()
    assert (entry.origin, entry.best_rank, entry.contributors) == ("known", None, {})
    assert content.content_hash == content_hash(content.title, content.text)
    assert content.text
    assert not entry.slots.exists()
    small_pool.refresh_from_db()
    assert small_pool.n_wanted == 1


def test_a_second_grade_takes_the_place_of_the_first(small_pool, olga, signed_in):
    client = signed_in(olga)
    add(client, small_pool, grade=2)
    add(client, small_pool, grade=3, purpose="practice")

    assert KnownGrade.objects.values_list("grade", "purpose").get() == (3, "practice")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"docid": "nothing"}, "the corpus has no text of this document"),
        ({"qid": "nothing"}, "no such query in this benchmark"),
        ({"grade": 7}, "Select a valid choice"),
        ({"purpose": "label"}, "Select a valid choice"),
    ],
)
def test_what_is_not_there_is_refused_on_the_form(small_pool, olga, signed_in, values, words):
    answer = add(signed_in(olga), small_pool, **values)

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not KnownGrade.objects.exists()


def upload(client, of: Pool, text: str, purpose: str = "gold"):
    file = SimpleUploadedFile("known.tsv", text.encode())
    return client.post(url(IMPORT, of), {"file": file, "purpose": purpose})


def test_a_file_sets_many(small_pool, olga, signed_in):
    rows = "query-id\tcorpus-id\tgrade\tpurpose\texplanation\n1\td-tab\t3\t\t\n"
    rows += "q-quote\td-quote\t0\tpractice\tAbout something else.\n"

    answer = upload(signed_in(olga), small_pool, rows)

    assert answer.status_code == 302
    result = KnownGrade.objects.order_by("pk")
    assert [
        (known_grade.purpose, known_grade.grade, known_grade.explanation) for known_grade in result
    ] == [
        ("gold", 3, ""),
        ("practice", 0, "About something else."),
    ]


def test_a_file_with_wrong_lines_changes_nothing_and_names_them(small_pool, olga, signed_in):
    rows = "query-id\tcorpus-id\tgrade\tpurpose\n1\td-tab\t3\t\n1\td-tab\tx\t\nq0\td-tab\t1\t\n"
    rows += "1\tno-doc\t1\t\n1\td-tab\t1\tsport\n"

    answer = upload(signed_in(olga), small_pool, rows)

    page = answer.content.decode()
    assert answer.status_code == 422
    for line in ("known.tsv:3", "known.tsv:4", "known.tsv:5", "known.tsv:6"):
        assert line in page
    assert "known.tsv:2" not in page
    assert not KnownGrade.objects.exists()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1\td-tab\t2\t\t", "is in line 2 already"),
        ("1\td-tab\t3\tpractice\t", "is in line 2 already"),
        ("q-quote\td-quote\t0\t\tA\x00B", "U+0000"),
    ],
    ids=["another grade", "another purpose", "NUL"],
)
def test_a_file_that_says_two_things_or_holds_nul_is_refused(
    small_pool, olga, signed_in, row, words
):
    rows = f"query-id\tcorpus-id\tgrade\tpurpose\texplanation\n1\td-tab\t3\t\t\n{row}\n"

    answer = upload(signed_in(olga), small_pool, rows)

    assert answer.status_code == 422
    assert "known.tsv:3" in answer.content.decode()
    assert words in answer.content.decode()
    assert not KnownGrade.objects.exists()


@pytest.mark.parametrize("text", ["no header\n1\td-tab\t3\n", ""])
def test_a_file_of_another_kind_is_refused(small_pool, olga, signed_in, text):
    answer = upload(signed_in(olga), small_pool, text)

    # The form refuses an empty one; of another its first line is told.
    assert answer.status_code == (422 if text else 302)
    words = "known.tsv:1: the first line must name query-id"
    assert (words in answer.content.decode()) == bool(text)
    assert not KnownGrade.objects.exists()


def test_a_file_is_read_apart(small_pool, olga, signed_in, monkeypatch):
    monkeypatch.setattr("benchwright.qrels.known_grades._rows", None)

    answer = upload(signed_in(olga), small_pool, "query-id\tcorpus-id\tgrade\n1\td-tab\t3\n")

    assert answer.status_code == 302
    assert KnownGrade.objects.get().grade == 3


def test_a_file_that_takes_too_much_is_told(small_pool, olga, signed_in, settings):
    settings.READ_MEMORY_MB = 64
    cells = "\t".join(["query-id", "corpus-id", "grade", *map(str, range(1_000_000))])

    answer = upload(signed_in(olga), small_pool, f"{cells}\n1\td-tab\t3\n")

    assert answer.status_code == 422
    assert "known.tsv: reading it took more than 64 MB of memory" in answer.content.decode()


# --- settled pairs -------------------------------------------------------------------------------


@pytest.fixture
def judged(benchmark) -> Pool:
    return pool(benchmark, {"q1": ["d1", "d2", "d3", "d4"]}, overlap=2)


def label(of: Pool, docid: str, grades: list[int], **values) -> None:
    slots = of.slots.filter(entry__document__docid=docid).order_by("number")
    for number, (slot, grade) in enumerate(zip(slots, grades, strict=True)):
        person = factories.user(f"rater{number}")
        slot.annotator, slot.state, slot.lease_expires_at = person, "claimed", factories.now()
        slot.save()
        judge(slot, person, grade, **values)


def adjudicate(of: Pool, docid: str, grade: int | None, outcome: str = "override") -> None:
    Judgment.objects.create(
        benchmark=of.benchmark,
        query=of.benchmark.queries.get(),
        docid=docid,
        kind="adjudicate",
        outcome=outcome,
        grade=grade,
        actor=factories.user("bo"),
        client_id=uuid.uuid4(),
    )


def test_settled_is_what_two_people_agree_on_or_an_adjudicator_decided(judged):
    label(judged, "d1", [2, 2])
    label(judged, "d2", [1, 3])
    label(judged, "d3", [0, 1])
    adjudicate(judged, "d3", 1)

    pairs = settled_pairs(settled_rows(judged))

    assert [(pair.docid, pair.grade, pair.is_adjudicated) for pair in pairs] == [
        ("d1", 2, False),
        ("d3", 1, True),
    ]


def test_one_persons_two_labels_settle_nothing(judged, ada):
    for slot in judged.slots.filter(entry__document__docid="d1"):
        Judgment.objects.create(
            benchmark=judged.benchmark, query=slot.query, docid="d1", kind="grade", grade=2,
            actor=ada, client_id=uuid.uuid4(), pool=judged, slot=slot, purpose="label",
        )  # fmt: skip

    assert list(settled_rows(judged)) == []


def test_what_was_set_aside_is_not_settled_though_two_agree(judged):
    label(judged, "d1", [2, 2])
    adjudicate(judged, "d1", None, outcome="query_ambiguous")

    assert list(settled_rows(judged)) == []


def test_two_whom_a_file_names_are_two_people(judged, ada):
    for rater in ("w1", "w2"):
        Judgment.objects.create(
            benchmark=judged.benchmark, query=judged.benchmark.queries.get(), docid="d1",
            kind="import", grade=2, actor=ada, rater=rater, client_id=uuid.uuid4(),
        )  # fmt: skip

    (pair,) = settled_pairs(settled_rows(judged))

    assert (pair.docid, pair.n_people) == ("d1", 2)


def test_practice_and_checks_settle_nothing(judged, ada, bo):
    entry = judged.entries.get(document__docid="d1")
    known = KnownGrade.objects.create(entry=entry, purpose="practice", grade=2, set_by=bo)
    for person in (ada, bo):
        record_practice(known_grade=known, annotator=person, grade=2, client_id=uuid.uuid4())
    known.delete()

    assert list(settled_rows(judged)) == []


def test_settled_pairs_are_chosen_and_then_no_longer_offered(tiny, olga, signed_in):
    small_pool = pool(tiny, {"1": ["d-tab", "d-quote"]}, overlap=2)
    label(small_pool, "d-tab", [2, 2])
    label(small_pool, "d-quote", [0, 0])
    pairs = settled_pairs(settled_rows(small_pool))
    assert len(pairs) == 2
    client = signed_in(olga)

    answer = client.post(url(SETTLED, small_pool), {"pairs": [pairs[0].key], "purpose": "gold"})

    assert answer.status_code == 302
    known = KnownGrade.objects.get()
    assert (known.grade, known.purpose) == (pairs[0].grade, "gold")
    assert [pair.docid for pair in settled_pairs(settled_rows(small_pool))] == [pairs[1].docid]


def test_reading_settled_pairs_is_recorded(judged, owner, signed_in):
    Benchmark.objects.update(hidden_splits=["test"])

    signed_in(owner).get(url(SETTLED, judged))

    event = judged.benchmark.audit_events.get(action="read-hidden-grades")
    assert (event.actor, event.target) == (owner, f"settled pairs of {judged.name}")


def test_a_pair_that_is_not_settled_cannot_be_chosen(judged, owner, signed_in):
    label(judged, "d2", [1, 3])
    key = f"{judged.benchmark.queries.get().pk} d2"

    answer = signed_in(owner).post(url(SETTLED, judged), {"pairs": [key], "purpose": "gold"})

    assert answer.status_code == 422
    assert not KnownGrade.objects.exists()


# --- list and removal ----------------------------------------------------------------------------


def test_list_counts_how_often_it_was_graded_so(judged, ada, bo, owner, signed_in):
    entry = judged.entries.get(document__docid="d1")
    known = KnownGrade.objects.create(entry=entry, purpose="practice", grade=2, set_by=owner)
    record_practice(known_grade=known, annotator=ada, grade=2, client_id=uuid.uuid4())
    record_practice(known_grade=known, annotator=bo, grade=3, client_id=uuid.uuid4())

    record = known_grades_of(judged).get()

    assert (record.n_given, record.n_right) == (2, 1)
    check = Slot.objects.create(
        pool=judged, query=entry.query, entry=entry, kind="gold", queue_position=99,
        annotator=ada, state="claimed", lease_expires_at=factories.now(),
    )  # fmt: skip
    for grade in (2, 1):
        judge(check, ada, grade)
    record = known_grades_of(judged).get()
    assert (record.n_given, record.n_right) == (3, 1)
    assert "1 of 3" in signed_in(owner).get(url(LIST, judged)).content.decode()


@pytest.mark.parametrize("state", ["free", "claimed", "aside"])
def test_practice_whose_label_is_still_wanted_is_warned_of(judged, ada, owner, signed_in, state):
    entry = judged.entries.get(document__docid="d1")
    entry.slots.filter(number=2).update(state="waived")
    if state != "free":
        lease = {"annotator": ada, "lease_expires_at": factories.now()}
        entry.slots.filter(number=1).update(state=state, **lease)
    KnownGrade.objects.create(entry=entry, purpose="practice", grade=2, set_by=owner)

    assert "still to be labeled" in signed_in(owner).get(url(LIST, judged)).content.decode()


def remove(client, known: KnownGrade):
    slug = known.entry.pool.benchmark.slug
    return client.post(reverse("annotation:known-grade-remove", args=[slug, known.pk]))


def test_removal_takes_the_entry_that_was_made_for_it(small_pool, olga, signed_in):
    client = signed_in(olga)
    add(client, small_pool)
    add(client, small_pool, qid="q-quote", docid="d-quote")

    for known in KnownGrade.objects.all():
        remove(client, known)

    assert not KnownGrade.objects.exists()
    assert [entry.document.docid for entry in small_pool.entries.all()] == ["d-tab"]


def test_removal_leaves_what_was_judged(small_pool, olga, signed_in):
    client = signed_in(olga)
    add(client, small_pool, qid="q-quote", docid="d-quote", purpose="practice")
    known = KnownGrade.objects.get()
    record_practice(known_grade=known, annotator=olga, grade=2, client_id=uuid.uuid4())

    remove(client, known)

    assert Judgment.objects.filter(purpose="practice").count() == 1
    assert Slot.objects.filter(kind="practice").exists()


# --- how many checks -----------------------------------------------------------------------------


@pytest.mark.parametrize(("percent", "share"), [("5", 0.05), ("0", 0), ("50", 0), ("x", 0)])
def test_share_of_checks_is_set_within_bounds(small_pool, olga, signed_in, percent, share):
    signed_in(olga).post(url("known-grade-share", small_pool), {"percent": percent})

    small_pool.refresh_from_db()
    assert small_pool.gold_share == share


def test_checks_that_are_switched_off_are_said_to_be(small_pool, olga, signed_in):
    client = signed_in(olga)
    add(client, small_pool, purpose="gold")
    assert "Hidden checks are switched off" in client.get(url(LIST, small_pool)).content.decode()

    client.post(url("known-grade-share", small_pool), {"percent": "5"})

    assert (
        "Hidden checks are switched off" not in client.get(url(LIST, small_pool)).content.decode()
    )


def test_lines_are_counted_as_an_editor_does():
    content = "\ufeffquery-id\tcorpus-id\tgrade\r\n\r\nq1\td1\t2\r\nq1\td2\n".encode()
    content += b"q1\t\xff\t1\n"

    known, news = known_grades_in(content, "a.tsv", "gold", {"q1"}, [0, 1, 2])

    assert [(row.line, row.docid, row.grade, row.purpose) for row in known] == [
        (3, "d1", 2, "gold")
    ]
    assert list(map(str, news.problems)) == [
        "a.tsv:4: grade is ''; expected one of 0, 1, 2",
        "a.tsv:5: byte 4 is not UTF-8; save the file as UTF-8",
    ]
    assert list(PURPOSES) == KnownGrade.Purpose.values


def test_command_sets_grades_and_share(small_pool, olga, tmp_path):
    table = tmp_path / "known.tsv"
    table.write_text("query-id\tcorpus-id\tgrade\n1\td-tab\t3\n")

    call_command(
        "import_known_grades", "tiny", small_pool.name, table, share=0.05, stdout=StringIO()
    )

    small_pool.refresh_from_db()
    assert small_pool.gold_share == 0.05
    assert KnownGrade.objects.get().purpose == "gold"


def test_command_refuses_a_share_beyond_reason(small_pool, olga, tmp_path):
    table = tmp_path / "known.tsv"
    table.write_text("query-id\tcorpus-id\tgrade\n1\td-tab\t3\n")

    with pytest.raises(CommandError, match=r"expected 0 to 0\.2"):
        call_command("import_known_grades", "tiny", small_pool.name, table, share=0.5)


# --- the pass mark of practice -------------------------------------------------------------------


@pytest.mark.parametrize(("sent", "kept"), [("7", 7), ("0", 0), ("", None), ("11", 5), ("x", 5)])
def test_the_owner_sets_the_pass_mark(small_pool, olga, signed_in, sent, kept):
    Pool.objects.update(practice_mark=5)

    signed_in(olga).post(url("known-grade-share", small_pool), {"mark": sent})

    small_pool.refresh_from_db()
    assert small_pool.practice_mark == kept


def test_the_page_says_how_far_guessing_gets(small_pool, olga, signed_in):
    client = signed_in(olga)
    add(client, small_pool, purpose="practice")

    page = client.get(url("known-grade-list", small_pool)).content.decode()

    assert "Pass mark of practice" in page
    assert "somebody who never reads gets through" in page
    assert "cannot tell who reads from who guesses" in page
