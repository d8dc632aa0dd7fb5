"""Pages, API and command of splits."""

from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.common.forms import MOST_LIST_BYTES
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Benchmark, Job, Role, SplitPlan
from benchmarks_app.splits.services import leak_reports, splitting
from tests import factories

pytestmark = pytest.mark.django_db
SHARES = {"train": "50", "dev": "0", "test": "50", "seed": "1"}


@pytest.fixture
def bench():
    bench = factories.benchmark("pages")
    words = "river candle tunnel orchard violin magnet harbour pepper saddle glacier"
    for n, word in enumerate(words.split()):
        factories.query(
            bench, f"q{n}", f"{word} {n * 7919}", first_seen_at=f"2024-01-{n + 1:02}T00:00Z"
        )
    factories.query_slice(bench, "tail", *bench.queries.filter(qid__in=["q1", "q2"]))
    return bench


@pytest.fixture
def olga(bench, client):
    person = factories.member(bench, "olga", Role.OWNER)
    client.force_login(person)
    return person


def url(name, *args):
    return reverse(name, args=["pages", *args])


def split(client, **more):
    return client.post(url("split-detail"), {"mode": "stratified", **SHARES, **more})


def test_splitting_from_the_page_and_reading_it_back_as_a_file(bench, olga, client):
    done = split(client)
    page = client.get(url("split-detail")).content.decode()
    content = b"".join(client.get(url("split-assignment")).streaming_content)
    file = SimpleUploadedFile("splits.tsv", content)
    again = client.post(url("split-detail"), {"mode": "given", "file": file})

    assert (done.status_code, again.status_code) == (302, 302)
    assert "In force" in page
    newest, first = SplitPlan.objects.order_by("-pk")
    assert (newest.mode, newest.digest) == ("given", first.digest)


def test_preview_changes_nothing_with_and_without_script(bench, olga, client):
    fields = {"mode": "stratified", **SHARES}

    live = client.get(url("split-preview"), fields).content.decode()
    posted = client.post(url("split-detail"), {**fields, "preview": "1"})

    for text in (live, posted.content.decode()):
        assert "test would have 1 query of the slice" in text
    assert posted.status_code == 200
    assert not SplitPlan.objects.exists()


@pytest.mark.parametrize(
    ("fields", "has_asked_sizes"),
    [
        ({"mode": "stratified", **SHARES}, True),
        ({"mode": "random", **SHARES}, True),
        ({"mode": "chronological", "test_from": "2024-01-10", "gap_days": 0}, False),
        ({"mode": "leave_slice_out", "slice": "tail", **SHARES}, False),
    ],
)
def test_sizes_are_told_as_those_asked_for_only_where_shares_decide(
    bench, olga, client, fields, has_asked_sizes
):
    defaults = {"seed": 1, "straddling": "keep_earlier"}

    text = client.get(url("split-preview"), {**defaults, **fields}).content.decode()

    assert "The largest family has 1 query" in text
    assert ("sizes are within that of what was asked" in text) is has_asked_sizes


def test_charts_of_a_preview_and_of_the_split_are_drawn_from_the_same_numbers(bench, olga, client):
    fields = {"mode": "stratified", **SHARES}
    preview_charts = client.get(url("split-preview"), fields).context["preview_charts"]
    split(client)

    previewed = client.get(preview_charts[0][0].replace(".svg", ".csv")).content
    applied = client.get(url("split-chart", "balance", "csv")).content

    assert b"slice,split,share,queries" in previewed
    assert previewed == applied
    assert client.get(url("split-preview-chart", "forged", "balance", "csv")).status_code == 404


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mode": "stratified", **SHARES, "test": "40"}, "they add up to 90"),
        ({"mode": "chronological", "test_from": "2031-01-01"}, "lies outside"),
        ({"mode": "leave_slice_out", "train": "100", "seed": "0"}, "Choose the slice"),
        ({"mode": "given"}, "Choose the file"),
    ],
)
def test_a_form_that_cannot_be_followed_says_why(bench, olga, client, fields, words):
    defaults = {"gap_days": "0", "straddling": "keep_earlier"}

    answered = client.post(url("split-detail"), {**defaults, **fields})

    assert answered.status_code == 422
    assert words in answered.content.decode()


def test_a_given_file_that_is_too_large_is_refused_before_it_is_read(bench, olga, client):
    file = SimpleUploadedFile("splits.tsv", bytes(MOST_LIST_BYTES + 1))

    answered = client.post(url("split-detail"), {"mode": "given", "file": file})

    assert answered.status_code == 422
    assert "The file has more than 32 MB" in answered.content.decode()


def test_a_given_file_with_problems_shows_each_line(bench, olga, client):
    file = SimpleUploadedFile("splits.tsv", b"q0\ttrain\nq99\ttest\n")

    answered = client.post(url("split-detail"), {"mode": "given", "file": file})

    assert answered.status_code == 422
    assert "query &#x27;q99&#x27; is not in this benchmark" in answered.content.decode()


def test_hiding_grades_that_were_public_is_refused_with_the_queries(bench, olga, client):
    split(client)
    bench.queries.update(exposed_at=timezone.now())

    answered = client.post(url("split-hide"), {"now-hidden": ["test"]}, follow=True)

    named = [qid for qid in ("q0", "q1", "q2") if qid in answered.content.decode()]
    assert named
    bench.refresh_from_db()
    assert bench.hidden_splits == []


def test_large_benchmarks_are_previewed_and_split_by_jobs(bench, olga, client, monkeypatch):
    monkeypatch.setattr(splitting, "SPLIT_AT_ONCE", 3)
    monkeypatch.setattr(leak_reports, "LEAKS_AT_ONCE", 3)

    live = client.get(url("split-preview"), SHARES).content.decode()
    split(client, preview="1")
    jobs.run_queued()
    preview = Job.objects.get(kind=splitting.PREVIEW_KIND)
    text = client.get(preview.result_url).content.decode()
    split(client)
    jobs.run_queued()
    before = client.get(url("leak-report-detail")).content.decode()
    client.post(url("leak-report-compute"))
    jobs.run_queued()

    assert "press Preview" in live
    assert "slice &#x27;tail&#x27;" in text
    assert SplitPlan.objects.get().sizes == {"train": 5, "dev": 0, "test": 5}
    assert "Not computed yet" in before
    assert "Nothing leaks" in client.get(url("leak-report-detail")).content.decode()


def test_leak_report_is_a_page_json_and_markdown(bench, olga, client):
    twin = factories.query(bench, "twin", "River 0!")
    split(client)
    bench.queries.get(qid="q0").family.__class__.objects.filter(
        pk=bench.queries.get(qid="q0").family_id
    ).update(split="train")
    twin.family.__class__.objects.filter(pk=twin.family_id).update(split="test")

    page = client.get(url("leak-report-detail")).content.decode()
    facts = client.get(url("leak-report-file", "json")).json()
    text = client.get(url("leak-report-file", "md")).content.decode()

    assert "keeps it from being released" in page
    assert [finding["code"] for finding in facts["findings"]] == ["split-leak-exact"]
    assert "split-leak-exact" in text
    assert client.get(url("leak-report-file", "xml")).status_code == 404
    assert client.post(url("leak-differ"), {"a": "q0", "b": "tw\0in"}).status_code == 404
    client.post(url("leak-differ"), {"a": "q0", "b": "twin"})
    assert not bench.family_links.exists()  # the same text is the same to every system


def test_pairs_that_read_alike_can_be_told_apart_or_merged_from_the_report(bench, olga, client):
    near = factories.query(bench, "near", "rivers 0 please")
    factories.query(bench, "far", "tunnels 15838")
    for qid, side in (("q0", "train"), ("near", "test"), ("q2", "train"), ("far", "test")):
        family = bench.queries.get(qid=qid).family
        family.split = side
        family.save()
    before = client.get(url("leak-report-detail")).content.decode()

    client.post(url("leak-differ"), {"a": "q2", "b": "far"})
    after = client.get(url("leak-report-detail")).content.decode()
    merging = {"act": "merge", "other": str(near.family_id), "split": "train", "then": "detail"}
    client.post(url("family-decide", bench.queries.get(qid="q0").family_id), merging)

    assert "Merge into train" in before
    assert bench.family_links.get(query_b__qid="far").verdict == "different"
    assert "said to differ" in after
    assert bench.queries.get(qid="near").family.split == "train"


def test_keepers_reading_a_hidden_split_is_written_down_and_files_stay_public(bench, olga, client):
    factories.qrel_set(bench, {(f"q{n}", "secret-doc"): 3 for n in range(10)})
    split(client, hidden=["test"])

    page = client.get(url("leak-report-detail")).content.decode()
    file = client.get(url("leak-report-file", "json")).content.decode()
    client.force_login(factories.member(bench, "vi", Role.VIEWER))
    viewers = client.get(url("leak-report-detail")).content.decode()
    api = client.get(reverse("api:leak-report", args=["pages"])).content.decode()

    assert "secret-doc" in page
    assert "secret-doc" not in file + viewers + api
    assert AuditEvent.objects.filter(action="read-hidden-grades", actor=olga).exists()


# --- API -----------------------------------------------------------------------------------


def api(client, name, body=None, *args):
    address = reverse(f"api:{name}", args=["pages", *args])
    if body is None:
        return client.get(address)
    return client.post(address, body, content_type="application/json")


def test_api_previews_applies_and_reports(bench, olga, client):
    recipe = {"shares": {"train": 0.5, "test": 0.5}, "seed": 1}

    preview = api(client, "split-preview", recipe).json()
    applied = api(client, "split-detail", recipe)
    report = api(client, "leak-report").json()
    text = api(client, "leak-report-markdown").content.decode()

    assert applied.status_code == 200, applied.json()
    assert applied.json()["assignment_sha256"] == preview["assignment_sha256"]
    assert applied.json()["sizes"] == {"train": 5, "dev": 0, "test": 5}
    assert report["findings"] == []
    assert text.startswith("# Leak report")
    assert api(client, "split-detail").json()["is_outdated"] is False


def test_a_preview_that_hides_nothing_is_not_that_of_what_is_hidden(bench, olga, client):
    bench.queries.update(exposed_at=timezone.now())
    Benchmark.objects.filter(pk=bench.pk).update(hidden_splits=["test"])

    as_it_is = api(client, "split-preview", {"seed": 1}).json()
    without = api(client, "split-preview", {"seed": 1, "hidden": []}).json()

    codes = [{finding["code"] for finding in told["findings"]} for told in (as_it_is, without)]
    assert codes == [{"split-slice-small", "split-exposed"}, {"split-slice-small"}]


def test_api_takes_a_given_split_and_names_its_problems(bench, olga, client):
    results = {f"q{n}": "train" if n < 5 else "test" for n in range(10)}

    good = api(client, "split-detail", {"mode": "given", "given": results})
    bad = api(client, "split-detail", {"mode": "given", "given": {**results, "q99": "test"}})

    assert good.json()["sizes"] == {"train": 5, "dev": 0, "test": 5}
    assert (bad.status_code, bad.json()["code"]) == (422, "file-problems")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"shares": {"train": 0.5, "test": 0.4}}, "split-shares"),
        ({"mode": "leave_slice_out", "slice": "nail"}, "split-unknown-slice"),
        ({"mode": "chronological", "test_from": "2031-01-01"}, "split-cut-outside"),
    ],
)
def test_api_refuses_with_a_stable_code(bench, olga, client, body, code):
    assert api(client, "split-detail", body).json()["code"] == code


def test_api_hides_splits(bench, olga, client):
    split(client)

    hidden = api(client, "split-hide", {"hidden": ["test"]}).json()

    assert hidden["hidden_splits"] == ["test"]


# --- command -------------------------------------------------------------------------------


def test_command_previews_then_splits_and_tells_what_leaks(bench, olga):
    out = StringIO()
    options = {"shares": "train=50,test=50", "stdout": out}

    call_command("split_queries", "pages", dry_run=True, **options)
    assert not SplitPlan.objects.exists()
    call_command("split_queries", "pages", hide=["test"], **options)

    assert "slice tail: 20.0% of all; train 20.0%, test 20.0%" in out.getvalue()
    assert "split pages: train 5, test 5" in out.getvalue()
    assert "nothing leaks from one split into another" in out.getvalue()
    bench.refresh_from_db()
    assert bench.hidden_splits == ["test"]


def test_command_says_what_it_cannot_do(bench, olga):
    with pytest.raises(CommandError, match="they add up to 90"):
        call_command("split_queries", "pages", shares="train=80,test=10")
    with pytest.raises(CommandError, match="Name it"):
        call_command("split_queries", "pages", mode="given")
