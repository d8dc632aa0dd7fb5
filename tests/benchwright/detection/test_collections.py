"""What the files of a collection are, whichever layout it has."""

import io
import os
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

from benchwright.detection import FileKind, Part, parts_of_collection
from benchwright.errors import ArchiveError, MissingFileError
from benchwright.files.archives import open_source
from benchwright.formats.errors import UnreadableKindError
from benchwright.formats.mapping import EVERY_ROW

DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))
DOCUMENT = b'{"_id": "d1", "title": "", "text": "t"}\n'
QUERY = b'{"_id": "q1", "text": "q"}\n'
QRELS = b"query-id\tcorpus-id\tscore\nq1\td1\t1\n"
README = b"""---
configs:
- config_name: corpus
  data_files:
  - split: corpus
    path: data/c-*.parquet
- config_name: de-queries
  data_files: data/q.parquet
- config_name: qrels
  default: true
  data_files:
  - {split: validation, path: data/v.parquet}
- config_name: top_ranked
  data_files: data/t.parquet
---
# A dataset
"""


def parquet(**columns) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(
        {name.replace("__", "-"): values for name, values in columns.items()}
    ).write_parquet(out)
    return out.getvalue()


def parts(path: Path, tmp_path: Path) -> dict[str, Part]:
    folder = tmp_path / "work"
    folder.mkdir()
    with open_source(path) as source:
        return {part.member: part for part in parts_of_collection(source, folder)}


def zipped(tmp_path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return tmp_path / "c.zip"


def tarred(tmp_path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(tmp_path / "c.tar", mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return tmp_path / "c.tar"


BEIR = {
    "toy/README.md": b"# Toy",
    "toy/corpus.jsonl": DOCUMENT,
    "toy/queries.jsonl": QUERY,
    "toy/qrels/dev.tsv": QRELS,
    "toy/qrels/test.tsv": QRELS.replace(b"q1", b"q2"),
    "toy/qrels.trec": b"q1 0 d1 1\n",
    "toy/families.tsv": b"query-id\tfamily\nq1\tq1\n",
    "toy/manifest.json": b"{}",
}


@pytest.mark.parametrize("pack", [zipped, tarred, lambda t, m: tarred(t, m, "w")])
def test_an_export_of_ours_is_read_back_from_a_zip_and_a_tar(tmp_path, pack):
    pieces = parts(pack(tmp_path, BEIR), tmp_path)

    kinds = {name: part.kind for name, part in pieces.items()}
    assert kinds == {
        "README.md": None,
        "corpus.jsonl": FileKind.CORPUS,
        "queries.jsonl": FileKind.QUERIES,
        "qrels/dev.tsv": FileKind.BEIR_QRELS,
        "qrels/test.tsv": FileKind.BEIR_QRELS,
        "qrels.trec": FileKind.QRELS,
        "families.tsv": FileKind.FAMILIES,
        "manifest.json": None,
    }
    assert pieces["qrels/dev.tsv"].split == "dev"
    assert pieces["qrels.trec"].is_rest


def test_a_dataset_repository_is_read_as_its_readme_says(tmp_path):
    members = {
        "README.md": README,
        "data/c-00000.parquet": parquet(_id=["d1"], title=["t"], text=["x"]),
        "data/c-00001.parquet": parquet(_id=["d2"], title=["t"], text=["x"]),
        "data/q.parquet": parquet(_id=["q1"], text=["x"]),
        "data/v.parquet": parquet(query__id=["q1"], corpus__id=["d1"], score=[1]),
        "data/t.parquet": parquet(query__id=["q1"]),
    }

    pieces = parts(zipped(tmp_path, members), tmp_path)

    assert pieces["data/c-00001.parquet"].kind is FileKind.DOCUMENTS
    assert (pieces["data/q.parquet"].kind, pieces["data/q.parquet"].lang) == ("queries", "de")
    assert pieces["data/v.parquet"].kind is FileKind.QREL_TABLE
    assert pieces["data/v.parquet"].split == "dev"
    assert pieces["data/t.parquet"].kind is None
    assert "rerank" in pieces["data/t.parquet"].note


def test_folders_named_after_configs_need_no_readme(tmp_path):
    members = {
        "corpus/train-00000-of-00001.parquet": parquet(_id=["d1"], text=["x"]),
        "queries/train-00000-of-00001.parquet": parquet(_id=["q1"], text=["x"]),
        "qrels/train-00000-of-00001.parquet": parquet(query__id=["q1"], corpus__id=["d1"]),
    }

    pieces = parts(zipped(tmp_path, members), tmp_path)

    assert [part.kind for part in pieces.values()] == ["documents", "qrel-table", "queries"]
    # Positives alone have no score: each row is a relevant document, and the page says so.
    qrels = pieces["qrels/train-00000-of-00001.parquet"]
    assert (dict(qrels.mapping), qrels.split) == (
        {"query": "query-id", "document": "corpus-id", "grade": EVERY_ROW},
        "train",
    )
    assert "every row is relevant" in qrels.note


def test_queries_that_stand_twice_are_read_once(tmp_path):
    topics = b"<top>\n<num>1</num><title>a</title>\n</top>\n"
    members = {"topics.trec": topics, "queries.tsv": b"1\ta\n", "qrels.trec": b"1 0 d1 1\n"}

    pieces = parts(zipped(tmp_path, members), tmp_path)

    assert pieces["queries.tsv"].kind is None
    assert pieces["topics.trec"].kind is FileKind.TOPICS
    assert not pieces["qrels.trec"].is_rest


def test_a_collection_without_a_file_of_a_benchmark_names_what_it_holds(tmp_path):
    with pytest.raises(MissingFileError, match=r"It holds: README.md, logo.png"):
        parts(zipped(tmp_path, {"README.md": b"#", "logo.png": b"\x89PNG"}), tmp_path)


def test_a_spreadsheet_is_no_collection(tmp_path):
    sheet = zipped(tmp_path, {"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"})

    with pytest.raises(UnreadableKindError, match="is a spreadsheet"):
        parts(sheet, tmp_path)


def test_a_broken_readme_leaves_the_files_to_their_content(tmp_path):
    members = {"README.md": b"---\nconfigs: [\n---\n", "x.parquet": parquet(_id=["q"], query=["x"])}

    assert parts(zipped(tmp_path, members), tmp_path)["x.parquet"].kind is FileKind.QUERIES


# --- tars that mean harm ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "../evil"}, "climbs out"),
        ({"name": "/etc/passwd"}, "absolute path"),
        ({"name": "a\\b"}, "backslash"),
        ({"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, "link or a device"),
        ({"type": tarfile.LNKTYPE, "linkname": "x"}, "link or a device"),
        ({"type": tarfile.CHRTYPE}, "link or a device"),
    ],
)
def test_a_tar_that_leads_elsewhere_is_refused(tmp_path, change, words):
    info = tarfile.TarInfo("x")
    for name, value in change.items():
        setattr(info, name, value)
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.addfile(info)

    with pytest.raises(ArchiveError, match=words):
        open_source(tmp_path / "x.tar")


def test_a_tar_that_inflates_beyond_measure_is_refused(tmp_path):
    path = tarred(tmp_path, {"corpus.jsonl": b"\0" * (40 << 20)})

    with pytest.raises(ArchiveError, match="inflates to more than"):
        open_source(path)


def test_a_tar_whose_header_would_fill_the_memory_is_refused(tmp_path):
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 2 << 20
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.addfile(info, io.BytesIO(b"1" * (2 << 20)))

    with pytest.raises(ArchiveError, match="damaged or cut short"):
        open_source(tmp_path / "x.tar")


def test_a_tar_cut_short_says_so(tmp_path):
    path = tarred(tmp_path, {"corpus.jsonl": DOCUMENT * 5_000}, "w")
    path.write_bytes(path.read_bytes()[:5_000])

    with pytest.raises(ArchiveError, match="damaged or cut short"), open_source(path) as source:
        list(source.lines("corpus.jsonl"))


def test_one_name_twice_in_a_tar_is_refused(tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for _ in range(2):
            archive.addfile(tarfile.TarInfo("a"))

    with pytest.raises(ArchiveError, match="twice"):
        open_source(tmp_path / "x.tar")


@pytest.mark.skipif(not DATA.is_dir(), reason=f"BENCHWRIGHT_TEST_DATA: no {DATA}")
def test_the_tables_of_a_real_zip_are_known(tmp_path):
    pieces = parts(DATA / "scifact" / "scifact_claims_corpus_csv.zip", tmp_path)

    assert pieces["corpus_train.csv"].kind is FileKind.DOCUMENTS
    assert dict(pieces["corpus_train.csv"].mapping) == {
        "id": "doc_id",
        "title": "title",
        "text": "abstract",
    }
    assert pieces["claims_train.csv"].kind is FileKind.QUERIES
