"""What machines say lies in the ledger beside people's labels, and is met by who asks for it."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.agreement.selectors.adjudication import open_cases
from annotation.agreement.selectors.agreement import Filters, agreement_report
from annotation.agreement.selectors.careless import careless_signs
from annotation.agreement.selectors.publication import publication_of
from annotation.common.selectors import ledger
from annotation.common.selectors.pools import pool_progress, pools_of
from annotation.judging.selectors.own_work import hours_of
from annotation.judging.selectors.queue import queue_rows
from annotation.judging.services.home import pace_of
from annotation.label_facts import labelled_documents, median_seconds, n_labels_of, read_texts
from annotation.labels.selectors.known_grades import settled_pairs, settled_rows
from annotation.labels.services.exporting_judgments import export_judgments
from annotation.labels.services.publishing import publishing_arguments
from annotation.models import Judgment, Pool
from annotation.pools.selectors import read_signals
from annotation.searching.selectors import grades_of
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, QrelSet
from tests import factories
from tests.annotation import making, making_machines

pytestmark = pytest.mark.django_db
REASON = "SENTINEL-REASON of the machine"


@pytest.fixture
def labelled(benchmark, ada, bo) -> Pool:
    """A pool of two queries, graded twice; Ada and Bo are two grades apart on one document."""
    pool = making.pool(benchmark, {"q1": ["d1", "d2"], "q2": ["d3"]}, overlap=2)
    making.begun(pool, ada, bo)
    for person, grades in ((ada, {"d1": 2, "d2": 0, "d3": 1}), (bo, {"d1": 2, "d2": 2, "d3": 1})):
        for slot in [*making.claimed(pool, person)]:
            making.judge(slot, person, grades[slot.entry.document.docid])
    return pool


def machine_says(pool: Pool, grade: int) -> list[Judgment]:
    """A campaign grades every document of the pool alike; its owner is one of the people."""
    campaign = making_machines.campaign(pool, created_by=factories.user("ada"))
    return [
        making_machines.label(campaign, entry.query, entry.document.docid, grade, note=REASON)
        for entry in pool.entries.select_related("query", "document").order_by("pk")
    ]


def published(pool: Pool, name: str) -> tuple[Any, ...]:
    arguments = publishing_arguments(benchmark=pool.benchmark, name=name, rule="lower-median")
    factories.done(jobs.run_here(benchmark=pool.benchmark, user=pool.created_by, **arguments))
    record = QrelSet.objects.get(name=name)
    return record.digest, record.kind, record.as_of_event, record.parameters


def agreement_in(benchmark: Benchmark) -> str:
    """As text: some of it is NaN, which equals nothing."""
    report = agreement_report(benchmark, Filters(), 10**9)
    return repr({key: value for key, value in report.items() if key != "made_at"})


def seen(pool: Pool, ada, name: str) -> dict[str, Any]:
    """Everything that the site makes of labels, people's work and agreement."""
    benchmark, last = pool.benchmark, 10**9
    cache.clear()
    return {
        "last": ledger.last_event_of(benchmark),
        "events": list(ledger.ledger_events(benchmark, last)),
        "annotators": list(ledger.annotators_of(benchmark)),
        "newer": ledger.n_events_since(benchmark, 0),
        "judged": ledger.judged_pairs(benchmark, last),
        "last judged": ledger.last_event(benchmark),
        "agreement": agreement_in(benchmark),
        "cases": open_cases(benchmark),
        "careless": careless_signs(benchmark),
        "publication": publication_of(benchmark),
        "published": published(pool, name),
        "progress": pool_progress(pools_of(benchmark).get()),
        "signals": read_signals(pool),
        "pace": (pace_of(benchmark, ada), median_seconds(benchmark)),
        "hours": hours_of(ada).days,
        "queue": [row.state for row in queue_rows([pool], ada)],
        "documents": sorted(labelled_documents(benchmark)),
        "labels": n_labels_of(benchmark, ["d1", "d2", "d3"]),
        "texts": list(read_texts(QrelSet.objects.get(name=name))),
        "settled": settled_pairs(settled_rows(pool)),
        "searched": grades_of(benchmark.queries.get(qid="q1"), ada, sees_others=True),
        "own": ada.judgments.count(),
        "of the pool": (pool.judgments.count(), benchmark.judgments.count()),
    }


def test_nothing_that_people_see_of_labels_changes_when_machines_grade(labelled, ada):
    before = seen(labelled, ada, "before")

    machine_says(labelled, 3)

    after = seen(labelled, ada, "after")
    assert {key: value for key, value in after.items() if value != before[key]} == {}
    assert len(before["cases"]) == 1
    assert (Judgment.machines.count(), Judgment.events.count()) == (3, 9)


def test_a_machines_event_is_exported_with_whom_was_asked(labelled, owner):
    event, *_ = machine_says(labelled, 3)

    text = "".join(export_judgments(benchmark=labelled.benchmark, actor=owner))
    rows = {row["event"]: row for row in map(json.loads, text.splitlines())}
    row = rows[event.pk]
    assert (row["kind"], row["grade"], row["note"]) == ("machine", 3, REASON)
    machine = event.machine
    assert row["machine"] == {
        "judge": "umbrela2",
        "model": "m-1",
        "prompt_hash": machine.prompt.digest,
        "seed": None,
        "parameters": {},
        "probabilities": {},
        "cost": None,
    }
    assert {value["machine"] for value in rows.values() if value["kind"] == "grade"} == {None}
    lines = "".join(export_judgments(benchmark=labelled.benchmark, actor=owner, form="csv"))
    cells = {row["event"]: row for row in csv.DictReader(io.StringIO(lines))}
    assert json.loads(cells[str(event.pk)]["machine"]) == row["machine"]


def test_labels_of_a_file_replace_none_of_a_campaign_whose_judge_has_the_name(labelled, owner):
    from annotation.labels.services.entering_labels import Origin, enter_labels
    from benchwright.qrels.files import Label
    from benchwright.qrels.raters import Raters

    (event, *_) = machine_says(labelled, 3)
    origin = Origin(
        labelled.benchmark, owner, "file", "0" * 64, raters=Raters(machines={"umbrela2"})
    )

    enter_labels(origin=origin, labels=[Label(1, "q1", "d1", 1, "umbrela2", "", "")])

    ours, theirs = Judgment.machines.filter(docid="d1").order_by("pk")
    assert (ours, theirs.supersedes, theirs.grade) == (event, None, 1)


def test_the_pages_of_the_ledger_tell_machines_to_who_keeps_the_benchmark(
    labelled, owner, signed_in
):
    event, *_ = machine_says(labelled, 3)
    slug = labelled.benchmark.slug
    pages = [
        reverse("annotation:judgment-list", args=[slug]) + "?kind=machine",
        reverse("annotation:pair-detail", args=[slug, event.query_id, event.docid]),
    ]

    texts = [signed_in(owner).get(page).content.decode() for page in pages]

    assert all("umbrela2" in text for text in texts)
    assert REASON in texts[1]


def test_who_settles_a_pair_is_told_nothing_of_machines(labelled, signed_in):
    """Their decision is a person's, and is measured against the machine's later."""
    machine_says(labelled, 3)
    judge = factories.member(labelled.benchmark, "jo", "adjudicator")
    (case,) = open_cases(labelled.benchmark)
    slug, query = labelled.benchmark.slug, labelled.benchmark.queries.get(qid="q1")
    client = signed_in(judge)

    pages = [
        reverse("annotation:pair-detail", args=[slug, query.pk, case.docid]),
        reverse("annotation:adjudicate", args=[slug]),
        reverse("api:pair-detail", args=[slug]) + f"?query=q1&document={case.docid}",
    ]

    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert REASON not in answer.content.decode()
        assert "umbrela2" not in answer.content.decode()
