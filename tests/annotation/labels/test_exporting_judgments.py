"""Raw judgments as files: all of them, streamed, and nobody by name."""

import csv
import io
import json
import tracemalloc
import uuid
from datetime import UTC, datetime
from errno import ENOSPC

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.judging.services.judging import undo_last
from annotation.labels.selectors import raw_judgments as selectors
from annotation.labels.services.exporting_judgments import export_judgments
from annotation.management.commands import export_judgments as command
from annotation.models import Judgment, Slot
from benchmarks_app.models import AuditEvent
from tests import factories
from tests.annotation.making import guideline, judge, pool

pytestmark = pytest.mark.django_db


def exported(benchmark, **options) -> list[dict]:
    text = "".join(export_judgments(benchmark=benchmark, actor=factories.user("keeper"), **options))
    return [json.loads(line) for line in text.splitlines()]


def event(benchmark, who, docid="d1", **values) -> Judgment:
    query = benchmark.queries.first() or factories.query(benchmark, "q1")
    values = {"kind": "grade", "grade": 1, "client_id": uuid.uuid4()} | values
    return Judgment.objects.create(
        benchmark=benchmark, query=query, docid=docid, actor=who, **values
    )


def test_every_column_says_what_the_event_says(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]}, name="first")
    events = event(
        benchmark,
        ada,
        grade=3,
        pool=small_pool,
        slot=small_pool.slots.get(),
        purpose="label",
        note="because",
        evidence=[{"start": 2, "end": 4, "text": "at"}],
        confidence="low",
        guideline=guideline(benchmark, 4),
        content_hash="c0ffee",
        view="excerpt",
        shown_chars=120,
        shown_position=2,
        dwell_ms=3100,
        is_surplus=True,
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC),
    )

    (row,) = exported(benchmark)

    assert row.pop("annotator").startswith("annotator-")
    assert row == {
        "event": events.pk,
        "at": "2026-01-02T03:04:05.678+00:00",
        "query": "q1",
        "document": "d1",
        "kind": "grade",
        "grade": 3,
        "reason": "",
        "note": "because",
        "evidence": [{"start": 2, "end": 4, "text": "at"}],
        "confidence": "low",
        "outcome": "",
        "purpose": "label",
        "pool": "first",
        "source": "",
        "entered_by": "",
        "guideline": 4,
        "content_hash": "c0ffee",
        "view": "excerpt",
        "shown_chars": 120,
        "position": 2,
        "dwell_ms": 3100,
        "is_extra": True,
        "supersedes": None,
        "superseded_by": None,
        "machine": None,
    }


def test_undone_label_and_its_undoing_are_both_there(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    judge(small_pool.slots.get(), ada, 2)
    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    first, second = exported(benchmark)

    assert (first["kind"], second["kind"]) == ("grade", "retract")
    assert first["superseded_by"] == second["event"]
    assert second["supersedes"] == first["event"]


def test_people_go_by_the_same_pseudonym_in_one_benchmark_and_another_elsewhere(benchmark, ada):
    other = factories.benchmark()
    for where in (benchmark, benchmark, other):
        event(where, ada)

    first, second = exported(benchmark)
    (third,) = exported(other)

    assert first["annotator"] == second["annotator"] != third["annotator"]


def test_nobody_is_named_neither_of_the_site_nor_of_a_file(benchmark, ada):
    event(benchmark, ada, kind="import", rater="ada", source="crowd.tsv")
    event(benchmark, ada)

    imported, own = exported(benchmark)

    assert '"ada' not in json.dumps([imported, own])
    # A person of a file who is called as one of ours is another person.
    assert imported["entered_by"] == own["annotator"] != imported["annotator"]
    assert own["entered_by"] == ""


def test_what_was_hidden_is_left_out_unless_asked_for(benchmark, ada):
    for kind in Slot.Kind:
        event(benchmark, ada, f"for-{kind}", purpose=kind)
    event(benchmark, ada, "for-nothing")

    assert {row["purpose"] for row in exported(benchmark)} == {"", "label", "rejudge"}
    assert {row["purpose"] for row in exported(benchmark, is_whole=True)} == {"", *Slot.Kind}


def test_events_come_in_order_past_the_pages_and_up_to_the_one_asked_for(
    benchmark, ada, monkeypatch
):
    monkeypatch.setattr(selectors, "ROWS_PER_QUERY", 3)
    keys = [event(benchmark, ada, f"d{n}").pk for n in range(8)]
    event(factories.benchmark(), ada)

    assert [row["event"] for row in exported(benchmark)] == keys
    assert [row["event"] for row in exported(benchmark, as_of=keys[4])] == keys[:5]


def test_pages_are_found_in_their_order_and_not_sorted(benchmark, ada):
    """What is left would be sorted for each page, which takes the square of a ledger's length."""
    event(benchmark, ada)
    with CaptureQueriesContext(connection) as asked:
        list(selectors.raw_judgments(benchmark))
    page = next(query["sql"] for query in asked.captured_queries if "LIMIT" in query["sql"])

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            plan = cursor.execute(f"EXPLAIN QUERY PLAN {page}").fetchall()
        else:
            # Statistics may have it that a few rows are quicker sorted: do they need to be?
            cursor.execute("SET LOCAL enable_sort = off")
            cursor.execute(f"EXPLAIN {page}")
            plan = cursor.fetchall()
    assert "B-TREE" not in str(plan)
    assert "Sort" not in str(plan)


def test_what_is_judged_while_somebody_reads_is_left_to_the_next_export(
    benchmark, ada, monkeypatch
):
    monkeypatch.setattr(selectors, "ROWS_PER_QUERY", 1)
    event(benchmark, ada, "d1")
    event(benchmark, ada, "d2")
    rows = selectors.raw_judgments(benchmark)

    first = next(rows)
    event(benchmark, ada, "d3")

    assert [first.document, *(row.document for row in rows)] == ["d1", "d2"]


def test_an_export_is_recorded(benchmark, ada):
    exported(benchmark, is_whole=True)

    record = AuditEvent.objects.get(action="export-judgments")
    assert (record.benchmark, record.detail["form"], record.detail["is_whole"]) == (
        benchmark,
        "jsonl",
        True,
    )


def test_command_writes_a_file_without_the_worker(benchmark, owner, ada, tmp_path):
    event(benchmark, ada, note="=1+1")
    path = tmp_path / "labels.csv"

    call_command("export_judgments", "stdlib", format="csv", output=path)

    (row,) = csv.DictReader(io.StringIO(path.read_text()))
    assert (row["query"], row["document"], row["note"]) == ("q1", "d1", "'=1+1")


def test_export_that_breaks_off_leaves_the_earlier_file_alone(
    benchmark, owner, tmp_path, monkeypatch
):
    path = tmp_path / "exports" / "labels.csv"
    path.parent.mkdir()
    path.write_text("of last week")

    def breaking_off(**asked):
        yield "query,document\n"
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(command, "export_judgments", breaking_off)

    with pytest.raises(CommandError, match="No space left"):
        call_command("export_judgments", "stdlib", format="csv", output=path)
    assert {file.name: file.read_text() for file in path.parent.iterdir()} == {
        "labels.csv": "of last week"
    }


def test_export_of_five_times_as_much_takes_no_more_memory(benchmark, ada, monkeypatch):
    """The million is in tests/performance; this is its small twin."""
    monkeypatch.setattr(selectors, "ROWS_PER_QUERY", 200)
    few, many = 600, 3_000

    fill(benchmark, ada, few)
    peak_of_export(benchmark)  # what is loaded once is loaded now
    small = peak_of_export(benchmark)
    fill(benchmark, ada, many - few)
    large = peak_of_export(benchmark)

    assert Judgment.objects.count() == many
    assert large < 1.2 * small


def fill(benchmark, who, n: int) -> None:
    query = benchmark.queries.first() or factories.query(benchmark, "q1")
    rows = (
        Judgment(
            benchmark=benchmark,
            query=query,
            docid=f"d{k}",
            kind="grade",
            grade=1,
            actor=who,
            client_id=uuid.uuid4(),
        )
        for k in range(n)
    )
    Judgment.objects.bulk_create(rows, batch_size=2000)


def peak_of_export(benchmark) -> int:
    tracemalloc.start()
    for _ in export_judgments(benchmark=benchmark, actor=factories.user("keeper")):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak
