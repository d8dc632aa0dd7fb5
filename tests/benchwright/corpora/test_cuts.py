"""Corpora cut to fewer documents: what matters stays, the others by a draw that can be repeated."""

import pytest

from benchwright.corpora.cuts import Cut, CutError, cut_sentence, read_max_docs
from benchwright.corpora.store import CorpusReader, write_corpus
from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow


def kept(folder, cut, ids=None, **more):
    rows = [CorpusRow(n, docid, text="x", **more) for n, docid in enumerate(ids or IDS, 1)]
    corpus = write_corpus(rows, directory=folder, problems=Problems(), file="c", cut=cut)
    reader = CorpusReader(corpus.parquet, corpus.index)
    assert {document.docid for document in reader.iterate()} == set(reader.get(ids or IDS))
    return {document.docid for document in reader.iterate()}, corpus


IDS = [f"d{n}" for n in range(500)]


def test_every_document_to_keep_is_there_and_the_size_is_met(tmp_path):
    keep = {"d3", "d77", "d499", "stranger"}

    ids, made = kept(tmp_path, Cut(50, seed=1, keep=keep))

    assert len(ids) == made.n_documents == 50
    assert keep - {"stranger"} <= ids
    assert (made.n_given, made.n_kept) == (500, 3)


def test_the_draw_is_the_same_in_any_order_and_another_with_another_seed(tmp_path):
    first, made = kept(tmp_path / "a", Cut(50, seed=1))
    again, turned = kept(tmp_path / "b", Cut(50, seed=1), ids=IDS[::-1])
    other, _ = kept(tmp_path / "c", Cut(50, seed=2))

    assert first == again
    assert made.sha256 == turned.sha256
    assert first != other


def test_a_smaller_cut_is_a_part_of_a_larger_one(tmp_path):
    small, _ = kept(tmp_path / "a", Cut(20, seed=4))
    large, _ = kept(tmp_path / "b", Cut(90, seed=4))

    assert small < large


def test_more_to_keep_than_the_size_are_all_kept_and_no_other(tmp_path):
    ids, made = kept(tmp_path, Cut(2, keep={"d1", "d2", "d3"}))

    assert ids == {"d1", "d2", "d3"}
    assert made.n_kept == 3


def test_a_corpus_that_is_smaller_stays_whole(tmp_path):
    ids, _ = kept(tmp_path, Cut(5_000))

    assert len(ids) == 500


def test_a_passage_of_a_document_to_keep_is_kept(tmp_path):
    ids, _ = kept(tmp_path, Cut(1, keep={"whole"}), ids=["p1", "p2"], parent="whole")

    assert ids == {"p1", "p2"}


@pytest.mark.parametrize("given", ["0", "-3", "many", "1.5", "٣"])
def test_what_is_no_size_is_refused_by_name(given):
    with pytest.raises(CutError, match="expected a whole number from 1"):
        read_max_docs(given)


def test_the_sentence_says_how_many_of_how_many_and_why():
    cut = {"max_docs": 2, "seed": 0, "n": 3, "kept": 3, "of": 500}

    assert cut_sentence(cut) == (
        "Cut to 3 of 500 documents: all 3 judged or pooled ones, and no other."
    )
