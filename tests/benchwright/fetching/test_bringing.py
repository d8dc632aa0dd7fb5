"""Collections by name become zips: BEIR's own, the Hub's repositories, what ir_datasets knows."""

import hashlib
import io
import json
import zipfile

import pytest

from benchwright.errors import Problems
from benchwright.fetching import bringing
from benchwright.fetching.bringing import bring
from benchwright.fetching.errors import (
    AddressRefusedError,
    ChecksumError,
    CollectionNameError,
    CollectionShapeError,
    DownloadError,
)
from benchwright.fetching.names import Collection, Kind, read_collection
from benchwright.formats.beir import open_beir
from tests.benchwright.fetching.conftest import Served

CORPUS = b'{"_id": "d1", "title": "T", "text": "one"}\n'
QUERIES = b'{"_id": "q1", "text": "what?"}\n'
QRELS = b"query-id\tcorpus-id\tscore\nq1\td1\t2\n"


def zip_of(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def fetch(tmp_path, server, limits):
    """A function that brings a collection from the server of the test."""

    def do(name: str, **more):
        folders = {"downloads": tmp_path / "downloads", "work": tmp_path / "work"}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        fields = {"beir_url": server.address + "/{name}.zip", "hub_endpoint": server.address}
        wanted = read_collection(name) if isinstance(name, str) else name
        allowed = limits(**fields, **more)
        return bring(wanted, **folders, limits=allowed, tell=lambda *said: None)

    return do


def rows_of(path):
    problems = Problems()
    with open_beir(path) as source:
        collection = (
            [(row.docid, row.title, row.text) for row in source.corpus_rows(problems)],
            [(row.qid, row.text) for row in source.queries_rows(problems)],
            {
                split: [
                    (row.qid, row.docid, row.grade) for row in source.qrels_rows(split, problems)
                ]
                for split in source.qrels_splits()
            },
        )
    problems.raise_found()
    return collection


ROWS = ([("d1", "T", "one")], [("q1", "what?")], {"test": [("q1", "d1", 2)]})


def known(monkeypatch, name: str, content: bytes) -> None:
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    monkeypatch.setitem(bringing.KNOWN_BEIR, name, md5)


def test_a_set_of_beir_is_the_very_zip(fetch, server, monkeypatch):
    files = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS}
    content = zip_of({f"scifact/{name}": data for name, data in files.items()})
    server.served["/scifact.zip"] = Served(content)
    known(monkeypatch, "scifact", content)

    path = fetch("beir:scifact")

    assert path.read_bytes() == content
    assert rows_of(path) == ROWS


def test_a_set_of_beir_that_is_another_is_refused(fetch, server):
    server.served["/scifact.zip"] = Served(b"something else")

    with pytest.raises(ChecksumError, match="expected 5f7d1de60b170fc8027bb7898e2efca1"):
        fetch("beir:scifact")


def test_one_of_twelve_forums_is_a_zip_of_its_own(fetch, server, monkeypatch):
    files = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS}
    members = {f"cqadupstack/tex/{name}": content for name, content in files.items()}
    content = zip_of({**members, "cqadupstack/unix/corpus.jsonl": b"another"})
    server.served["/cqadupstack.zip"] = Served(content)
    known(monkeypatch, "cqadupstack", content)

    assert rows_of(fetch("beir:cqadupstack/tex")) == ROWS
    with pytest.raises(CollectionShapeError, match="its zip has no folder gis"):
        fetch("beir:cqadupstack/gis")


# --- the Hub -------------------------------------------------------------------------------------

README = b"""---
configs:
- config_name: qrels
  default: true
  data_files:
  - {split: test, path: qrels/test.tsv}
- config_name: corpus
  data_files:
  - {split: corpus, path: corpus.jsonl}
- config_name: queries
  data_files:
  - {split: queries, path: queries.jsonl}
---
"""
COMMIT = "c0ffee" + "0" * 34


def repository(
    server, name: str, files: dict[str, bytes], revision: str = "", large: dict | None = None
) -> None:
    """Serve a dataset repository as the Hub does: what it holds, and each file at its commit.

    `large` are SHA-256 by file, as the Hub says them of large ones.
    """
    lfs = {
        one: {"sha256": digest, "size": 1, "pointerSize": 1}
        for one, digest in (large or {}).items()
    }
    fields = {
        "id": name,
        "sha": COMMIT,
        "siblings": [
            {"rfilename": one, **({"lfs": lfs[one]} if one in lfs else {})}
            for one in (*files, "load.py")
        ],
    }
    at = f"/revision/{revision}" if revision else ""
    server.served[f"/api/datasets/{name}{at}"] = Served(
        json.dumps(fields).encode(), headers={"Content-Type": "application/json"}
    )
    for one, content in files.items():
        server.served[f"/datasets/{name}/resolve/{COMMIT}/{one}"] = Served(content)


FILES = {
    "README.md": README,
    "corpus.jsonl": CORPUS,
    "queries.jsonl": QUERIES,
    "qrels/test.tsv": QRELS,
}


def test_a_repository_of_the_hub_comes_at_its_commit_without_its_scripts(fetch, server):
    repository(server, "me/toy", FILES, revision="v1")

    path = fetch("hub:me/toy@v1")

    assert path.name == "me__toy-c0ffee000000.zip"
    assert rows_of(path) == ROWS
    assert not any("load.py" in asked for asked, _ in server.asked)


def test_qrels_beside_a_repository_are_put_to_it(fetch, server):
    repository(server, "BeIR/toy", {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES})
    repository(server, "BeIR/toy-qrels", {"README.md": b"x", "test.tsv": QRELS})

    assert rows_of(fetch("hub:BeIR/toy")) == ROWS


def test_an_unknown_repository_and_one_without_rows_say_so(fetch, server):
    gone = {"X-Error-Code": "RepoNotFound"}
    server.served["/api/datasets/me/none"] = Served(status=404, headers=gone)
    repository(server, "me/scripts", {"README.md": README})
    server.served["/api/datasets/me/scripts-qrels"] = Served(status=404, headers=gone)

    with pytest.raises(CollectionNameError, match="no public dataset of this name"):
        fetch("hub:me/none")
    with pytest.raises(CollectionShapeError, match="no file of rows"):
        fetch("hub:me/scripts")


def test_a_large_file_must_have_the_checksum_that_the_hub_says(fetch, server):
    right = {"corpus.jsonl": hashlib.sha256(CORPUS).hexdigest()}
    repository(server, "me/toy", FILES, large=right)
    assert rows_of(fetch("hub:me/toy")) == ROWS

    repository(server, "me/other", FILES, large={"corpus.jsonl": "0" * 64})
    with pytest.raises(ChecksumError, match=r"has the sha256 .* expected 0000"):
        fetch("hub:me/other")


LANGUAGES = {
    "README.md": b"# all languages",
    **{
        f"data/{kind}/{lang}{name}": content
        for lang in ("german", "french")
        for kind, name, content in (
            ("collections", "_collection.tsv", b"d1\tone\n"),
            ("queries", "_queries.dev.tsv", b"q1\twhat?\n"),
        )
    },
}


@pytest.mark.parametrize(
    ("wanted", "members"),
    [
        (
            "hub:me/many/data/*german*",
            {"data/collections/german_collection.tsv", "data/queries/german_queries.dev.tsv"},
        ),
        (
            "hub:me/many/data/collections",
            {"data/collections/german_collection.tsv", "data/collections/french_collection.tsv"},
        ),
    ],
)
def test_of_a_repository_of_many_languages_only_what_is_wanted_comes(
    fetch, server, wanted, members
):
    repository(server, "me/many", LANGUAGES)

    with zipfile.ZipFile(fetch(wanted)) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}

    assert names == {"README.md", *members}
    assert len(server.asked) == 1 + len(names)
    with pytest.raises(CollectionShapeError, match="'data/de' matches none of its files"):
        fetch("hub:me/many/data/de")


def test_a_repository_larger_than_the_site_takes_is_refused(fetch, server):
    repository(server, "me/toy", FILES)

    with pytest.raises(DownloadError, match="UPLOAD_LIMIT_MB"):
        fetch("hub:me/toy", max_bytes=60)


def test_a_hub_in_a_private_network_is_not_asked_unless_that_is_allowed(fetch, server):
    with pytest.raises(AddressRefusedError, match="is not in the public network"):
        fetch("hub:me/toy", may_be_private=False)

    assert not server.asked


# --- ir_datasets ---------------------------------------------------------------------------------


@pytest.fixture
def catalog(tmp_path):
    """ir_datasets with a data set of local files, and one of qrels alone."""
    import ir_datasets

    files = {
        "docs.tsv": "d1\tone\nd2\ttwo\n",
        "queries.tsv": "q1\twhat?\n",
        "qrels.trec": "q1 0 d1 2\nq1 0 d2 0\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    made = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "docs.tsv"),
        queries_tsv=str(tmp_path / "queries.tsv"),
        qrels_trec=str(tmp_path / "qrels.trec"),
    )
    partial = ir_datasets.create_dataset(docs_tsv=str(tmp_path / "docs.tsv"))
    for name, dataset in (("local-toy/dev", made), ("local-toy", partial)):
        ir_datasets.registry.register(name, dataset)
    yield
    for name in ("local-toy/dev", "local-toy"):
        ir_datasets.registry._registered.pop(name)


def test_what_ir_datasets_knows_becomes_a_zip_of_beirs_files(fetch, catalog):
    assert rows_of(fetch("irds:local-toy/dev")) == (
        [("d1", "", "one"), ("d2", "", "two")],
        [("q1", "what?")],
        {"dev": [("q1", "d1", 2), ("q1", "d2", 0)]},
    )


def test_an_id_without_queries_and_an_unknown_one_say_what_to_name(fetch, catalog):
    with pytest.raises(CollectionShapeError, match="this id has no queries"):
        fetch("irds:local-toy")
    with pytest.raises(CollectionNameError, match="ir_datasets knows no such id"):
        fetch(Collection(Kind.IRDS, "never-heard-of"))
