"""The documents that an estimate is of, worked out by hand from two short runs."""

import math

import polars as pl
import pytest

from benchwright.estimation.documents import probabilities
from benchwright.estimation.populations import population_of

RUNS = {
    "dense": [("q2", "b", 1), ("q2", "a", 2), ("q2", "z", 3), ("é", "d", 1)],
    "bm25": [("q10", "c", 1), ("q2", "a", 1), ("q2", "c", 2)],
}
FRAMES = {
    run: pl.DataFrame(rows, schema=["qid", "docid", "rank"], orient="row")
    for run, rows in RUNS.items()
}


def of(**more):
    return population_of(FRAMES, **{"measure": "DCG", "cutoff": 2, **more})


def test_documents_within_the_cutoff_by_the_bytes_of_their_ids():
    population = of()

    assert population.queries == ("q10", "q2", "é")
    assert population.pairs == (("q10", "c"), ("q2", "a"), ("q2", "b"), ("q2", "c"), ("é", "d"))
    assert population.of_query.tolist() == [0, 1, 1, 1, 2]
    assert population.ranks["dense"].tolist() == [0, 2, 1, 0, 1]
    assert population.ranks["bm25"].tolist() == [1, 1, 0, 2, 0]


def test_a_document_counts_what_all_runs_make_of_it():
    second = 1 / math.log2(3)

    assert of().amounts("dense") == pytest.approx([0, second, 1, 0, 1])
    assert of().amounts_of_all == pytest.approx([1, 1 + second, 1, second, 1])
    assert of(measure="P").amounts_of_all == pytest.approx([0.5, 1, 0.5, 0.5, 0.5])


def test_queries_without_documents_count_and_others_are_left_out():
    population = of(queries=["q2", "q7"])

    assert population.queries == ("q2", "q7")
    assert population.pairs == (("q2", "a"), ("q2", "b"), ("q2", "c"))
    assert population.of_query.tolist() == [0, 0, 0]


def test_drawn_pairs_have_the_probabilities_of_their_amounts():
    population = of()
    draw = population.drawn(budget=2.5, seed=3)

    pairs = population.pairs_of(draw)

    pi = dict(zip(population.pairs, probabilities(population.amounts_of_all, 2.5), strict=True))
    assert pairs == {pair: pi[pair] for pair in pairs}
    assert len(pairs) == draw.n_drawn
    everything = population.pairs_of(population.drawn(budget=99, seed=3))
    assert everything == dict.fromkeys(population.pairs, 1.0)
