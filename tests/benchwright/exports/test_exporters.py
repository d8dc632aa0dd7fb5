"""Every format: whole, the same twice, the same as zip and as folder; and what each is made of."""

import csv
import hashlib
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import yaml

from benchwright.detection import FileKind
from benchwright.detection.rows import qrel_rows
from benchwright.errors import BenchmarkError, Problems
from benchwright.exports import EXPORTERS, exporter_of
from benchwright.exports import hub as hub_module
from benchwright.exports.errors import (
    ExportFolderError,
    ExportNeedsTextsError,
    NothingToExportError,
    UnknownExportError,
)
from benchwright.exports.exporter import written, zipped
from benchwright.formats.errors import UnwritableRowError
from benchwright.formats.mapped import query_key
from benchwright.formats.trec_topics import read_topics
from benchwright.linting.folders import lint_folder
from benchwright.releases.canonical import content_sha256
from benchwright.uploads import Place, input_at, look_at
from tests.benchwright.odd_toy import DOCUMENTS, QRELS, QUERIES, Document, source

NAMES = list(EXPORTERS)
# Judgments for search engines and tasks of Label Studio are no collection that readers load.
LINTED = [name for name in NAMES if name not in ("judgments", "label-studio")]
NO_TEXTS = [name for name, exporter in EXPORTERS.items() if not exporter.needs_texts]


def folder_of(tmp_path: Path, name: str, of=None) -> Path:
    folder = tmp_path / name
    written(EXPORTERS[name], of or source(), folder)
    return folder


def zip_of(tmp_path: Path, name: str, of=None) -> bytes:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return b"".join(zipped(EXPORTERS[name], of or source(), work))


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", NAMES)
def test_same_release_gives_the_same_bytes_twice(tmp_path, name):
    assert zip_of(tmp_path, name) == zip_of(tmp_path, name)


@pytest.mark.parametrize("name", NAMES)
def test_zip_holds_what_the_folder_holds_in_one_top_folder(tmp_path, name):
    folder = files_in(folder_of(tmp_path, name))

    with zipfile.ZipFile(io.BytesIO(zip_of(tmp_path, name))) as archive:
        assert archive.testzip() is None
        top = EXPORTERS[name].stem(source())
        assert {n: archive.read(f"{top}/{n}") for n in folder} == folder
        assert len(archive.namelist()) == len(folder)


@pytest.mark.parametrize("name", LINTED)
def test_export_has_no_problem_for_its_own_readers(tmp_path, name):
    report = lint_folder(folder_of(tmp_path, name))

    assert name in report.formats
    codes = {finding.code for finding in report.findings}
    assert codes <= {"query-all-zero", "document-empty"}  # which the toy has by design


@pytest.mark.parametrize("name", NAMES)
def test_work_files_are_not_left_in_the_folder(tmp_path, name):
    assert not [file for file in files_in(folder_of(tmp_path, name)) if file.startswith(".")]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NO_TEXTS])
def test_corpus_without_texts_is_refused_by_formats_made_of_texts(tmp_path, name):
    with pytest.raises(ExportNeedsTextsError, match="holds ids only"):
        zipped(EXPORTERS[name], source(documents=None), tmp_path)


@pytest.mark.parametrize("name", NO_TEXTS)
def test_corpus_without_texts_can_still_be_given_as_ids_and_qrels(tmp_path, name):
    assert zip_of(tmp_path, name, source(documents=None))


def test_folder_that_is_not_empty_is_refused(tmp_path):
    (tmp_path / "old.txt").write_text("an earlier export")

    with pytest.raises(ExportFolderError, match="Choose another folder, or empty it"):
        written(EXPORTERS["beir"], source(), tmp_path)


@pytest.mark.parametrize("is_new", [True, False])
def test_nothing_is_left_in_a_folder_where_an_export_broke_off(tmp_path, is_new):
    folder = tmp_path / "out"
    if not is_new:
        folder.mkdir()
    documents = [Document("b"), Document("a")]

    with pytest.raises(UnwritableRowError):
        written(EXPORTERS["hub"], source(documents=documents), folder)

    assert list(tmp_path.glob("out/**")) == ([] if is_new else [folder])


def test_what_another_has_put_into_the_folder_meanwhile_stays(tmp_path):
    mine = tmp_path / "out" / "mine.txt"

    def documents():
        mine.write_text("mine")
        yield from (Document("b"), Document("a"))

    with pytest.raises(UnwritableRowError):
        written(EXPORTERS["beir"], replace(source(), documents=documents), tmp_path / "out")

    assert [path for path in tmp_path.glob("out/**/*") if path.is_file()] == [mine]


def test_unknown_format_is_told_with_those_there_are():
    with pytest.raises(UnknownExportError, match=r"no format 'csv'\. Choose one of beir, hub"):
        exporter_of("csv")


@pytest.mark.parametrize("name", ["beir", "hub", "mteb", "croissant"])
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"documents": [Document("b"), Document("a")]}, "out of order"),
        ({"documents": [Document("a"), Document("a")]}, "comes twice"),
        ({"qrels": {"test": [("q-cjk", "d-cjk", 200)]}}, "grade 200"),
        ({"qrels": {"test": [("q-cjk", "d-cjk", 1.0)]}}, "grade 1.0"),
        ({"qrels": {"test": [("q-cjk", '"d', 1)]}}, "begins with a quote"),
    ],
)
def test_row_that_readers_would_misread_is_refused(tmp_path, name, changes, says):
    with pytest.raises(UnwritableRowError, match=says):
        zip_of(tmp_path, name, source(**changes))


@pytest.mark.parametrize("name", LINTED)
def test_pairs_that_nobody_judged_reach_no_reader_that_takes_them_for_graded(tmp_path, name):
    qrels = {"test": [("q-cjk", "123", -1), ("q-cjk", "d-cjk", 3)]}

    result = lint_folder(folder_of(tmp_path, name, source(qrels=qrels)))

    kept = result.splits["test"].grades
    assert kept == ({-1: 1, 3: 1} if name in ("trec", "ir-datasets") else kept)
    assert "grade-negative" not in {finding.code for finding in result.findings}


# --- judgments for search engines -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("judgments", "quepid/test.csv"),
        ("judgments", "opensearch/test.json"),
        ("judgments", "rank_eval/test.json"),
        ("judgments", "letor/test.txt"),
        ("label-studio", "tasks/test.json"),
    ],
)
def test_judgments_come_back_as_they_went(tmp_path, name, file):
    folder = folder_of(tmp_path, name)

    place = Place(folder / file, "x")
    (look,) = look_at(place, None, has_passages=False, is_short=False, is_whole=True).looks
    assert look.is_ready, (look.error, look.problems)
    problems = Problems()
    rows = qrel_rows(look.part, input_at(place), folder=tmp_path, problems=problems)

    # Quepid and OpenSearch have a query's text as its key.
    is_keyed = look.part.kind is FileKind.JUDGED and "id" not in look.part.mapping
    key = {query.qid: query_key(query.text) if is_keyed else query.qid for query in QUERIES}
    went = sorted((key[qid], docid, grade) for qid, docid, grade in QRELS["test"] if grade >= 0)
    assert sorted((row.qid, row.docid, row.grade) for row in rows) == went
    assert not problems.found


def test_a_carriage_return_in_a_query_ends_no_line_of_quepid(tmp_path):
    queries = [replace(query, text="one\rtwo") for query in QUERIES]
    folder = folder_of(tmp_path, "judgments", source(queries=queries))

    with (folder / "quepid/test.csv").open(newline="") as lines:
        assert {len(row) for row in csv.reader(lines)} == {3}


def test_a_pair_below_0_is_in_no_judgment_list(tmp_path):
    qrels = {"test": [("q-cjk", "123", -1), ("q-cjk", "d-cjk", 3)]}
    folder = folder_of(tmp_path, "judgments", source(qrels=qrels))

    request = json.loads((folder / "rank_eval/test.json").read_text())["requests"]
    listed = json.loads((folder / "opensearch/test.json").read_text())["judgmentRatings"]

    assert [rating["_id"] for query in request for rating in query["ratings"]] == ["d-cjk"]
    assert [rating for query in listed for rating in query["ratings"]] == [
        {"docId": "d-cjk", "rating": "3"}
    ]


# --- BEIR and what stands beside -----------------------------------------------------------------


def test_what_beir_has_no_place_for_stands_in_files_beside(tmp_path):
    files = files_in(folder_of(tmp_path, "beir"))

    assert files["slices.tsv"].decode().splitlines() == [
        "query-id\tslice",
        "q-cjk\thead",
        "q-cjk\todd",
        "q-quote\todd",
    ]
    assert files["weights.tsv"] == b"query-id\tweight\nq-cjk\t2.5\n"
    assert files["families.tsv"].startswith(b"query-id\tfamily\nq-all-zero\tq-all-zero\n")


def test_nothing_that_is_not_there_gets_a_file(tmp_path):
    bare = source(slices={}, families={}, weights={})

    assert sorted(files_in(folder_of(tmp_path, "beir", bare))) == [
        "corpus.jsonl",
        "manifest.json",
        "qrels/dev.tsv",
        "qrels/test.tsv",
        "queries.jsonl",
    ]


# --- the Hub layout ------------------------------------------------------------------------------


def head_of(readme: bytes) -> dict:
    return yaml.safe_load(readme.decode().split("---\n")[1])


def test_head_of_the_readme_names_three_configs_with_qrels_as_the_default(tmp_path):
    head = head_of(files_in(folder_of(tmp_path, "hub"))["README.md"])

    configs = {config["config_name"]: config for config in head["configs"]}
    assert set(configs) == {"corpus", "queries", "qrels"}
    assert [name for name, config in configs.items() if config.get("default")] == ["qrels"]
    assert [data_file["split"] for data_file in configs["qrels"]["data_files"]] == ["dev", "test"]
    assert (head["license"], head["language"]) == ("cc-by-4.0", ["en"])


def test_licence_that_hubs_do_not_know_is_named_as_another(tmp_path):
    head = head_of(files_in(folder_of(tmp_path, "hub", source(licence="Our terms")))["README.md"])

    assert (head["license"], head["license_name"]) == ("other", "Our terms")


def test_tables_hold_every_character_and_their_types(tmp_path):
    folder = folder_of(tmp_path, "hub")

    corpus = pl.read_parquet(folder / "corpus/corpus-00000.parquet")
    qrels = pl.read_parquet(folder / "qrels/test-00000.parquet")
    assert dict(zip(corpus["_id"], corpus["text"], strict=True)) == {
        document.docid: document.text for document in DOCUMENTS
    }
    assert [json.loads(text)["url"] for text in corpus["metadata"][:2]] == ["u1", None]
    assert qrels.schema == {"query-id": pl.String, "corpus-id": pl.String, "score": pl.Int32}
    assert qrels.rows() == QRELS["test"]


def test_no_table_holds_a_null_at_which_mteb_would_stop(tmp_path):
    folder = folder_of(tmp_path, "mteb")

    for path in folder.rglob("*.parquet"):
        assert sum(pl.read_parquet(path).null_count().row(0)) == 0, path.name


def test_large_corpus_is_cut_into_shards_that_the_readme_names(tmp_path, monkeypatch):
    monkeypatch.setattr(hub_module, "SHARD_ROWS", 4)
    monkeypatch.setattr(hub_module, "GROUP_ROWS", 2)
    many = source(documents=[Document(f"d{n}") for n in range(9)], qrels={"test": []})

    folder = folder_of(tmp_path, "hub", many)

    shards = sorted(path.name for path in (folder / "corpus").iterdir())
    assert shards == [f"corpus-0000{n}.parquet" for n in range(3)]
    head = head_of((folder / "README.md").read_bytes())
    named = next(c for c in head["configs"] if c["config_name"] == "corpus")["data_files"]
    assert named == [{"split": "corpus", "path": [f"corpus/{name}" for name in shards]}]
    assert sum(pl.read_parquet(folder / "corpus" / name).height for name in shards) == 9


def test_split_without_a_grade_has_a_file_of_its_own(tmp_path):
    folder = folder_of(tmp_path, "hub", source(qrels={"dev": [], "test": QRELS["test"]}))

    assert pl.read_parquet(folder / "qrels/dev-00000.parquet").height == 0


# --- positives only ------------------------------------------------------------------------------


def test_positives_only_has_no_grade_no_zero_no_empty_text(tmp_path):
    folder = folder_of(tmp_path, "sentence-transformers")

    pairs = pl.read_parquet(folder / "qrels/test-00000.parquet")
    corpus = pl.read_parquet(folder / "corpus/corpus-00000.parquet")
    assert pairs.rows() == [("q-cjk", "d-cjk"), ("q-quote", "d-quote")]
    assert "d-empty" not in corpus["_id"]
    assert dict(corpus.rows())["123"] == "A number 1 2 3"


def test_positives_count_from_the_threshold_of_the_release(tmp_path):
    folder = folder_of(tmp_path, "sentence-transformers", source(threshold=3))

    assert [path.name for path in (folder / "qrels").iterdir()] == ["test-00000.parquet"]
    assert pl.read_parquet(folder / "qrels/test-00000.parquet").rows() == [("q-cjk", "d-cjk")]


def test_all_tables_of_positives_have_the_same_split_names(tmp_path):
    head = head_of(files_in(folder_of(tmp_path, "sentence-transformers"))["README.md"])

    splits = [
        [data_file["split"] for data_file in config["data_files"]] for config in head["configs"]
    ]
    assert splits == [["dev", "test"]] * 3


def test_positives_of_a_release_without_any_are_refused(tmp_path):
    with pytest.raises(NothingToExportError, match="keeps grades from 9 on"):
        zip_of(tmp_path, "sentence-transformers", source(threshold=9))


# --- TREC and ir_datasets ------------------------------------------------------------------------


def test_topics_have_all_four_fields_and_read_back(tmp_path):
    path = folder_of(tmp_path, "trec") / "topics.txt"

    text = path.read_text("utf-8")
    assert [text.count(f"<{tag}>") for tag in ("top", "num", "title", "desc", "narr")] == [5] * 5
    read = {row.qid: row for row in read_topics(path.read_bytes(), file="t", problems=Problems())}
    assert read["q-topic"].text == "Topic: of the day"
    assert read["q-cjk"].description == "What is kanji?"
    assert read["q-cjk"].narrative == "Line one"
    assert set(read) == {query.qid for query in QUERIES}


def test_trec_qrels_have_single_spaces_no_header_and_every_split(tmp_path):
    files = files_in(folder_of(tmp_path, "trec"))

    assert files["qrels/test.trec"].startswith(b"q-cjk 0 d-cjk 3\nq-cjk 0 d-empty 1\n")
    both = files["qrels.trec"].splitlines()
    assert both == sorted(
        files["qrels/dev.trec"].splitlines() + files["qrels/test.trec"].splitlines()
    )


def test_tables_without_a_header_have_one_line_a_row(tmp_path):
    files = files_in(folder_of(tmp_path, "ir-datasets"))

    rows = [line.split("\t") for line in files["docs.tsv"].decode().split("\n")[:-1]]
    assert [len(row) for row in rows] == [2] * len(DOCUMENTS)
    assert dict(rows)["d-line"] == "Lines first second third fourth fifth"
    assert dict(rows)["d-empty"] == ""


# --- MTEB, Croissant, ids only -------------------------------------------------------------------


def test_task_of_mteb_is_python_that_names_the_release(tmp_path):
    text = files_in(folder_of(tmp_path, "mteb"))["task.py"].decode()

    compile(text, "task.py", "exec")
    for words in (
        '"ToyRetrieval"',
        'REVISION = "1.0.0"',
        '["test"]',
        '["eng-Latn"]',
        "'cc-by-4.0'",
    ):
        assert words in text


@pytest.mark.parametrize("description", ["say \"hi\" \\ and 'bye'", "two\nlines", ""])
def test_no_description_breaks_the_task(tmp_path, description):
    text = files_in(folder_of(tmp_path, "mteb", source(description=description)))["task.py"]

    compile(text.decode(), "task.py", "exec")


def test_croissant_pins_each_file_by_its_hash(tmp_path):
    files = files_in(folder_of(tmp_path, "croissant"))

    report = json.loads(files["croissant.json"])
    pinned = {file["contentUrl"]: file["sha256"] for file in report["distribution"]}
    assert set(pinned) == {"corpus.jsonl", "queries.jsonl", "qrels/dev.tsv", "qrels/test.tsv"}
    for name, digest in pinned.items():
        assert hashlib.sha256(files[name]).hexdigest() == digest
    assert (report["version"], report["isLiveDataset"]) == ("1.0.0", False)
    kinds = {file["encodingFormat"] for file in report["distribution"]}
    assert kinds == {"application/jsonlines", "text/tab-separated-values"}


def test_ids_only_holds_no_text_of_a_document(tmp_path):
    files = files_in(folder_of(tmp_path, "ids-only"))

    whole = b"".join(files.values())
    for document in DOCUMENTS:
        assert len(document.text) < 4 or document.text.encode() not in whole
    assert [line.split("\t")[0] for line in files["documents.tsv"].decode().splitlines()[1:]] == [
        document.docid for document in DOCUMENTS
    ]


def test_ids_of_a_corpus_without_texts_are_the_judged_ones(tmp_path):
    files = files_in(folder_of(tmp_path, "ids-only", source(documents=None)))

    ids = [line.split("\t")[0] for line in files["documents.tsv"].decode().splitlines()[1:]]
    assert ids == sorted({docid for rows in QRELS.values() for _, docid, _ in rows})


# --- hidden splits, and what is written about losses ---------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_grades_of_a_hidden_split_are_in_no_export(tmp_path, name):
    result = source(qrels={"dev": QRELS["dev"]})
    hiding = replace(result, hidden=("test",))

    whole = files_in(folder_of(tmp_path, name, hiding))

    assert not [file for file in whole if "test" in file]
    if name in LINTED:
        assert lint_folder(tmp_path / name).splits.keys() == {"dev"}


def test_formats_that_lose_nothing_say_so_and_the_others_say_what(tmp_path):
    whole = [name for name, exporter in EXPORTERS.items() if exporter.is_whole]

    assert whole == ["beir", "hub", "mteb", "croissant"]
    for exporter in EXPORTERS.values():
        assert all(line.endswith(".") for line in exporter.loses)
        assert exporter.snippets


def test_content_of_a_source_does_not_change_by_being_exported(tmp_path):
    of = source()
    before = content_sha256(of)

    for name in NAMES:
        zip_of(tmp_path, name, of)

    assert content_sha256(of) == before


def test_every_refusal_is_an_error_with_a_code_of_its_own():
    errors = [ExportFolderError, ExportNeedsTextsError, NothingToExportError, UnknownExportError]

    assert len({error.code for error in errors} | {BenchmarkError.code}) == len(errors) + 1
