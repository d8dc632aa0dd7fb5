"""Logs of clicks in each form, good and bad, and what the command makes of them."""

import gzip
import json
from math import isnan
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from benchwright.cli.collections.clicks import command
from benchwright.clicks.columns import read_columns
from benchwright.clicks.errors import ClickColumnsError, ClickRoleError, NoClicksError
from benchwright.clicks.models import fitted
from benchwright.clicks.outcomes import Estimate, difference, direction, online_outcomes
from benchwright.clicks.pages import Page, Reading, read_pages
from benchwright.families.normalising import normalised
from benchwright.logs.distinct import query_id

QUERIES = [
    {
        "query_id": "p1", "user_query": "lost  card", "client_id": "c1",
        "query_response_hit_ids": ["d1", "d2", "d3"],
    },
    {"query_id": "p2", "user_query": "Lost card?", "client_id": "c2", "query_response_hit_ids": []},
]  # fmt: skip
EVENTS = [
    {
        "query_id": "p1",
        "action_name": action,
        "client_id": "c1",
        "event_attributes": {"object": {"object_id": doc}, "position": {"ordinal": 2}},
    }
    for action, doc in [("click", "d2"), ("impression", "d1"), ("click", "d2"), ("click", "d9")]
]
EVENTS += [
    {"query_id": "gone", "action_name": "click", "event_attributes": {"object": {"object_id": "d"}}}
]
EXPECTED = [Page("lost card", ("d1", "d2", "d3"), (2,), "c1"), Page("Lost card?", (), (), "c2")]


def json_lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def ubi(tmp_path):
    return [
        json_lines(tmp_path / "ubi_queries.ndjson", QUERIES),
        json_lines(tmp_path / "ubi_events.ndjson", EVENTS),
    ]


@pytest.fixture
def read(tmp_path):
    def pages(*paths, reading=None, **options):
        folder = tmp_path / f"sorted-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        return list(read_pages(list(paths), folder, reading or Reading(), **options))

    return pages


def test_queries_and_events_become_pages(ubi, read):
    reading = Reading()

    assert read(*ubi, reading=reading) == EXPECTED
    assert (reading.n_pages, reading.n_clicks, reading.n_elsewhere) == (2, 1, 2)
    assert reading.actions == {"click": 4, "impression": 1}
    assert read(*ubi[::-1]) == EXPECTED


def test_a_dump_of_the_two_indices_of_ubi_is_read(read):
    files = Path(__file__).parent / "made"
    reading = Reading()

    assert read(files / "ubi_queries.ndjson", files / "ubi_events.ndjson", reading=reading) == [
        Page("green tea", ("d-tea", "d-pot", "d-line"), (2,), "browser-1", "A"),
        Page("warm pot", ("d-pot", "d-tea"), (1,), "browser-2", "B"),
        Page("yak butter", (), (), "browser-1", "A"),
    ]
    assert (reading.n_clicks, reading.n_bad) == (2, 0)
    assert set(reading.actions) == {"impression", "click", "click_through", "add_to_cart"}


def test_place_of_a_click_as_older_schemas_of_ubi_have_it(read, tmp_path):
    attributes = {"object": {"object_id": "d2"}, "position": {"ordinal": {"index": 2}}}
    events = [{**EVENTS[0], "event_attributes": attributes}]
    paths = [
        json_lines(tmp_path / f"{n}.ndjson", rows) for n, rows in (("q", QUERIES), ("e", events))
    ]
    reading = Reading()

    assert read(*paths, reading=reading) == EXPECTED
    assert reading.n_bad == 0


def test_rows_may_lie_anywhere_and_be_many(ubi, read, monkeypatch, tmp_path):
    monkeypatch.setattr("benchwright.clicks.pages.ROWS_AT_ONCE", 1)
    monkeypatch.setattr("benchwright.files.external_sort.PART_BYTES", 1)

    assert read(*ubi) == EXPECTED


def test_parquet_and_csv_say_the_same(ubi, read, tmp_path):
    hits = [json.dumps(row["query_response_hit_ids"]) for row in QUERIES]
    flat = pl.DataFrame(QUERIES).with_columns(query_response_hit_ids=pl.Series(hits))
    flat.write_csv(tmp_path / "q.csv")
    pl.DataFrame(QUERIES).write_parquet(tmp_path / "q.parquet")
    pl.DataFrame(EVENTS).write_parquet(tmp_path / "e.parquet")

    assert read(tmp_path / "q.csv", ubi[1]) == EXPECTED
    assert read(tmp_path / "q.parquet", tmp_path / "e.parquet") == EXPECTED


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        ("query\tshown\tclicked\tarm", "a b\td1,d2 d3 d1\td3\tB\n\n"),
        ("search_query,results,clicks,variant", '"a b","[""d1"",""d2"",""d3""]",d3,B\n'),
        (
            "page_id,query,url,docid,position,clicked,arm",
            "p,a b,x,d3,3,yes,B\np,a b,y,d1,1,0,B\np,a b,z,d2,2,,B\n",
        ),
        (
            "page_id,q,doc,rank,is_clicked,arm",
            "p,a b,d3,3.0,2.0,B\np,a b,d1,1,false,B\np,a b,d2,2,0,B\n",
        ),
    ],
)  # fmt: skip
def test_a_page_a_row_and_a_document_a_row_are_read(read, tmp_path, head, rows):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(f"{head}\n{rows}".encode()))

    assert read(path) == [Page("a b", ("d1", "d2", "d3"), (3,), "", "B")]


def test_documents_stand_where_their_positions_say(read, tmp_path):
    path = tmp_path / "log.csv"
    rows = "2,q,d3,14,1\n2,q,d1,11,0\n2,q,d2,12,0\n3,q,d1,0,1\n3,q,d2,1,0\n"
    path.write_text(f"page_id,query,docid,position,clicked\n{rows}")
    second, from_0 = read(path)

    assert second == Page("q", ("d1", "d2", "d3"), (3,), ranks=(11, 12, 14))
    assert from_0 == Page("q", ("d1", "d2"), (1,))
    # Clicked as often as its place is, which nothing above it was shown at.
    assert fitted([second]).values["q", "d3"].value == 1.0
    assert online_outcomes([second], cutoff=13)[""].shares["click-through"].value == 0.0


def test_pages_of_two_logs_of_one_name_stay_apart(read, tmp_path):
    for month, row in (("may", "tea\td1 d2\td2"), ("june", "pot\td3\td3")):
        (tmp_path / month).mkdir()
        (tmp_path / month / "log.tsv").write_text(f"query\tshown\tclicked\n{row}\n")

    pages = read(tmp_path / "may" / "log.tsv", tmp_path / "june" / "log.tsv")
    assert pages == [Page("tea", ("d1", "d2"), (2,)), Page("pot", ("d3",), (1,))]


def test_bad_rows_are_told_by_line_and_the_others_read(read, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "page_id,query,docid,position,clicked\np,a,d1,1,1\np,a,d2,-3,0\np,a,d3,3,perhaps\n,a,d4,4,0\n"
    )
    reading = Reading()

    (page,) = read(path, reading=reading)

    assert page == Page("a", ("d1",), (1,))
    assert [problem.split(": ")[0] for problem in reading.problems] == [
        f"log.csv:{line}" for line in (3, 4, 5)
    ]
    assert "expected a whole number to 1,000" in reading.problems[0]
    assert "expected 1 or 0" in reading.problems[1]
    assert (reading.n_bad, reading.n_rows) == (3, 4)


def test_cells_that_are_nested_beyond_reading_are_text(read, tmp_path):
    deep = "[" * 100_000
    pages = json_lines(tmp_path / "log.jsonl", [{"query": "a", "shown": deep, "clicked": ""}])
    attributes = "{" + '"a":{' * 100_000
    queries = json_lines(tmp_path / "ubi_queries.ndjson", QUERIES)
    events = json_lines(
        tmp_path / "ubi_events.ndjson", [{**EVENTS[0], "event_attributes": attributes}]
    )

    assert [page.docs for page in read(pages)] == [()]
    assert [page.clicked for page in read(queries, events)] == [(), ()]


def test_queries_alone_are_pages_without_a_click(read, tmp_path):
    rows = [{"query_id": "p", "user_query": "a", "query_response_hit_ids": ["d1"]}]
    reading = Reading()

    assert read(json_lines(tmp_path / "q.ndjson", rows), reading=reading) == [Page("a", ("d1",))]
    assert (reading.n_rows, reading.n_pages, reading.n_clicks) == (1, 1, 0)


@pytest.mark.parametrize("part", ["query", "query=", "nothing=q", "=q"])
def test_column_of_no_role_or_without_a_name_is_refused(part):
    with pytest.raises(ClickRoleError, match="Write role=name"):
        read_columns([part])


def test_other_tables_and_events_alone_are_refused(ubi, read, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("query,count\na,3\n")

    with pytest.raises(ClickColumnsError, match=r"log.csv: its columns \(query, count\)"):
        read(path)
    with pytest.raises(ClickColumnsError, match="has events and no queries"):
        read(ubi[1])
    with pytest.raises(ClickColumnsError, match="has no column 'nothing'"):
        read(ubi[0], columns={"query": "nothing"})
    path.write_text("page_id,query,docid,position,clicked\n,a,d1,1,1\n")
    with pytest.raises(NoClicksError):
        read(path)


def test_column_that_is_named_is_one_of_some_file(tmp_path, read):
    rows = [{**row, "words": row["user_query"]} for row in QUERIES]
    queries = [{name: row[name] for name in row if name != "user_query"} for row in rows]
    paths = [json_lines(tmp_path / "q.ndjson", queries), json_lines(tmp_path / "e.ndjson", EVENTS)]

    assert read(*paths, columns={"query": "words"}) == EXPECTED
    with pytest.raises(ClickColumnsError, match=r"q.ndjson or e.ndjson: has no column 'varint'"):
        read(*paths, columns={"query": "words", "arm": "varint"})


# --- the command ---------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def log(tmp_path):
    rows = [{"query": "lost card", "shown": ["d1", "d2"], "clicked": [doc]} for doc in ["d1"] * 12]
    rows += [{"query": "other", "shown": ["d2", "d1"], "clicked": ["d1"]} for _ in range(3)]
    return json_lines(tmp_path / "pages.jsonl", rows)


def test_command_writes_qrels_and_a_table(log, tmp_path):
    qrels, table = tmp_path / "clicks.qrels", tmp_path / "pairs.tsv"

    done = run(log, "-o", qrels, "--table", table)

    assert done.exit_code == 0, done.output
    qid = query_id(normalised("lost card"))
    assert qrels.read_text() == f"{qid} 0 d1 2\n{qid} 0 d2 0\n"
    first = dict(
        zip(*(line.split("\t") for line in table.read_text().splitlines()[:2]), strict=True)
    )
    assert (first["value"], first["evidence"], first["clicks"]) == ("1.25", "12", "12")
    assert "2 of 4 pairs have evidence enough: 1 of grade 0, 1 of grade 2." in done.output


def test_documents_that_no_qrels_can_name_are_left_out_and_counted(tmp_path):
    rows = [{"query": "tea", "shown": ["a b", "d\t1", "d2"], "clicked": ["a b", "d2"]}] * 20
    log = json_lines(tmp_path / "log.jsonl", rows)
    out, table = tmp_path / "clicks.qrels", tmp_path / "pairs.tsv"

    result = run(log, "-o", out, "--table", table)

    assert result.exit_code == 0
    assert "1 pair is of a document whose id holds white space" in result.stderr
    assert [line.split()[2] for line in out.read_text().splitlines()] == ["d2"]
    assert len(table.read_text().splitlines()) == 2


def test_queries_of_the_benchmark_give_their_ids(log, tmp_path):
    rows = [{"_id": "7", "text": "Lost  card"}, {"_id": "8", "text": "lost card"}]
    queries = json_lines(tmp_path / "queries.jsonl", rows)

    done = run(
        log, "--queries", queries, "-o", tmp_path / "out", "--least", "1", "--format", "json"
    )

    assert done.exit_code == 0, done.output
    assert {line.split()[0] for line in (tmp_path / "out").read_text().splitlines()} == {"7"}
    assert json.loads(done.stdout)["priors"] == [1.0, 0.0], (
        "pages of other queries say nothing here"
    )


def test_log_without_clicks_says_which_actions_there_are(ubi):
    done = run(*ubi, "--click-action", "buy")

    assert done.exit_code == 0
    assert "No action counts as a click; there are click (4), impression (1)." in done.output


def test_log_of_queries_alone_says_that_clicks_are_lacking(ubi):
    done = run(ubi[0])

    assert "Nobody clicked on what a page showed. UBI has clicks in" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--outcomes", "-o", "out.qrels"), "--output is of grades, and --outcomes makes none"),
        (("--outcomes", "--table", "out.tsv"), "--table is of grades"),
        (("--outcomes", "--cuts", "1,2"), "--cuts is of grades"),
        (("--outcomes", "--least", "3"), "--least is of grades"),
        (("-k", "3"), "--cutoff is of --outcomes, which is not there"),
    ],
)
def test_options_that_would_count_for_nothing_are_refused(log, options, words):
    done = run(log, *options)

    assert (done.exit_code, words in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("wrong", [("--cuts", "2,1"), ("--column", "x=y"), ("--least", "0")])
def test_what_cannot_be_is_refused(log, wrong):
    done = run(log, *wrong)

    assert done.exit_code != 0


# --- outcomes ------------------------------------------------------------------------------------


def pages_of(arm, clicked, session=""):
    return [Page("q", ("d1", "d2"), positions, session, arm) for positions in clicked]


def test_outcomes_are_shares_over_visits():
    pages = [
        *pages_of("A", [(1,), (), (2,), ()]),
        *pages_of("B", [(1,), ()], session="s"),
        *pages_of("B", [(1, 2)], session="t"),
        Page("q", (), (), "t", "B"),
    ]

    arms = online_outcomes(pages, cutoff=1)

    assert [(arm.name, arm.n_pages, arm.n_visits) for arm in arms.values()] == [
        ("A", 4, 4),
        ("B", 4, 2),
    ]
    assert arms["A"].shares["click-through"].value == 0.25
    # Four values of 0 and 1: mean .25, error .25, t(.975; 3) 3.182, and no share is beyond 1.
    assert arms["A"].shares["click-through"][1:] == pytest.approx((0.0, 1.0))
    assert [arms["B"].shares[name].value for name in arms["B"].shares] == [0.5, 1.0, 0.25]
    assert difference(arms["A"], arms["B"], "success").value == 0.75


def test_difference_of_two_arms_is_welchs():
    from scipy import stats

    first, second = [0, 1, 0, 0, 1, 0], [1, 1, 0, 1, 1]
    pages = [
        page
        for arm, clicks in (("A", first), ("B", second))
        for page in pages_of(arm, [(1,) if click else () for click in clicks])
    ]
    arms = online_outcomes(pages, cutoff=5)

    estimate = difference(arms["A"], arms["B"], "click-through")

    expected = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    assert (estimate.low, estimate.high) == pytest.approx(
        (expected.low, min(expected.high, 1.0)), abs=1e-9
    )


def test_difference_says_which_arm_is_better_or_nothing():
    def said(outcome: str, low: float, high: float) -> str:
        return direction(outcome, Estimate((low + high) / 2, low, high))

    assert [said("success", *ends) for ends in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.2))] == [
        "better",
        "worse",
        "same",
    ]
    assert said("zero results", 0.1, 0.2) == "worse"
    assert said("zero results", -0.2, -0.1) == "better"
    assert said("success", 0.0, 0.2) == said("success", -0.2, 0.0) == "same"


def test_arm_of_one_visit_gives_no_interval():
    pages = [*pages_of("A", [(1,), ()]), *pages_of("B", [(1,)])]
    arms = online_outcomes(pages, cutoff=5)

    estimate = difference(arms["A"], arms["B"], "click-through")

    assert estimate.value == 0.5
    assert isnan(estimate.low) and isnan(estimate.high)


def test_command_shows_outcomes_by_arm(tmp_path):
    rows = [
        {"query": "a", "shown": ["d1"], "clicked": clicked, "arm": arm}
        for arm, clicked in [("A", []), ("A", ["d1"]), ("A", []), ("B", ["d1"]), ("B", ["d1"])]
    ]
    log = json_lines(tmp_path / "pages.jsonl", rows)

    done = run(log, "--outcomes", "-k", "3")

    assert done.exit_code == 0, done.output
    assert "A: 3 pages of 3 visits" in done.output
    assert "click-through@3    0.3333 [" in done.output
    assert "B - A, click-through@3: +0.6667 [" in done.output
