"""A query log from its upload to queries with weights: services, command and pages."""

import math
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from benchmarks_app.jobs.services import jobs
from benchmarks_app.logs.services import importing_logs, sampling
from benchmarks_app.logs.services.importing_logs import Reading, receive_log_path, start_log
from benchmarks_app.models import AuditEvent, FamilyLink, Job, PendingLog, Query, QueryLog, Upload
from benchmarks_app.slices.services.rules import applied_rule
from benchwright.logs.columns import LogColumns
from benchwright.logs.errors import LogColumnsError, LogNameTakenError
from benchwright.logs.sampling import Design
from benchwright.recipes.sampling import Allocation, Weighting, Wordings
from tests import factories

pytestmark = pytest.mark.django_db

LOG = """query,count,date,user
lost card,40,2024-01-05,u1
Lost card?,20,2024-02-06,u2
lost cards,9,2024-02-07,u2
open account,30,2024-01-08,u3
open account jo@example.org,2,2024-01-09,u4
jo@example.org,5,2024-01-09,u4
exchange rate of the euro,7,2024-03-01,u5
atm near me,1,2024-03-02,u6
pin forgotten,1,2024-03-03,u6
"""


@pytest.fixture
def benchmark():
    return factories.benchmark("bank")


@pytest.fixture
def olga(benchmark):
    return factories.member(benchmark, "olga", "owner")


def pending(benchmark, user, tmp_path, content=LOG, name="log.csv"):
    path = tmp_path / name
    path.write_text(content)
    return receive_log_path(benchmark=benchmark, user=user, path=path)


def read(benchmark, user, tmp_path, content=LOG, **options):
    start_log(
        pending=pending(benchmark, user, tmp_path, content), user=user, reading=Reading(**options)
    )
    jobs.run_queued()
    job = Job.objects.latest("pk")
    assert job.state == Job.State.DONE, (job.error, job.problems)
    return QueryLog.objects.latest("pk")


def draw(log, user, seed=1, **design):
    sampling.start_sample(log=log, user=user, design=Design(**design), seed=seed)
    jobs.run_queued()
    job = Job.objects.latest("pk")
    assert job.state == Job.State.DONE, job.error
    return job


def test_log_is_counted_by_normalised_text_and_masked(benchmark, olga, tmp_path):
    log = read(benchmark, olga, tmp_path)

    assert (log.n_rows, log.n_distinct, log.n_traffic) == (9, 7, 110)
    assert (str(log.first_day), str(log.last_day)) == ("2024-01-05", "2024-03-03")
    assert log.masked == {"email": 7}
    assert log.facts["only_personal"] == 5
    assert log.facts["never_read"] == ["user"]


def test_parquet_log_with_moments_of_a_zone_is_read(benchmark, olga, tmp_path):
    asked = datetime(2024, 1, 5, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    path = tmp_path / "log.parquet"
    pl.DataFrame({"query": ["lost card"], "date": [asked], "spans": [[asked]]}).write_parquet(path)

    kept = receive_log_path(benchmark=benchmark, user=olga, path=path)
    start_log(pending=kept, user=olga, reading=Reading())
    jobs.run_queued()

    assert Job.objects.get().error == ""
    assert str(QueryLog.objects.get().first_day) == "2024-01-05"


def test_raw_file_is_deleted_once_it_has_been_read(benchmark, olga, tmp_path, settings):
    log = read(benchmark, olga, tmp_path)

    assert log.upload is None
    assert not Upload.objects.exists()
    assert not PendingLog.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_nothing_of_the_raw_file_is_left_on_disk(benchmark, olga, tmp_path, settings):
    read(benchmark, olga, tmp_path)

    kept = [path for path in settings.DATA_DIR.rglob("*") if path.is_file()]
    files = [path.suffix for path in kept if not path.name.startswith("limits.sqlite3")]
    assert sorted(files) == [".parquet", ".parquet"]
    assert not any(b"example.org" in path.read_bytes() for path in kept)


def test_raw_file_is_kept_where_that_was_asked_for(benchmark, olga, tmp_path):
    log = read(benchmark, olga, tmp_path, keeps_raw=True)

    assert log.upload.imported_as == "query log: log"


def test_queries_below_the_floor_are_dropped_and_counted(benchmark, olga, tmp_path):
    log = read(benchmark, olga, tmp_path, floor=3)

    assert (log.n_distinct, log.n_traffic) == (4, 106)
    assert (log.facts["below_floor"], log.facts["traffic_below_floor"]) == (3, 4)


@pytest.mark.parametrize(
    ("content", "options", "error"),
    [
        ("query,count\na,x\n", {}, "nothing was imported"),
        ("query,count\n,3\n", {}, "no query is left: none of its 1 rows has one"),
        ("query,count\na,1\n", {"floor": 2}, "all 1 were asked less often than the floor"),
        ("query,count\njo@x.org,1\n", {}, "all are personal data and nothing else"),
    ],
)
def test_log_that_gives_nothing_fails_with_the_reason(
    benchmark, olga, tmp_path, content, options, error
):
    waiting = pending(benchmark, olga, tmp_path, content)
    start_log(pending=waiting, user=olga, reading=Reading(**options))

    jobs.run_queued()

    assert error in Job.objects.get().error
    assert not QueryLog.objects.exists()
    # It waits for other columns; whoever uploaded it may delete it.
    importing_logs.discard_pending(pending=waiting, user=olga)
    assert not Upload.objects.exists()


def test_file_that_is_no_log_is_not_kept(benchmark, olga, tmp_path):
    with pytest.raises(LogColumnsError):
        pending(benchmark, olga, tmp_path, '{"a": ')

    assert not Upload.objects.exists()


def test_columns_and_name_are_checked_before_the_job_starts(benchmark, olga, tmp_path):
    read(benchmark, olga, tmp_path)
    waiting = pending(benchmark, olga, tmp_path)

    with pytest.raises(LogNameTakenError, match="'log' is in this benchmark already"):
        start_log(pending=waiting, user=olga, reading=Reading())
    with pytest.raises(LogColumnsError, match="no column 'words'"):
        start_log(
            pending=waiting, user=olga, reading=Reading(name="b", columns=LogColumns("words"))
        )
    with pytest.raises(LogColumnsError, match="'user' is about people"):
        start_log(pending=waiting, user=olga, reading=Reading(name="b", columns=LogColumns("user")))


def test_sample_makes_queries_with_probability_and_weight(benchmark, olga, tmp_path):
    log = read(benchmark, olga, tmp_path)

    job = draw(log, olga, n_families=3, allocation=Allocation.EQUAL, head_share=0.2, tail_share=0.4)

    sample = log.samples.get()
    assert sample.n_families == 3
    strata = {stratum["name"]: stratum for stratum in sample.parameters["strata"]}
    assert {name: stratum["families"] for name, stratum in strata.items()} == {
        "head": 1, "torso": 3, "tail": 2,
    }  # fmt: skip
    for query in Query.objects.all():
        stratum = strata[query.metadata["stratum"]]
        assert query.inclusion_probability == 1 / stratum["families"]
        assert query.weight == pytest.approx(query.frequency * stratum["families"])
        assert query.sample == sample
    assert AuditEvent.objects.filter(action="sample-queries", target="log").exists()
    assert job.result["made"][0].startswith(f"{sample.n_queries} queries of 3 families")


def test_wordings_of_a_drawn_family_come_with_it_and_say_why(benchmark, olga, tmp_path):
    log = read(benchmark, olga, tmp_path)

    draw(log, olga, n_families=6, allocation=Allocation.PROPORTIONAL, head_share=0.2)

    lost = Query.objects.get(text="lost card")
    assert lost.frequency == 60
    assert set(lost.family.queries.values_list("text", flat=True)) == {"lost card", "lost cards"}
    assert FamilyLink.objects.get().reason == "bag"
    assert Query.objects.count() == 7
    assert (str(lost.first_seen_at.date()), str(lost.last_seen_at.date())) == (
        "2024-01-05", "2024-02-06",
    )  # fmt: skip


def test_a_slice_by_frequency_has_the_cuts_of_the_log_or_its_own(benchmark, olga, tmp_path):
    """Of these three queries 30 % are one: of the log's seven they are two."""
    draw(read(benchmark, olga, tmp_path), olga, n_families=6)
    known = Query.objects.filter(text__in=["lost card", "open account", "lost cards"])
    Query.objects.exclude(pk__in=known).update(excluded_reason="not asked about")

    heads = [
        set(applied_rule(benchmark, {"kind": "frequency", "band": "head", **cuts}).reasons)
        for cuts in ({"head_share": 0.3}, {"head_above": 50, "tail_below": 1})
    ]

    qids = dict(known.values_list("text", "qid"))
    assert heads == [{qids["lost card"], qids["open account"]}, {qids["lost card"]}]


def test_one_wording_stands_for_its_whole_family(benchmark, olga, tmp_path):
    log = read(benchmark, olga, tmp_path)

    draw(log, olga, n_families=6, wordings=Wordings.ONE, head_share=0.2)

    assert Query.objects.get(text="lost card").weight == 69
    assert Query.objects.count() == 6


def test_weights_for_the_mean_over_distinct_queries_are_one_over_the_probability(
    benchmark, olga, tmp_path
):
    log = read(benchmark, olga, tmp_path)

    draw(log, olga, n_families=3, weighting=Weighting.QUERIES, head_share=0.2, tail_share=0.4)

    for query in Query.objects.all():
        assert query.weight == pytest.approx(1 / query.inclusion_probability)


def test_query_that_is_here_gets_weight_and_keeps_id_and_family(benchmark, olga, tmp_path):
    here = factories.query(benchmark, "mine", "LOST CARD", clicks={"d1": 2})
    log = read(benchmark, olga, tmp_path)

    job = draw(log, olga, n_families=6, head_share=0.2)

    here.refresh_from_db()
    assert (here.text, here.frequency, here.weight) == ("LOST CARD", 60, 60)
    assert here.clicks == {"d1": 2}  # of which this log says nothing
    assert Query.objects.get(text="lost cards").family == here.family
    assert FamilyLink.objects.get(reason="bag").query_a == here
    assert "1 of the drawn queries was here already and now has its" in job.result["notes"][0]


@pytest.mark.parametrize("days", [("2024-01-01", "2024-03-01"), ("2024-01-09", "2024-02-01")])
def test_query_that_is_here_was_seen_from_the_first_day_told_to_the_last(
    benchmark, olga, tmp_path, days
):
    first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in days)
    here = factories.query(benchmark, "mine", "lost card", first_seen_at=first, last_seen_at=last)

    draw(read(benchmark, olga, tmp_path), olga, n_families=6, head_share=0.2)

    here.refresh_from_db()
    in_log = ("2024-01-05", "2024-02-06")
    seen = [str(moment.date()) for moment in (here.first_seen_at, here.last_seen_at)]
    assert seen == [min(days[0], in_log[0]), max(days[1], in_log[1])]


def test_words_beside_an_image_are_another_query_than_the_words(benchmark, olga, tmp_path):
    seen = factories.query(benchmark, "seen", "lost card", metadata={"image_sha256": ["a" * 64]})

    draw(read(benchmark, olga, tmp_path), olga, n_families=6, head_share=0.2)

    seen.refresh_from_db()
    assert (seen.sample, seen.weight) == (None, None)
    assert Query.objects.filter(text__iexact="lost card").count() == 2


def test_second_sample_leaves_queries_of_the_first_alone(benchmark, olga, tmp_path):
    log = read(benchmark, olga, tmp_path)
    draw(log, olga, n_families=6, head_share=0.2)
    before = dict(Query.objects.values_list("qid", "weight"))

    job = draw(log, olga, n_families=6, seed=2, head_share=0.2, weighting=Weighting.QUERIES)

    assert dict(Query.objects.values_list("qid", "weight")) == before
    assert "7 of the drawn queries are of an earlier sample" in job.result["notes"][0]


def test_same_seed_draws_the_same_queries_again(olga, tmp_path):
    results = []
    for slug in ("one", "two"):
        log = read(factories.benchmark(slug), olga, tmp_path)
        draw(log, olga, n_families=4, seed=7, head_share=0.2)
        results.append(sorted(log.benchmark.queries.values_list("qid", "weight")))

    assert results[0] == results[1]
    assert math.isfinite(sum(weight for _, weight in results[0]))
