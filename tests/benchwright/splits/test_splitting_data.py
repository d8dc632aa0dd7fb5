"""Splits and leaks on real queries."""

import csv
import gzip
import re
from datetime import UTC, datetime

import pytest

from benchwright.contamination import Degree, OurQuery, OutsideQuery, check_queries
from benchwright.leaks import LeakQuery, findings_of, hard_violations, leak_report
from benchwright.recipes.splits import Mode
from benchwright.splits import SplitQuery, SplitRecipe, split_queries

pytestmark = pytest.mark.data
TIME = "%a %b %d %H:%M:%S %z %Y"


def topics(folder):
    """Microblog topics with the time at which each was asked."""
    for year in (2011, 2012):
        text = (folder / "timestamped_topics" / f"topics.microblog{year}.txt").read_text("utf-8")
        for block in text.split("<top>")[1:]:
            number = re.search(r"MB0*(\d+)", block)[1]
            words = re.search(r"<(?:title|query)>(.*?)</", block, re.DOTALL)[1].strip()
            result = re.search(r"<querytime>(.*?)</", block)[1].strip()
            # In some topics the year is cut short.
            moment = datetime.strptime(f"{result.rpartition(' ')[0]} {year}", TIME)
            yield f"MB{number}", words, moment.astimezone(UTC)


def test_real_topics_are_split_by_the_time_they_were_asked(data):
    rows = list(topics(data))
    queries = [SplitQuery(qid, qid, first_seen=moment) for qid, _, moment in rows]
    recipe = SplitRecipe(Mode.CHRONOLOGICAL, {"train": 0.6, "dev": 0.2, "test": 0.2})

    assignment = split_queries(queries, recipe)

    moments = {qid: moment for qid, _, moment in rows}
    cuts = dict(assignment.cuts)
    assert len(rows) == 110
    assert all(
        moments[qid] < cuts["dev"] for qid, side in assignment.splits.items() if side == "train"
    )
    for qid, side in assignment.splits.items():
        if side != "train":
            assert moments[qid] >= cuts[side]
    listed = [
        LeakQuery(qid, text, qid, assignment.splits[qid], first_seen=moment)
        for qid, text, moment in rows
        if qid in assignment.splits
    ]
    plan = {"mode": "chronological", "cuts": {k: v.isoformat() for k, v in assignment.cuts}}
    report = leak_report(listed, plan=plan)
    assert [violation.code for violation in hard_violations(report)] == []
    assert all(pair["time"]["n_inverted"] == 0 for pair in report["pairs"])


def banking(data):
    folder = data / "query_families" / "banking77"
    with gzip.open(folder / "train.csv.gz", "rt", newline="", encoding="utf-8") as table:
        train = [row["text"].strip() for row in csv.DictReader(table)]
    with (folder / "test.csv").open(newline="", encoding="utf-8") as table:
        test = [row["text"].strip() for row in csv.DictReader(table)]
    return train, test


def test_duplicates_across_banking77s_official_line_are_named(data):
    train, test = banking(data)
    verbatim = set(train) & set(test)
    words = {_words(text) for text in train} & {_words(text) for text in test}
    # What leaks, and every seventh of the rest: pairs of all 13,083 take a while.
    kept_train = [t for n, t in enumerate(train) if n % 7 == 0 or _words(t) in words]
    kept_test = [t for n, t in enumerate(test) if n % 7 == 0 or _words(t) in words]
    queries = [LeakQuery(f"a{n}", text, f"a{n}", "train") for n, text in enumerate(kept_train)]
    queries += [LeakQuery(f"b{n}", text, f"b{n}", "test") for n, text in enumerate(kept_test)]

    report = leak_report(queries)

    (pair,) = report["pairs"]
    named = {leak["b"]["text"] for leak in pair["leaks"]["exact"]["listed"]}
    assert (len(verbatim), len(words)) == (6, 25)
    assert pair["shared_exact_keys"] >= 25
    assert verbatim <= named
    assert "split-leak-exact" in [finding.code for finding in findings_of(report)]


def _words(text):
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def test_outside_list_of_real_questions_holds_them(data):
    train, test = banking(data)
    ours = [OurQuery(str(n), text) for n, text in enumerate(test)]
    verbatim = set(train) & set(test)
    rows = [OutsideQuery(n, text) for n, text in enumerate(train) if text in verbatim]

    matches, n = check_queries(ours, rows)

    exact = {test[int(match.qid)] for match in matches if match.degree is Degree.EXACT}
    assert n == len(rows)
    assert verbatim <= exact
