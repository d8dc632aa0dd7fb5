"""Models of every shape over `fixtures/tiny_benchmark`, scored as their run would be."""

import json
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchwright import evaluate, evaluate_model
from benchwright.datasets.errors import NothingMatchesError
from benchwright.datasets.released import read_released
from benchwright.errors import (
    BenchmarkError,
    CutoffError,
    FileProblemsError,
    MeasureParameterError,
    MissingFileError,
    ModelError,
    Problems,
)
from benchwright.evaluation.latency import latency_summary
from benchwright.evaluation.models import SliceScores, _latency
from benchwright.formats.beir import open_beir
from benchwright.retrieval import build_index

ROOT = Path(__file__).resolve().parents[3]
TINY = ROOT / "fixtures" / "tiny_benchmark"
BREAD, PROOF = "what do you need to make bread", 'what does "proof" mean\tin baking'
FOUND = {BREAD: [("d-tab", 2.0), ("d-line", 1.0)], PROOF: [("d-cjk", 1.0)]}
Scored = namedtuple("Scored", "doc_id score")


def answers(shape):
    """A model whose answers have this shape."""
    return lambda text, k: shape(FOUND[text])


@pytest.fixture
def released(tmp_path):
    """A function that writes a benchmark of two queries, with a manifest and slices if given."""

    def write(manifest: dict | None = None, slices: str = "", qrels: str = "") -> Path:
        (tmp_path / "qrels").mkdir()
        (tmp_path / "queries.jsonl").write_text(
            '{"_id": "a", "text": "first"}\n{"_id": "b", "text": "second"}\n'
        )
        (tmp_path / "qrels" / "test.tsv").write_text(
            "query-id\tcorpus-id\tscore\n" + (qrels or "a\td1\t1\na\td2\t2\nb\td3\t2\n")
        )
        if manifest:
            (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        if slices:
            (tmp_path / "slices.tsv").write_text(slices)
        return tmp_path

    return write


def bm25():
    with open_beir(TINY) as source:
        rows = source.corpus_rows(Problems())
        return build_index("bm25", ((row.docid, f"{row.title} {row.text}") for row in rows))


def test_bm25_scores_as_its_run_does():
    index = bm25()
    tiny = read_released(TINY, "test")
    run = {qid: dict(index.retrieve(tiny.texts[qid], 10)) for qid in tiny.qrels}

    scores = evaluate_model(index, TINY)

    names = ["nDCG@10", "RR@10", "R@10"]
    expected = evaluate(tiny.qrels, run, [*names, "Judged@10"])
    assert scores.overall.means == {name: expected.means[name] for name in names}
    assert scores.overall.judged_share == expected.means["Judged@10"]
    assert 0 < scores.overall.means["nDCG@10"] < 1
    assert scores.latency.is_batched


def test_one_query_after_the_other_gives_what_a_batch_gives():
    index = bm25()

    one_by_one = evaluate_model(index.retrieve, TINY)

    assert one_by_one.per_query == evaluate_model(index, TINY, batch_size=1).per_query
    assert one_by_one.per_query == evaluate_model(index, TINY, batch_size=99).per_query
    assert not one_by_one.latency.is_batched


def test_latencies_are_quantiles_of_the_sites_kind():
    seconds = [0.04, 0.01, 0.03, 0.02]
    site = latency_summary([1000 * second for second in seconds])

    result = _latency(seconds, is_batched=False)

    assert (result.p50, result.p95) == pytest.approx((site.p50 / 1000, site.p95 / 1000))
    assert (result.p50, result.p95) == pytest.approx((0.025, 0.0385))


SHAPES = {
    "pairs": list,
    "lists": lambda found: [list(pair) for pair in found],
    "mapping": dict,
    "documents in order": lambda found: [docid for docid, _ in found],
    "generator": iter,
    "named tuples": lambda found: [Scored(*pair) for pair in found],
    "dicts": lambda found: [{"id": docid, "score": score, "text": ""} for docid, score in found],
    "objects": lambda found: [SimpleNamespace(docid=docid, score=score) for docid, score in found],
    "bytes": lambda found: [(docid.encode(), score) for docid, score in found],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_answers_of_every_shape_score_alike(shape):
    scores = evaluate_model(answers(SHAPES[shape]), TINY)

    # DCG 2 + 1/log2(3), best 3 + 2/log2(3) + 1/2; the second query finds nothing relevant.
    assert scores.per_query["1"]["nDCG@10"] == pytest.approx(2.63093 / 4.76186, abs=1e-5)
    assert scores.overall.means["R@10"] == pytest.approx((2 / 3 + 0) / 2)
    assert scores.overall.means["RR@10"] == 1 / 2


def test_only_the_first_k_count():
    scores = evaluate_model(answers(list), TINY, 1)

    assert scores.overall.means == {
        "nDCG@1": pytest.approx((2 / 3) / 2),
        "RR@1": 1 / 2,
        "R@1": pytest.approx((1 / 3) / 2),
    }


def test_measures_without_a_cutoff_see_the_first_k_only():
    scores = evaluate_model(answers(list), TINY, 1, measures=["NumRet", "SetP"])

    assert scores.per_query["1"] | {"Judged@1": 1.0} == {"NumRet": 1, "SetP": 1, "Judged@1": 1.0}


@pytest.mark.parametrize("is_packed", [False, True], ids=["folder", "zip"])
def test_slices_of_the_benchmark_have_means_of_their_own(released, tmp_path_factory, is_packed):
    path = released(slices="query-id\tslice\na\thead\nb\thead\nb\ttail\nunknown\ttail\nz\tempty\n")
    if is_packed:
        path = Path(shutil.make_archive(str(tmp_path_factory.mktemp("zip") / "x"), "zip", path))

    scores = evaluate_model(lambda text, k: ["d3"], path)

    assert scores.slices["head"].means == scores.overall.means
    assert (scores.slices["tail"].n_queries, scores.slices["tail"].means["R@10"]) == (1, 1.0)
    assert list(scores.slices) == ["head", "tail"]
    assert (scores.overall.judged_share, scores.slices["tail"].judged_share) == (1 / 2, 1.0)


def test_mean_is_found_by_any_name_of_its_measure():
    scores = SliceScores("all", 1, {"nDCG@10": 0.5, "Rprec": 0.3, "RR@10": 0.2}, 1.0)

    assert [scores[name] for name in ("nDCG@K", "MRR", "r-precision")] == [0.5, 0.2, 0.3]
    with pytest.raises(KeyError, match="bpref"):
        scores["bpref"]
    with pytest.raises(KeyError, match="luck"):
        scores["luck"]


@pytest.mark.parametrize("as_file", [False, True], ids=["mapping", "file"])
def test_slices_that_are_given_replace_those_of_the_benchmark(released, tmp_path, as_file):
    folder = released(slices="a\town\n")
    path = tmp_path / "mine.tsv"
    path.write_text("b\tmine\n")

    scores = evaluate_model(
        lambda text, k: ["d3"], folder, slices=path if as_file else {"mine": ["b"]}
    )

    assert {name: of_slice.means["R@10"] for name, of_slice in scores.slices.items()} == {
        "mine": 1.0
    }


def test_scale_of_the_release_says_from_where_a_grade_is_relevant(released):
    scale = [{"value": 1, "is_relevant": False}, {"value": 2, "is_relevant": True}]
    folder = released({"benchmark": "toy", "version": "1.2.0", "grades": scale})

    scores = evaluate_model(lambda text, k: ["d1", "d2"], folder)

    assert (scores.benchmark, scores.per_query["a"]["RR(rel=2)@10"]) == ("toy 1.2.0", 1 / 2)


def test_a_manifest_that_is_cut_short_is_told(released):
    folder = released()
    (folder / "manifest.json").write_text('{"grades": [')

    with pytest.raises(FileProblemsError, match=r"manifest.json: is not JSON; fetch the release"):
        read_released(folder)


def test_scale_of_the_release_bounds_the_grades(released):
    folder = released(
        {"grades": [{"value": 0, "is_relevant": False}, {"value": 4, "is_relevant": True}]}
    )

    scores = evaluate_model(lambda text, k: ["d3"], folder, measures=["ERR@10"])

    assert scores.per_query["b"]["ERR@10"] == (2**2 - 1) / 2**4


def test_query_answered_with_nothing_counts_zero_and_is_told(released):
    scores = evaluate_model(lambda text, k: ["d2"] if text == "first" else [], released())

    assert (scores.overall.n_queries, scores.overall.means["RR@10"]) == (2, 1 / 2)
    assert scores.notes == ("1 query was answered with nothing; each counts 0.",)


def test_query_without_text_counts_zero_and_is_told(released):
    folder = released(qrels="a\td1\t1\nz\td1\t1\n")

    scores = evaluate_model(lambda text, k: ["d1"], folder)

    assert (scores.overall.n_queries, scores.overall.means["RR@10"]) == (2, 1 / 2)
    assert "1 query of the qrels has no text" in scores.notes[0]


def test_queries_of_another_collection_than_the_qrels_are_refused(released):
    folder = released(qrels="z\td1\t1\n")

    with pytest.raises(NothingMatchesError, match="none of the 1 query of the qrels has a text"):
        evaluate_model(lambda text, k: ["d1"], folder)


@pytest.mark.parametrize(
    ("relevant", "words"),
    [("d1", "`relevant` is one text"), ({"d1": 0.5}, r"grade is 0\.5; expected a whole number")],
)
def test_documents_of_an_own_benchmark_that_are_none_are_refused(relevant, words):
    query = SimpleNamespace(text="first", relevant=relevant)

    with pytest.raises(BenchmarkError, match=words):
        evaluate_model(lambda text, k: ["d1"], SimpleNamespace(slices={"head": [query]}))


def test_distances_in_place_of_scores_are_told(released):
    scores = evaluate_model(lambda text, k: [("d1", 0.1), ("d9", 0.4)], released())

    assert "2 answers begin with a lower score than follows" in scores.notes[0]
    assert scores.per_query["a"]["RR@10"] == 1 / 2


def test_progress_ends_with_all_queries():
    results = []

    evaluate_model(answers(list), TINY, progress=lambda done, total: results.append((done, total)))

    assert results == [(1, 2), (2, 2)]


def fails(text, k):
    raise KeyError(text)


REFUSED = [
    (fails, "Query '1' ('what do you need to make bread'): the model failed with KeyError"),
    (lambda text, k: None, "returned 'None'; expected {document: score}"),
    (lambda text, k: [1.0, 2.0], "returned '[1.0, 2.0]'; expected"),
    (lambda text, k: [{"name": "d", "score": 1}], "expected {document: score}"),
    (lambda text, k: {"d": float("nan")}, "returned what is no result: run['1'][0]: score is nan"),
    (lambda text, k: ["d", "d"], "document 'd' was at run['1'][0] already"),
    (lambda text, k: [(7, 1.0)], "document id is 7, int"),
    (SimpleNamespace(retrieve_many=lambda texts, k: [[]]), "has 1 answers for 2 queries"),
    (SimpleNamespace(retrieve_many=fails), "('what do you need to make bread' and 1 more)"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "words"), REFUSED, ids=[told for _, told in REFUSED])
def test_failing_model_is_told_with_the_query(model, words):
    with pytest.raises(ModelError) as refusal:
        evaluate_model(model, TINY)

    assert words in str(refusal.value)
    assert refusal.value.qid == "1"


def test_measure_that_looks_deeper_than_the_model_is_asked_is_refused():
    with pytest.raises(MeasureParameterError, match=r"'R@100': looks at 100 results, and .* 10\."):
        evaluate_model(answers(list), TINY, measures=["R@100"])
    with pytest.raises(CutoffError):
        evaluate_model(answers(list), TINY, 0)


def test_split_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(MissingFileError, match=r"no qrels/train.tsv found\. It has .*: dev, test"):
        evaluate_model(answers(list), TINY, split="train")


def test_printed_table_and_json_hold_the_same_numbers(released):
    scores = evaluate_model(lambda text, k: ["d3"], released(slices="b\ttail\n"))

    assert repr(scores).splitlines()[1:4] == [
        "slice  queries  nDCG@10   RR@10    R@10  judged",
        "all          2   0.5000  0.5000  0.5000  0.5000",
        "tail         1   1.0000  1.0000  1.0000  1.0000",
    ]
    as_json = json.loads(json.dumps(scores.as_dict(), allow_nan=False))
    assert as_json["slices"]["tail"]["means"]["nDCG@10"] == 1.0


def test_model_is_evaluated_without_django_and_numpy():
    code = (
        "import sys; from benchwright import evaluate_model;"
        f"evaluate_model(lambda text, k: ['123'], {str(TINY)!r});"
        "print(sorted({'django', 'numpy', 'polars', 'scipy'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert (done.stdout.strip(), done.stderr) == ("[]", "")
