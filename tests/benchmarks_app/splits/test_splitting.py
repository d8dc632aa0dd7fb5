"""Splitting a benchmark: what is stored, what is refused, and the report that is kept."""

import html
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.backups.services.store_checking import verify_store
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import (
    AuditEvent,
    CorpusVersion,
    Job,
    Query,
    QueryFamily,
    Role,
    Slice,
    SliceMember,
    SplitPlan,
)
from benchmarks_app.splits import selectors as reads
from benchmarks_app.splits.services import leak_reports, splitting
from benchwright.errors import FileProblemsError
from benchwright.leaks import hard_violations
from benchwright.recipes import splits
from benchwright.recipes.parameters import ParameterError
from benchwright.recipes.splits import Mode
from benchwright.releases.errors import ExposedQueriesError
from benchwright.splits import SplitRecipe
from benchwright.splits.errors import (
    SmallSliceError,
    SplitChangedError,
    UnknownSliceError,
    UnknownSplitError,
)
from tests import factories

pytestmark = pytest.mark.django_db
HALVES = SplitRecipe(shares={"train": 0.5, "test": 0.5})
WORDS = "river candle tunnel orchard violin magnet harbour pepper saddle glacier"
START = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def bench():
    """Ten queries about ten things, the first two of one family."""
    bench = factories.benchmark("splitty")
    family = QueryFamily.objects.create(benchmark=bench)
    for n, word in enumerate(WORDS.split()):
        factories.query(
            bench,
            f"q{n}",
            f"{word} {n * 7919}",
            first_seen_at=START + timedelta(days=n),
            **({"family": family} if n < 2 else {}),
        )
    return bench


@pytest.fixture
def olga(bench):
    return factories.member(bench, "olga", Role.OWNER)


def apply(bench, olga, recipe=HALVES, **options):
    return splitting.apply_split(benchmark=bench, user=olga, recipe=recipe, **options)


def splits_of(bench) -> dict[str, str]:
    return dict(bench.queries.values_list("qid", "family__split"))


def test_no_query_has_a_column_that_could_hold_a_split():
    """The database refuses a query whose split is not its family's: it has nowhere to write it."""
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, Query._meta.db_table)

    assert not [column.name for column in described if "split" in column.name]
    assert [field.name for field in QueryFamily._meta.get_fields() if "split" in field.name] == [
        "split"
    ]


def test_apply_writes_families_plan_and_audit(bench, olga):
    plan = apply(bench, olga)

    assert set(splits_of(bench).values()) == {"train", "test"}
    assert splits_of(bench)["q0"] == splits_of(bench)["q1"]
    assert plan.sizes == {"train": 5, "dev": 0, "test": 5}
    assert (plan.algorithm, plan.mode) == ("stratified-family 1", "stratified")
    assert plan.inputs_sha256 == reads.inputs_digest(bench)
    event = AuditEvent.objects.get(action="split-queries")
    assert (event.actor, event.detail["digest"]) == (olga, plan.digest)
    assert reads.current_plan(bench) == plan


def test_preview_stores_nothing(bench):
    preview = splitting.preview_split(benchmark=bench, recipe=HALVES)

    assert [part.n_queries for part in preview.description.parts] == [5, 5]
    assert set(splits_of(bench).values()) == {""}
    assert not SplitPlan.objects.exists()


def test_the_same_recipe_gives_the_same_split_again(bench, olga):
    assert apply(bench, olga).digest == apply(bench, olga).digest


def test_chronological_excludes_straddlers_and_another_split_takes_them_back(bench, olga):
    Query.objects.filter(qid="q1").update(first_seen_at=START + timedelta(days=9))
    cut = SplitRecipe(Mode.CHRONOLOGICAL, test_from=START + timedelta(days=5))

    plan = apply(bench, olga, cut)
    excluded = bench.queries.get(qid="q1").excluded_reason
    apply(bench, olga)

    assert plan.n_excluded == 1
    assert excluded == "split: asked after the cut, its family was asked before it"
    assert plan.parameters["cuts"] == {"test": "2024-01-06T00:00:00+00:00"}
    assert bench.queries.get(qid="q1").excluded_reason == ""


def test_a_query_left_out_for_another_reason_stays_out(bench, olga):
    Query.objects.filter(qid="q5").update(excluded_reason="offensive")

    apply(bench, olga)

    assert bench.queries.get(qid="q5").excluded_reason == "offensive"
    assert bench.queries.get(qid="q5").family.split == ""


def test_public_grades_cannot_become_hidden_by_a_split(bench, olga):
    bench.queries.update(exposed_at=timezone.now())

    with pytest.raises(ExposedQueriesError):
        apply(bench, olga, hidden=["test"])

    assert set(splits_of(bench).values()) == {""}
    bench.refresh_from_db()
    assert bench.hidden_splits == []
    preview = splitting.preview_split(benchmark=bench, recipe=HALVES, hidden=["test"])
    assert [finding.code for finding in preview.findings] == ["split-exposed"]


def test_hidden_splits_are_chosen_with_the_split_or_later(bench, olga):
    apply(bench, olga, hidden=["test"])
    bench.refresh_from_db()
    first = bench.hidden_splits

    splitting.choose_hidden(benchmark=bench, user=olga, hidden=[])

    bench.refresh_from_db()
    assert (first, bench.hidden_splits) == (["test"], [])
    assert AuditEvent.objects.filter(action="hide-splits", target="none").exists()


def test_hiding_what_was_public_is_refused(bench, olga):
    bench.queries.filter(qid="q3").update(exposed_at=timezone.now())

    with pytest.raises(ExposedQueriesError, match="q3"):
        splitting.choose_hidden(benchmark=bench, user=olga, hidden=["test"])
    with pytest.raises(UnknownSplitError):
        splitting.choose_hidden(benchmark=bench, user=olga, hidden=["eval"])


def test_a_registered_slice_below_its_minimum_is_refused_until_that_is_accepted(bench, olga):
    queries = list(bench.queries.filter(qid__in=["q2", "q3"]))
    factories.query_slice(
        bench,
        "tail",
        *queries,
        minimum=30,
        is_registered=True,
        registered_at=timezone.now(),
        members_sha256="a" * 64,
    )

    with pytest.raises(SmallSliceError, match="registered slice 'tail'; its minimum is 30"):
        apply(bench, olga)

    assert apply(bench, olga, accept_small=True).sizes["test"] == 5


def test_an_unknown_slice_names_those_there_are(bench, olga):
    factories.query_slice(bench, "tail", bench.queries.get(qid="q3"))

    with pytest.raises(UnknownSliceError, match="Choose one of: tail"):
        apply(bench, olga, SplitRecipe(Mode.LEAVE_SLICE_OUT, slice_name="nail"))


def test_a_change_of_families_meanwhile_stores_nothing(bench, olga):
    preview = splitting.preview_split(benchmark=bench, recipe=HALVES)
    Query.objects.filter(qid="q7").update(family=bench.queries.get(qid="q8").family)

    with pytest.raises(SplitChangedError):
        splitting.store_split(
            benchmark=bench, user=olga, recipe=HALVES, preview=preview, hidden=None
        )


def test_a_plan_is_outdated_once_queries_or_families_change(bench, olga):
    plan = apply(bench, olga)
    before = reads.is_outdated(bench, plan)

    factories.query(bench, "q99")

    assert (before, reads.is_outdated(bench, plan)) == (False, True)


def test_given_file_with_a_family_on_two_sides_changes_nothing(bench):
    lines = [f"q{n}\t{'test' if n else 'train'}\n".encode() for n in range(10)]

    with pytest.raises(FileProblemsError, match="'q0' of the same family is in train"):
        splitting.given_from(bench, lines, file="given.tsv")


def test_given_file_is_applied(bench, olga):
    lines = [f"q{n}\t{'test' if n > 4 else 'train'}\n".encode() for n in range(10)]

    result = splitting.given_from(bench, lines, file="given.tsv")
    plan = apply(bench, olga, SplitRecipe(Mode.GIVEN), given_splits=result)

    assert plan.sizes == {"train": 5, "dev": 0, "test": 5}


def test_a_large_benchmark_is_split_by_a_job(bench, olga):
    job = splitting.start_split(benchmark=bench, user=olga, recipe=HALVES, hidden=["test"])

    jobs.execute(job.pk, has_heartbeat=False)

    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.DONE, "")
    assert reads.current_plan(bench).sizes == {"train": 5, "dev": 0, "test": 5}


# --- the leak report -----------------------------------------------------------------------


def test_leak_report_is_kept_until_something_changes(bench, olga, monkeypatch):
    apply(bench, olga)
    first = leak_reports.current_leak_report(bench)
    monkeypatch.setattr(leak_reports, "leak_report", lambda *args, **kwargs: {"findings": "new"})

    again = leak_reports.current_leak_report(bench)
    factories.query(bench, "q99")

    assert first == again
    assert leak_reports.current_leak_report(bench) == {"findings": "new"}


def test_slice_of_as_many_other_queries_is_seen(bench, olga):
    """Nor is the sum of their keys another."""
    apply(bench, olga)
    first, second, third, fourth = bench.queries.order_by("pk")[:4]
    query_slice = factories.query_slice(bench, "some", first, fourth)
    splitting.current_description(bench)
    before = reads.fingerprint(bench)

    query_slice.members.all().delete()
    query_slice.members.bulk_create(
        SliceMember(slice=query_slice, query=query, source="human") for query in (second, third)
    )

    assert reads.fingerprint(bench) != before
    assert splitting.current_description(bench) == splitting._described(bench)


@pytest.mark.parametrize(
    "change",
    [
        {"minimum": 77},
        {"is_registered": True, "registered_at": START, "members_sha256": "5" * 64},
    ],
)
def test_what_a_slice_asks_of_a_split_is_seen(bench, olga, change):
    row = factories.query_slice(bench, "some", *bench.queries.all())
    before = reads.fingerprint(bench)

    Slice.objects.filter(pk=row.pk).update(**change)

    assert reads.fingerprint(bench) != before


def test_day_of_a_query_that_had_none_is_seen(bench, olga):
    Query.objects.filter(qid="q3").update(first_seen_at=None)
    before = reads.fingerprint(bench)

    Query.objects.filter(qid="q3").update(first_seen_at=START)

    assert reads.fingerprint(bench) != before


def test_leak_report_is_worked_out_anew_for_a_new_version_of_the_corpus(bench, olga):
    """Its documents have other dates; and in another language other words count for little."""
    apply(bench, olga)
    first = leak_reports._report_folder(bench, None, see_hidden=True)
    CorpusVersion.objects.create(corpus=bench.corpus, number=1, state="ready", n_documents=0)
    second = leak_reports._report_folder(bench, None, see_hidden=True)
    bench.corpus.lang = "de"

    assert len({first, second, leak_reports._report_folder(bench, None, see_hidden=True)}) == 3


def test_leak_report_names_a_leak_until_families_are_merged(bench, olga):
    twin = factories.query(bench, "twin", "River 0!")
    twin.family.split = "test"
    apply(bench, olga)
    QueryFamily.objects.filter(pk=bench.queries.get(qid="q0").family_id).update(split="train")
    QueryFamily.objects.filter(pk=twin.family_id).update(split="test")

    (violation,) = hard_violations(leak_reports.current_leak_report(bench))

    assert violation.code == "split-leak-exact"
    assert "q0 “river 0” and twin “River 0!”" in violation.message


def test_report_for_everyone_names_no_document_of_a_hidden_split(bench, olga):
    pairs = {(f"q{n}", "secret-doc"): 3 for n in range(10)}
    factories.qrel_set(bench, pairs)
    apply(bench, olga, hidden=["test"])

    public = leak_reports.current_leak_report(bench)
    keepers = leak_reports.current_leak_report(bench, see_hidden=True)

    assert "secret-doc" not in str(public)
    assert "secret-doc" in str(keepers)
    assert keepers["pairs"][0]["shared_documents"]["n"] == 1
    assert public["pairs"][0]["shared_documents"] is None
    assert "split-leak-documents" not in str(public)


@pytest.mark.parametrize(("hidden", "is_told"), [(["test"], False), ([], True)])
def test_digest_of_how_many_documents_are_relevant_is_told_where_nothing_is_hidden(
    bench, olga, client, hidden, is_told
):
    """Of hidden splits the numbers could be tried against it."""
    factories.qrel_set(bench, {(f"q{n}", "a-doc"): 3 for n in range(10)})
    plan = apply(bench, olga, hidden=hidden)
    client.force_login(factories.member(bench, "vi", "viewer"))

    answer = client.get(f"/api/v1/benchmarks/{bench.slug}/splits/").content.decode()
    report = str(leak_reports.current_leak_report(bench))

    digest = plan.parameters["strata_sha256"]
    assert [digest in text for text in (answer, report)] == [is_told] * 2


def test_leak_report_of_an_unsplit_benchmark_is_of_one_split(bench):
    report = leak_reports.current_leak_report(bench)

    assert [part["name"] for part in report["splits"]] == ["test"]
    assert (report["pairs"], report["plan"]) == ([], None)


def test_leak_report_job_keeps_what_it_computed(bench, olga):
    apply(bench, olga, hidden=["test"])

    job = leak_reports.start_leak_report(benchmark=bench, user=olga)
    again = leak_reports.start_leak_report(benchmark=bench, user=olga)
    jobs.execute(job.pk, has_heartbeat=False)

    job.refresh_from_db()
    assert (again.pk, job.state, job.error) == (job.pk, Job.State.DONE, "")
    assert leak_reports.kept_leak_report(bench) is not None
    assert leak_reports.kept_leak_report(bench, see_hidden=True) is not None


def test_leak_report_that_changed_on_disk_is_named_and_worked_out_again(bench):
    report = leak_reports.current_leak_report(bench)
    (kept,) = (
        stored_file for stored_file in files.stored_files() if stored_file.name.startswith("leaks/")
    )
    path = files.local_path(kept.name)
    path.write_bytes(path.read_bytes().replace(b'"test"', b'"best"'))

    (broken,) = verify_store().broken
    assert (broken["file"], broken["what"]) == (kept.name, "leak report of splitty")
    assert leak_reports.kept_leak_report(bench) is None
    assert leak_reports.current_leak_report(bench) == report
    assert verify_store().broken == []


def test_a_gap_that_leads_back_is_refused_at_every_door_and_not_recorded(bench, olga, client):
    """Of the form, the API and the commands; and of whoever calls the library past them."""
    client.force_login(olga)
    page, api = f"/b/{bench.slug}/splits/", f"/api/v1/benchmarks/{bench.slug}/splits/"
    chosen = {"mode": "chronological", "gap_days": "-400", "test_from": "2024-01-05"}
    words = splits.GAP_DAYS.advice

    assert words in html.unescape(client.post(page, chosen).content.decode())
    answered = client.post(api, chosen, content_type="application/json")
    assert (answered.status_code, words in answered.content.decode()) == (400, True)
    with pytest.raises(CommandError, match=words):
        call_command("split_queries", bench.slug, "--mode=chronological", "--gap=-400")
    with pytest.raises(ParameterError, match="gap_days is -400; expected a whole number from 0"):
        apply(bench, olga, SplitRecipe(Mode.CHRONOLOGICAL, gap_days=-400))
    assert not SplitPlan.objects.filter(benchmark=bench).exists()
