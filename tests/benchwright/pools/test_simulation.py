"""Orders tried on known grades: by hand, and against another implementation on real runs."""

import gzip
import json
from collections import defaultdict
from hashlib import sha256

import pytest

from benchwright.pools import Recipe, build_pool
from benchwright.pools.simulation import simulate

pytestmark = pytest.mark.in_thirds

RUNS = {
    "bm25": [("q1", "a", 1), ("q1", "b", 2), ("q1", "c", 3), ("q2", "a", 1)],
    "dense": [("q1", "b", 1), ("q1", "d", 2), ("q2", "e", 1)],
}
RELEVANCE = {
    "q1": {"a": False, "b": True, "c": True, "d": False},
    "q2": {"e": True, "far": True},
}


def test_curves_are_counted_by_hand():
    simulation = simulate(RUNS, RELEVANCE, depth=3, burn_in=0)

    # q1 fused: b (both), then a, d, c by rank; q2 has e alone: a has no grade there.
    assert simulation.curve("rrf").n_found == (0, 2, 2, 2, 3)
    # bm25 a (not), so dense: b, d (not); bm25 is tied with it and first: c.
    assert simulation.curve("mtf").n_found == (0, 1, 2, 2, 3)
    assert (simulation.n_queries, simulation.n_judged, simulation.n_unjudged) == (2, 5, 1)
    assert (simulation.n_relevant, simulation.n_known) == (3, 4)


def test_an_order_that_learns_begins_layer_by_layer():
    simulation = simulate(RUNS, RELEVANCE, depth=3, burn_in=3)

    assert simulation.curve("mtf").n_found == simulation.curve("layered").n_found


# Real runs


def rankings_of(folder, depth):
    """Ranks by score, ties by document id descending, in a few lines of plain Python."""
    runs = {}
    for path in sorted((folder / "runs").glob("*.gz")):
        scored = defaultdict(list)
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            qid, _, docid, _, score, *_ = line.split()
            scored[qid].append((float(score), docid))
        runs[path.stem] = {
            qid: [docid for _, docid in sorted(rows, reverse=True)[:depth]]
            for qid, rows in scored.items()
        }
    return runs


def relevance_of(folder):
    relevance = defaultdict(dict)
    for line in (folder / "qrels.covid-round1.txt").read_text().splitlines():
        qid, _, docid, grade = line.split()
        relevance[qid][docid] = int(grade) > 0
    return relevance


@pytest.fixture(scope="module")
def covid(data):
    folder = data / "trec_covid_round1"
    return rankings_of(folder, 20), relevance_of(folder)


def as_rankings(runs):
    return {
        name: [
            (qid, docid, rank)
            for qid, docids in ranked.items()
            for rank, docid in enumerate(docids, start=1)
        ]
        for name, ranked in runs.items()
    }


@pytest.mark.data
def test_the_depth_pools_of_real_runs_have_the_sizes_that_are_known(covid):
    """2,533, 3,448 and 4,767 pairs are those that the collection's own page gives."""
    runs, _ = covid

    sizes = [
        len(build_pool(as_rankings(runs), Recipe(depth=depth)).entries) for depth in (5, 7, 10)
    ]
    assert sizes == [2533, 3448, 4767]


def simple(runs, relevance, pool, order):
    """Relevant found after each label, by the book: dictionaries, no state shared with ours."""
    gains = defaultdict(int)
    for qid in sorted({qid for qid, _ in pool}):
        known = relevance[qid]
        lists = {
            name: [docid for docid in ranked.get(qid, []) if docid in known]
            for name, ranked in sorted(runs.items())
        }
        places = {
            name: {d: r for r, d in enumerate(ranked.get(qid, []), start=1)}
            for name, ranked in runs.items()
        }
        for n, docid in enumerate(SIMPLE[order](lists, places, known), start=1):
            gains[n] += known[docid]
    return [sum(gains[k] for k in range(1, n + 1)) for n in range(max(gains) + 1)]


def by_fusion(weight):
    def ordered(lists, places, known):
        weights = defaultdict(float)
        for ranks in places.values():
            for docid, rank in ranks.items():
                weights[docid] += weight(rank)
        pooled = sorted({docid for ranked in lists.values() for docid in ranked})
        return sorted(pooled, key=lambda docid: -weights[docid])

    return ordered


def next_of(lists, judged, name):
    return next((docid for docid in lists[name] if docid not in judged), None)


def by_move_to_front(lists, places, known):
    priority, judged, order = dict.fromkeys(lists, 100), set(), []
    current = None
    while left := [name for name in lists if next_of(lists, judged, name)]:
        if current not in left:
            current = min(
                left, key=lambda s: (-priority[s], places[s][next_of(lists, judged, s)], s)
            )
        docid = next_of(lists, judged, current)
        judged.add(docid)
        order.append(docid)
        if not known[docid]:
            priority[current] -= 1
            current = None
    return order


def by_max_mean(lists, places, known):
    judged, order = set(), []

    def mean(name):
        seen = [known[docid] for docid in lists[name] if docid in judged]
        return (1 + sum(seen)) / (2 + len(seen))

    while left := [name for name in lists if next_of(lists, judged, name)]:
        best = min(left, key=lambda s: (-mean(s), places[s][next_of(lists, judged, s)], s))
        docid = next_of(lists, judged, best)
        judged.add(docid)
        order.append(docid)
    return order


SIMPLE = {
    "rrf": by_fusion(lambda rank: 1 / (60 + rank)),
    "rbp": by_fusion(lambda rank: 0.2 * 0.8 ** (rank - 1)),
    "mtf": by_move_to_front,
    "maxmean": by_max_mean,
}


@pytest.fixture(scope="module")
def simulated(covid):
    runs, relevance = covid
    return simulate(as_rankings(runs), relevance, depth=20, seed=7, burn_in=0)


@pytest.mark.data
@pytest.mark.parametrize("order", ["mtf", "maxmean"])
def test_orders_that_learn_find_what_a_simple_implementation_finds(covid, simulated, order):
    runs, relevance = covid
    pool = {(qid, docid) for ranked in runs.values() for qid in ranked for docid in ranked[qid]}

    expected = simple(runs, relevance, pool, order)
    assert list(simulated.curve(order).n_found) == expected


@pytest.mark.data
@pytest.mark.parametrize("order", ["rrf", "rbp"])
def test_fused_orders_find_what_a_simple_implementation_finds(covid, simulated, order):
    """Within one document in a thousand: equal weights are ordered otherwise there."""
    runs, relevance = covid
    pool = {(qid, docid) for ranked in runs.values() for qid in ranked for docid in ranked[qid]}

    expected = simple(runs, relevance, pool, order)
    result = simulated.curve(order).n_found
    assert len(result) == len(expected)
    assert max(abs(a - b) for a, b in zip(result, expected, strict=True)) <= expected[-1] / 100


@pytest.mark.data
def test_the_curves_of_real_runs_are_the_same_on_every_machine(simulated):
    curves = {curve.order: curve.n_found for curve in simulated.curves}

    assert (simulated.n_judged, simulated.n_unjudged) == (3813, 5177)
    assert (simulated.n_relevant, simulated.n_known) == (1555, 2352)
    # Relevant documents found after 20 and 100 labels of each topic.
    assert {order: (curve[20], curve[100]) for order, curve in curves.items()} == {
        "layered": (321, 1208),
        "rrf": (417, 1242),
        "rbp": (412, 1213),
        "mtf": (356, 1312),
        "maxmean": (379, 1378),
    }
    assert (
        sha256(json.dumps(curves).encode()).hexdigest()
        == "c558a89fd0882ee4c21c12084e1ede790ed25115a63f31e3f4caf9b26e19aab9"
    )


@pytest.mark.data
def test_the_pool_of_real_runs_is_the_same_on_every_machine(covid):
    runs, _ = covid

    pool = build_pool(as_rankings(runs), Recipe(depth=10, seed=7))
    assert pool.digest == "a7a2ec58ed4962c4b0f3245340b52f60271a10e468d961b74f05dec7d8740348"
