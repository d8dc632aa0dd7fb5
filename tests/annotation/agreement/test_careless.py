"""Careless work in a benchmark: told to its owner, on the pool's page and before publishing."""

import random
import uuid
from datetime import timedelta
from itertools import cycle

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.agreement.selectors.careless import Kind, careless_signs, careless_signs_in
from annotation.agreement.selectors.publication import publication_of
from annotation.labels.selectors.pairs import pair_grades
from annotation.labels.services.known_grades import remove_known_grade
from annotation.labels.services.publishing import publishing_arguments
from annotation.models import Judgment, KnownGrade, Pool, Slot
from annotation.overview import judge_step
from annotation.pools.selectors import people_of, read_signals
from benchmarks_app.homes import needs_of
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Qrel, QrelSet
from tests import factories
from tests.annotation import making
from tests.annotation.judging.test_starting import known

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def big_pool(benchmark) -> Pool:
    statistics = {
        "runs": [], "overlaps": [], "n_queries": 20, "hours": 1.0, "seconds": 20,
        "per_query": {"min": 10, "median": 10, "max": 10},
    }  # fmt: skip
    queries = {f"q{n}": [f"d{n}-{place}" for place in range(10)] for n in range(20)}
    return making.pool(benchmark, queries, overlap=2, statistics=statistics)


def give(of: Pool, person, grades, *, number: int = 1, ms=8000, **values) -> None:
    """A label of every document of the pool, in the order of its queue; `ms` or several in turn."""
    times = ms if isinstance(ms, tuple) else (ms,)
    slots = list(
        Slot.objects.filter(pool=of, number=number, kind="label")
        .select_related("entry__document")
        .order_by("queue_position")
    )
    Slot.objects.filter(pk__in=[slot.pk for slot in slots]).update(
        state=Slot.State.DONE, annotator=person
    )
    Judgment.objects.bulk_create(
        Judgment(
            benchmark=of.benchmark,
            query_id=slot.query_id,
            docid=slot.entry.document.docid,
            kind=Judgment.Kind.GRADE,
            grade=grade,
            actor=person,
            slot=slot,
            pool=of,
            client_id=uuid.uuid4(),
            dwell_ms=times[place % len(times)],
            shown_chars=900,
            **{
                "purpose": "label",
                "created_at": NOW + timedelta(milliseconds=150 * place),
                **values,
            },
        )
        for place, (slot, grade) in enumerate(zip(slots, cycle(grades), strict=False))
    )


MIXED = (0, 1, 2, 0, 3, 1, 0)
OTHER = random.Random(5).choices(range(4), k=200)


def told(signs) -> list[tuple[str, str]]:
    return [(sign.annotator.username, sign.kind) for sign in signs]


# --- signs ---------------------------------------------------------------------------------------


def test_nobody_is_told_of_honest_work(big_pool, benchmark, ada, bo):
    give(big_pool, ada, MIXED)
    give(big_pool, bo, MIXED, number=2)

    assert careless_signs(benchmark) == []


def test_labels_of_a_fifth_of_a_second_are_told_at_once(big_pool, benchmark, ada):
    give(big_pool, ada, MIXED, ms=150)

    (sign,) = careless_signs(benchmark)

    assert (sign.annotator, sign.pool, sign.kind, sign.n_labels) == (ada, big_pool, "pace", 200)
    assert sign.words.startswith("gave 200 of 200 labels in 0.15 s each")
    assert sign.url == f"{big_pool.get_absolute_url()}#careless"
    assert careless_signs_in(big_pool) == [sign]


def test_without_the_page_s_script_the_time_between_labels_counts(big_pool, benchmark, ada):
    give(big_pool, ada, MIXED, ms=None)

    assert told(careless_signs(benchmark)) == [("ada", Kind.PACE)]


def test_labels_that_were_kept_without_a_connection_count_by_the_page_s_time(
    big_pool, benchmark, ada
):
    give(big_pool, ada, MIXED, ms=9000, created_at=NOW)

    assert careless_signs(benchmark) == []


def test_a_label_without_a_time_after_one_with_a_time_counts_for_none(big_pool, benchmark, ada):
    # Of three that arrive at once, two were on the screen for longer than counts.
    give(big_pool, ada, MIXED, ms=(9000, None, None), created_at=NOW)

    assert careless_signs(benchmark) == []


def test_one_grade_throughout_is_told(big_pool, benchmark, ada, bo):
    give(big_pool, ada, [0])
    give(big_pool, bo, MIXED, number=2)

    assert ("ada", Kind.ONE_GRADE) in told(careless_signs(benchmark))
    assert "bo" not in {name for name, _ in told(careless_signs(benchmark))}


def test_grades_that_agree_by_chance_alone_are_told(big_pool, benchmark, ada, bo):
    give(big_pool, ada, MIXED)
    give(big_pool, bo, OTHER, number=2)

    assert set(told(careless_signs(benchmark))) == {("ada", Kind.OTHERS), ("bo", Kind.OTHERS)}


def test_who_disagrees_with_the_careless_alone_is_not_told(big_pool, benchmark, ada, bo):
    give(big_pool, ada, MIXED, ms=100)
    give(big_pool, bo, OTHER, number=2)

    assert {name for name, _ in told(careless_signs(benchmark))} == {"ada"}


def test_failed_checks_are_told_while_their_grades_are_known(big_pool, benchmark, owner, ada):
    golds = [
        known(big_pool, f"d{number}-0", 3, purpose=KnownGrade.Purpose.GOLD) for number in range(10)
    ]
    for gold in golds:
        slot = Slot.objects.create(
            pool=big_pool,
            query=gold.entry.query,
            entry=gold.entry,
            kind="gold",
            queue_position=0,
            annotator=ada,
            state=Slot.State.DONE,
            round=1,
            number=1,
        )
        Judgment.objects.create(
            benchmark=benchmark,
            query=gold.entry.query,
            docid=gold.entry.document.docid,
            kind="grade",
            grade=0,
            actor=ada,
            slot=slot,
            pool=big_pool,
            purpose="gold",
            client_id=uuid.uuid4(),
            dwell_ms=9000,
        )

    (sign,) = careless_signs(benchmark)

    assert sign.words == "graded 0 of 10 hidden checks right."
    for gold in golds:
        remove_known_grade(known_grade=gold, actor=owner)
    assert careless_signs(benchmark) == []


@pytest.mark.parametrize("fields", [{"rater": "somebody else"}, {"purpose": "practice"}])
def test_what_came_from_a_file_or_was_practice_tells_nothing(big_pool, benchmark, ada, fields):
    give(big_pool, ada, MIXED, ms=100, **fields)

    assert careless_signs(benchmark) == []


def test_what_was_replaced_tells_nothing(big_pool, benchmark, ada):
    give(big_pool, ada, MIXED, ms=100)
    assert told(careless_signs(benchmark)) == [("ada", Kind.PACE)]
    for label in Judgment.objects.all():
        label.supersedes_id, label.pk, label.client_id = label.pk, None, uuid.uuid4()
        label.dwell_ms = 8000
        label.save(force_insert=True)

    assert careless_signs(benchmark) == []


def test_signs_are_read_by_few_statements_and_kept(big_pool, benchmark, ada, bo):
    give(big_pool, ada, MIXED, ms=100)
    give(big_pool, bo, OTHER, number=2, ms=100)
    with CaptureQueriesContext(
        connection,
    ) as first:
        careless_signs(benchmark)
    with CaptureQueriesContext(connection) as again:
        careless_signs(benchmark)

    assert len(first) <= 5
    assert len(again) <= 3


# --- pages ---------------------------------------------------------------------------------------


def test_the_pool_s_page_tells_them_and_how_long_a_label_took(
    big_pool, benchmark, owner, ada, signed_in
):
    give(big_pool, ada, MIXED, ms=150)

    page = signed_in(owner).get(big_pool.get_absolute_url()).content.decode()

    assert "Read these labels before you use them" in page
    assert "faster than anybody" in page
    assert "at 0.1 seconds a label, measured" in page  # 0.15: not 0
    assert (
        people_of(read_signals(big_pool), big_pool.benchmark, big_pool.created_by)[0]["took"]
        == "0.1"
    )


def test_publishing_says_what_it_would_publish(big_pool, benchmark, owner, ada, bo, signed_in):
    give(big_pool, ada, MIXED, ms=150)
    give(big_pool, bo, MIXED, number=2)

    publication = publication_of(benchmark)
    page = signed_in(owner).get(reverse("annotation:qrels-publish", args=[benchmark.slug]))

    labels = Judgment.objects.filter(grade__isnull=False)
    assert publication.n_labels == labels.count() == 400
    assert publication.n_documents == len(set(labels.values_list("query", "docid"))) == 200
    assert (publication.n_people, publication.n_queries) == (2, 20)
    assert [(each.person, each.n_labels) for each in publication.doubtful] == [(ada, 200)]
    text = " ".join(page.content.decode().split())
    assert "400 labels by 2 people, of 200 documents of 20 queries" in text
    assert "200 of these labels" in text


def test_an_empty_ledger_would_publish_nothing(benchmark, owner, signed_in):
    page = signed_in(owner).get(reverse("annotation:qrels-publish", args=[benchmark.slug]))

    assert "Nothing is judged yet" in page.content.decode()


def test_labels_of_somebody_are_left_out_and_the_set_says_so(
    big_pool, benchmark, owner, ada, bo, do_jobs
):
    give(big_pool, ada, [3], ms=150)
    give(big_pool, bo, [0], number=2)
    arguments = publishing_arguments(benchmark=benchmark, name="without ada", without=[ada])
    jobs.start(benchmark=benchmark, user=owner, **arguments)
    do_jobs()

    qrel_set = QrelSet.objects.get(name="without ada")

    assert set(Qrel.objects.filter(qrel_set=qrel_set).values_list("grade", flat=True)) == {0}
    (pseudonym,) = qrel_set.parameters["without"]
    assert pseudonym.startswith("annotator-")
    query = benchmark.queries.get(qid="q1")
    (grade,) = pair_grades(benchmark, query, "d1-1", has_names=True)
    assert (grade.grade, grade.derived, grade.differs) == (0, 0, False)


def test_the_form_leaves_out_whom_one_ticks(big_pool, benchmark, owner, ada, signed_in):
    give(big_pool, ada, MIXED)
    client = signed_in(owner)
    address = reverse("annotation:qrels-publish", args=[benchmark.slug])

    client.post(address, {"name": "some", "rule": "lower-median", "without": [ada.pk]})

    assert benchmark.jobs.get(kind="publish-qrels").parameters["without"] == [ada.pk]


def test_the_overview_never_has_more_labels_than_are_wanted(big_pool, benchmark, owner, ada, bo):
    give(big_pool, ada, MIXED)
    give(big_pool, bo, MIXED, number=2)
    entry = big_pool.entries.first()
    Slot.objects.create(
        pool=big_pool, query=entry.query, entry=entry, kind="repeat", queue_position=0,
        annotator=factories.user("third"), state=Slot.State.DONE,
    )  # fmt: skip

    assert judge_step(benchmark, owner).detail == "400 of 400 labels"


@pytest.mark.usefixtures("pages")
def test_the_owner_s_overview_tells_each_person_once(big_pool, benchmark, owner, ada):
    give(big_pool, ada, [1], ms=150)
    signs = careless_signs(benchmark)

    assert len(signs) > 1  # her pace, and one grade throughout
    needs = [need for need in needs_of(benchmark, owner) if "careless" in need.title]
    assert [(need.detail, need.url) for need in needs] == [(f"ada {signs[0].words}", signs[0].url)]
    assert needs_of(benchmark, owner)[0] == needs[0]
