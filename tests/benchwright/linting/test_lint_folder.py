"""Folders of the other formats: what is wrong in each, with its file and line."""

import io
import zipfile
from pathlib import Path

import polars as pl
import pytest
import yaml

from benchwright.errors import ArchiveError, MissingFileError
from benchwright.exports import EXPORTERS
from benchwright.exports.exporter import written
from benchwright.findings import Severity
from benchwright.linting.folders import lint_folder
from benchwright.linting.rules import FORMATS, RULES, TARGETS
from tests.benchwright.odd_toy import source


def made(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "toy"
    written(EXPORTERS[name], source(), folder)
    return folder


def told(folder: Path, code: str) -> list[str]:
    return [finding.where for finding in lint_folder(folder).findings if finding.code == code]


def replaced(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "code", "where"),
    [
        ("trec", "qrels/test.trec", b"q-cjk 0", b"# a comment\nq-cjk 0", "comment", ":1"),
        ("trec", "qrels/test.trec", b"q-cjk 0 d-cjk 3", b"q-cjk d-cjk 3", "columns", ":1"),
        ("trec", "qrels/test.trec", b"q-cjk 0 d-cjk", b"q-cjk\t0\td-cjk", "separator", ":1"),
        ("trec", "qrels/test.trec", b"d-empty 1", b"d-cjk 1", "pair-duplicate", ":2"),
        ("trec", "qrels/test.trec", b"d-empty 1", b"d-empty 128", "grade-range", ":2"),
        ("trec", "qrels/test.trec", b"d-empty 1", b"d-empty high", "grade-not-integer", ":2"),
        ("trec", "qrels/test.trec", b"q-cjk 0 d-cjk", b"q-gone 0 d-cjk", "query-dangling", ":1"),
        ("trec", "topics.txt", b"<narr> Narrative:\n", b"", "topic-field-missing", ":1"),
        ("trec", "queries.tsv", b"q-cjk\t", b"q-cjk ", "columns", ":2"),
        ("ir-datasets", "docs.tsv", b"123\t", b"123\tA\t", "columns", ":1"),
        ("ir-datasets", "docs.tsv", b"d-cjk\t", b"123\t", "id-duplicate", ":2"),
        (
            "ir-datasets",
            "queries.tsv",
            b"q-all-zero\t",
            b"qid\ttext\nq-a\t",
            "header-unexpected",
            ":1",
        ),
        ("ir-datasets", "qrels/test.trec", b"0 d-cjk", b"0 d-gone", "document-dangling", ":1"),
        ("ids-only", "documents.tsv", b"123\t", b"0123\t", "id-leading-zeros", ":2"),
        (
            "ids-only",
            "qrels/test.tsv",
            b"query-id\tcorpus-id\tscore\n",
            b"",
            "header-missing",
            ":1",
        ),
        (
            "beir",
            "corpus.jsonl",
            b'"metadata": {"url": "u1"}',
            b'"metadata": 5',
            "metadata-differs",
            ":1",
        ),
        ("hub", "README.md", b"  default: true\n", b"", "hub-config", ""),
        (
            "hub",
            "README.md",
            b"config_name: corpus\n  data",
            b"config_name: c\n  data",
            "hub-config",
            "",
        ),
    ],
)
def test_broken_file_is_told_with_its_line(tmp_path, name, file, old, new, code, where):
    folder = made(tmp_path, name)
    assert told(folder, code) == []

    replaced(folder / file, old, new)

    assert told(folder, code)[0] == f"{file}{where}"


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (b"configs:\n- 5\n- config_name: [a]\n  data_files: 7\n", "names no config corpus"),
        (b"- a\n", "names no config corpus"),
    ],
)
def test_a_head_of_another_shape_names_no_config(tmp_path, head, says):
    folder = made(tmp_path, "hub")
    (folder / "README.md").write_bytes(b"---\n" + head + b"---\n")

    messages = [finding.message for finding in lint_folder(folder).findings]

    assert any(says in message for message in messages)


def test_files_of_a_config_may_be_listed_by_split(tmp_path):
    folder = made(tmp_path, "hub")
    head = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    for config in head["configs"]:
        config["data_files"] = {files["split"]: files["path"] for files in config["data_files"]}
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(head)}---\n")

    assert lint_folder(folder).splits.keys() == {"dev", "test"}
    assert told(folder, "hub-config") == []


def rewritten(path: Path, **columns: pl.Expr) -> None:
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)


@pytest.mark.parametrize(
    ("file", "columns", "code"),
    [
        ("qrels/test-00000.parquet", {"score": pl.col("score").cast(pl.Int64)}, "hub-type"),
        ("qrels/test-00000.parquet", {"score": pl.lit(0.5)}, "grade-not-integer"),
        ("qrels/test-00000.parquet", {"score": pl.lit(-1)}, "grade-negative"),
        ("qrels/test-00000.parquet", {"corpus-id": pl.lit("gone")}, "document-dangling"),
        ("qrels/test-00000.parquet", {"query-id": pl.lit("gone")}, "query-dangling"),
        ("corpus/corpus-00000.parquet", {"_id": pl.lit(7)}, "id-not-string"),
        ("corpus/corpus-00000.parquet", {"_id": pl.lit("same")}, "id-duplicate"),
        ("corpus/corpus-00000.parquet", {"text": pl.lit(None, pl.String)}, "text-null"),
        ("corpus/corpus-00000.parquet", {"title": pl.lit(None, pl.String)}, "title-missing"),
        ("queries/queries-00000.parquet", {"text": pl.lit("")}, "query-empty"),
    ],
)
def test_broken_table_of_a_repository_is_told(tmp_path, file, columns, code):
    folder = made(tmp_path, "hub")
    assert told(folder, code) == []

    rewritten(folder / file, **columns)

    assert told(folder, code)[0].startswith(file)


def test_file_that_is_no_table_and_one_that_is_gone_are_told(tmp_path):
    folder = made(tmp_path, "hub")
    (folder / "corpus/corpus-00000.parquet").write_bytes(b"no table")
    (folder / "qrels/dev-00000.parquet").unlink()

    assert told(folder, "file-unreadable") == ["corpus/corpus-00000.parquet"]
    assert told(folder, "file-missing") == ["qrels/dev-00000.parquet"]


def test_loading_script_of_a_repository_is_told(tmp_path):
    folder = made(tmp_path, "hub")
    (folder / "toy.py").write_text("import datasets")

    assert told(folder, "hub-script") == ["toy.py"]


def test_split_names_that_differ_are_told_of_positives_only(tmp_path):
    folder = made(tmp_path, "sentence-transformers")
    head = folder / "README.md"
    head.write_text(head.read_text("utf-8").replace("split: dev", "split: other", 2), "utf-8")

    assert told(folder, "split-names") == ["README.md"]


def test_zip_without_a_folder_of_its_name_is_told_of(tmp_path):
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(made(tmp_path, "beir").rglob("*.*")):
            archive.write(file, Path("toy") / file.relative_to(tmp_path / "toy"))

    assert told(path, "top-folder") == ["other.zip"]


def test_missing_files_are_told(tmp_path):
    folder = made(tmp_path, "beir")
    (folder / "queries.jsonl").unlink()
    for path in (folder / "qrels").iterdir():
        path.unlink()

    assert told(folder, "file-missing") == ["queries.jsonl", "qrels"]


def test_reading_stops_at_the_limit_and_says_so(tmp_path):
    folder = made(tmp_path, "beir")
    (folder / "queries.jsonl").write_text("nothing\n" * 50)

    report = lint_folder(folder, limit=10)

    assert (len(report.findings), report.is_cut) == (10, True)


def test_what_is_no_folder_and_no_zip_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("text")

    with pytest.raises(ArchiveError, match="neither a folder nor a zip"):
        lint_folder(tmp_path / "a.txt")
    with pytest.raises(MissingFileError, match="Check the path"):
        lint_folder(tmp_path / "gone")


def test_qrels_that_do_not_belong_are_counted(tmp_path):
    folder = made(tmp_path, "beir")
    header = "query-id\tcorpus-id\tscore\n"
    rows = [f"gone-{n}\tgone-{n}\t{n % 2}\n" for n in range(5)]
    (folder / "qrels" / "test.tsv").write_text(header + "".join(rows))

    results = {finding.code: finding for finding in lint_folder(folder).findings}

    assert results["documents-lacking"].message == (
        "5 of the 5 documents here are not in corpus.jsonl, 2 of them relevant."
    )
    assert (results["queries-lacking"].n, results["queries-lacking"].where) == (5, "qrels/test.tsv")
    assert results["queries-lacking"].message == "5 of the 5 queries here are not in queries.jsonl."


def test_order_of_ids_is_a_note_and_told_once(tmp_path):
    folder = made(tmp_path, "beir")
    lines = (folder / "corpus.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "corpus.jsonl").write_bytes(b"".join(reversed(lines)))

    findings = [finding for finding in lint_folder(folder).findings if finding.code == "id-order"]

    assert [(finding.severity, finding.where) for finding in findings] == [
        (Severity.NOTE, "corpus.jsonl:2")
    ]


def test_every_rule_has_a_sentence_an_advice_and_a_severity_of_a_known_target():
    for code, rule in RULES.items():
        assert code == rule.code
        assert rule.says.endswith(".")
        assert rule.advice.endswith(".") or rule.advice[-1] == '"' or rule.advice
        assert rule.severities
        assert set(rule.severities) <= set(TARGETS)


def test_formats_of_the_linter_are_those_of_the_exporters():
    # Judgments for search engines and tasks of Label Studio are no release that readers load.
    assert {*FORMATS, "judgments", "label-studio"} == set(EXPORTERS)


def test_zip_is_read_like_the_folder(tmp_path):
    folder = made(tmp_path, "hub")
    path = tmp_path / "toy.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file in sorted(folder.rglob("*.*")):
            archive.write(file, Path("toy") / file.relative_to(folder))
    path.write_bytes(buffer.getvalue())

    of_zip, of_folder = lint_folder(path), lint_folder(folder)

    assert of_zip.splits == of_folder.splits
    assert (of_zip.n_documents, of_zip.n_queries) == (7, 5)
