"""The labeling page as a person meets it, with and without its script."""

import json
import re
import uuid
from html import escape, unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.judging.services.pacing import n_done_now
from annotation.models import Judgment, Pool, PoolEntry, Question, Slot
from benchmarks_app.models import Corpus, DocumentContent, Membership, Query
from tests import factories
from tests.annotation.judging.test_claiming import expire
from tests.annotation.making import begun, claimed, guideline, judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


@pytest.fixture
def small_pool(benchmark):
    return pool(benchmark, {"q1": ["d1", "d2"], "q2": ["d3"]})


def page_of(client: Client, small_pool: Pool) -> str:
    begun(small_pool)
    return client.get(reverse("annotation:judge", args=[small_pool.pk])).content.decode()


def fields(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the form that posts to `action`, as a browser would send them."""
    form = re.search(rf'<form[^>]* action="{action}".*?</form>', page, re.DOTALL)
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[0]))


def send(client: Client, small_pool: Pool, view: str, page: str, **values):
    """Post the form of the grades, or that of its own which the address has, to this address."""
    url = reverse(f"annotation:{view}", args=[small_pool.pk])
    form = (
        url
        if f' action="{url}"' in page
        else reverse("annotation:judgment-create", args=[small_pool.pk])
    )
    return client.post(url, fields(page, form) | values)


def text_of(page: str) -> str:
    """The words of a page, blanks squeezed; without what is hidden or for the script."""
    page = re.sub(r"<script.*?</script>|<template.*?</template>", "", page, flags=re.DOTALL)
    page = re.sub(r'<div [^>]*data-work="\w+" hidden>.*?</div>\s*</div>', "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_the_page_shows_query_document_and_scale(benchmark, small_pool, ada, signed_in):
    Query.objects.filter(qid="q1").update(
        text="what is asked", description="in more words", narrative="what counts"
    )
    guideline(benchmark)

    page = text_of(page_of(signed_in(ada), small_pool))

    for words in ("what is asked", "in more words", "what counts", "A title", "What it says"):
        assert words in page
    assert "Read, then grade." in page
    assert "Document 1 of 2 in this query" in page
    assert "Label 1 of 3 in the pool" in page


def test_who_has_not_read_what_is_recorded_reads_that_first(small_pool, ada, signed_in):
    client = signed_in(ada)
    url = reverse("annotation:judge", args=[small_pool.pk])

    assert client.get(url).url == reverse("annotation:start", args=[small_pool.pk])
    assert not Slot.objects.filter(state=Slot.State.CLAIMED).exists()
    begun(small_pool, ada)
    assert client.get(url).status_code == 200


def test_the_grades_are_a_radio_group_with_a_line_each(small_pool, ada, signed_in):
    page = page_of(signed_in(ada), small_pool)

    assert page.count('<input type="radio" name="grade"') == 4
    for grade in small_pool.benchmark.grades.all():
        assert f'id="anchor-{grade.value}">{escape(grade.anchor)}<' in page


def test_judging_without_script_posts_and_comes_back_to_the_next_document(
    small_pool, ada, signed_in
):
    client = signed_in(ada)

    answer = send(client, small_pool, "judgment-create", page_of(client, small_pool), grade="2")

    assert answer.status_code == 302
    assert answer.url == reverse("annotation:judge", args=[small_pool.pk])
    after = text_of(page_of(client, small_pool))
    assert "Grade 2 saved." in after
    assert "Document 2 of 2 in this query" in after
    saved = Judgment.objects.get()
    assert (saved.grade, saved.actor, saved.shown_position) == (2, ada, 1)
    assert saved.content_hash == f"hash of {saved.docid}"


def test_a_whole_pool_is_judged_without_script(small_pool, ada, signed_in):
    client = signed_in(ada)
    for _ in range(3):
        send(client, small_pool, "judgment-create", page_of(client, small_pool), grade="1")

    assert "Every document of this pool has the labels it needs" in text_of(
        page_of(client, small_pool)
    )
    assert Judgment.objects.count() == 3


def test_a_note_doubt_and_time_go_with_the_grade(small_pool, ada, signed_in):
    client = signed_in(ada)
    fields = {"grade": "3", "note": "see line 2", "confidence": "low", "dwell_ms": "1500"}

    send(client, small_pool, "judgment-create", page_of(client, small_pool), **fields)

    saved = Judgment.objects.get()
    assert (saved.note, saved.confidence, saved.dwell_ms) == ("see line 2", "low", 1500)
    assert saved.view == "whole"


def test_the_full_text_of_a_long_document_is_a_link_away(benchmark, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    DocumentContent.objects.update(text="word " * 600 + "the very end")
    client = signed_in(ada)
    page = page_of(client, small_pool)
    assert "the very end" not in text_of(page)
    link = re.search(r'href="([^"]*full=1)" data-act="full"', page)[1]

    full = client.get(
        reverse("annotation:judge", args=[small_pool.pk]) + unescape(link)
    ).content.decode()
    send(client, small_pool, "judgment-create", full, grade="0")

    assert "the very end" in text_of(full)
    assert Judgment.objects.get().view == "full"


def test_a_document_put_aside_comes_after_the_others(small_pool, ada, signed_in):
    client = signed_in(ada)
    for number, content in enumerate(DocumentContent.objects.all()):
        DocumentContent.objects.filter(pk=content.pk).update(title=f"title {number}")
    title = re.compile(r'id="document-title"[^>]*>([^<]*)<')
    first = title.search(page_of(client, small_pool))[1]

    answer = send(client, small_pool, "judge-later", page_of(client, small_pool))

    after = client.get(answer.url).content.decode()
    assert "Put aside" in text_of(after)
    assert title.search(after)[1] != first
    send(client, small_pool, "judgment-create", after, grade="0")
    assert title.search(page_of(client, small_pool))[1] == first


def test_a_question_sets_the_document_aside(small_pool, ada, signed_in):
    client = signed_in(ada)

    send(client, small_pool, "judge-ask", page_of(client, small_pool), note="? Does a part count")

    question = Question.objects.get()
    assert (question.text, question.asked_by) == ("Does a part count", ada)
    assert question.slot.state == Slot.State.ASIDE
    assert "Asked." in text_of(page_of(client, small_pool))


def test_a_question_without_words_is_asked_for(small_pool, ada, signed_in):
    client = signed_in(ada)

    send(client, small_pool, "judge-ask", page_of(client, small_pool), note=" ? ")

    assert "Write in the note what you want to know" in text_of(page_of(client, small_pool))
    assert not Question.objects.exists()


def script_of(page: str) -> dict:
    return json.loads(re.search(r'<script id="judge-data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def test_the_script_starts_from_the_documents_on_the_page(small_pool, ada, signed_in):
    script = script_of(page_of(signed_in(ada), small_pool))

    assert script["work"]["state"] == "ready"
    assert len(script["items"]) >= 2
    assert script["keys"]["bindings"]["grade-2"] == ["Digit2", "KeyD"]
    assert [grade["value"] for grade in script["grades"]] == [0, 1, 2, 3]


def test_what_a_document_says_cannot_end_the_script(benchmark, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    DocumentContent.objects.update(title="</script><b>", text="<script>alert(1)</script>")
    Query.objects.update(text="</script><!--")

    page = page_of(signed_in(ada), small_pool)

    (item,) = script_of(page)["items"]
    assert item["query"]["text"] == "</script><!--"
    assert "<script>alert" not in page


def test_an_outbox_is_called_by_a_name_that_tells_nothing(small_pool, ada, ann, signed_in):
    url = reverse("annotation:judge-session")
    names = {script_of(page_of(signed_in(who), small_pool))["user"] for who in (ada, ann)}

    assert len(names) == 2
    assert signed_in(ada).get(url).json()["user"] in names
    assert not any(who.username in name for who in (ada, ann) for name in names)
    assert Client().get(url).json() == {"user": None}


def test_an_outbox_is_not_that_of_a_copy_of_the_site_below_another_path(ada, signed_in, settings):
    url, names = reverse("annotation:judge-session"), set()
    for path in ("", "/benchwright", "/benchwright-try"):
        settings.SITE_PATH = path
        names.add(signed_in(ada).get(url).json()["user"])

    assert len(names) == 3


def test_the_page_knows_what_may_be_undone(small_pool, ada, signed_in):
    client = signed_in(ada)
    for _ in range(2):
        send(client, small_pool, "judgment-create", page_of(client, small_pool), grade="1")

    undoable = script_of(page_of(client, small_pool))["undoable"]

    newest_first = Judgment.objects.order_by("-pk").values_list("client_id", flat=True)
    assert undoable == [str(client_id) for client_id in newest_first]


def test_a_repeated_post_saves_once(small_pool, ada, signed_in):
    client = signed_in(ada)
    page = page_of(client, small_pool)

    for _ in range(3):
        assert send(client, small_pool, "judgment-create", page, grade="3").status_code == 302

    assert Judgment.objects.count() == 1


def test_cant_judge_without_script_offers_the_reasons_on_the_page(small_pool, ada, signed_in):
    client = signed_in(ada)
    begun(small_pool)
    page = client.get(reverse("annotation:judge", args=[small_pool.pk]), {"cant-judge": 1})
    assert re.search(r'<dialog id="cant-judge"[^>]* open>', page.content.decode())

    send(client, small_pool, "cant-judge-create", page.content.decode(), reason="Needs an expert")

    saved = Judgment.objects.get()
    assert (saved.kind, saved.reason) == ("cant_judge", "Needs an expert")


def test_a_reason_of_ones_own_wins(small_pool, ada, signed_in):
    client = signed_in(ada)

    send(client, small_pool, "cant-judge-create", page_of(client, small_pool), other="torn page")

    assert Judgment.objects.get().reason == "torn page"


def test_cant_judge_without_a_reason_is_refused(small_pool, ada, signed_in):
    client = signed_in(ada)

    answer = send(client, small_pool, "cant-judge-create", page_of(client, small_pool))

    assert answer.status_code == 422
    assert "choose a reason" in answer.content.decode()
    assert not Judgment.objects.exists()


def test_undo_shows_the_undone_document_again(small_pool, ada, signed_in):
    client = signed_in(ada)
    send(client, small_pool, "judgment-create", page_of(client, small_pool), grade="2")
    docid = Judgment.objects.get().docid
    DocumentContent.objects.filter(document__docid=docid).update(title="The undone one")

    answer = send(client, small_pool, "judgment-undo", page_of(client, small_pool))

    page = client.get(answer.url).content.decode()
    assert 'id="document-title">The undone one</h2>' in page
    assert 'data-part="body" lang="en" dir="ltr">' in page
    assert not Judgment.objects.current().exists()


def test_the_last_judgment_of_a_finished_pool_can_be_undone(benchmark, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    client = signed_in(ada)
    send(client, small_pool, "judgment-create", page_of(client, small_pool), grade="2")

    send(client, small_pool, "judgment-undo", page_of(client, small_pool))

    assert "Document 1 of 1 in this query" in text_of(page_of(client, small_pool))


def test_stopping_gives_documents_back_and_says_so(small_pool, ada, signed_in):
    client = signed_in(ada)
    page_of(client, small_pool)

    answer = client.post(reverse("annotation:stop", args=[small_pool.pk]), follow=True)

    assert "3 documents went back to the queue" in answer.content.decode()
    assert not Slot.objects.filter(state="claimed").exists()


def test_an_extra_label_is_kept_and_said_to_be(small_pool, ada, ann, signed_in):
    client = signed_in(ada)
    page = page_of(client, small_pool)
    expire(list(Slot.objects.filter(annotator=ada)))
    claimed(small_pool, ann)

    answer = send(client, small_pool, "judgment-create", page, grade="3")

    assert "saved as an extra label" in client.get(answer.url).content.decode()
    assert Judgment.objects.get().is_surplus


def test_a_token_of_another_is_refused_and_nothing_is_saved(small_pool, ada, ann, signed_in):
    page = page_of(signed_in(ada), small_pool)

    answer = send(signed_in(ann), small_pool, "judgment-create", page, grade="3")

    assert answer.status_code == 403
    assert answer.headers["X-Error-Code"] == "slot-of-another"
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    "values", [{"token": "forged"}, {"client_id": "no uuid"}, {"grade": "many"}, {"grade": "7"}]
)
def test_what_the_page_did_not_send_is_refused(small_pool, ada, signed_in, values):
    client = signed_in(ada)
    page = page_of(client, small_pool)

    answer = send(client, small_pool, "judgment-create", page, **{"grade": "2", **values})

    assert answer.status_code == 422
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    ("site", "leads_back"), [("http://testserver", True), ("https://elsewhere.example", False)]
)
def test_what_is_refused_leads_back_to_the_page_it_came_from(
    small_pool, ada, signed_in, site, leads_back
):
    url = reverse("annotation:judgment-create", args=[small_pool.pk])
    page = site + reverse("annotation:judge", args=[small_pool.pk])

    answer = signed_in(ada).post(url, {"token": "forged"}, headers={"Referer": page})

    assert answer.status_code == 422
    assert (f'href="{page}">Go back</a>' in answer.content.decode()) == leads_back


def test_a_token_of_another_pool_is_refused(benchmark, small_pool, ada, signed_in):
    other = pool(benchmark, {"q9": ["d9"]})
    client = signed_in(ada)
    url = reverse("annotation:judgment-create", args=[small_pool.pk])
    values = fields(page_of(client, other), reverse("annotation:judgment-create", args=[other.pk]))

    assert client.post(url, values | {"grade": "2"}).status_code == 422


# --- blindness ---


def plant_sentinels(small_pool: Pool, ann) -> None:
    """Everything an annotator must not see, in words that stand out."""
    PoolEntry.objects.filter(pool=small_pool).update(
        contributors={"SENTINEL-RUN": 937421, "SENTINEL-OTHER-RUN": 3}, best_rank=937421
    )
    Pool.objects.filter(pk=small_pool.pk).update(
        name="SENTINEL-POOL", statistics={"runs": [{"run": "SENTINEL-RUN"}]}
    )
    for slot in claimed(small_pool, ann):
        judge(slot, ann, 3, note="SENTINEL-NOTE")


def test_nothing_of_runs_ranks_ids_or_others_grades_is_on_the_page(benchmark, ada, ann, signed_in):
    queries = {"q1": ["SENTINEL-ID-1", "SENTINEL-ID-2", "SENTINEL-ID-3"]}
    small_pool = pool(benchmark, queries, overlap=2)
    DocumentContent.objects.update(content_hash="e" * 64)
    plant_sentinels(small_pool, ann)
    client = signed_in(ada)

    page = page_of(client, small_pool)
    bodies = [
        page,
        client.get(reverse("annotation:judge", args=[small_pool.pk]), {"cant-judge": 1}),
    ]
    for view, fields in (
        ("judgment-create", {"grade": "1"}),
        ("cant-judge-create", {"reason": "x"}),
        ("judgment-undo", {}),
        ("judge-later", {}),
        ("judge-ask", {"note": "why"}),
    ):
        bodies.append(
            client.get(send(client, small_pool, view, page_of(client, small_pool), **fields).url)
        )
    bodies.append(
        client.get(reverse("annotation:judge-benchmark", args=[benchmark.slug]), follow=True)
    )

    for body in bodies:
        text = body if isinstance(body, str) else body.content.decode()
        assert "What it says" in text
        assert "SENTINEL" not in text
        assert "937421" not in re.sub(r'value="[^"]*"', "", text)


def test_the_owner_does_see_what_was_planted(benchmark, small_pool, owner, ann, signed_in):
    """Or the test above would find nothing because nothing was planted."""
    plant_sentinels(small_pool, ann)

    entry = PoolEntry.objects.filter(pool=small_pool).first()
    assert "SENTINEL-RUN" in entry.contributors
    assert Judgment.objects.filter(note="SENTINEL-NOTE").exists()
    answer = signed_in(owner).get(reverse("annotation:pool-list", args=[benchmark.slug]))
    assert "SENTINEL-POOL" in answer.content.decode()


# --- where there is nothing to judge ---


def judge_pages(client, small_pool):
    yield text_of(page_of(client, small_pool))
    url = reverse("annotation:judge-benchmark", args=[small_pool.benchmark.slug])
    yield text_of(client.get(url).content.decode())


@pytest.mark.parametrize(
    ("state", "words"),
    [("paused", "The owner has paused this pool"), ("closed", "takes no more judgments")],
)
def test_a_pool_that_is_not_open_says_so(small_pool, ada, signed_in, state, words):
    Pool.objects.filter(pk=small_pool.pk).update(state=state)

    for page in judge_pages(signed_in(ada), small_pool):
        assert words in page


def test_a_finished_pool_says_so(small_pool, ada, signed_in):
    Slot.objects.update(state="done", annotator=ada)

    for page in judge_pages(signed_in(ada), small_pool):
        assert "Finished" in page


def test_a_pool_others_hold_says_until_when(small_pool, ada, ann, signed_in):
    while claimed(small_pool, ann)[:1]:
        for slot in claimed(small_pool, ann):
            last = slot
            if Slot.objects.exclude(state="done").count() == 1:
                break
            judge(slot, ann, 0)
        else:
            continue
        break

    for page in judge_pages(signed_in(ada), small_pool):
        assert "Held by others" in page
        assert f"{last.lease_expires_at:%H:%M} UTC" in page


def test_a_pool_that_waits_for_a_second_person_says_so(benchmark, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    for slot in claimed(small_pool, ada):
        judge(slot, ada, 1)

    for page in judge_pages(signed_in(ada), small_pool):
        assert "2 labels wait for somebody else" in page


def test_a_corpus_without_texts_says_why_it_cannot_be_judged(small_pool, ada, signed_in):
    Corpus.objects.update(kind="ids_only")

    for page in judge_pages(signed_in(ada), small_pool):
        assert "holds ids only" in page


def test_a_benchmark_without_a_pool_says_so(benchmark, ada, owner, signed_in):
    url = reverse("annotation:judge-benchmark", args=[benchmark.slug])

    assert "The owner has not built a pool yet" in signed_in(ada).get(url).content.decode()
    assert "Build a pool" in signed_in(owner).get(url).content.decode()


def test_judging_a_benchmark_goes_to_the_pool_with_work(benchmark, ada, signed_in):
    pool(benchmark, {"q1": ["d1"]}, state="paused")
    ready = pool(benchmark, {"q2": ["d2"]})

    answer = signed_in(ada).get(reverse("annotation:judge-benchmark", args=[benchmark.slug]))

    assert answer.url == reverse("annotation:judge", args=[ready.pk])


# --- who may ---

ACTIONS = [
    "judgment-create",
    "cant-judge-create",
    "judgment-undo",
    "judge-later",
    "judge-ask",
    "stop",
]


@pytest.mark.parametrize("who", ["sam", "vi"])
def test_who_does_not_judge_in_the_benchmark_gets_403(small_pool, who, signed_in, request):
    client = signed_in(request.getfixturevalue(who))

    assert client.get(reverse("annotation:judge", args=[small_pool.pk])).status_code == 403
    for view in ACTIONS:
        assert client.post(reverse(f"annotation:{view}", args=[small_pool.pk])).status_code == 403


def test_who_does_not_see_the_benchmark_gets_404(small_pool, cy, signed_in):
    client = signed_in(cy)

    assert client.get(reverse("annotation:judge", args=[small_pool.pk])).status_code == 404
    for view in ACTIONS:
        assert client.post(reverse(f"annotation:{view}", args=[small_pool.pk])).status_code == 404


def test_who_is_not_signed_in_is_sent_to_sign_in(small_pool, client):
    for view in ["judge", *ACTIONS]:
        url = reverse(f"annotation:{view}", args=[small_pool.pk])
        answer = client.get(url) if view == "judge" else client.post(url)
        assert answer.status_code == 302
        assert answer.url.startswith(reverse("sign-in"))


def test_who_was_removed_meanwhile_may_not_judge_on(small_pool, ada, signed_in):
    client = signed_in(ada)
    page = page_of(client, small_pool)
    Membership.objects.filter(user=ada).delete()

    assert send(client, small_pool, "judgment-create", page, grade="2").status_code == 404


def test_a_pool_that_is_being_built_is_not_there(small_pool, ada, signed_in):
    Pool.objects.filter(pk=small_pool.pk).update(state="building")

    assert signed_in(ada).get(reverse("annotation:judge", args=[small_pool.pk])).status_code == 404


# --- my work ---


def test_the_queue_lists_open_pools_where_one_judges(benchmark, small_pool, ada, cy, signed_in):
    judge(claimed(small_pool, ada)[0], ada, 1)
    pool(factories.benchmark(slug="foreign"), {"q1": ["d1"]}, name="not mine")

    page = signed_in(ada).get(reverse("annotation:queue")).content.decode()

    assert small_pool.name in page
    assert "not mine" not in page
    assert "1 of 3" in page


def test_an_empty_queue_says_so(cy, vi, signed_in):
    assert "No work for you now" in signed_in(vi).get(reverse("annotation:queue")).content.decode()


def count_queries(client, url) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def test_the_queue_asks_the_database_no_more_for_twenty_pools(benchmark, ada, signed_in):
    client, url = signed_in(ada), reverse("annotation:queue")
    counts = []
    for n in (2, 18):
        for _ in range(n):
            pool(benchmark, {"q1": [f"d{uuid.uuid4()}"]})
        counts.append(count_queries(client, url))

    assert counts[0] == counts[1]


def test_the_labeling_page_asks_the_database_no_more_in_a_larger_pool(benchmark, ada, signed_in):
    client = signed_in(ada)
    small = pool(benchmark, {"s1": [f"d{m}" for m in range(20)]})
    large = pool(benchmark, {f"l{n}": [f"d{m}" for m in range(20)] for n in range(10)})
    begun(small)
    begun(large)

    def counted(small_pool):
        url = reverse("annotation:judge", args=[small_pool.pk])
        return [count_queries(client, url) for _ in range(2)][1]

    assert counted(small) == counted(large)


def test_checks_are_steps_of_who_judged_them_and_practice_is_none(benchmark, ada, bo):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    entry = small_pool.entries.first()
    for kind in (Slot.Kind.PRACTICE, Slot.Kind.GOLD):
        Slot.objects.create(
            pool=small_pool,
            query=entry.query,
            entry=entry,
            kind=kind,
            queue_position=0,
            annotator=ada,
            state=Slot.State.DONE,
        )

    assert (n_done_now(small_pool, ada.pk), n_done_now(small_pool, bo.pk)) == (1, 0)
