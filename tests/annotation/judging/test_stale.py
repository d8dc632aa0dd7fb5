"""A document whose text has changed, the labels given for the earlier one, and asking again."""

import io
import json
import uuid
import zipfile
from pathlib import Path

import pytest
from django.utils import timezone
from PIL import Image

from annotation.common.selectors.pools import pool_progress
from annotation.common.selectors.stale import not_offered, stale_labels, stale_rows
from annotation.common.services import statements
from annotation.judging.protocol.errors import PoolClosedError
from annotation.judging.services.judging import record_judgment, undo_last
from annotation.judging.services.rejudging import offer_rejudging
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, Pool, Slot
from annotation.pools.charts import burn_up
from annotation.pools.selectors import read_signals
from benchmarks_app.charts import Chart
from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Corpus, DocumentContent, Job
from benchwright.ids import content_hash
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db

FIRST, SECOND = "What it says", "What it says today"


def corpus(**texts: str) -> bytes:
    rows = ({"_id": docid, "title": "", "text": text} for docid, text in texts.items())
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def texts(db):
    bench = factories.texts_benchmark("changing")
    factories.done(factories.imported(bench, corpus(d1=FIRST, d2="Other", d3="Third"), "c.jsonl"))
    return bench


@pytest.fixture
def judged(texts):
    """A pool of d1 and d2, both graded by Ada for the text they have."""
    factories.query(texts, "q1")
    small_pool = factories.depth_pool(
        texts, [factories.run(texts, "q1 Q0 d1 1 2 s\nq1 Q0 d2 2 1 s")]
    )
    ada = factories.member(texts, "ada", "annotator")
    for slot in small_pool.slots.all():
        label(slot, ada, 2)
    return small_pool


def label(slot: Slot, who, grade: int):
    newest = slot.entry.document.contents.order_by("-first_seen", "-pk").first()
    Slot.objects.filter(pk=slot.pk).update(state=Slot.State.FREE)
    return judge_shown(slot, who, grade, newest.content_hash)


def judge_shown(slot, who, grade, content_hash):
    screen = Shown(content_hash=content_hash)
    return record_judgment(
        slot=slot, actor=who, grade=grade, client_id=uuid.uuid4(), display=screen
    )


def change(texts, do_jobs, name="new.jsonl", **fields: str) -> list[Job]:
    factories.done(factories.imported(texts, corpus(**fields), name, corpus={"take": True}))
    return do_jobs()


def test_new_version_keeps_the_earlier_text_beside_the_new_one(texts, judged, do_jobs):
    (job,) = change(texts, do_jobs, d1=SECOND, d2="Other", d3="Third")

    rows = DocumentContent.objects.filter(document__docid="d1").order_by("first_seen")
    assert [row.text for row in rows] == [FIRST, SECOND]
    assert rows[1].content_hash == content_hash("", SECOND)
    assert job.result["made"] == ["1 of 2 pooled documents changed"]
    # d3 is in no pool: its text stays in the corpus file alone.
    assert set(texts.corpus.documents.values_list("docid", flat=True)) == {"d1", "d2"}


def squares(folder: Path, **colours: str) -> Path:
    """A zip of documents that are images, each of one colour."""
    path = folder / "squares.zip"
    with zipfile.ZipFile(path, "w") as archive:
        lines = [json.dumps({"id": docid, "image": f"{docid}.png"}) for docid in colours]
        archive.writestr("squares.jsonl", "\n".join(lines))
        for docid, colour in colours.items():
            packed = io.BytesIO()
            Image.new("RGB", (8, 8), colour).save(packed, "PNG")
            archive.writestr(f"{docid}.png", packed.getvalue())
    return path


def test_label_of_an_image_that_changed_is_stale_and_the_other_is_not(db, tmp_path, do_jobs):
    keeper = factories.user("keeper")
    owned = Corpus.objects.create(name="squares", owner=keeper, unit="image")
    squared = factories.benchmark("squares", corpus=owned, unit="image")

    def take(**colours: str) -> None:
        path = squares(tmp_path, **colours)
        upload = uploading.receive_path(benchmark=squared, owner=keeper, path=path)
        arguments = importing.import_arguments(upload=upload, corpus={"take": True})
        factories.done(jobs.run_here(benchmark=squared, user=keeper, **arguments))
        do_jobs()

    take(d1="red", d2="blue")
    factories.query(squared, "q1")
    small_pool = factories.depth_pool(
        squared, [factories.run(squared, "q1 Q0 d1 1 2 s\nq1 Q0 d2 2 1 s")]
    )
    ada = factories.member(squared, "ada", "annotator")
    for slot in small_pool.slots.all():
        label(slot, ada, 2)
    assert stale_labels(small_pool).count() == 0

    take(d1="green", d2="blue")

    assert [judgment.docid for judgment in stale_labels(small_pool)] == ["d1"]


def test_label_for_the_earlier_text_is_stale_and_the_other_is_not(texts, judged, do_jobs):
    assert stale_labels(judged).count() == 0

    change(texts, do_jobs, d1=SECOND, d2="Other")

    assert [label.docid for label in stale_labels(judged)] == ["d1"]


def test_text_that_comes_back_makes_its_label_good_again(texts, judged, do_jobs):
    change(texts, do_jobs, d1=SECOND, d2="Other")
    change(texts, do_jobs, "back.jsonl", d1=FIRST, d2="Other", d4="New")

    assert stale_labels(judged).count() == 0
    contents = DocumentContent.objects.filter(document__docid="d1")
    assert contents.count() == 2
    document = contents[0].document_id
    assert statements.texts([document])[document].text == FIRST


def test_document_that_is_gone_keeps_its_text_and_its_label(texts, judged, do_jobs):
    change(texts, do_jobs, d2="Other")

    assert stale_labels(judged).count() == 0
    assert DocumentContent.objects.get(document__docid="d1").text == FIRST


def test_refreshing_twice_changes_nothing(texts, judged, do_jobs):
    (job,) = change(texts, do_jobs, d1=SECOND, d2="Other")
    rows = list(DocumentContent.objects.order_by("pk").values())

    Job.objects.filter(pk=job.pk).update(state="queued")
    do_jobs()

    assert list(DocumentContent.objects.order_by("pk").values()) == rows


def test_first_version_and_a_corpus_without_pools_start_nothing(texts, do_jobs):
    assert change(texts, do_jobs, d1=SECOND) == []


@pytest.mark.parametrize("n_times", [1, 3])
def test_stale_label_is_offered_once(texts, judged, do_jobs, n_times):
    change(texts, do_jobs, d1=SECOND, d2="Other")
    keeper = factories.user("keeper")

    offered = [offer_rejudging(pool=judged, actor=keeper) for _ in range(n_times)]

    assert offered == [1, *[0] * (n_times - 1)]
    slot = judged.slots.get(kind=Slot.Kind.REJUDGE)
    assert (slot.entry.document.docid, slot.round, slot.number, slot.state) == ("d1", 2, 1, "free")
    assert slot.queue_position > max(
        judged.slots.filter(kind="label").values_list("queue_position", flat=True)
    )
    assert not not_offered(stale_labels(judged)).exists()
    assert AuditEvent.objects.filter(action="offer-rejudging").count() == 1


def test_label_given_again_is_no_longer_stale_until_the_text_changes_once_more(
    texts, judged, do_jobs
):
    keeper = factories.user("keeper")
    zoe = factories.member(texts, "zoe", "annotator")
    change(texts, do_jobs, d1=SECOND, d2="Other")
    offer_rejudging(pool=judged, actor=keeper)

    label(judged.slots.get(kind="rejudge"), zoe, 1)

    assert stale_labels(judged).count() == 0
    change(texts, do_jobs, "third.jsonl", d1="A third text", d2="Other")
    stale = stale_rows(stale_labels(judged))
    assert [(row.actor, row.is_offered) for row in stale] == [(zoe, False)]
    assert offer_rejudging(pool=judged, actor=keeper) == 1
    assert judged.slots.get(kind="rejudge", round=3).number == 1


def test_closed_pool_asks_nobody_again(texts, judged, do_jobs):
    change(texts, do_jobs, d1=SECOND, d2="Other")
    Pool.objects.filter(pk=judged.pk).update(state="closed")

    with pytest.raises(PoolClosedError):
        offer_rejudging(pool=judged, actor=factories.user("keeper"))

    assert not judged.slots.filter(kind="rejudge").exists()


def test_label_of_which_nobody_knows_what_was_read_is_not_stale(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})

    judge(small_pool.slots.get(), ada, 2)

    assert stale_labels(small_pool).count() == 0


def old_label(place: Slot, who, **fields) -> Judgment:
    """A label that was given for another text."""
    values = {"kind": "grade", "grade": 1, "purpose": "label", "slot": place, **fields}
    return Judgment.objects.create(
        benchmark=place.pool.benchmark, query=place.query, docid="d1", pool=place.pool, actor=who,
        client_id=uuid.uuid4(), **{"content_hash": "old", **values},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "is_stale"),
    [
        ({"kind": "cant_judge", "grade": None, "reason": "no text"}, True),
        ({"kind": "import"}, True),
        ({"kind": "machine", "purpose": "", "slot": None}, False),
        ({"purpose": "gold"}, False),
        ({"purpose": "repeat"}, False),
    ],
)
def test_what_people_were_asked_for_is_stale_and_not_checks_or_machines(
    benchmark, ada, fields, is_stale
):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    old_label(small_pool.slots.get(), ada, **fields)

    assert stale_labels(small_pool).count() == is_stale


def test_label_that_was_replaced_is_not_stale(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    first = old_label(small_pool.slots.get(), ada)
    old_label(small_pool.slots.get(), ada, content_hash="hash of d1", supersedes=first)

    assert stale_labels(small_pool).count() == 0


def test_text_of_the_benchmarks_own_corpus_counts_and_a_document_without_one_says_nothing(
    benchmark, ada
):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    old_label(small_pool.slots.get(), ada, content_hash="hash of d1")
    elsewhere = Corpus.objects.create(name="elsewhere", owner=ada)
    elsewhere.documents.create(docid="d1").contents.create(content_hash="other", text="Another")
    assert stale_labels(small_pool).count() == 0

    DocumentContent.objects.filter(document__corpus=benchmark.corpus).delete()

    assert stale_labels(small_pool).count() == 0


def test_each_label_of_a_document_is_offered_and_given_again_by_itself(benchmark, ada, owner):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    first, second = small_pool.slots.order_by("number")
    earlier = old_label(first, ada)
    old_label(first, owner, is_surplus=True)
    old_label(first, owner, kind="import", rater="W1", slot=None, is_surplus=True)
    # Nobody asked for the extra ones.
    assert list(not_offered(stale_labels(small_pool))) == [earlier]
    assert offer_rejudging(pool=small_pool, actor=owner) == 1
    later = old_label(second, owner)

    assert list(not_offered(stale_labels(small_pool))) == [later]
    again = small_pool.slots.get(kind="rejudge")
    zoe = factories.member(benchmark, "zoe", "annotator")
    judge_shown(again, zoe, 2, "hash of d1")
    assert earlier not in stale_labels(small_pool)
    assert later in stale_labels(small_pool)
    undo_last(pool=small_pool, actor=zoe, client_id=uuid.uuid4())
    assert earlier in stale_labels(small_pool)


def test_chart_of_labels_given_counts_those_given_again_apart(texts, judged, do_jobs):
    def chart() -> Chart:
        progress, signals = pool_progress(judged), read_signals(judged)
        return burn_up(judged, progress, signals, timezone.now())

    change(texts, do_jobs, d1=SECOND, d2="Other", d3="Third")
    offer_rejudging(pool=judged, actor=factories.user("keeper"))
    waiting = chart().description
    label(Slot.objects.get(kind="rejudge"), factories.member(texts, "bo", "annotator"), 1)

    assert waiting.startswith("2 of 2 labels are given. 1 is to be given again.")
    assert chart().description == "2 of 2 labels are given."
    # The curve counts them, so the line across does.
    assert max(row["labels"] for row in chart().rows) == 3
    line, words = chart().spec["layer"][-2:]
    assert line["encoding"]["y"] == {"datum": 3}
    assert words["mark"]["text"] == "2 wanted, and 1 again"
