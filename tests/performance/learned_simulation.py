"""How often means that the learned estimate corrects hold the truth, on a real collection.

SciFact: 1,109 queries with people's grades, six runs made here, pools of their first ten. Queries
are drawn with replacement; of those drawn, n are taken for labelled by people, the regression is
fitted on them in folds, and estimates all. Copies of a query share a fold. The table stands in
docs/machine-judges.md; `python -m tests.performance learned-estimate`.
"""

import csv
import io
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple
from zipfile import ZipFile

import numpy as np
import scipy
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds

from benchwright.estimation.corrected import LEAST_RHO, LEAST_WEIGHT, prediction_powered
from benchwright.estimation.learned import features, learned, text_features
from benchwright.statistics.descriptive import wilson
from benchwright.statistics.families import Floats
from tests.benchwright.realdata import data_folder
from tests.performance.toy import size

DRAWS = size(1_000, 3)
SIZES = size((20, 30, 50, 100), (30,))
N_DOCUMENTS = size(None, 1_500)
CUTOFF, POOLED, DIMENSIONS = 10, 10, size(100, 10)
BOUNDS = (0.92, 0.97)
DISCOUNTS = 1 / np.log2(np.arange(2, CUTOFF + 2))


class Collection(NamedTuple):
    """Padded to the largest pool: queries x places; `ranked` are places of each run's first ten."""

    rows: Floats
    of_query: np.ndarray
    place: np.ndarray
    relevant: np.ndarray
    ranked: dict[str, np.ndarray]
    values: dict[tuple[str, str], Floats]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def grams(text: str) -> list[str]:
    joined = f" {' '.join(words(text))} "
    return [joined[at : at + 4] for at in range(len(joined) - 3)]


def counts(texts: Sequence[list[str]], known: dict[str, int], *, grows: bool) -> csr_array:
    data, columns, ends = [], [], [0]
    for listed in texts:
        for word, n in Counter(listed).items():
            at = known.setdefault(word, len(known)) if grows else known.get(word, -1)
            if at >= 0:
                data.append(float(n))
                columns.append(at)
        ends.append(len(data))
    return csr_array((data, columns, ends), shape=(len(texts), len(known)))


def bm25(documents: csr_array, queries: csr_array, k1: float, b: float) -> Floats:
    n = documents.shape[0]
    length = documents.sum(axis=1)
    df = np.bincount(documents.indices, minlength=documents.shape[1])
    idf = np.log(1 + (n - df + 0.5) / (df + 0.5))
    weighted = documents.copy()
    norm = np.repeat(k1 * (1 - b + b * length / length.mean()), np.diff(documents.indptr))
    weighted.data = documents.data * (k1 + 1) / (documents.data + norm) * idf[documents.indices]
    return (queries @ weighted.T).toarray()


def cosine(documents: csr_array, queries: csr_array) -> tuple[Floats, csr_array, csr_array]:
    n = documents.shape[0]
    df = np.bincount(documents.indices, minlength=documents.shape[1])
    idf = np.log((1 + n) / (1 + df)) + 1

    def scaled(matrix: csr_array) -> csr_array:
        copy = matrix.copy()
        copy.data = (1 + np.log(copy.data)) * idf[copy.indices]
        lengths = np.sqrt((copy**2).sum(axis=1))
        return csr_array(diags_array(1 / np.maximum(lengths, 1e-12)) @ copy)

    one, other = scaled(documents), scaled(queries)
    return (other @ one.T).toarray(), one, other


def collection() -> Collection:
    folder = data_folder("scifact")
    csv.field_size_limit(1 << 30)
    with ZipFile(folder / "scifact_claims_corpus_csv.zip") as archive:
        table = io.TextIOWrapper(archive.open("corpus_train.csv"), "utf-8")
        texts = {
            row["doc_id"]: f"{row['title']} {row['abstract']}" for row in csv.DictReader(table)
        }
    grades: dict[str, set[str]] = {}
    for name in ("train", "test"):
        for line in (folder / "qrels" / f"{name}.tsv").read_text("utf-8").splitlines()[1:]:
            query, document, _ = line.split("\t")
            grades.setdefault(query, set()).add(document)
    asked = {
        row["_id"]: row["text"]
        for row in map(json.loads, (folder / "queries.jsonl").read_text("utf-8").splitlines())
        if row["_id"] in grades
    }
    if N_DOCUMENTS:
        texts = dict(list(texts.items())[:N_DOCUMENTS])
        asked = dict(list(asked.items())[:200])
    return pooled(texts, asked, grades)


def pooled(texts: dict[str, str], asked: dict[str, str], grades: dict[str, set[str]]) -> Collection:
    known: dict[str, int] = {}
    split = [words(text) for text in texts.values()]
    split_queries = [words(text) for text in asked.values()]
    documents = counts(split, known, grows=True)
    queries = counts(split_queries, known, grows=False)
    scores = {"bm25": bm25(documents, queries, 0.9, 0.4)}
    scores["tfidf"], vectors, query_vectors = cosine(documents, queries)
    known_grams: dict[str, int] = {}
    of_grams = counts([grams(text) for text in texts.values()], known_grams, grows=True)
    scores["grams"], *_ = cosine(
        of_grams, counts([grams(text) for text in asked.values()], known_grams, grows=False)
    )
    _, _, axes = svds(vectors, k=DIMENSIONS, random_state=0)
    low, low_queries = vectors @ axes.T, query_vectors @ axes.T
    low = low / np.maximum(np.linalg.norm(low, axis=1, keepdims=True), 1e-12)
    scores["lsa"] = low_queries @ low.T
    # Six runs: the four, BM25 of other parameters, and the fusion of words and topics.
    runs = {name: np.argsort(-of, axis=1, kind="stable") for name, of in scores.items()}
    runs["bm25 b=.75"] = np.argsort(-bm25(documents, queries, 1.5, 0.75), axis=1, kind="stable")
    ranks = {name: np.argsort(runs[name], axis=1) for name in ("bm25", "lsa")}
    fused = 1 / (60 + ranks["bm25"]) + 1 / (60 + ranks["lsa"])
    runs["fused"] = np.argsort(-fused, axis=1, kind="stable")
    pools = [
        np.unique(np.concatenate([of[q, :POOLED] for of in runs.values()]))
        for q in range(len(asked))
    ]
    of_query = np.repeat(np.arange(len(pools)), [len(pool) for pool in pools])
    place = np.concatenate([np.arange(len(pool)) for pool in pools])
    at = np.concatenate(pools)
    idf = dict(zip(known, np.log(len(texts) / np.bincount(documents.indices)), strict=False))
    overlaps = text_features(split_queries, [split[position] for position in at], of_query, idf)
    rows = features({name: of[of_query, at] for name, of in scores.items()}, of_query, overlaps)
    docids = np.array(list(texts))
    relevant = np.zeros((len(pools), max(map(len, pools))))
    relevant[of_query, place] = [
        docids[one] in grades[query]
        for query, one in zip(np.array(list(asked))[of_query], at, strict=True)
    ]
    ranked = {
        name: np.array([np.searchsorted(pool, of[q, :CUTOFF]) for q, pool in enumerate(pools)])
        for name, of in runs.items()
    }
    n_relevant = np.array([len(grades[query]) for query in asked])
    best = np.array([DISCOUNTS[:n].sum() for n in n_relevant])
    values = {
        (measure, name): value
        for name, of in ranked.items()
        for measure, value in worth(np.take_along_axis(relevant, of, axis=1), best).items()
    }
    return Collection(rows, of_query, place, relevant, ranked, values)


def worth(gains: Floats, best: Floats) -> dict[str, Floats]:
    """nDCG, P and RR at ten of probabilities (or grades) in rank order, by query."""
    none_before = np.cumprod(np.hstack([np.ones((len(gains), 1)), 1 - gains[:, :-1]]), axis=1)
    ranks = np.arange(1, CUTOFF + 1)
    return {
        "nDCG@10": (gains @ DISCOUNTS) / np.maximum(best, 1e-12),
        "P@10": gains.mean(axis=1),
        "RR@10": (gains * none_before / ranks).sum(axis=1),
    }


TARGETS: tuple[tuple[str, str, str], ...] = (
    ("bm25", "", "mean of a run that is a feature"),
    ("fused", "", "mean of a run that is none"),
    ("fused", "bm25", "difference of the two"),
    ("lsa", "tfidf", "difference of two others"),
)


class Counted:
    def __init__(self) -> None:
        self.n = 0
        self.held = np.zeros(3)
        self.width = np.zeros(3)
        self.squares = np.zeros(3)
        self.helped = self.rho = 0.0


def simulate(of: Collection, n: int, seed: int) -> dict[tuple[str, str], Counted]:
    rng = np.random.default_rng([seed, n])
    n_queries = len(of.relevant)
    families = [str(number) for number in range(n_queries)]
    grades = of.relevant[of.of_query, of.place]
    results: dict[tuple[str, str], Counted] = {}
    for draw in range(DRAWS):
        population = rng.integers(0, n_queries, n_queries)
        sample = population[:n]
        seen = np.where(np.isin(of.of_query, sample), grades, np.nan)
        p = learned(of.rows, seen, of.of_query, families, scale=(0, 1), seed=draw).at_least[:, 0]
        table = np.zeros(of.relevant.shape)
        table[of.of_query, of.place] = p
        best = np.sort(table, axis=1)[:, ::-1][:, :CUTOFF] @ DISCOUNTS
        estimates = {
            name: worth(np.take_along_axis(table, ranked, axis=1), best)
            for name, ranked in of.ranked.items()
        }
        for first, second, what in TARGETS:
            for measure in ("nDCG@10", "P@10", "RR@10"):
                y, f = of.values[measure, first], estimates[first][measure]
                if second:
                    y, f = y - of.values[measure, second], f - estimates[second][measure]
                counted = results.setdefault((measure, what), Counted())
                count(counted, y[sample], f[sample], f[population], float(y.mean()))
    return results


def count(counted: Counted, y: Floats, f: Floats, all_f: Floats, truth: float) -> None:
    n = len(y)
    of = prediction_powered(y, f, np.ones(n), all_f, np.ones(len(all_f)))
    alone = y.std(ddof=1) / np.sqrt(n) * scipy.special.stdtrit(n - 1, 0.975)
    reach = float(of.error_left_out) * scipy.special.stdtrit(n - 2, 0.975)
    helps = bool(of.weight >= LEAST_WEIGHT and of.rho >= LEAST_RHO)
    ways = [(float(y.mean()), alone), (float(of.mean), reach)]
    ways.append(ways[1] if helps else ways[0])
    for at, (mean, width) in enumerate(ways):
        counted.held[at] += abs(mean - truth) <= width
        counted.width[at] += width
        counted.squares[at] += (mean - truth) ** 2
    counted.n += 1
    counted.helped += helps
    counted.rho += float(of.rho)


HEAD = (
    *("SciFact", "of what", "n", "people alone (half width)", "corrected (half width)"),
    *("as shown [95 %]", "error² over people's", "mean rho", "helped"),
)


def main(make: Callable[[], Collection] = collection, seed: int = 0) -> None:
    """Print the table; what is out of bounds is named below it."""
    started = time.process_time()
    of = make()
    print(
        f"{len(of.relevant)} queries, {len(of.rows)} pooled documents, {of.rows.shape[1]} features"
    )
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    out = []
    for n in SIZES:
        for (measure, what), result in simulate(of, n, seed).items():
            share, width = result.held / result.n, result.width / result.n
            low, high = wilson(int(result.held[2]), result.n)
            cells = [measure, what, str(n)]
            cells += [f"{share[at]:.3f} ({width[at]:.3f})" for at in (0, 1)]
            cells += [f"{share[2]:.3f} [{low:.3f}, {high:.3f}]"]
            cells += [f"{result.squares[2] / max(result.squares[0], 1e-300):.2f}"]
            cells += [f"{result.rho / result.n:.2f}", f"{result.helped / result.n:.0%}"]
            print(f"| {' | '.join(cells)} |", flush=True)
            for name, at in (("corrected", 1), ("as shown", 2)):
                if not BOUNDS[0] <= share[at] <= BOUNDS[1]:
                    out.append(f"- {measure}, {what}, n {n}: {name} {share[at]:.3f}")
    print("\n".join(out or [f"- coverage {BOUNDS}: met in every row"]))
    print(f"{time.process_time() - started:.0f} s")


if __name__ == "__main__":
    main()
