"""Logs of every form, told by their content; what is wrong in them, with its line."""

import gzip
import json

import polars as pl
import pytest
import zstandard

from benchwright.errors import FileProblemsError, Problems
from benchwright.logs.columns import LogColumns, checked_columns, detected_columns
from benchwright.logs.errors import LogColumnsError, LogEmptyError
from benchwright.logs.reading import LogReader, LogRow
from benchwright.logs.tables import open_table

CSV = 'day,query,n,session_id\n2024-05-01,"lost, card",3,abc\n2024-05-02,Lost  card,2,def\n'
DAY = 739007  # 2024-05-01


def reader(path, *, columns=None, **options):
    table = open_table(path, file=path.name)
    result = columns or detected_columns(table.columns, table.head(20), file=path.name)
    return LogReader(table, result, Problems(), **options)


def rows(path, **options):
    return list(reader(path, **options).rows())


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_one_log_in_every_form_reads_the_same(tmp_path):
    table = [("2024-05-01", "lost, card", 3), ("2024-05-02", "Lost  card", 2)]
    named = [{"day": day, "query": text, "n": n} for day, text, n in table]
    tsv = "day\tquery\tn\n" + "".join(f"{day}\t{text}\t{n}\n" for day, text, n in table)
    lines = "".join(json.dumps(row) + "\n" for row in named)
    pl.DataFrame(named).write_parquet(tmp_path / "log.parquet")
    files = [
        written(tmp_path, "a.csv", CSV),
        written(tmp_path, "semicolons", tsv.replace("\t", ";")),
        written(tmp_path, "a.tsv", tsv),
        written(tmp_path, "bom.csv", b"\xef\xbb\xbf" + CSV.encode()),
        written(tmp_path, "excel.csv", "sep=;\r\n" + tsv.replace("\t", ";")),
        written(tmp_path, "below.csv", "\n  \n" + CSV + "  \n"),
        written(tmp_path, "a.jsonl", lines),
        written(tmp_path, "a.csv.gz", gzip.compress(CSV.encode())),
        written(tmp_path, "a.csv.zst", zstandard.compress(CSV.encode())),
        tmp_path / "log.parquet",
    ]

    results = [rows(path) for path in files]

    assert results == [
        [
            LogRow("lost, card", 3, DAY, DAY, {}, ""),
            LogRow("Lost card", 2, DAY + 1, DAY + 1, {}, ""),
        ]
    ] * len(files)


def test_a_line_for_each_search_counts_once_each(tmp_path):
    path = written(tmp_path, "searches.txt", "lost card\nlost card\n\nopen, account\n")

    assert [row.text for row in rows(path)] == ["lost card", "lost card", "open, account"]
    assert {row.n for row in rows(path)} == {1}


@pytest.mark.parametrize(
    "content", ["\nquery\ntea, hot\n", '"query"\n"tea, hot"\n', '\n"Search Term"\n"tea, hot"\n']
)
def test_the_name_of_a_lone_column_is_no_query(tmp_path, content):
    path = written(tmp_path, "log", content)

    assert [row.text for row in rows(path)] == ["tea, hot"]


def test_a_table_without_header_names_its_columns_by_number(tmp_path):
    path = written(tmp_path, "log.tsv", "lost card\t4\nopen account\t2\n")

    table = open_table(path, file="log.tsv")

    assert (table.columns, table.has_header) == (("column 1", "column 2"), False)
    result = rows(path, columns=LogColumns(query="column 1", count="column 2"))
    assert [row[:2] for row in result] == [("lost card", 4), ("open account", 2)]


def test_quotes_in_a_table_with_tabs_are_part_of_the_query(tmp_path):
    path = written(tmp_path, "log.tsv", 'query\tcount\n"exact phrase\t4\n')

    assert rows(path)[0].text == '"exact phrase'


def test_columns_of_people_are_never_detected(tmp_path):
    path = written(tmp_path, "aol.tsv", "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n")

    table = open_table(path, file="aol.tsv")

    columns = detected_columns(table.columns, [], file="aol.tsv")
    assert columns == LogColumns(query="Query", date="QueryTime", clicks="ClickURL")


def test_of_two_spellings_the_cleaned_one_is_meant():
    names = ["year", "month", "searches", "search string", "search string cleaned", "signed in"]

    columns = detected_columns(names, [], file="x")

    assert columns == LogColumns(
        query="search string cleaned", count="searches", year="year", month="month"
    )


def test_the_only_column_of_words_is_that_of_queries():
    results = [{"a": "7", "b": "lost card"}, {"a": "8", "b": "open account"}]

    assert detected_columns(["a", "b"], results, file="x").query == "b"


def test_a_log_without_a_column_of_queries_is_refused_with_its_columns():
    with pytest.raises(LogColumnsError, match=r"x.csv: its columns are a, b; expected a column of"):
        detected_columns(["a", "b"], [{"a": "1", "b": "2"}], file="x.csv")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"query": ""}, "no column is said to hold the queries"),
        ({"query": "text"}, "there is no column 'text' for what was asked; there are q, n"),
        ({"query": "user_id"}, "column 'user_id' is about people by its name"),
        ({"query": "q", "count": "q"}, "column 'q' has two roles"),
        ({"query": "q", "year": "y"}, "a column of years and none of months"),
        ({"query": "q", "date": "d", "month": "y"}, "days and months are both given"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, why):
    there = ["q", "n", "y", "d", "user_id"]

    with pytest.raises(LogColumnsError, match=why):
        checked_columns(LogColumns.of(columns), there, file="x")


def test_what_is_wrong_is_told_with_its_line(tmp_path):
    path = written(
        tmp_path, "log.csv", "query,count,date\na,n/a,2024-05-01\nb,1\nc,1,soon\n,1,2024-05-01\n"
    )
    reading = reader(path)

    list(reading.rows())

    with pytest.raises(FileProblemsError) as error:
        reading.problems.raise_found()
    assert str(error.value).splitlines() == [
        "log.csv:2: the count is 'n/a'; expected a whole number from 0 up",
        "log.csv:3: has 2 cells, the header 3; quote cells with delimiters",
        "log.csv:4: the day is 'soon'; expected a day or time such as 2024-05-31, "
        "2024-05-31T09:30:00Z or 2024-05",
    ]


DEEP = '{"a":' * 80_000
ODD = {
    "a list": ('{"query": "b", "date": ["2024-05-01"]}', "the day is ['2024-05-01']; expected one"),
    "an object": ('{"query": "b", "date": {"$date": 1}}', "the day is {'$date': 1}; expected one"),
    "a deep line": (DEEP, "is not JSON: maximum recursion depth exceeded"),
}


@pytest.mark.parametrize("is_lenient", [False, True])
@pytest.mark.parametrize(("line", "why"), ODD.values(), ids=ODD)
def test_json_line_that_no_log_has_is_a_problem_of_its_own(tmp_path, line, why, is_lenient):
    good = '{"query": "a", "date": "2024-05-01"}\n'
    path = written(tmp_path, "log.jsonl", good * 60 + line + "\n" + good)
    reading = reader(path, is_lenient=is_lenient)

    assert len(list(reading.rows())) == 61
    assert reading.left.unreadable == 1
    text = "".join(str(problem) for problem in reading.problems.found)
    assert text.startswith("" if is_lenient else f"log.jsonl:61: {why}")


def test_rows_that_cannot_be_read_can_be_left_out_and_counted(tmp_path):
    path = written(
        tmp_path, "log.csv", f"query,count\na,n/a\nb,1,1\nc,0\n  ,3\n{'x' * 1001},1\nd,2\n"
    )
    reading = reader(path, is_lenient=True)

    items = list(reading.rows())

    assert [row.text for row in items] == ["d"]
    assert reading.left.as_dict() == {
        "empty": 1, "uncounted": 1, "too_long": 1, "unreadable": 2,
    }  # fmt: skip
    assert not reading.problems.found


@pytest.mark.parametrize(
    ("name", "content", "error", "why"),
    [
        ("empty.csv", b"", LogEmptyError, "the file is empty"),
        ("bad.jsonl", b'{"query": \n', LogColumnsError, "is not JSON"),
        ("bad.parquet", b"PAR1 and no more", LogColumnsError, "not a Parquet file"),
        ("twice.csv", b"query,query\na,b\n", LogColumnsError, "two columns are called 'query'"),
    ],
)
def test_a_file_that_is_no_log_is_refused(tmp_path, name, content, error, why):
    with pytest.raises(error, match=why):
        open_table(written(tmp_path, name, content), file=name)


def test_a_json_line_that_is_none_is_told(tmp_path):
    path = written(tmp_path, "log.jsonl", '{"query": "a"}\n{"query": "b"}\n[1]\n')
    reading = LogReader(
        open_table(written(tmp_path, "ok.jsonl", '{"query": "a"}\n'), file="x"),
        LogColumns("query"),
        Problems(),
    )
    assert [row.text for row in reading.rows()] == ["a"]

    with pytest.raises(LogColumnsError, match="is no JSON object; write one object a line"):
        open_table(path, file="log.jsonl")


def test_bytes_that_are_no_text_are_replaced(tmp_path):
    path = written(tmp_path, "log.csv", b'query,count\n"a\0",2\n\xff\xfe b,3\n')

    unknown = "\N{REPLACEMENT CHARACTER}"
    assert [row.text for row in rows(path)] == [f"a{unknown}", f"{unknown}{unknown} b"]


def test_what_no_database_takes_is_replaced_wherever_it_stands(tmp_path):
    row = {"query": "a\0 b", "n": 2, "clicks": '{"d\\u0000": 3}', "lang": "e\0", "no\0te": "x"}
    pl.DataFrame([row]).write_parquet(tmp_path / "log.parquet")
    paths = [
        tmp_path / "log.parquet",
        written(tmp_path, "log.tsv", "\t".join(row) + "\n" + "\t".join(map(str, row.values()))),
        written(tmp_path, "log.jsonl", json.dumps(row)),
    ]

    unknown = "\N{REPLACEMENT CHARACTER}"
    expected = LogRow(f"a{unknown} b", 2, 0, 0, {f"d{unknown}": 3}, f"e{unknown}")
    assert [rows(path) for path in paths] == [[expected]] * 3
    names = {open_table(path, file=path.name).columns[-1] for path in paths}
    assert names == {f"no{unknown}te"}
    halves = written(tmp_path, "halves.jsonl", json.dumps({"query": "a \ud83d", "\ud83d": 1}))
    assert rows(halves) == [LogRow("a ?", 1, 0, 0, {}, "")]
