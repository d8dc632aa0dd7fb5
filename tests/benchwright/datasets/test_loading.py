"""BEIR, MIRACL and MS MARCO from files of their layouts: what comes back, and what is told."""

import gzip
import hashlib
import json
import os
import tarfile
from pathlib import Path

import pytest

from benchwright.corpora.cuts import Cut, CutError
from benchwright.datasets import load_beir, load_miracl, load_mmarco, named
from benchwright.datasets.errors import (
    HiddenQrelsError,
    LanguageMissingError,
    LibraryMissingError,
    NothingMatchesError,
    PointerError,
    SplitMissingError,
)
from benchwright.errors import ArchiveError, FileProblemsError, MissingFileError
from benchwright.fetching import bringing
from benchwright.fetching.errors import ChecksumError
from tests.benchwright.datasets.layouts import (
    BEIR,
    HEADER,
    MIRACL,
    MIRACL_CORPUS,
    MMARCO,
    PASSAGES,
    folder_of,
    miracl,
    parquet,
    zip_of,
)
from tests.benchwright.fetching.conftest import Served, limits, server  # noqa: F401
from tests.benchwright.fetching.test_bringing import COMMIT, repository

DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))
SHARDS = MIRACL_CORPUS.splitlines(keepends=True)
GZIPPED = {f"{name}.gz": gzip.compress(content) for name, content in BEIR.items()}


def with_changes(files, **changes):
    """The same files with some changed; `__` is a slash, `_dot_` a point; None drops one."""
    named_changes = {key.replace("__", "/").replace("_dot_", "."): v for key, v in changes.items()}
    return {name: v for name, v in {**files, **named_changes}.items() if v is not None}


# --- BEIR ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "put",
    [
        lambda tmp: folder_of(BEIR, tmp / "toy"),
        lambda tmp: zip_of(BEIR, tmp / "toy.zip", "toy"),
        lambda tmp: zip_of(BEIR, tmp / "toy.zip"),
        lambda tmp: str(folder_of(GZIPPED, tmp / "toy")),
        lambda tmp: [folder_of(BEIR, tmp / "toy") / name for name in BEIR],
    ],
    ids=["folder", "zip with top folder", "zip", "gzipped", "list of files"],
)
def test_beir_is_a_corpus_queries_and_qrels_of_one_split(tmp_path, put):
    loaded = load_beir(put(tmp_path))
    corpus, queries, qrels = loaded

    assert list(corpus) == [("d1", "Bread rises"), ("d2", "soup"), ("d3", "tea")]
    assert list(corpus) == list(corpus.as_dict().items())
    assert queries == {"q1": "why?", "q2": "how?"}
    assert qrels == {"q1": {"d1": 2, "d2": 0}, "q2": {"d2": 1}}
    assert loaded.split == "test"
    assert loaded.notes == [
        "1 of 3 queries have no grade in the split 'test' and are left out.",
        "1 of 3 grades are 0: judged, and not relevant. Count only grades above 0 as relevant; a "
        "document in the qrels is not a hit.",
    ]


def test_a_split_that_is_missing_names_those_that_are_there(tmp_path):
    with pytest.raises(SplitMissingError) as refusal:
        load_beir(folder_of(BEIR, tmp_path / "toy"), split="train")

    assert str(refusal.value) == (
        "toy has no qrels of the split 'train'; there are dev, test. Say split='dev', or add the "
        "file."
    )


def test_validation_is_the_split_dev(tmp_path):
    assert load_beir(folder_of(BEIR, tmp_path), "validation").qrels == {"q3": {"d3": 1}}


def test_ids_that_are_numbers_become_texts_and_are_told(tmp_path):
    files = with_changes(
        BEIR,
        corpus_dot_jsonl=b'{"_id": 1, "title": "", "text": "t \\"_id\\": 5, x"}\n'
        b'{"_id": "2", "title": "", "text": "u", "metadata": {"_id": 9}}\n',
        queries_dot_jsonl=b'{"_id": 7, "text": "why?"}\n',
        qrels__dev_dot_tsv=None,
        qrels__test_dot_tsv=HEADER + b"7\t1\t1\n",
    )
    loaded = load_beir(folder_of(files, tmp_path))

    assert loaded.queries == {"7": "why?"}
    assert loaded.corpus.as_dict() == {"1": 't "_id": 5, x', "2": "u"}
    assert [note.partition(";")[0] for note in loaded.notes] == [
        "1 id was a number in queries.jsonl, such as 7",
        "1 id was a number in corpus.jsonl, such as 1",
    ]


def test_repository_of_parquet_with_number_ids_is_loaded(tmp_path):
    files = {
        "corpus/train-00000.parquet": parquet(_id=[1, 2], title=["", "B"], text=["a", "b"]),
        "queries/train-00000.parquet": parquet(_id=[7], text=["why?"]),
        "qrels/validation-00000.parquet": parquet(query__id=[7], corpus__id=[2], score=[1.0]),
    }
    loaded = load_beir(folder_of(files, tmp_path), split="dev")

    assert (loaded.queries, loaded.qrels) == ({"7": "why?"}, {"7": {"2": 1}})
    assert list(loaded.corpus) == [("1", "a"), ("2", "B b")]
    assert "3 ids were numbers in" in loaded.notes[0]


def test_byte_order_marks_and_crlf_change_nothing(tmp_path):
    odd = {name: b"\xef\xbb\xbf" + v.replace(b"\n", b"\r\n") for name, v in BEIR.items()}
    loaded = load_beir(folder_of(odd, tmp_path / "odd"))
    plain = load_beir(folder_of(BEIR, tmp_path / "plain"))

    assert (loaded.queries, loaded.qrels) == (plain.queries, plain.qrels)
    assert list(loaded.corpus) == list(plain.corpus)
    assert "begins with a byte order mark" in " ".join(loaded.notes)


def test_a_number_id_after_a_byte_order_mark_is_a_text(tmp_path):
    files = with_changes(BEIR, corpus_dot_jsonl=b'\xef\xbb\xbf{"_id": 1, "text": "t"}\r\n')

    assert list(load_beir(folder_of(files, tmp_path)).corpus) == [("1", "t")]


def test_qrels_of_other_queries_say_how_many_meet_and_why(tmp_path):
    files = with_changes(BEIR, qrels__test_dot_tsv=HEADER + b"Q-1\td1\t1\nQ-2\td2\t1\n")
    with pytest.raises(NothingMatchesError) as refusal:
        load_beir(folder_of(files, tmp_path / "toy"))

    assert str(refusal.value) == (
        "toy: 0 of the 2 queries of the qrels are among the 3 queries; 2 are not ('Q-1', 'Q-2'). "
        "They are the same numbers written otherwise: 'Q-1' in the qrels, 'q1' among the queries. "
        "Write both alike."
    )


def test_qrels_that_meet_in_part_are_told_with_counts(tmp_path):
    files = with_changes(BEIR, qrels__test_dot_tsv=HEADER + b"q1\td1\t1\nother\td2\t1\n")
    loaded = load_beir(folder_of(files, tmp_path))

    assert loaded.findings[0].code == "queries-meet-in-part"
    assert "1 of the 2 queries of the qrels is among the 3 queries" in loaded.notes[1]


def test_a_corpus_that_lacks_judged_documents_is_told_when_it_has_been_read(tmp_path):
    files = with_changes(BEIR, corpus_dot_jsonl=BEIR["corpus.jsonl"].splitlines()[0] + b"\n")
    loaded = load_beir(folder_of(files, tmp_path))
    assert not any("corpus" in note for note in loaded.notes)

    result = loaded.check()

    assert (result[0].code, result[0].n) == ("corpus-lacks-judged", 1)
    assert (
        "1 of the 2 judged documents is not among the 1 of the corpus, 1 of them relevant ('d2')."
        in loaded.notes[-1]
    )


def test_wrong_lines_are_named_and_a_corpus_that_has_some_ends_with_an_error(tmp_path):
    files = with_changes(BEIR, qrels__test_dot_tsv=HEADER + b"q1\td1\thigh\nq1\td1\n")
    with pytest.raises(FileProblemsError, match=r"qrels/test.tsv:2: score is 'high'.*\n.*:3"):
        load_beir(folder_of(files, tmp_path / "a"))

    files = with_changes(BEIR, corpus_dot_jsonl=BEIR["corpus.jsonl"] + b"{broken\n")
    corpus = load_beir(folder_of(files, tmp_path / "b")).corpus
    with pytest.raises(FileProblemsError, match=r"corpus.jsonl:4: is not JSON"):
        list(corpus)


def test_a_document_twice_is_refused_where_a_mapping_would_lose_it(tmp_path):
    files = with_changes(BEIR, corpus_dot_jsonl=2 * BEIR["corpus.jsonl"])
    corpus = load_beir(folder_of(files, tmp_path)).corpus

    with pytest.raises(FileProblemsError, match="document 'd1' was there before"):
        corpus.as_dict()


@pytest.mark.parametrize(
    ("dropped", "what"),
    [("corpus.jsonl", "corpus"), ("queries.jsonl", "queries"), ("qrels", "qrels")],
)
def test_what_is_missing_is_named(tmp_path, dropped, what):
    files = {name: v for name, v in BEIR.items() if not name.startswith(dropped)}
    with pytest.raises(MissingFileError, match=f"toy: no {what} found"):
        load_beir(folder_of(files, tmp_path / "toy"))


def test_without_grades_all_queries_come(tmp_path):
    files = {name: v for name, v in BEIR.items() if not name.startswith("qrels")}
    loaded = load_beir(folder_of(files, tmp_path), graded=False)

    assert (len(loaded.queries), loaded.qrels, loaded.notes) == (3, {}, [])


def test_what_git_keeps_in_place_of_a_file_is_no_corpus(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n"
    with pytest.raises(PointerError, match=r"corpus\.jsonl is what Git keeps"):
        load_beir(folder_of(with_changes(BEIR, corpus_dot_jsonl=pointer), tmp_path))


def test_an_archive_cut_short_and_a_path_that_is_not_there_are_told(tmp_path):
    path = zip_of(BEIR, tmp_path / "toy.zip")
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(ArchiveError, match=r"toy\.zip"):
        load_beir(path)
    with pytest.raises(MissingFileError, match="Check the path"):
        load_beir(tmp_path / "gone")
    with pytest.raises(MissingFileError, match="Name a folder or files"):
        load_beir([])


# --- fewer documents -----------------------------------------------------------------------------


def many(tmp_path, n=200):
    lines = (json.dumps({"_id": f"d{i}", "title": "", "text": "t"}) for i in range(n))
    files = with_changes(
        BEIR,
        corpus_dot_jsonl="\n".join(lines).encode() + b"\n",
        qrels__test_dot_tsv=HEADER + b"q1\td7\t1\nq1\td150\t0\n",
    )
    return folder_of(files, tmp_path / f"many-{n}")


def test_a_cut_keeps_judged_documents_and_says_that_it_flatters(tmp_path):
    loaded = load_beir(many(tmp_path), max_docs=20, seed=3)
    kept = set(loaded.corpus.as_dict())

    draws = sorted((Cut(20, 3).draw(f"d{i}"), f"d{i}") for i in range(200) if i not in (7, 150))
    assert kept == {"d7", "d150", *(docid for _, docid in draws[:18])}
    assert kept == set(dict(loaded.corpus))
    assert loaded.corpus.n_documents == 20
    assert loaded.notes[-1] == (
        "Cut to 20 of 200 documents: all 2 judged or pooled ones, the others drawn with seed 3. "
        "Fewer documents compete, so every system looks better than on the whole corpus: compare "
        "such scores with each other only."
    )


def test_a_cut_may_take_judged_documents_and_says_so(tmp_path):
    loaded = load_beir(many(tmp_path), max_docs=20, keep_judged=False)

    assert len(loaded.corpus.as_dict()) == 20
    assert "drawn with seed 0 whether judged or not" in loaded.notes[-1]


def test_a_cut_that_cuts_nothing_says_nothing_and_one_of_nothing_is_refused(tmp_path):
    loaded = load_beir(many(tmp_path, 160), max_docs=1000)
    assert len(loaded.corpus.as_dict()) == 160
    assert not any("Cut" in note for note in loaded.notes)

    with pytest.raises(CutError, match="max_docs is 0"):
        load_beir(many(tmp_path, 160), max_docs=0)


def test_more_judged_documents_than_asked_for_all_stay(tmp_path):
    assert set(load_beir(many(tmp_path), max_docs=1).corpus.as_dict()) == {"d7", "d150"}


# --- MIRACL --------------------------------------------------------------------------------------


def test_miracl_of_raw_files_has_negatives_of_grade_0(tmp_path):
    asked, corpus = miracl(tmp_path)
    loaded = load_miracl(asked, "sw", corpus=corpus)

    assert loaded.queries == {"6": "Bandari iko wapi?", "8": "Nani?"}
    assert loaded.qrels == {"6": {"7#0": 1, "7#2": 0}, "8": {"9#0": 1}}
    assert list(loaded.corpus)[:2] == [("7#0", "Mombasa bandari"), ("7#2", "Mombasa mji")]
    assert (loaded.lang, loaded.split, loaded.corpus.lacking) == ("sw", "dev", None)
    assert [finding.code for finding in loaded.check()] == ["judged-not-relevant"]


@pytest.mark.parametrize("pack", ["zip", "tar.gz", "one file"])
def test_the_corpus_may_lie_elsewhere_and_otherwise(tmp_path, pack):
    asked, folder = miracl(tmp_path)
    shards = {f"docs-{n}.jsonl.gz": gzip.compress(line) for n, line in enumerate(SHARDS)}
    if pack == "zip":
        corpus = zip_of(shards, tmp_path / "corpus.zip", "top")
    elif pack == "tar.gz":
        corpus = tmp_path / "corpus.tar.gz"
        with tarfile.open(corpus, "w:gz") as archive:
            archive.add(folder_of(shards, tmp_path / "shards"), "shards")
    else:
        corpus = folder / "docs-0.jsonl.gz"

    loaded = load_miracl(str(asked), corpus=corpus)

    assert [docid for docid, _ in loaded.corpus] == ["7#0", "7#2", "9#0", "9#1"]
    assert loaded.corpus.lacking is None


def test_two_places_of_one_name_keep_their_files_apart(tmp_path):
    first = folder_of({"corpus.jsonl": BEIR["corpus.jsonl"]}, tmp_path / "a" / "toy")
    second = folder_of({"corpus.jsonl": b'{"_id": "d9", "text": "x"}\n'}, tmp_path / "b" / "toy")
    rest = folder_of({k: v for k, v in BEIR.items() if k != "corpus.jsonl"}, tmp_path / "rest")

    loaded = load_beir([first, second, rest])

    assert sorted(loaded.corpus.as_dict()) == ["d1", "d2", "d3", "d9"]


def test_miracl_of_one_zip_and_another_split(tmp_path):
    asked, corpus = miracl(tmp_path)
    files = {f"a/{p.relative_to(tmp_path)}": p.read_bytes() for p in tmp_path.rglob("*.*sv")}
    files["b/docs-0.jsonl.gz"] = (corpus / "docs-0.jsonl.gz").read_bytes()
    loaded = load_miracl(zip_of(files, tmp_path / "all.zip"), split="train")

    assert (loaded.queries, loaded.qrels) == ({"1": "Lini?"}, {"1": {"7#2": 1}})
    assert len(loaded.corpus.as_dict()) == 4
    assert asked.is_dir()


def test_rows_of_passages_are_queries_grades_and_a_corpus_that_flatters(tmp_path):
    rows = "\n".join(json.dumps(row) for row in PASSAGES).encode()
    loaded = load_miracl(folder_of({"sw/dev.jsonl": rows}, tmp_path))

    assert loaded.qrels == {"6": {"7#0": 1, "7#2": 0}, "8": {"7#2": 1}}
    assert list(loaded.corpus) == [("7#0", "Mombasa bandari"), ("7#2", "Mombasa mji")]
    assert loaded.notes[0].startswith("2 ids were numbers in sw/dev.jsonl, such as 6")
    assert "every system looks better than it is" in loaded.notes[1]


def test_rows_of_passages_in_several_files_make_one_corpus(tmp_path):
    first, second = (json.dumps(row).encode() for row in PASSAGES)
    loaded = load_miracl(folder_of({"sw/dev.jsonl": first, "sw/train.jsonl": second}, tmp_path))

    assert loaded.qrels == {"6": {"7#0": 1, "7#2": 0}}
    assert [docid for docid, _ in loaded.corpus] == ["7#0", "7#2"]


def test_grades_of_the_test_splits_are_hidden_and_their_queries_are_not(tmp_path):
    asked, corpus = miracl(tmp_path)
    with pytest.raises(HiddenQrelsError) as refusal:
        load_miracl(asked, "sw", "testA", corpus=corpus)

    assert str(refusal.value).endswith(
        "has queries of the split 'test-a' and no grades: MIRACL keeps those of its test splits to "
        "itself. Take another split (dev, train), or say graded=False for the queries alone."
    )
    assert load_miracl(asked, "sw", "testA", corpus=corpus, graded=False).queries == {"9": "Nini?"}


def test_queries_of_another_split_are_named_as_such(tmp_path):
    asked, corpus = miracl(tmp_path)
    train = MIRACL["qrels/qrels.miracl-v1.0-sw-train.tsv"]
    (asked / "qrels/qrels.miracl-v1.0-sw-dev.tsv").write_bytes(train)

    with pytest.raises(NothingMatchesError) as refusal:
        load_miracl(asked, "sw", corpus=corpus)

    assert (
        "0 of the 1 query of the qrels are among the 2 queries; 1 is not ('1'). 1 of these is a "
        "query of the split 'train' and not of 'dev': take its qrels." in str(refusal.value)
    )


def test_several_languages_must_be_chosen_from(tmp_path):
    asked, corpus = miracl(tmp_path)
    folder_of({"yo/topics.miracl-v1.0-yo-dev.tsv": b"1\ta\n"}, asked)

    with pytest.raises(LanguageMissingError, match=r"several languages; there are sw, yo\. Say"):
        load_miracl(asked, corpus=corpus)
    with pytest.raises(LanguageMissingError, match="nothing of 'de'; there are sw, yo"):
        load_miracl(asked, "de", corpus=corpus)
    with pytest.raises(SplitMissingError, match="'nope'; there are dev, train"):
        load_miracl(asked, "sw", "nope", corpus=corpus)


def test_one_pair_with_two_grades_is_refused(tmp_path):
    asked, corpus = miracl(tmp_path)
    with (asked / "qrels/qrels.miracl-v1.0-sw-dev.tsv").open("ab") as out:
        out.write(b"6\tQ0\t7#0\t0\n")

    with pytest.raises(FileProblemsError, match="has the grade 0 here and 1 before"):
        load_miracl(asked, "sw", corpus=corpus)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"BENCHWRIGHT_TEST_DATA: no {DATA}")
def test_real_topics_and_qrels_of_miracl_load(tmp_path):
    corpus = folder_of({"docs-0.jsonl": b'{"docid": "a#0", "title": "", "text": "x"}\n'}, tmp_path)
    loaded = load_miracl(DATA / "qrels_topics_only" / "miracl", "te", corpus=corpus)

    assert (len(loaded.queries), sum(map(len, loaded.qrels.values()))) == (828, 1606)
    lacking = loaded.check()[0]
    assert lacking.code == "corpus-lacks-judged"
    # Counted apart: cut -f3 | sort -u | wc -l, and the same where the fourth column is above 0.
    assert lacking.message.startswith("1,457 of the 1,457 judged documents")
    assert "797 of them relevant" in lacking.message


# --- MS MARCO and mMARCO -------------------------------------------------------------------------


def test_mmarco_has_passages_of_one_language_and_queries_of_another(tmp_path):
    loaded = load_mmarco(folder_of(MMARCO, tmp_path), "german", "fr")

    assert list(loaded.corpus) == [
        *(("0", "Das Brot geht auf."), ("1", "Die Suppe kocht."), ("2", "Tee"))
    ]
    assert loaded.queries == {"10": "Pourquoi ?", "11": "Comment ?"}
    assert loaded.qrels == {"10": {"0": 1}, "11": {"1": 1}}
    assert loaded.lang == "fr"
    assert loaded.notes == ["1 of 3 queries have no grade in the split 'dev' and are left out."]


def test_the_small_split_takes_the_queries_of_the_large_one(tmp_path):
    loaded = load_mmarco(folder_of(MMARCO, tmp_path), "german", split="dev.small")

    assert (loaded.queries, loaded.qrels) == ({"11": "Wie?"}, {"11": {"1": 1}})


def test_ms_marco_itself_is_english(tmp_path):
    files = {
        "collection.tsv": MMARCO["collections/german_collection.tsv"],
        "queries.dev.small.tsv": b"11\thow?\n",
        "qrels.dev.small.tsv": MMARCO["qrels.dev.small.tsv"],
    }
    loaded = load_mmarco([folder_of(files, tmp_path) / name for name in files], split="dev.small")

    assert (loaded.queries, loaded.lang) == ({"11": "how?"}, "en")


def test_languages_and_splits_that_are_not_there_are_told(tmp_path):
    folder = folder_of(MMARCO, tmp_path)

    with pytest.raises(LanguageMissingError, match=r"passages are in several .* doc_lang='de'"):
        load_mmarco(folder)
    with pytest.raises(LanguageMissingError, match="no queries are in 'hindi'; there are de, fr"):
        load_mmarco(folder, "german", "hindi")
    with pytest.raises(SplitMissingError, match=r"'train'; there are dev, dev\.small"):
        load_mmarco(folder, "german", split="train")


# --- by name -------------------------------------------------------------------------------------


def test_a_named_set_is_downloaded_once_and_loaded(tmp_path, server, limits, monkeypatch):  # noqa: F811
    content = zip_of(BEIR, tmp_path / "scifact.zip", "scifact").read_bytes()
    server.served["/scifact.zip"] = Served(content, cuts=[100])
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    monkeypatch.setitem(bringing.KNOWN_BEIR, "scifact", md5)
    allowed = limits(beir_url=server.address + "/{name}.zip")

    results = []
    for _ in range(2):
        loaded = load_beir(
            "beir:scifact",
            cache=tmp_path / "kept",
            limits=allowed,
            progress=lambda *said: results.append(said),
        )

    assert results[-1][:2] == (len(content), len(content))
    assert loaded.queries == {"q1": "why?", "q2": "how?"}
    assert [wanted for _, wanted in server.asked] == ["", "bytes=100-"]


def test_a_repository_is_loaded_by_its_name_after_an_error_and_a_redirect(tmp_path, server, limits):  # noqa: F811
    columns = {"_id": ["d1", "d2"], "title": ["", ""], "text": ["bread", "soup"]}
    files = {
        "corpus/train-0.parquet": parquet(**columns),
        "queries/train-0.parquet": parquet(_id=["q1"], text=["why?"]),
        "qrels/test-0.parquet": parquet(query__id=["q1"], corpus__id=["d2"], score=[1]),
    }
    repository(server, "me/toy", files)
    at = f"/datasets/me/toy/resolve/{COMMIT}/corpus/train-0.parquet"
    server.served["/store"] = Served(files["corpus/train-0.parquet"], first=[500])
    server.served[at] = Served(status=302, headers={"Location": "/store"})

    loaded = load_beir("hub:me/toy", cache=tmp_path, limits=limits(hub_endpoint=server.address))

    assert list(loaded.corpus) == [("d1", "bread"), ("d2", "soup")]
    assert loaded.qrels == {"q1": {"d2": 1}}


def test_a_named_set_needs_a_place_and_the_right_bytes(tmp_path, server, limits):  # noqa: F811
    with pytest.raises(MissingFileError, match="Say where: cache='data'"):
        load_beir("beir:scifact")

    server.served["/scifact.zip"] = Served(b"something else")
    with pytest.raises(ChecksumError, match="thrown away"):
        load_beir(
            "beir:scifact",
            cache=tmp_path,
            limits=limits(beir_url=server.address + "/{name}.zip"),
        )


@pytest.fixture
def catalog(tmp_path):
    """ir_datasets with a data set of three splits in the names that MIRACL and mMARCO have."""
    import ir_datasets

    folder = folder_of(
        {
            "docs.tsv": b"7#0\tbandari\n7#2\tmji\n",
            "queries.tsv": b"6\tBandari?\n",
            "qrels.trec": b"6 0 7#0 1\n6 0 7#2 0\n",
        },
        tmp_path / "irds",
    )
    graded = ir_datasets.create_dataset(
        docs_tsv=str(folder / "docs.tsv"),
        queries_tsv=str(folder / "queries.tsv"),
        qrels_trec=str(folder / "qrels.trec"),
    )
    hidden = ir_datasets.create_dataset(
        docs_tsv=str(folder / "docs.tsv"), queries_tsv=str(folder / "queries.tsv")
    )
    datasets = {"local-sw/dev/small": graded, "local-sw/test-a": hidden}
    for name, dataset in datasets.items():
        ir_datasets.registry.register(name, dataset)
    yield
    for name in datasets:
        ir_datasets.registry._registered.pop(name)


@pytest.mark.parametrize("load", [load_beir, load_miracl, load_mmarco])
def test_what_ir_datasets_knows_is_loaded_as_a_stream(catalog, load):
    loaded = load("irds:local-sw/dev/small")

    assert list(loaded.corpus) == [("7#0", "bandari"), ("7#2", "mji")]
    assert (loaded.queries, loaded.qrels) == ({"6": "Bandari?"}, {"6": {"7#0": 1, "7#2": 0}})
    assert loaded.split == "dev.small"


def test_an_id_without_grades_says_why(catalog):
    with pytest.raises(HiddenQrelsError, match="MIRACL keeps those of its test splits"):
        load_miracl("irds:local-sw/test-a")
    with pytest.raises(MissingFileError, match="no qrels found"):
        load_beir("irds:local-sw/test-a")

    assert load_miracl("irds:local-sw/test-a", graded=False).queries == {"6": "Bandari?"}


def test_without_its_library_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(named, "find_spec", lambda name: None)

    with pytest.raises(LibraryMissingError, match=r"pip install 'benchwright\[catalog\]'"):
        load_beir("irds:vaswani")


def test_grades_that_are_words_are_refused_with_all_of_them(tmp_path):
    words = b"query-id,corpus-id,score\nq1,d1,E\nq2,d2,I\nq3,d3,E\n"
    files = {name: content for name, content in BEIR.items() if not name.startswith("qrels/")}

    with pytest.raises(FileProblemsError, match=r"test.csv: grades are words: 'E' \(2 rows\), 'I'"):
        load_beir(folder_of({**files, "qrels/test.csv": words}, tmp_path))
