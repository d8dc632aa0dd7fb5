"""What the agreement page says of real events, and to whom."""

import re
import uuid

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.agreement.selectors import agreement as selectors
from annotation.agreement.selectors.agreement import Filters, agreement_report
from annotation.agreement.services.measuring_agreement import measuring_arguments
from annotation.models import Judgment, KnownGrade, PoolEntry, Slot
from benchmarks_app.jobs.services import jobs
from benchmarks_app.people.services.api_tokens import create_api_token
from benchwright.agreement import COEFFICIENTS
from tests import factories
from tests.annotation import making

pytestmark = pytest.mark.django_db
FIRST = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
SECOND = [0, 1, 2, 2, 0, 1, 3, 3, 0, 0]


@pytest.fixture(autouse=True)
def nothing_kept():
    cache.clear()


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


def say(pool, docid, actor, grade, **values) -> Judgment:
    """An event written straight into the ledger."""
    values.setdefault("kind", "grade")
    values.setdefault("purpose", "label")
    return Judgment.objects.create(
        benchmark=pool.benchmark,
        query=pool.benchmark.queries.get(qid="q1"),
        docid=docid,
        grade=grade,
        actor=actor,
        pool=pool,
        client_id=uuid.uuid4(),
        **values,
    )


@pytest.fixture
def pool(benchmark, ada, ann):
    small_pool = making.pool(benchmark, {"q1": [f"d{n}" for n in range(10)]}, overlap=2)
    for number, (a, b) in enumerate(zip(FIRST, SECOND, strict=True)):
        say(small_pool, f"d{number}", ada, a)
        say(small_pool, f"d{number}", ann, b)
    return small_pool


def measured(benchmark, **filters):
    return agreement_report(benchmark, Filters(**filters), Judgment.objects.latest("pk").pk)


def page(client, benchmark, **query):
    return client.get(reverse("annotation:agreement", args=[benchmark.slug]), query)


def test_what_stands_is_measured(benchmark, pool, ada):
    first = Judgment.objects.filter(actor=ada).earliest("pk")
    say(pool, first.docid, ada, 3, supersedes=first)
    second = Judgment.objects.filter(actor=ada, docid="d1").get()
    say(pool, "d1", ada, None, kind="retract", supersedes=second)
    for purpose in ("practice", "gold", "repeat"):
        say(pool, "d2", ada, 0, purpose=purpose)

    report = measured(benchmark)

    assert (report["n_labels"], report["n_shared"], report["n_raters"]) == (19, 9, 2)
    # d0 (now 3 and 0), d3, d6 and d9 differ; d1 has one label left.
    assert report["overall"]["exact"]["value"] == pytest.approx(5 / 9)


def test_a_report_as_of_an_event_does_not_know_what_came_later(benchmark, pool, ada):
    before = measured(benchmark)
    first = Judgment.objects.filter(actor=ada).earliest("pk")
    say(pool, first.docid, ada, 3, supersedes=first)

    again = agreement_report(benchmark, Filters(), before["as_of"])

    assert {**again, "made_at": ""} == {**before, "made_at": ""}
    assert measured(benchmark)["overall"] != before["overall"]


def test_filters_choose_a_pool_and_a_time(benchmark, pool, ada, ann):
    other = making.pool(benchmark, {"q1": ["e1"]}, overlap=2)
    moment = timezone.now()
    say(other, "e1", ada, 3)
    say(other, "e1", ann, 0)

    assert measured(benchmark, pool=other.pk)["n_labels"] == 2
    assert measured(benchmark, since=moment)["overall"]["exact"]["value"] == 0
    assert measured(benchmark, until=moment)["n_labels"] == 20
    by_pool = {row["name"]: row["n"] for row in measured(benchmark)["pools"]}
    assert by_pool == {pool.pk: 20, other.pk: 2}


@pytest.mark.parametrize("day", ["9999-12-31", "9999-12-30"])
def test_last_days_there_are_end_nothing(benchmark, pool, owner, signed_in, day):
    address = reverse("annotation:agreement", args=[benchmark.slug])

    response = signed_in(owner).get(address, {"until": day})

    assert response.context["report"]["n_labels"] == 20


def test_versions_of_the_guideline_are_measured_apart(benchmark, pool, ada, ann):
    versions = [making.guideline(benchmark, n) for n in (1, 2)]
    for version, (a, b) in zip(versions, [(0, 3), (2, 2)], strict=True):
        docid = f"g{version.version}"
        say(pool, docid, ada, a, guideline=version)
        say(pool, docid, ann, b, guideline=version)

    results = {row["name"]: row for row in measured(benchmark)["guidelines"]}

    assert {name: row["exact"]["value"] for name, row in results.items()} == {1: 0.0, 2: 1.0}


def test_hidden_checks_and_repeats_are_counted_by_person(benchmark, pool, ada, ann):
    entry = PoolEntry.objects.get(pool=pool, document__docid="d0")
    KnownGrade.objects.create(entry=entry, purpose="gold", grade=3, set_by=ada)
    for person, grade in ((ada, 3), (ann, 1)):
        slot = Slot.objects.create(
            pool=pool,
            query=entry.query,
            entry=entry,
            kind="gold",
            number=person.pk,
            queue_position=0,
            annotator=person,
            state="done",
        )
        say(pool, "d0", person, grade, purpose="gold", slot=slot)
    say(pool, "d1", ada, 1, purpose="repeat")
    say(pool, "d2", ada, 0, purpose="repeat")

    report = measured(benchmark)

    gold = {row["rater"][0]: (row["n"], row["exact"], row["lean"]) for row in report["gold"]}
    assert gold == {ada.pk: (1, 1.0, 0.0), ann.pk: (1, 0.0, -2.0)}
    (repeats,) = report["repeats"]
    assert (repeats["rater"], repeats["n"], repeats["exact"]) == ((ada.pk, ""), 2, 0.5)


def test_advice_names_a_document_to_begin_with(benchmark, pool, ada):
    for number in range(25):
        say(pool, f"long{number}", ada, number % 3, view="excerpt", shown_chars=700 + number)

    (hint,) = measured(benchmark)["advice"]

    assert (hint["kind"], hint["rater"], hint["n"]) == ("unopened", (ada.pk, ""), 25)
    assert hint["docid"] == "long24"


# --- the page -------------------------------------------------------------------------------------


def test_the_owner_sees_names_and_the_adjudicator_pseudonyms(benchmark, pool, owner, bo, signed_in):
    by_owner = page(signed_in(owner), benchmark).content.decode()
    by_adjudicator = page(signed_in(bo), benchmark).content.decode()

    assert ">ada<" in by_owner
    for name in (">ada<", ">ann<"):
        assert name not in by_adjudicator
    assert by_adjudicator.count("annotator-") >= 2


def test_job_that_an_adjudicator_starts_tells_no_more_than_their_page(
    benchmark, pool, ada, bo, signed_in, do_jobs
):
    """Of people in files its report has the names, which are a keeper's to read."""
    say(pool, "d0", ada, 1, kind="import", rater="Grace Hopper")
    client, of = signed_in(bo), f"/api/v1/benchmarks/{benchmark.slug}"

    job = client.post(f"{of}/agreement/", {}, content_type="application/json").json()["id"]
    do_jobs()

    answer = client.get(f"/api/v1/jobs/{job}/").content.decode()
    stream = b"".join(client.get(f"/api/v1/jobs/{job}/events/")).decode()
    page = client.get(reverse("annotation:agreement", args=[benchmark.slug])).content.decode()
    assert '"state":"done"' in answer
    assert "Grace Hopper" not in answer + stream + page
    assert "raters" not in answer + stream


def test_who_leans_to_lower_grades_has_the_sign_of_negative_numbers(
    benchmark, pool, owner, signed_in
):
    text = page(signed_in(owner), benchmark).content.decode()

    assert re.search(r">\N{MINUS SIGN}\d\.\d\d<", text)
    assert not re.search(r">-\d", text)


def test_the_page_says_why_there_is_no_number(benchmark, ada, owner, signed_in):
    small_pool = making.pool(benchmark, {"q1": ["d1"]})
    say(small_pool, "d1", ada, 3)

    text = page(signed_in(owner), benchmark).content.decode()

    assert "undefined, because no document has two labels" in text
    assert "undefined, because it is of two annotators, and there is one" in text


def test_an_empty_ledger_says_what_to_do(benchmark, owner, signed_in):
    assert "Nobody has judged anything yet" in page(signed_in(owner), benchmark).content.decode()


def test_a_band_is_words_beside_the_number(benchmark, pool, owner, signed_in):
    text = page(signed_in(owner), benchmark).content.decode()

    assert "it is no verdict" in text
    assert "firm: conclusions can rest on it" in text


def test_a_report_is_made_once_for_each_state_of_the_ledger(benchmark, pool, owner, ada, signed_in):
    client = signed_in(owner)
    page(client, benchmark)
    with CaptureQueriesContext(connection) as few:
        page(client, benchmark)

    say(pool, "d0", ada, 1)
    with CaptureQueriesContext(connection) as many:
        page(client, benchmark)

    assert len(few) < len(many)


def test_many_judgments_are_measured_in_the_background(
    benchmark, pool, owner, ada, signed_in, do_jobs, monkeypatch
):
    monkeypatch.setattr(selectors, "AT_ONCE", 5)
    client = signed_in(owner)
    assert "Not measured yet" in page(client, benchmark).content.decode()

    compute = reverse("annotation:agreement-compute", args=[benchmark.slug])
    assert client.post(compute).status_code == 302
    assert "Agreement is being measured" in page(client, benchmark).content.decode()
    (job,) = do_jobs()

    assert job.state == "done", job.error
    last = Judgment.objects.latest("pk").pk
    text = page(client, benchmark).content.decode()
    assert f"as of event {last:,}" in text
    assert "newer judgment" not in text
    say(pool, "d0", ada, 1)
    assert "1 newer judgment" in page(client, benchmark).content.decode()
    assert "Not measured yet" in page(client, benchmark, pool=pool.pk).content.decode()


def test_the_job_keeps_its_filters(benchmark, pool, owner, do_jobs):
    since = timezone.now()
    filters = Filters(pool=pool.pk, since=since)
    arguments = measuring_arguments(benchmark=benchmark, filters=filters)
    jobs.start(benchmark=benchmark, user=owner, **arguments)

    (job,) = do_jobs()

    assert job.state == "done"
    assert job.result["report"]["n_labels"] == 0
    assert f"pool={pool.pk}" in job.result_url


def write_grades(folder, **by_name) -> list[str]:
    paths = []
    for name, grades in by_name.items():
        rows = [f"q1\td{n}\t{grade}\n" for n, grade in enumerate(grades)]
        paths.append(folder / f"{name}.tsv")
        paths[-1].write_text("query-id\tcorpus-id\tgrade\n" + "".join(rows))
    return [str(path) for path in paths]


def told(capsys, *arguments) -> dict[str, str]:
    """What the command says: {name of a figure: the figure as it is printed}."""
    call_command("agreement", *arguments)
    return dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())


def test_two_files_are_compared_with_the_figures_of_the_page(tmp_path, capsys):
    output = told(capsys, *write_grades(tmp_path, a=FIRST, b=SECOND))

    assert output["10 pairs graded twice"].startswith("70% the same grade; scale 0, 1, 2, 3 (")
    assert output["Cohen's kappa, quadratic"] == "0.8837, 10 documents"
    assert "Same side of relevant" not in output


@pytest.mark.parametrize(("scale", "quadratic"), [((0, 1, 3), "0.5714"), ((0, 1, 2, 3), "0.4706")])
def test_command_page_and_endpoint_take_the_scale_of_the_benchmark(
    benchmark, owner, ada, ann, client, tmp_path, capsys, scale, quadratic
):
    first, second = [0, 0, 1, 1, 3, 3], [0, 1, 1, 3, 3, 1]
    benchmark.grades.exclude(value__in=scale).delete()
    small_pool = making.pool(benchmark, {"q1": [f"d{n}" for n in range(6)]}, overlap=2)
    for number, (a, b) in enumerate(zip(first, second, strict=True)):
        say(small_pool, f"d{number}", ada, a)
        say(small_pool, f"d{number}", ann, b)
    client.force_login(owner)

    files = write_grades(tmp_path, a=first, b=second)
    by_files = told(capsys, *files, "--scale", ",".join(map(str, scale)))
    on_scale = told(capsys, *files, "--benchmark", benchmark.slug)
    by_command = told(capsys, "--benchmark", benchmark.slug)
    page = client.get(reverse("annotation:agreement", args=[benchmark.slug]))
    secret = create_api_token(user=owner, name="test", days=1).secret
    api = Client(headers={"Authorization": f"Bearer {secret}"})
    endpoint = api.get(f"/api/v1/benchmarks/{benchmark.slug}/agreement/").json()["overall"]

    assert by_command["Cohen's kappa, quadratic"] == f"{quadratic}, 6 documents"
    for key, label, _ in COEFFICIENTS:
        assert page.context["report"]["overall"][key] == endpoint[key]
        assert by_command[label] == on_scale[label]
        assert key == "relevant" or by_files[label] == by_command[label]
        value = endpoint[key]["value"]
        assert by_command[label].startswith("undef" if value is None else f"{value:.4f}")


def test_where_every_grade_is_relevant_all_are_on_one_side(benchmark, tmp_path, capsys):
    benchmark.grades.update(is_relevant=True)
    files = write_grades(tmp_path, a=FIRST, b=SECOND)

    output = told(capsys, *files, "--benchmark", benchmark.slug)

    assert output["Same side of relevant"].startswith("1.0000")


def test_files_off_their_scale_are_refused_with_the_line(tmp_path):
    files = write_grades(tmp_path, a=[0, 2], b=[0, 1])

    with pytest.raises(CommandError, match=r"a\.tsv:3: grade 2 is not on the scale 0, 1, 3"):
        call_command("agreement", *files, "--scale", "0,1,3")
    with pytest.raises(CommandError, match="expected two grades or more"):
        call_command("agreement", *files, "--scale", "0-3")
    with pytest.raises(CommandError, match="Give two files of grades, or --benchmark"):
        call_command("agreement", files[0])
