"""The code of the documents this project was created from runs here as it is written there.

The documents are read where they are and never copied; without them these tests are skipped.
"""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from benchwright import evaluate_model
from benchwright.contextual import Case, ContextualPrecision, Image
from benchwright.contextual import evaluate as evaluate_cases
from benchwright.contrastive import contrastive_accuracy_score
from benchwright.datasets import load_beir
from benchwright.retrieval.evaluating import evaluate_retrieval
from benchwright.retrieval.sparse_models import evaluate_sparse_model
from tests.benchwright.contextual.scripted import Scripted

pytestmark = pytest.mark.data

WORDS = ["red", "blue", "fish", "bird", "sea", "sky"]
DOCUMENTS = {"d1": "red fish sea", "d2": "blue bird sky", "d3": "red bird", "d4": "blue sea fish"}
QUERIES = {"q1": "red bird", "q2": "blue sea", "q3": "sky"}
QRELS = {"q1": {"d3": 2, "d1": 1}, "q2": {"d4": 1, "d2": 0}, "q3": {"d2": 3}}


@pytest.fixture(scope="module")
def seed(data):
    """A function that reads the document whose name begins so."""

    def read(number: str) -> str:
        result = sorted((data.parent / "seeds").glob(f"{number}_*.txt"))
        if not result:
            pytest.skip(f"document {number} is not at {data.parent / 'seeds'}")
        return result[0].read_text(encoding="utf-8")

    return read


@pytest.fixture
def metrics(monkeypatch):
    """`resources.metrics`, which the documents import from, is this project."""
    module = ModuleType("resources.metrics")
    module.evaluate_retrieval = evaluate_retrieval
    monkeypatch.setitem(sys.modules, "resources", ModuleType("resources"))
    monkeypatch.setitem(sys.modules, "resources.metrics", module)


class Bag:
    """How often each word is said, as a sparse vector."""

    def __init__(self):
        self.n_encoded = 0

    def encode_documents(self, texts):
        self.n_encoded += len(texts)
        return self.encode_queries(texts)

    def encode_queries(self, texts):
        return [{WORDS.index(w): float(t.split().count(w)) for w in t.split()} for t in texts]


def statements(text: str, first: str, last: str) -> str:
    """The lines from one that begins with `first` up to one that begins with `last`."""
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(first))
    end = next(place for place, line in enumerate(lines[start:], start) if line.startswith(last))
    return "\n".join(lines[start : end + 1])


def functions(text: str) -> dict:
    """All functions written there, run one after the other in one namespace."""
    lines, blocks, block = text.splitlines(), [], []
    for line in [*lines, ""]:
        opens = line.startswith(("def ", "import ", "from scipy", "BEIR_URL"))
        if opens or (block and (line.startswith((" ", ")")) or not line.strip())):
            block.append(line)
        elif block:
            blocks.append("\n".join(block))
            block = []
    fields: dict = {"np": np}
    for code in [*blocks, "\n".join(block)]:
        # What stands in a row of prose is no code.
        if code.strip():
            exec(compile(code, "seed", "exec"), fields)
    return fields


def test_results_have_the_names_written_there(seed, metrics):
    fields = {"all_retrieved": {"q1": [("d3", 2.0), ("d1", 1.0)]}, "all_qrels": QRELS}

    exec(statements(seed("004"), "from resources.metrics import", "results = "), fields)

    assert fields["results"]["nDCG@10"] == fields["results"].get("nDCG@10") == pytest.approx(1 / 3)
    assert {"nDCG@10", "Recall@100", "MAP", "MRR"} <= {
        name for name in ("nDCG@10", "Recall@100", "MAP", "MRR") if name in fields["results"]
    }


def test_pipeline_written_there_gives_the_scores_of_ours(seed, metrics):
    theirs = functions(seed("004"))

    expected = theirs["evaluate_sparse_model"](Bag(), DOCUMENTS, QUERIES, QRELS, len(WORDS))
    ours = evaluate_sparse_model(Bag(), DOCUMENTS, QUERIES, QRELS, len(WORDS))

    assert dict(ours) == pytest.approx(dict(expected))


def test_loaders_and_pipeline_written_there_give_the_scores_of_ours(seed, metrics, tmp_path):
    title = {"title": ""}
    for name, texts, more in (("corpus", DOCUMENTS, title), ("queries", QUERIES, {})):
        lines = [json.dumps({"_id": docid, "text": text, **more}) for docid, text in texts.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (tmp_path / "qrels").mkdir()
    grades = [f"{q}\t{d}\t{g}" for q, of in QRELS.items() for d, g in of.items()]
    header = "query-id\tcorpus-id\tscore"
    (tmp_path / "qrels" / "test.tsv").write_text("\n".join([header, *grades]) + "\n")
    theirs = functions(seed("004"))
    folder = str(tmp_path)
    read = [theirs[f"load_beir_{part}"](folder) for part in ("corpus", "queries", "qrels")]

    expected = theirs["evaluate_sparse_model"](Bag(), *read, sparse_dim=len(WORDS))
    ours = evaluate_sparse_model(Bag(), *load_beir(tmp_path), sparse_dim=len(WORDS))
    mixed = evaluate_sparse_model(Bag(), *read, sparse_dim=len(WORDS), cache_dir=tmp_path / "c")

    assert dict(ours) == pytest.approx(dict(expected))
    assert dict(mixed) == dict(ours)


def test_significance_written_there_is_the_paired_t_test_of_ours(seed, metrics):
    theirs = functions(seed("004"))
    better = {"q1": [("d3", 2.0), ("d1", 1.0)], "q2": [("d4", 2.0)], "q3": [("d2", 1.0)]}
    worse = {"q1": [("d1", 2.0), ("d3", 1.0)], "q2": [("d2", 2.0), ("d4", 1.0)], "q3": []}

    scores = evaluate_retrieval(better, QRELS, baseline=worse)
    other = evaluate_retrieval(worse, QRELS)
    columns = [[of_run.per_query[qid]["MRR"] for qid in QRELS] for of_run in (scores, other)]
    result = next(test for test in scores.significance if test.measure == "MRR")

    assert result.p_t == pytest.approx(theirs["paired_significance"](*columns))


def test_benchmark_with_slices_is_evaluated_as_written_there(seed):
    assert "benchmark.slices.items()" in seed("001")
    queries = [SimpleNamespace(text=text, relevant=QRELS[qid]) for qid, text in QUERIES.items()]
    benchmark = SimpleNamespace(slices={"head": queries[:2], "tail": queries[2:]})
    answers = {"red bird": ["d1", "d3"], "blue sea": ["d4"], "sky": ["d9"]}
    model = SimpleNamespace(retrieve=lambda text, k: answers[text])

    results = evaluate_model(model, benchmark, k=10)

    assert results["head"]["nDCG@K"] == pytest.approx(
        ((1 + 2 / 1.584962) / (2 + 1 / 1.584962) + 1) / 2, abs=1e-6
    )
    assert (results["head"]["MRR"], results["head"]["Recall@K"]) == (1.0, 1.0)
    assert results["tail"]["MRR"] == results["tail"]["Recall@K"] == 0.0
    assert results["all"].n_queries == 3


def test_functions_of_one_query_written_there_are_our_measures(seed):
    # Its blocks lost their indentation, so each formula is one expression here, on real lists.
    assert "math.log2(rank + 2)" in seed("001")
    relevances = [1, 0, 2]
    ideal = [2, 1]
    dcg = [sum(r / np.log2(rank + 2) for rank, r in enumerate(of)) for of in (relevances, ideal)]

    result = evaluate_retrieval(
        {"q1": [("d1", 3.0), ("x", 2.0), ("d3", 1.0)]}, {"q1": QRELS["q1"]}, gain="linear"
    )

    assert result["nDCG@10"] == pytest.approx(dcg[0] / dcg[1])


def test_paired_embeddings_are_scored_as_written_there(seed):
    assert "contrastive_accuracy_score(z1, z2, normalize=True, topk=1, eps=1e-12)" in seed("003")
    rng = np.random.default_rng(3)
    z1 = rng.normal(size=(8, 128)).astype(np.float32)
    z2 = z1 + 0.1 * rng.normal(size=(8, 128)).astype(np.float32)

    assert contrastive_accuracy_score(z1, z2, normalize=True, topk=1, eps=1e-12) == 1.0


@pytest.mark.parametrize("is_list", [True, False], ids=["in order", "by node"])
def test_case_of_texts_and_images_is_measured_as_written_there(seed, is_list):
    assert "evaluate([test_case], [metric])" in seed("002")
    verdicts = [{"verdict": word, "reason": "so"} for word in ("yes", "no", "yes")]
    by_node = {str(number): verdict for number, verdict in enumerate(verdicts, start=1)}
    image = Image(b"\x89PNG\r\n\x1a\n", "image/png")
    case = Case(
        input=["Tell me about some landmarks"],
        actual_output=["There is a tower.", image],
        expected_output=["The tower is in the city.", image],
        retrieval_context=[image, "A tower of iron.", image],
    )
    metric = ContextualPrecision(model=Scripted({"verdicts": verdicts if is_list else by_node}))

    metric.measure(case)
    evaluate_cases([case], [metric])

    assert metric.score == pytest.approx((1 + 2 / 3) / 2)
    assert metric.reason
