"""Files that other tools themselves have written: read, and refused well when broken.

`made/README.md` says which tool wrote each, in which version and how.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from benchwright.detection.kinds import FileKind
from benchwright.errors import BenchmarkError
from benchwright.uploads import Place, look_at
from tests.benchwright.uploads.breaking import MADE, WAYS

HERE = Path(__file__).parent
DOCS = Path(__file__).parents[3] / "docs" / "importing.md"
JUDGED, DOCUMENTS, QRELS, RUN = (
    FileKind.JUDGED,
    FileKind.DOCUMENTS,
    FileKind.QREL_TABLE,
    FileKind.RUN_TABLE,
)
WORDS = {"relevant": 2, "partially relevant": 1, "not relevant": 1}
ALL_FOUR, THREE = {3: 1, 2: 1, 1: 1, 0: 1}, {3: 1, 1: 1, 0: 1}
RANX = {3: 1, 2: 1, 1: 2}
# {file: kind, rows, grades}
READ = {
    "argilla.json": (JUDGED, 4, WORDS),
    "argilla-rating.json": (JUDGED, 4, ALL_FOUR),
    "cord-19-metadata.csv": (DOCUMENTS, 3, {}),
    "doccano.csv": (JUDGED, 4, WORDS),
    "doccano.json": (JUDGED, 4, WORDS),
    "doccano.jsonl": (JUDGED, 4, WORDS),
    "elasticsearch-bulk.ndjson": (DOCUMENTS, 4, {}),
    "elasticsearch-dump.ndjson": (DOCUMENTS, 4, {}),
    "elasticsearch-ltr.txt": (QRELS, 3, THREE),
    "elasticsearch-rank-eval.json": (JUDGED, 4, ALL_FOUR),
    "esci-examples.parquet": (JUDGED, 4, {"E": 1, "S": 1, "C": 1, "I": 1}),
    "esci-products.parquet": (DOCUMENTS, 3, {}),
    "label-studio.csv": (JUDGED, 4, ALL_FOUR),
    "label-studio.json": (JUDGED, 4, ALL_FOUR),
    "label-studio-min.json": (JUDGED, 4, ALL_FOUR),
    "label-studio.tsv": (JUDGED, 4, ALL_FOUR),
    "letor.txt": (QRELS, 3, {2: 1, 1: 1, 0: 1}),
    "opensearch-bulk.ndjson": (DOCUMENTS, 4, {}),
    "opensearch-judgments.json": (JUDGED, 4, ALL_FOUR),
    "opensearch-rank-eval.json": (JUDGED, 4, ALL_FOUR),
    "opensearch-search.json": (JUDGED, 2, {3: 1, 1: 1}),
    "pandas-cp1252.csv": (DOCUMENTS, 4, {}),
    "pandas-index.csv": (DOCUMENTS, 4, {}),
    "pandas-odfpy.ods": (JUDGED, 4, ALL_FOUR),
    "pandas-openpyxl.xlsx": (JUDGED, 4, ALL_FOUR),
    "pandas-records.json": (DOCUMENTS, 4, {}),
    "pandas-records.jsonl": (DOCUMENTS, 4, {}),
    "pandas-semicolon-latin-1.csv": (DOCUMENTS, 4, {}),
    "pandas-utf-16.csv": (DOCUMENTS, 4, {}),
    "pandas-xlsxwriter.xlsx": (JUDGED, 4, ALL_FOUR),
    "polars.ndjson": (DOCUMENTS, 4, {}),
    "polars.xlsx": (JUDGED, 4, ALL_FOUR),
    "quepid-case.json": (JUDGED, 3, THREE),
    "quepid-detailed.csv": (JUDGED, 3, THREE),
    "quepid-ratings.csv": (JUDGED, 3, THREE),
    "ranx-qrels.json": (QRELS, 4, RANX),
    "ranx-qrels.trec": (FileKind.QRELS, 4, RANX),
    "ranx-run.json": (RUN, 4, {}),
    "ranx-run.trec": (FileKind.RUN, 4, {}),
    "smart.all": (DOCUMENTS, 3, {}),
}
# What the preview says of a file beside its rows.
NOTES = {
    "letor.txt": "Features are left out",
    "pandas-cp1252.csv": "is read as Windows-1252 (Western European), which is a guess",
    "pandas-semicolon-latin-1.csv": "is read as Windows-1252 (Western European), which is a guess",
    "pandas-utf-16.csv": "The file is UTF-16 and is read so",
    "pandas-xlsxwriter.xlsx": "The sheet 'ratings' is read, and not 'documents'",
    "ranx-qrels.trec": "ranx-qrels.trec:4: is the last line, and no line break ends it",
    "ranx-run.trec": "ranx-run.trec:4: is the last line, and no line break ends it",
    "smart.all": "smart.all:1: stands before the first record (.I) and is left out",
}


def looked_at(path: Path):
    place = Place(path, path.name)
    (look,) = look_at(place, None, has_passages=False, is_short=False, is_whole=True).looks
    return look


@pytest.mark.parametrize("name", READ)
def test_what_a_tool_wrote_is_read(name):
    kind, n_rows, grades = READ[name]

    look = looked_at(MADE / name)

    assert (look.part.kind, look.is_ready) == (kind, True), (look.error, look.problems)
    assert (look.n_rows_read, look.grades) == (n_rows, grades)
    assert NOTES.get(name, "") in look.part.note
    assert bool(look.part.note) == (name in NOTES)


def test_letters_of_an_encoding_that_was_guessed_are_right():
    texts = [[row[1] for row in looked_at(MADE / f"pandas-{tool}.csv").rows]
             for tool in ("index", "cp1252", "utf-16", "semicolon-latin-1")]  # fmt: skip

    assert texts[0] == texts[1] == texts[2] == texts[3] == ["Green tea", "Pot", "Café", "Lines"]


def test_an_index_that_pandas_wrote_is_no_column():
    assert looked_at(MADE / "pandas-index.csv").columns == ("doc_id", "title", "text")
    columns = looked_at(MADE / "pandas-xlsxwriter.xlsx").columns
    assert columns == ("query_id", "query", "doc_id", "grade")


def test_what_scikit_learn_writes_names_no_document_and_is_refused_by_line():
    look = looked_at(MADE / "scikit-learn.svm")

    assert not look.is_ready
    assert [str(problem).split(": ")[0] for problem in look.problems] == [
        f"scikit-learn.svm:{line}" for line in (5, 6, 7)
    ]
    assert "expected its id after '#'" in str(look.problems[0])


def test_answers_that_argilla_has_flattened_are_asked_for():
    look = looked_at(MADE / "argilla-flat.json")

    assert "no column is chosen for the grade: is it id, status" in look.error
    assert "relevance.responses" in look.error


# --- broken on purpose ------------------------------------------------------------------------


BROKEN = [
    (name, way)
    for name in READ
    for way in WAYS
    if WAYS[way](name, (MADE / name).read_bytes()) is not None
]
# What is expected, or what to do, stands in every refusal; most have their line.
ADVICE = re.compile(
    r"expected|drop|[Ww]rite it|make it again|Remove|Choose|choose|check the quotes|Quote cells"
    r"|save|without it|are taken|keep one"
)
WITHOUT_LINE = ("empty", "without_a_column", "with_nul", "cut")


def refusal_of(path: Path) -> tuple[str, bool]:
    """What is said of a file that cannot be taken, and whether it is asked about."""
    try:
        look = looked_at(path)
    except BenchmarkError as error:
        return str(error), False
    assert not look.is_ready
    is_asked = look.part.kind is None or bool(look.error)
    return look.error or " ".join(map(str, look.problems)) or look.part.note, is_asked


@pytest.mark.parametrize(("name", "way"), BROKEN)
def test_a_broken_file_is_refused_with_what_to_do(tmp_path, name, way):
    path = tmp_path / name
    broken = WAYS[way](name, (MADE / name).read_bytes())
    assert broken != (MADE / name).read_bytes()
    path.write_bytes(broken)

    refusal, is_asked = refusal_of(path)

    assert ADVICE.search(refusal)
    assert is_asked or name in refusal
    # Of a table without a column somebody is asked which it is.
    assert not is_asked or way == "without_a_column"
    assert way in WITHOUT_LINE or re.search(rf"{re.escape(name)}:\d+: ", refusal), refusal


def test_each_way_breaks_files_of_each_form():
    n_of = Counter(way for _, way in BROKEN)

    assert n_of["cut"] == len(READ) - 1  # all but SMART, of which a shorter text is a text
    assert n_of["empty"] == n_of["with_nul"] == len(READ)
    assert n_of["wrong_type"] == len(READ) - 1  # all but the sheet that nothing here writes
    assert min(n_of["without_a_column"], n_of["nested"]) > 15


# --- what the documentation says of them ----------------------------------------------------------


def rows_of(page: Path) -> list[list[str]]:
    lines = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_importing_names_each_file_its_tool_and_version():
    folders = [MADE, *(HERE.parent / room / "made" for room in ("clicks", "contextual"))]
    tools = {
        name: row[1]
        for folder in folders
        for row in rows_of(folder / "README.md")
        for name in re.findall(r"`([^`]+)`", row[0])
    }
    kept = {
        path.relative_to(folder).as_posix()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    results = {
        name: row[2]
        for row in rows_of(DOCS)
        if len(row) == 4
        for name in re.findall(r"`([^`]+)`", row[1])
    }

    assert kept == tools.keys() == results.keys()
    assert {name for name in results if tools[name] not in results[name]} == set()
