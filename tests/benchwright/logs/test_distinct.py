"""Distinct queries beside a plain count, whatever the order of rows and the size of tallies."""

import json
from collections import Counter
from datetime import date
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.families.normalising import normalised
from benchwright.logs import distinct
from benchwright.logs.distinct import Options, query_id, write_distinct
from benchwright.logs.families import BY_WORDING, BY_WORDS, write_with_families
from benchwright.logs.reading import LogRow

DAY = date(2024, 5, 1).toordinal()


def row(text, n=1, day=0, clicks=None, lang=""):
    return LogRow(text, n, day, day, clicks or {}, lang)


def written(rows, tmp_path, **options):
    folder = tmp_path / f"work{len(list(tmp_path.glob('work*')))}"
    folder.mkdir()
    counted = write_distinct(rows, folder / "out.parquet", folder, options=Options(**options))
    return counted, pl.read_parquet(folder / "out.parquet").to_dicts()


def test_rows_of_one_query_are_added_up(tmp_path):
    rows = [
        row("Lost card", 3, DAY + 4, {"d1": 2}, "en"),
        row("lost  card?", 5, DAY, {"d1": 1, "d2": 9}, "en"),
        row("lost card", 4, DAY + 9, lang="de"),
    ]

    counted, (query,) = written(rows, tmp_path)

    assert query == {
        "qid": query_id("lost card"),
        "key": "lost card",
        "text": "lost  card?",
        "count": 12,
        "n_spellings": 3,
        "first_seen": date(2024, 5, 1),
        "last_seen": date(2024, 5, 10),
        "clicks": '{"d2": 9, "d1": 3}',
        "lang": "en",
    }
    assert (counted.n_distinct, counted.n_traffic, counted.n_spellings) == (1, 12, 3)


def test_queries_asked_most_come_first_and_equals_by_their_bytes(tmp_path):
    rows = [row("b"), row("é"), row("a"), row("z", 9), row("y", 10)]

    _, queries = written(rows, tmp_path)

    assert [query["text"] for query in queries] == ["y", "z", "a", "b", "é"]


def test_days_and_clicks_that_are_not_known_stay_unknown(tmp_path):
    _, (query,) = written([row("a")], tmp_path)

    assert (query["first_seen"], query["last_seen"], query["clicks"]) == (None, None, "")


def test_the_50_documents_clicked_most_are_kept(tmp_path):
    clicks = {f"d{n}": n for n in range(1, 61)}

    _, (query,) = written([row("a", 1, 0, clicks)], tmp_path)

    assert json.loads(query["clicks"]) == {f"d{n}": n for n in range(60, 10, -1)}


def test_what_is_masked_is_counted_by_searches_and_merges(tmp_path):
    rows = [row("mail jo@x.org", 3), row("mail bo@x.org", 4), row("jo@x.org", 2), row("mail", 1)]

    counted, queries = written(rows, tmp_path)

    assert [(query["text"], query["count"]) for query in queries] == [
        ("mail [email]", 7),
        ("mail", 1),
    ]
    assert counted.masked == {"email": 9}
    assert counted.n_only_personal == 2


def test_floor_counts_all_spellings_together(tmp_path):
    counted, queries = written([row("A b"), row("a b"), row("rare")], tmp_path, floor=2)

    assert [query["key"] for query in queries] == ["a b"]
    assert (counted.n_below_floor, counted.n_traffic_below_floor) == (1, 1)


words = st.sampled_from(["Lost card", "lost card", "lost cards!", "pin", "PIN?", "  open  account"])


@given(st.lists(st.tuples(words, st.integers(1, 9), st.integers(0, 40)), min_size=1, max_size=40))
def test_counts_are_those_of_a_plain_count(tmp_path_factory, asked):
    rows = [row(" ".join(text.split()), n, DAY + day) for text, n, day in asked]
    Random(len(asked)).shuffle(rows)

    counted, queries = written(rows, tmp_path_factory.mktemp("log"))

    plain = Counter()
    for one in rows:
        plain[normalised(one.text)] += one.n
    assert {query["key"]: query["count"] for query in queries} == plain
    assert counted.n_traffic == sum(plain.values())
    assert [query["count"] for query in queries] == sorted(plain.values(), reverse=True)


def test_small_tallies_give_the_same_bytes(tmp_path, monkeypatch):
    rows = [row(f"query {n % 37}", n % 5 + 1, DAY + n, {f"d{n % 3}": 1}) for n in range(300)]
    written(rows, tmp_path)
    whole = (tmp_path / "work0" / "out.parquet").read_bytes()

    monkeypatch.setattr(distinct, "MOST_TALLIES", 5)
    written(rows, tmp_path)

    assert (tmp_path / "work1" / "out.parquet").read_bytes() == whole


@pytest.mark.parametrize(("most", "by"), [(100, BY_WORDING), (2, BY_WORDS)])
def test_wordings_of_one_need_are_a_family_with_a_reason(tmp_path, most, by):
    rows = [row("lost card", 5), row("card lost", 3), row("exchange rate", 2)]
    written(rows, tmp_path)
    source, target, links = tmp_path / "work0" / "out.parquet", tmp_path / "t", tmp_path / "l"

    grouped = write_with_families(source, target, links, most_compared=most)

    assert (grouped.n_families, grouped.by) == (2, by)
    families = {one["text"]: one["family"] for one in pl.read_parquet(target).to_dicts()}
    smallest = min(query_id("lost card"), query_id("card lost"))
    assert families["lost card"] == families["card lost"] == smallest
    assert families["exchange rate"] == query_id("exchange rate")
    (link,) = pl.read_parquet(links).to_dicts()
    assert link["reason"] == "bag"
    assert json.dumps(sorted([link["a"], link["b"]])) == json.dumps(
        sorted([query_id("lost card"), query_id("card lost")])
    )
