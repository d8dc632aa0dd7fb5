"""Nothing that the labeling page is sent tells where a document came from, or what others think."""

import json
import uuid

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.judging.services.judging import record_judgment
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, KnownGrade, PoolEntry, Question, Slot
from tests import factories
from tests.annotation.judging.test_exchange import Page, event
from tests.annotation.making import claimed, guideline, pool

pytestmark = pytest.mark.django_db
# What must not come through, by what it is. Numbers are such as occur nowhere else.
SENTINELS = {
    "run": "sentinel-run",
    "arm": "sentinel-arm",
    "rank": "90817",
    "score": "71.6253",
    "document id": "sentinel-docid",
    "note of another": "sentinel-note",
    "question of another": "sentinel-question",
    "reason of a machine": "sentinel-machine",
    "explanation of a known grade": "sentinel-known",
    "purpose of a check": '"gold"',
    "purpose of a repeat": '"repeat"',
}


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


@pytest.fixture
def planted(benchmark, owner, ada, ann):
    """A pool with a sentinel in each place that an annotator may not see into."""
    docids = [f"sentinel-docid-{n}" for n in range(4)]
    small_pool = pool(benchmark, {"q1": docids}, overlap=2, gold_share=1.0)
    guideline(benchmark)
    of_ann = claimed(small_pool, ann, n=4)
    PoolEntry.objects.filter(pool=small_pool).update(
        contributors={"sentinel-run": 90817}, best_rank=90817, inclusion_probability=71.6253
    )
    Slot.objects.filter(pool=small_pool).update(arm="sentinel-arm")
    record_judgment(
        slot=of_ann[0],
        actor=ann,
        grade=3,
        client_id=uuid.uuid4(),
        display=Shown(),
        note="sentinel-note",
    )
    Question.objects.create(
        entry=of_ann[1].entry,
        slot=of_ann[1],
        asked_by=ann,
        client_id=uuid.uuid4(),
        text="sentinel-question",
        answer="sentinel-question answered",
        answered_by=owner,
        answered_at=timezone.now(),
    )
    Judgment.objects.create(
        benchmark=benchmark,
        query=of_ann[0].query,
        docid=docids[0],
        kind="machine",
        grade=2,
        reason="sentinel-machine 71.6253",
        actor=owner,
        client_id=uuid.uuid4(),
    )
    known = PoolEntry.objects.create(
        pool=small_pool,
        query=of_ann[0].query,
        document=of_ann[0].entry.document.__class__.objects.create(
            corpus=benchmark.corpus, docid="sentinel-docid-known"
        ),
        origin="known",
        priority=99,
    )
    KnownGrade.objects.create(
        entry=known, purpose="gold", grade=1, explanation="sentinel-known", set_by=owner
    )
    return small_pool


def assert_blind(body: str) -> None:
    assert {what for what, text in SENTINELS.items() if text in body} == set()


def test_the_exchange_tells_nothing(planted, ada):
    page = Page(planted, ada)
    answers = [page.say()]
    held = list(page.held.values())
    results = [
        event("grade", held[0], grade=1),
        event("later", held[1]),
        event("ask", held[2], question="Mine?"),
        event("cant_judge", held[3], reason="Unclear query"),
    ]
    answers += [page.say(result) for result in results]
    answers += [
        page.say(event("undo", undoes=results[0]["client_id"])),
        page.say(results[0], "nonsense"),
    ]
    answers += [Page(planted, ada).say()]

    assert Slot.objects.filter(kind="gold", annotator=ada).exists()
    for answer in answers:
        assert_blind(json.dumps(answer))


def test_every_item_has_the_same_shape(planted, ada):
    """A check has no part that the others lack, nor the other way round."""
    items = Page(planted, ada).say()["items"]

    kinds = {tuple(sorted(item)) for item in items}
    assert len(items) > 4
    assert len(kinds) == 1
    assert kinds == {("answer", "document", "is_later", "key", "place", "query", "token")}
    assert {len(item["key"]) for item in items} == {16}


def test_the_pages_tell_nothing(planted, ada):
    client = Client()
    client.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    pages = [
        client.get(reverse("annotation:judge", args=[planted.pk]), follow=True),
        client.get(reverse("annotation:judge", args=[planted.pk]) + "?cant-judge=1", follow=True),
        client.get(reverse("annotation:queue")),
        client.post(reverse("annotation:judgment-create", args=[planted.pk]), {"grade": "1"}),
        client.post(reverse("annotation:cant-judge-create", args=[planted.pk]), {"reason": "x"}),
        client.post(reverse("annotation:stop", args=[planted.pk]), follow=True),
    ]

    for page in pages:
        assert_blind(page.content.decode())


@pytest.mark.parametrize("what", ["run", "document id", "note of another"])
def test_what_is_hidden_is_there_for_its_owner(planted, what):
    entries = PoolEntry.objects.filter(pool=planted)
    stored = {
        "run": json.dumps(list(entries.values_list("contributors", flat=True))),
        "document id": json.dumps(list(entries.values_list("document__docid", flat=True))),
        "note of another": json.dumps(list(Judgment.objects.values_list("note", flat=True))),
    }

    assert SENTINELS[what] in stored[what]


@pytest.mark.parametrize("what", SENTINELS)
def test_a_leak_would_be_seen(what):
    with pytest.raises(AssertionError):
        assert_blind(f"<p>{SENTINELS[what]}</p>")
