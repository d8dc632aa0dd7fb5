"""How much of what is random and valid the masks find, and how seldom they find what is not."""

import csv
import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwright.logs.masking import masked
from tests.benchwright.logs.personal_data import CLASSES, samples

pytestmark = pytest.mark.in_thirds

N = 1_000
LEAST_RECALL = 0.97
MOST_FALSE_ALARMS = 0.001
DOCS = Path(__file__).parents[3] / "docs" / "query-logs.md"


def recall(name: str) -> float:
    rows = [(value, masked(query).text) for value, query in samples(name, N)]
    return sum("[" in text and value not in text for value, text in rows) / N


@pytest.mark.parametrize("name", CLASSES)
def test_of_a_thousand_random_values_of_a_class_nearly_all_are_masked(name):
    assert recall(name) >= LEAST_RECALL


def test_no_digit_of_a_masked_number_is_left():
    numbers = [name for name in CLASSES if "telephone" in name or "card" in name]

    left = {
        query: text
        for name in numbers
        for _, query in samples(name, 200)
        if re.search(r"\d", text := masked(query).text)
    }

    assert left == {}


def test_numbers_of_other_countries_stay():
    swiss = [query for value, query in samples("Swiss AHV number", 50) if value[0] == "7"]

    assert [masked(query, {"id"}, ("US", "FR")).text for query in swiss] == swiss


def test_the_docs_name_every_class_with_what_was_measured():
    rows = re.findall(r"^\| (.+?) \| ([\d.]+) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    results = {name: float(value) for name, value in rows}

    assert {name: results.get(name) for name in CLASSES} == {
        name: round(recall(name), 3) for name in CLASSES
    }


def _log(data: Path) -> Iterator[tuple[str, list[str]]]:
    path = data / "query_log_library" / "popular-23-24.csv.gz"
    with gzip.open(path, "rt", newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    for column in ("search string", "search string cleaned"):
        yield column, sorted({row[column] for row in rows})


def _titles(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Titles of documents: of field T of two collections, and of a column of a third."""
    cranfield = (data / "cranfield" / "cran.all.1400").read_text(encoding="utf-8")
    with gzip.open(data / "cacm" / "cacm.all.gz", "rt", encoding="utf-8") as lines:
        cacm = lines.read()
    for name, text in (("cranfield", cranfield), ("cacm", cacm)):
        yield name, re.findall(r"^\.T\s*\n((?:[^.].*\n)+)", text, re.MULTILINE)
    with zipfile.ZipFile(data / "scifact" / "scifact_claims_corpus_csv.zip") as archive:
        name = next(name for name in archive.namelist() if name.endswith("corpus_train.csv"))
        with archive.open(name) as file:
            rows = csv.DictReader(io.TextIOWrapper(file, encoding="utf-8"))
            yield "scifact", [row["title"] for row in rows]


@pytest.mark.data
def test_false_alarms_are_rare_in_a_librarys_log_and_in_titles(data):
    shares = {
        name: sum(bool(masked(text).kinds) for text in texts) / len(texts)
        for name, texts in (*_log(data), *_titles(data))
    }

    assert len(shares) == 5
    assert {name: share for name, share in shares.items() if share > MOST_FALSE_ALARMS} == {}


@pytest.mark.data
def test_numbers_of_a_catalogue_stay(data):
    for _, texts in _log(data):
        numbers = [text for text in texts if re.fullmatch(r"\d{14,}", text)]
        assert len(numbers) >= 16
        assert [text for text in numbers if masked(text).kinds] == []
