"""`benchwright ask`: a run from an endpoint, without a site."""

import pytest
from click.testing import CliRunner

from benchwright.cli.systems.ask import command
from tests.scoring.search_server import Answer, hits, plain


@pytest.fixture
def ask(server, tmp_path):
    queries = tmp_path / "queries.tsv"
    queries.write_text("q1\tfirst text\nq2\tsecond text\n")
    template = tmp_path / "body.json"
    template.write_text('\ufeff{"size": {{k}}, "query": {"match": {"text": "{{query}}"}}}')

    def ask(*words: str, url: str = server.url, template: str = str(template)):
        results = [url, "--queries", str(queries), "--template", template, "--rps", "1000"]
        results += ["--preset", "opensearch", "--retries", "0", *words]
        return CliRunner().invoke(command, results)

    return ask


def test_answers_are_written_in_the_order_of_the_queries(ask, server, tmp_path):
    out, times = tmp_path / "live.run", tmp_path / "ms.tsv"
    done = ask("-k", "7", "-o", str(out), "--latencies", str(times), "--tag", "ours")

    assert (done.exit_code, done.stdout) == (0, "")
    assert out.read_text().splitlines() == [
        "q1 Q0 d1 1 2.0 ours",
        "q1 Q0 d2 2 1.0 ours",
        "q2 Q0 d1 1 2.0 ours",
        "q2 Q0 d2 2 1.0 ours",
    ]
    assert {request.body["size"] for request in server.asked} == {7}
    head, *rows = times.read_text().splitlines()
    assert (head, sorted(row.split("\t")[0] for row in rows)) == ("query\tms", ["q1", "q2"])
    assert "2 of 2 queries answered: p50" in done.stderr


def test_paths_of_ones_own_go_before_those_of_the_preset(ask, server):
    server.answer = lambda asked: plain({"found": [{"doc": {"key": 5}}]})
    done = ask("--results", "found", "--id", "doc.key", "--score", "")

    assert done.stdout.splitlines()[0] == "q1 Q0 5 1 100.0 live"


def test_one_failure_too_many_writes_no_run(ask, server, tmp_path):
    out = tmp_path / "live.run"
    server.scripted["second text"] = [Answer(b"no", status=400)]
    done = ask("-o", str(out))

    assert (done.exit_code, out.exists()) == (1, False)
    assert "query 'q2': HTTP 400 Bad Request: no" in str(done.exception)
    assert f"kept in {out}.answers.jsonl: trying again goes on" in str(done.exception)


def test_nothing_is_kept_of_what_goes_to_standard_output(ask, server, tmp_path):
    before = set(tmp_path.iterdir())
    server.scripted["second text"] = [Answer(b"no", status=400)]
    done = ask()

    assert (done.exit_code, done.stdout) == (1, "")
    assert "kept" not in str(done.exception)
    assert set(tmp_path.iterdir()) == before


def test_failures_that_may_be_are_told(ask, server):
    server.scripted["second text"] = [Answer(b"", status=400)]
    server.scripted["first text"] = [hits(("a", 1.0), ("a", 0.5))]
    done = ask("--may-fail", "1")

    assert (done.exit_code, done.stdout) == (0, "q1 Q0 a 1 1.0 live\n")
    assert "failed: query 'q2': HTTP 400 Bad Request" in done.stderr
    assert "note: 1 document given twice" in done.stderr


def test_headers_take_secrets_from_the_environment(ask, server, monkeypatch):
    monkeypatch.setenv("TOKEN", "s3cret-value")
    done = ask("--header", "Authorization: Bearer $TOKEN")

    assert server.asked[0].headers["authorization"] == "Bearer s3cret-value"
    assert "s3cret" not in done.output
    assert "TOKEN: it has no value" in str(
        ask("--header", "X-Key: $TOKEN_THAT_IS_NOT_SET").exception
    ).replace("_THAT_IS_NOT_SET", "")


def test_solr_is_asked_by_get(server, tmp_path):
    server.answer = lambda asked: plain({"response": {"docs": [{"id": "d1", "score": 1.5}]}})
    queries = tmp_path / "q.txt"
    queries.write_text("c++ & more\n")
    results = [server.url, "--queries", str(queries), "--preset", "solr", "--rps", "1000"]
    done = CliRunner().invoke(command, results)

    assert done.stdout == "1 Q0 d1 1 1.5 live\n"
    assert server.asked[0].query == "c++ & more"


def test_address_may_have_the_query_in_it(server, tmp_path):
    server.answer = lambda asked: plain({"found": [{"id": "d1", "score": 1.5}]})
    queries = tmp_path / "q.txt"
    queries.write_text("c++ & more\n")
    url = f"{server.url}?lang=en&q={{{{query}}}}&n={{{{k}}}}"
    paths = ["--results", "found", "--id", "id", "--score", "score"]
    words = ["--queries", str(queries), *paths]
    done = CliRunner().invoke(command, [url, *words])

    assert done.stdout == "1 Q0 d1 1 1.5 live\n"
    assert server.asked[0].query == "c++ & more"


@pytest.mark.parametrize(
    ("asked", "words", "reason"),
    [
        (
            "",
            ["--method", "GET"],
            "is for POST. Write one for GET into the address, as in ?q={{query}",
        ),
        ("", ["--method", "POST", "--preset", "solr"], "is for GET. Write one for POST in a file"),
        ("?q={{query}}", ["--method", "POST"], "the address has one, and --method POST is another"),
        ("?q={{qury}}", [], "{{qury}}"),
    ],
)
def test_template_of_another_method_is_refused_with_what_to_write(
    server, tmp_path, asked, words, reason
):
    queries = tmp_path / "q.txt"
    queries.write_text("words\n")
    done = CliRunner().invoke(command, [server.url + asked, "--queries", str(queries), *words])

    assert done.exit_code == 1
    assert reason in str(done.exception)
    assert server.asked == []
