"""Pages, API and commands of query logs: what a keeper drops, maps, previews and draws."""

import json

import pytest
from click.testing import CliRunner
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from benchmarks_app.jobs.services import jobs
from benchmarks_app.logs import selectors
from benchmarks_app.models import Job, PendingLog, Query, QueryLog, Upload
from benchwright.cli.main import main
from tests import factories

pytestmark = pytest.mark.django_db

LOG = (
    "asked,times,session\nlost card jo@x.org,9,s1\nopen account,5,s2\nopen account,2,s3\npin,1,s\n"
)


@pytest.fixture
def benchmark():
    return factories.benchmark("bank")


@pytest.fixture
def client(benchmark):
    client = Client()
    client.force_login(factories.member(benchmark, "olga", "owner"))
    return client


def page(name, *args):
    return reverse(name, args=["bank", *args])


def upload(client, content=LOG, name="help.csv"):
    return client.post(page("log-list"), {"file": SimpleUploadedFile(name, content.encode())})


def test_dropped_file_is_shown_as_it_would_be_kept(client):
    answer = upload(client)

    text = client.get(answer.url).content.decode()

    assert "<del>lost card jo@x.org</del> <ins>lost card [email]</ins>" in text
    assert text.count('<span class="pill is-plain">not read</span>') == 1  # the session
    assert '<option value="session">' not in text


def test_preview_follows_the_columns_that_are_chosen(client):
    address = upload(client).url
    chosen = {"query": "asked", "count": "times", "name": "help", "floor": 1, "preview": "1"}

    text = client.post(address, {**chosen, "kinds": ["phone"]}).content.decode()

    assert "jo@x.org" in text
    assert "[email]" not in text
    assert not Job.objects.exists()


def test_preview_follows_the_countries_that_are_chosen(client, settings):
    settings.LOG_REGIONS = ("FR", "US")
    address = upload(client, "asked,times\n06 12 34 56 78,3\n").url
    chosen = {"query": "asked", "count": "times", "name": "help", "floor": 1, "preview": "1"}
    kinds = {"kinds": ["phone"]}

    assert 'value="FR, US"' in client.get(address).content.decode()
    french = client.post(address, {**chosen, **kinds, "regions": "us fr"}).content.decode()
    american = client.post(address, {**chosen, **kinds, "regions": "us"}).content.decode()
    usual = client.post(address, {**chosen, **kinds, "regions": ""}).content.decode()
    assert "<ins>[phone]</ins>" in usual
    assert "<ins>[phone]</ins>" in french
    assert "<ins>" not in american


def test_log_is_read_and_its_page_says_what_became_of_it(client, benchmark):
    address = upload(client).url
    answer = client.post(
        address,
        {"query": "asked", "count": "times", "name": "help", "floor": 2, "kinds": ["email"]},
    )
    jobs.run_queued()

    assert answer.status_code == 302
    log = QueryLog.objects.get()
    text = client.get(page("log-detail", log.pk)).content.decode()
    assert "lost card [email]" in text
    assert "1 query, 1 search<" in text  # below the floor
    assert "deleted after reading" in text
    assert "session" in text  # never read


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"query": ""}, "Choose the column that holds the queries."),
        ({"count": "asked"}, "column &#x27;asked&#x27; has two roles"),
        ({"floor": "0"}, "Expected a whole number from 1 to 1,000,000."),
        ({"query": "session"}, "Select a valid choice"),
        ({"regions": "us, england"}, "&#x27;ENGLAND&#x27; is no country whose numbers are known"),
    ],
)
def test_mapping_that_does_not_fit_is_told_on_the_form(client, changed, why):
    address = upload(client).url
    chosen = {"query": "asked", "count": "times", "name": "help", "floor": "1"}

    answer = client.post(address, {**chosen, **changed})

    assert answer.status_code == 422
    assert why in answer.content.decode()


def test_file_that_is_no_log_is_told_and_not_kept(client):
    answer = upload(client, '{"query": ')

    assert answer.status_code == 422
    assert "is not JSON" in answer.content.decode()
    assert not Upload.objects.exists()


def test_file_can_be_deleted_before_it_is_read(client):
    upload(client)

    client.post(page("log-discard", PendingLog.objects.get().pk))

    assert not Upload.objects.exists()


def test_preview_says_what_would_be_drawn_and_draws_nothing(client, benchmark):
    log = factories.read_log(benchmark)
    form = {"log": log.pk, "n_families": 6, "by": "frequency", "allocation": "equal"}
    form |= {"head": 5, "tail": 50, "weighting": "traffic", "wordings": "all"}

    text = client.get(page("sample-preview"), form).content.decode()

    assert '<td class="num">1.0000</td>' in text  # the head is one family, and drawn
    assert not Query.objects.exists()
    form |= {"n_families": 900}
    refused = client.get(page("sample-preview"), form).content.decode()
    assert "900 families are asked for, and stratum" in refused


def test_sample_is_drawn_from_the_page(client, benchmark):
    log = factories.read_log(benchmark)
    form = {"log": log.pk, "n_families": 6, "by": "nothing", "allocation": "proportional"}
    form |= {"head": 5, "tail": 50, "weighting": "queries", "wordings": "all", "seed": 3}

    client.post(page("sample-new"), form)
    jobs.run_queued()

    assert {query.weight for query in Query.objects.all()} == {20 / 6}
    assert "6 of 20" in client.get(page("log-detail", log.pk)).content.decode()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"allocation": "given"}, "Name how many families of each stratum are drawn."),
        ({"given": "head:4"}, "is no number of a stratum"),
        ({"by": "language"}, "The log has no column of languages"),
        ({"head": 60}, "no shares that leave room for a torso"),
    ],
)
def test_sample_that_cannot_be_drawn_is_told(client, benchmark, changed, why):
    log = factories.read_log(benchmark)
    form = {"log": log.pk, "n_families": 6, "by": "frequency", "allocation": "equal"}
    form |= {"head": 5, "tail": 50, "weighting": "traffic", "wordings": "all"}

    answer = client.post(page("sample-new"), {**form, **changed})

    assert answer.status_code == 422
    assert why in answer.content.decode()


def test_chart_has_the_counts_as_csv(client, benchmark):
    log = factories.read_log(benchmark)

    text = client.get(page("log-curve", log.pk, 500, 5000, "csv")).content.decode()

    assert text.splitlines()[:2] == ["rank,searches", "1,20"]


# --- API -------------------------------------------------------------------------------------


def test_log_goes_in_and_a_sample_comes_out_through_the_api(client, benchmark):
    of = "/api/v1/benchmarks/bank/logs/"
    file = SimpleUploadedFile("help.csv", LOG.encode())
    started = client.post(of, {"file": file, "floor": 1, "query": "asked", "count": "times"})
    jobs.run_queued()
    log = client.get(of).json()["results"][0]

    design = {"n_families": 3, "by": "nothing", "allocation": "proportional"}
    preview = client.post(
        f"{of}{log['id']}/samples/preview/", json.dumps(design), "application/json"
    ).json()
    client.post(f"{of}{log['id']}/samples/", json.dumps({**design, "seed": 5}), "application/json")
    jobs.run_queued()

    assert started.status_code == 202
    assert (log["n_distinct"], log["masked"]) == (3, {"email": 9})
    assert preview["strata"] == [
        {"name": "all", "families": 3, "queries": 3, "traffic": 17, "drawn": 3,
         "inclusion_probability": 1.0}
    ]  # fmt: skip
    assert client.get(f"{of}{log['id']}/samples/").json()["results"][0]["seed"] == 5
    assert Query.objects.count() == 3


@pytest.mark.parametrize(("kinds", "masked"), [([], {"email": 9}), (["phone"], {}), (["none"], {})])
def test_api_masks_everything_unless_kinds_are_named(client, kinds, masked):
    file = SimpleUploadedFile("help.csv", LOG.encode())
    columns = {"query": "asked", "count": "times"}

    client.post("/api/v1/benchmarks/bank/logs/", {"file": file, "kinds": kinds, **columns})
    jobs.run_queued()

    assert QueryLog.objects.get().masked == masked


@pytest.mark.parametrize(("regions", "n_masked"), [("", 3), ("US", 0), ("us,fr", 3), ("none", 0)])
def test_api_masks_numbers_of_the_countries_named_or_of_the_site(client, regions, n_masked):
    file = SimpleUploadedFile("help.csv", b"asked,times\nwho is 06 12 34 56 78,3\n")
    fields = {"file": file, "query": "asked", "count": "times", "regions": regions}

    client.post("/api/v1/benchmarks/bank/logs/", fields)
    jobs.run_queued()

    assert QueryLog.objects.get().masked == ({"phone": n_masked} if n_masked else {})


def test_api_refuses_columns_that_are_not_there_and_keeps_nothing(client):
    file = SimpleUploadedFile("help.csv", LOG.encode())

    answer = client.post("/api/v1/benchmarks/bank/logs/", {"file": file, "query": "words"})

    assert answer.status_code == 422
    assert answer.json()["code"] == "log-columns"
    assert not Upload.objects.exists()


# --- commands --------------------------------------------------------------------------------


@pytest.mark.parametrize(("regions", "text"), [("fr", "who is [phone]"), ("us", "who is 06 12")])
def test_log_by_command_masks_numbers_of_the_countries_named(client, tmp_path, regions, text):
    path = tmp_path / "help.csv"
    path.write_text("asked,times\nwho is 06 12 34 56 78,3\n")

    call_command("import_log", "bank", str(path), "--query", "asked", "--regions", regions)

    log = QueryLog.objects.get()
    assert log.facts["regions"] == [regions.upper()]
    assert selectors.most_frequent(log)[0].text.startswith(text)


def test_command_refuses_a_country_that_is_none(client, tmp_path):
    path = tmp_path / "help.csv"
    path.write_text(LOG)

    with pytest.raises(CommandError, match="'UK' is no country whose numbers are known"):
        call_command("import_log", "bank", str(path), "--regions", "UK")


def test_log_and_sample_by_command(benchmark, client, tmp_path, capsys):
    path = tmp_path / "help.csv"
    path.write_text(LOG)

    call_command("import_log", "bank", str(path), "--query", "asked", "--count", "times")
    call_command("sample_queries", "bank", "help", "-n", "3", "--by", "nothing", "--seed", "1")

    assert Query.objects.count() == 3
    assert "all: 3 of 3 families, probability 1.0000" in capsys.readouterr().out
    assert not PendingLog.objects.exists()


def test_command_that_fails_leaves_no_raw_file_behind(benchmark, client, tmp_path):
    path = tmp_path / "help.csv"
    path.write_text("query,count\na,x\n")

    with pytest.raises(CommandError, match=r"help.csv:2: the count is 'x'"):
        call_command("import_log", "bank", str(path))
    with pytest.raises(CommandError, match=r"No log 'help' in bank. There are: none yet"):
        call_command("sample_queries", "bank", "help")

    assert not Upload.objects.exists()


def test_benchwright_samples_a_file_without_a_site(tmp_path):
    path = tmp_path / "help.csv"
    path.write_text(factories.LOG)
    out, weights = tmp_path / "queries.jsonl", tmp_path / "weights.tsv"
    families = tmp_path / "families.tsv"

    done = CliRunner().invoke(
        main,
        ["sample", str(path), "-n", "6", "-o", str(out), "--weights", str(weights),
         "--families-file", str(families)],
    )  # fmt: skip

    assert done.exit_code == 0, done.output
    queries = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(queries) == 6
    for query, line in zip(queries, weights.read_text().splitlines()[1:], strict=True):
        facts = query["metadata"]
        assert line == f"{query['_id']}\t{facts['weight']!r}"
        assert facts["weight"] == facts["frequency"] / facts["inclusion_probability"]
    assert families.read_text().startswith("query-id\tfamily\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--column", "words=asked"], 2, "roles are query, count"),
        (["--column", "query=words"], 1, "there is no column 'words'"),
        (["--given", "head=4"], 2, "--given needs --allocation given"),
        (["--mask", "mail"], 1, "'mail' is no kind of personal data"),
        (["-n", "500"], 1, "500 families are asked for"),
        (["--by", "language"], 1, "no column of languages"),
    ],
)
def test_benchwright_sample_says_what_it_cannot_do(tmp_path, words, code, message):
    path = tmp_path / "help.csv"
    path.write_text(factories.LOG)

    done = CliRunner().invoke(main, ["sample", str(path), *words])

    assert done.exit_code == code
    assert message in done.stderr
