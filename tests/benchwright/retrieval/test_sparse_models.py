"""A sparse encoder evaluated whole, with and without a cache."""

import json

import pytest

from benchwright.datasets import load_beir
from benchwright.retrieval.cache import cache_folder, corpus_digest
from benchwright.retrieval.errors import (
    IdTypeError,
    ParameterError,
    QueriesDifferError,
    VectorError,
)
from benchwright.retrieval.sparse_models import evaluate_sparse_model

VOCABULARY = ["bird", "blue", "fish", "red"]
CORPUS = {"d1": "red fish", "d2": "blue bird", "d3\n": "red red bird"}
QUERIES = {"q1": "red", "q2": "bird", "extra": "fish"}
GRADES = {"q1": {"d3\n": 1, "d1": 0}, "q2": {"d2": 1}}


class Counting:
    """How often each word is said; counts how many documents it was asked for."""

    def __init__(self, **more):
        self.n_encoded = 0
        self.__dict__.update(more)

    def encode_documents(self, texts):
        self.n_encoded += len(texts)
        return self.encode_queries(texts)

    def encode_queries(self, texts):
        return [
            {VOCABULARY.index(word): float(text.split().count(word)) for word in text.split()}
            for text in texts
        ]


def evaluated(model=None, corpus=CORPUS, queries=QUERIES, grades=GRADES, dim=4, **options):
    return evaluate_sparse_model(model or Counting(), corpus, queries, grades, dim, **options)


def codes(scores):
    return [finding.code for finding in scores.findings]


def test_title_and_text_may_be_apart_and_queries_pairs():
    apart = {docid: {"title": text[:3], "text": text[4:]} for docid, text in CORPUS.items()}
    grades = {"q1": {"d1": 1}}

    scores = evaluated(corpus={"d1": apart["d1"]}, queries=list(QUERIES.items()), grades=grades)

    assert scores.retrieved == evaluated(corpus={"d1": CORPUS["d1"]}, grades=grades).retrieved


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"batch_size": -1}, {"dim": 0}])
def test_sizes_below_one_are_refused_before_the_model_is_asked(options, tmp_path):
    model = Counting()

    with pytest.raises(ParameterError, match="expected a whole number of at least 1"):
        evaluated(model, cache_dir=tmp_path, **options)
    assert model.n_encoded == 0
    assert list(tmp_path.rglob("*.npy")) == []


def test_corpus_as_it_is_loaded_is_a_corpus(tmp_path):
    (tmp_path / "qrels").mkdir()
    documents = [
        {"_id": docid, "text": text} for docid, text in CORPUS.items() if "\n" not in docid
    ]
    queries = [{"_id": qid, "text": text} for qid, text in QUERIES.items()]
    for name, rows in (("corpus", documents), ("queries", queries)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n"
    )

    scores = evaluate_sparse_model(Counting(), *load_beir(tmp_path), sparse_dim=4)

    assert scores["nDCG@10"] == scores["MRR"] == 1.0


def test_pairs_that_can_be_read_once_are_a_corpus():
    assert evaluated(corpus=iter(CORPUS.items()))["MRR"] == evaluated()["MRR"]


def test_corpora_by_the_default_name_do_not_displace_each_other(tmp_path):
    model = Counting()
    other = {**CORPUS, "d4": "blue fish"}

    for corpus in (CORPUS, other, CORPUS, other, CORPUS):
        evaluated(model, corpus, cache_dir=tmp_path)

    assert model.n_encoded == len(CORPUS) + len(other)


def test_model_is_encoded_searched_and_scored():
    scores = evaluated(idf=False, k_values=[1])

    assert scores.retrieved == {
        "q1": [("d3\n", 2.0), ("d1", 1.0)],
        "q2": [("d3\n", 1.0), ("d2", 1.0)],
    }
    assert scores["Recall@1"] == 0.5
    assert scores["MRR"] == 0.75
    assert scores.facts["k"] == 100
    assert json.dumps(scores.as_dict())


@pytest.mark.parametrize(
    ("model", "given", "used"),
    [
        (Counting(), None, True),
        (Counting(idf=False), None, False),
        (Counting(idf=False), True, True),
    ],
)
def test_idf_is_the_callers_choice_then_the_models_then_yes(model, given, used):
    facts = evaluated(model, idf=given).facts

    assert facts["idf"].startswith("ln(1 +") == used


def test_progress_ends_at_all_queries():
    results = []

    evaluated(progress=lambda *seen: results.append(seen))

    assert results[-1] == (2, 2)


def test_corpus_is_encoded_once_and_then_read(tmp_path):
    model = Counting()

    first = evaluated(model, cache_dir=tmp_path, dataset_name="tiny")
    second = evaluated(model, cache_dir=tmp_path, dataset_name="tiny")

    assert (first.facts["cache_was_read"], second.facts["cache_was_read"]) == (False, True)
    assert model.n_encoded == 3
    assert second.retrieved == first.retrieved
    assert (tmp_path / "Counting" / "tiny" / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"corpus": {**CORPUS, "d1": "red bird"}}, "another corpus,"),
        ({"corpus": {**CORPUS, "d4": ""}}, "another corpus,"),
        ({"model": Counting(revision="2")}, "another revision,"),
        ({"model": Counting(vocabulary=["else"])}, "another vocabulary,"),
        ({"preprocessing": "lower case"}, "another preprocessing,"),
        ({"dim": 5}, "another sparse_dim,"),
    ],
)
def test_cache_of_something_else_is_told_and_made_anew(tmp_path, change, named):
    evaluated(cache_dir=tmp_path, dataset_name="tiny")

    scores = evaluated(cache_dir=tmp_path, dataset_name="tiny", **change)
    again = evaluated(cache_dir=tmp_path, dataset_name="tiny", **change)

    [finding] = [one for one in scores.findings if one.code == "cache-of-something-else"]
    assert named in finding.message
    assert (scores.facts["cache_was_read"], again.facts["cache_was_read"]) == (False, True)


def test_order_of_the_corpus_is_no_other_corpus():
    assert corpus_digest(CORPUS.items()) == corpus_digest(reversed(CORPUS.items()))
    assert corpus_digest([("ab", "c")]) != corpus_digest([("a", "bc")])


@pytest.mark.parametrize("name", ["weights.npy", "docids.json", "manifest.json"])
def test_damaged_cache_is_told_and_made_anew(tmp_path, name):
    before = evaluated(cache_dir=tmp_path, dataset_name="tiny")
    path = tmp_path / "Counting" / "tiny" / name
    path.write_bytes(path.read_bytes()[:-2] + b"\0\0")

    after = evaluated(cache_dir=tmp_path, dataset_name="tiny")

    assert "cache-damaged" in codes(after)
    assert after.retrieved == before.retrieved
    assert evaluated(cache_dir=tmp_path, dataset_name="tiny").facts["cache_was_read"]


def test_no_name_of_a_model_leads_out_of_the_cache(tmp_path):
    for name in ("..", ".", "../../x", "a/b", ""):
        folder = cache_folder(tmp_path, name, name)
        assert folder.resolve().parent.parent == tmp_path.resolve()
        assert len({folder.name, folder.parent.name}) == 1


def test_queries_of_another_split_are_refused():
    with pytest.raises(QueriesDifferError):
        evaluated(grades={"dev": {"d1": 1}})


def test_ids_of_two_types_are_refused():
    with pytest.raises(IdTypeError, match="int in the qrels"):
        evaluated(grades={"q1": {1: 1}})


def test_ids_that_are_all_numbers_become_text():
    corpus = dict(enumerate(CORPUS.values()))

    scores = evaluated(corpus=corpus, queries={5: "red"}, grades={5: {0: 1}})

    assert [docid for docid, _ in scores.retrieved["5"]] == ["2", "0"]
    assert "ids-were-numbers" in codes(scores)


def test_document_that_cannot_be_encoded_is_named():
    with pytest.raises(VectorError, match="document 'd1': dimension is 3"):
        evaluated(dim=3)


def test_truncated_corpus_is_told():
    assert "truncated-corpus" in codes(evaluated(grades={**GRADES, "q2": {"gone": 1}}))


class Dense(Counting):
    def encode_queries(self, texts):
        import numpy as np

        rows = super().encode_queries(texts)
        return np.array([[row.get(d, 0.0) for d in range(4)] for row in rows])


def test_dense_vectors_are_taken_and_told_once_a_side():
    scores = evaluated(Dense())

    assert codes(scores).count("dense-vectors") == 2
    assert scores.retrieved == evaluated().retrieved
