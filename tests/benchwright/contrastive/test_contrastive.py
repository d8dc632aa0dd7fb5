"""Contrastive accuracy: published values, a float64 brute force, ties, refusals, tensors."""

import json
import sys
import tracemalloc
import types
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.contrastive import contrastive_accuracy_score, contrastive_report, pairs
from benchwright.contrastive.counting import Places, places_of_partners
from benchwright.contrastive.pairs import checked_pair, nearest_others
from benchwright.contrastive.ranks import hits, ranks, reciprocal_ranks
from tests.examples import examples

RULES = ("expected", "optimistic", "pessimistic")


def brute_force(z1, z2, *, normalize=True, topk=1, ties="expected"):
    """By the definition, from the whole matrix of similarities in 64 bits, query by query."""
    z1, z2 = z1.astype(float), z2.astype(float)
    if normalize:
        lengths = (np.linalg.norm(z, axis=1, keepdims=True) for z in (z1, z2))
        z1, z2 = (z / np.where(of > 0, of, 1) for z, of in zip((z1, z2), lengths, strict=True))
    results = []
    for similarities in (z1 @ z2.T, z2 @ z1.T):
        for row, values in enumerate(similarities):
            above = sum(value > values[row] for value in values)
            tied = sum(value == values[row] for value in values) - 1
            k = min(topk, len(values))
            chances = [above + place < k for place in range(tied + 1)]
            chosen = {"expected": np.mean(chances), "optimistic": chances[0]}
            results.append(chosen.get(ties, chances[-1]))
    return float(np.mean(results))


def made(n, d, *, noise=1.0, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    z1 = rng.standard_normal((n, d))
    return z1.astype(dtype), (z1 + noise * rng.standard_normal((n, d))).astype(dtype)


# --- agreement -------------------------------------------------------------------------------


@pytest.mark.data
def test_agrees_with_published_implementation_on_numpy_and_torch(data):
    report = json.loads((data / "seed_conformance" / "contrastive_accuracy.json").read_text())

    for case in report["cases"]:
        z1, z2 = (np.array(case[name], dtype=np.float32) for name in ("z1", "z2"))
        accuracy = contrastive_accuracy_score(z1, z2, case["normalize"], case["topk"])
        expected = (case["numpy"], case["torch"], case["ours"])
        assert (accuracy, accuracy, accuracy) == pytest.approx(expected, abs=1e-6)


TIED = {
    "all zero 8x3": (np.zeros((8, 3)),) * 2,
    "all equal rows 8x3": (np.ones((8, 3)),) * 2,
    "duplicate pairs (rows 0==1, 2==3)": (np.repeat(np.eye(2), 2, axis=0),) * 2,
    "all equal 1000x3": (np.ones((1000, 3)),) * 2,
    "constant z2": (made(6, 3)[0], np.ones((6, 3))),
}


@pytest.mark.data
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TIED)
def test_ties_fall_as_each_rule_says(data, name, rule):
    report = json.loads((data / "seed_conformance" / "contrastive_accuracy.json").read_text())
    z1, z2 = TIED[name]

    for k in (1, 2, 3):
        accuracy = contrastive_accuracy_score(z1, z2, topk=k, ties=rule)
        if name == "constant z2" and rule != "expected":
            # Looking from z2, rows of z1 are not tied: what they give depends on their numbers.
            assert accuracy == pytest.approx(brute_force(z1, z2, topk=k, ties=rule))
        else:
            assert accuracy == pytest.approx(report["ties"][name][f"k={k}"][rule], abs=1e-12)


@settings(max_examples=examples(300))
@given(
    n=st.integers(1, 12),
    d=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    topk=st.integers(1, 15),
    normalize=st.booleans(),
    rule=st.sampled_from(RULES),
)
def test_equals_brute_force_on_small_whole_numbers_full_of_ties(n, d, seed, topk, normalize, rule):
    rng = np.random.default_rng(seed)
    # Rows of length 1 or 2 along the axes: normalised or not, 32 bits hold them exactly.
    z1, z2 = (
        np.eye(d)[rng.integers(0, d, n)] * rng.choice([-2, -1, 0, 1, 2], (n, 1)) for _ in "12"
    )

    accuracy = contrastive_accuracy_score(z1, z2, normalize, topk, ties=rule)

    assert accuracy == pytest.approx(
        brute_force(z1, z2, normalize=normalize, topk=topk, ties=rule), abs=1e-12
    )


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(("n", "d"), [(63, 5), (130, 16), (513, 24), (1100, 40)])
def test_equals_brute_force_over_several_tiles(n, d, normalize):
    z1, z2 = made(n, d, noise=1.5, seed=n)
    a, b = z1.astype(float), z2.astype(float)
    if normalize:
        a, b = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (a, b))
    similarities = a @ b.T
    partner = similarities.diagonal()

    places = places_of_partners(checked_pair(z1, z2, normalize=normalize, eps=1e-12))

    assert places.forward.above.tolist() == (similarities > partner[:, None]).sum(1).tolist()
    assert places.backward.above.tolist() == (similarities > partner).sum(0).tolist()
    assert not places.forward.tied.any()


@pytest.mark.parametrize(("n", "d"), [(70, 3), (600, 96), (1030, 200), (530, 700)])
def test_equal_rows_tie_wherever_they_stand(n, d):
    rng = np.random.default_rng(d)
    kinds = rng.standard_normal((n // 3, d)).astype(np.float32)
    of_row = rng.integers(0, len(kinds), n)
    z2 = kinds[of_row]
    z1 = (z2 + 0.3 * rng.standard_normal((n, d))).astype(np.float32)

    places = places_of_partners(checked_pair(z1, z2, normalize=True, eps=1e-12))

    assert (places.forward.tied == np.bincount(of_row)[of_row] - 1).all()


def exact_places(z1, z2):
    """Of float32 rows whose products 64 bits hold exactly."""
    similarities = z1.astype(float) @ z2.astype(float).T
    partner = similarities.diagonal()
    return [
        (compare(similarities, by).sum(axis) - n_own).tolist()
        for axis, by in ((1, partner[:, None]), (0, partner))
        for compare, n_own in ((np.greater, 0), (np.equal, 1))
    ]


@pytest.mark.parametrize("scale", [1, 1e-25], ids=["usual", "too-small-for-32-bits"])
@pytest.mark.parametrize("spread", [3, 4000], ids=["many-ties", "near-ties"])
def test_products_that_32_bits_cannot_tell_apart_are_told_apart(spread, scale):
    rng = np.random.default_rng(spread)
    # All rows nearly the same: whole numbers of at most 14 bits.
    z1, z2 = (
        (np.float32(scale) * (4000 + rng.integers(0, spread, (700, 40)))).astype(np.float32)
        for _ in "12"
    )

    places = places_of_partners(checked_pair(z1, z2, normalize=False, eps=0))

    if scale == 1:
        expected = exact_places(z1, z2)
        both = (places.forward, places.backward)
        assert [each.tolist() for one in both for each in (one.above, one.tied)] == expected
    assert places.forward.above.max() > 600


def test_short_rows_are_not_drowned_by_a_long_one():
    rng = np.random.default_rng(8)
    z1 = rng.integers(-40, 40, (300, 24)).astype(np.float32)
    z2 = rng.integers(-40, 40, (300, 24)).astype(np.float32)
    z2[7] *= 2**20

    places = places_of_partners(checked_pair(z1, z2, normalize=False, eps=0))

    both = (places.forward, places.backward)
    expected = exact_places(z1, z2)
    assert [each.tolist() for one in both for each in (one.above, one.tied)] == expected


def test_of_equal_rows_the_first_is_the_nearest_other():
    rng = np.random.default_rng(11)
    kinds = rng.standard_normal((150, 96)).astype(np.float32)
    of_row = rng.integers(0, len(kinds), 900)
    z2 = kinds[of_row]
    z1 = (z2 + 0.3 * rng.standard_normal(z2.shape)).astype(np.float32)
    rows = np.flatnonzero(np.bincount(of_row)[of_row] > 1)

    forward, _ = nearest_others(checked_pair(z1, z2, normalize=True, eps=1e-12), rows)

    alike = [np.flatnonzero((of_row == of_row[row]) & (np.arange(900) != row)) for row in rows]
    assert forward.tolist() == [others[0] for others in alike]


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, np.uint8, np.bool_])
def test_takes_real_numbers_of_any_kind(dtype):
    z = (np.random.default_rng(1).integers(0, 2, (9, 6)) + np.eye(9, 6)).astype(dtype)

    accuracy = contrastive_accuracy_score(z, z[::-1], normalize=False, topk=2)

    assert type(accuracy) is np.float64
    assert accuracy == pytest.approx(brute_force(z, z[::-1], normalize=False, topk=2))


def test_tile_size_does_not_change_the_result(monkeypatch):
    z1, z2 = made(300, 8, noise=2)
    whole = contrastive_report(z1, z2)

    monkeypatch.setattr(pairs, "TALLEST", 64)
    monkeypatch.setattr("benchwright.contrastive.counting.STRIP_BYTES", 64 * 8 * 4 * 2)
    monkeypatch.setattr("benchwright.matrices.cores._library", lambda: None)
    tiled = contrastive_report(z1, z2)

    assert tiled.overall == whole.overall


def test_sign_and_scale_of_both_matter_only_as_the_definition_says():
    z1, z2 = made(40, 6, noise=2)
    scales = np.random.default_rng(3).uniform(0.5, 2, (40, 1)).astype(np.float32)

    cosine = contrastive_accuracy_score(z1, z2)

    assert contrastive_accuracy_score(z1 * scales, z2) == cosine
    assert contrastive_accuracy_score(z2, z1) == cosine
    assert contrastive_accuracy_score(z1 * scales, z2 / scales, normalize=False) != cosine


def test_memory_is_that_of_some_tiles():
    z1, z2 = made(3000, 32)
    tracemalloc.start()

    contrastive_accuracy_score(z1, z2)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The matrix of similarities alone would be 36 MB.
    assert peak < 12 * 2**20


# --- ranks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("above", "tied"), [(0, 0), (0, 3), (2, 0), (1, 2), (4, 4)])
def test_expected_is_the_mean_over_all_orders_of_the_tied(above, tied):
    places = Places(np.array([above]), np.array([tied]))
    orders = list(permutations(range(tied + 1)))
    ranks_of_orders = [above + 1 + order.index(0) for order in orders]

    for k in range(1, above + tied + 3):
        share = np.mean([rank <= k for rank in ranks_of_orders])
        assert hits(places, k, "expected")[0] == pytest.approx(share, abs=1e-12)
    assert ranks(places, "expected")[0] == np.mean(ranks_of_orders)
    reciprocals = np.mean([1 / rank for rank in ranks_of_orders])
    assert reciprocal_ranks(places, "expected")[0] == pytest.approx(reciprocals, rel=1e-12)
    assert ranks(places, "optimistic")[0] == min(ranks_of_orders)
    assert ranks(places, "pessimistic")[0] == max(ranks_of_orders)


# --- refusals --------------------------------------------------------------------------------


def nan_in(row, value=np.nan):
    z = np.ones((700, 3), dtype=np.float32)
    z[row, 1] = value
    return z


REFUSED = {
    "topk before all": ({"z1": None, "z2": None, "topk": 0}, ValueError, "topk is 0"),
    "topk no number": ({"topk": np.nan}, ValueError, "topk is nan"),
    "lists": ({"z1": [[1.0]], "z2": [[1.0]]}, TypeError, "z1 is builtins.list"),
    "mixed": ({"z2": [[1.0]]}, TypeError, "z2 is builtins.list"),
    "complex": ({"z1": np.ones((2, 2)) * 1j}, TypeError, "complex128"),
    "texts": ({"z1": np.array([["a"]])}, TypeError, "<U1"),
    "masked": ({"z1": np.ma.ones((2, 2))}, TypeError, "MaskedArray"),
    "shapes": ({"z1": np.ones((3, 2))}, ValueError, r"shape \(3, 2\) and z2 \(2, 2\)"),
    "shapes before dimensions": ({"z1": np.ones(3)}, ValueError, r"shape \(3,\) and"),
    "one axis": ({"z1": np.ones(3), "z2": np.ones(3)}, ValueError, "two dimensions"),
    "no row": ({"z1": np.ones((0, 2)), "z2": np.ones((0, 2))}, ValueError, "no row"),
    "ties": ({"ties": "middle"}, ValueError, "'middle' is no tie rule"),
    "eps": ({"eps": -1}, ValueError, "eps is -1"),
    "nan": ({"z1": nan_in(640), "z2": nan_in(3)}, ValueError, "z1, row 640: column 1 is nan"),
    "inf": ({"z1": nan_in(5, 1), "z2": nan_in(3, np.inf)}, ValueError, "z2, row 3: .* inf"),
    "too long": (
        {"z1": np.full((2, 2), 1e30), "z2": np.full((2, 2), 1e10), "normalize": False},
        ValueError,
        "z1, row 0: its length is 1.41e[+]30",
    ),
}


@pytest.mark.parametrize(("given_", "kind", "words"), REFUSED.values(), ids=REFUSED)
def test_refuses_what_is_wrong_and_says_where(given_, kind, words):
    arguments = {"z1": np.ones((2, 2)), "z2": np.ones((2, 2))} | given_

    with pytest.raises(kind, match=words) as error:
        contrastive_accuracy_score(**arguments)

    assert error.value.code.startswith("contrastive-")


def test_rows_of_zeros_and_of_tiny_or_huge_numbers_are_no_nan():
    z1, z2 = made(6, 4, noise=0.1)
    z1[2], z2[2] = 0, 0
    scales = np.array([[1e-30], [1e30], [1], [1e15], [1e-15], [1]], dtype=np.float32)

    accuracy = contrastive_accuracy_score(z1 * scales, z2, eps=0)

    # Row 2 is as far from its partner as from all: one in six each way, at most.
    assert 5 / 6 <= accuracy <= 1


@pytest.mark.parametrize(("topk", "same"), [(2.9, 2), (10**6, 3), (np.int64(2), 2), (np.inf, 3)])
def test_topk_is_cut_to_a_whole_number_and_to_the_samples(topk, same):
    z1, z2 = made(3, 2, noise=5, seed=8)

    accuracy = contrastive_accuracy_score(z1, z2, topk=topk)

    assert accuracy == contrastive_accuracy_score(z1, z2, topk=same)


# --- tensors -------------------------------------------------------------------------------------


class FakeTensor:
    """What is asked of a torch tensor, on a pretended device."""

    def __init__(self, array, device="cuda:0", is_attached=True):
        self.array, self.device, self.is_attached = np.asarray(array), device, is_attached
        self.shape = self.array.shape

    def is_complex(self):
        return np.iscomplexobj(self.array)

    def detach(self):
        return FakeTensor(self.array, self.device, is_attached=False)

    def cpu(self):
        return FakeTensor(self.array, "cpu", self.is_attached)

    def float(self):
        return FakeTensor(self.array.astype(np.float32), self.device, self.is_attached)

    def numpy(self):
        assert (self.device, self.is_attached) == ("cpu", False)
        return self.array

    def new_tensor(self, value):
        return FakeTensor(np.asarray(value, dtype=self.array.dtype), self.device, is_attached=False)

    def __getitem__(self, rows):
        return FakeTensor(self.array[rows], self.device, self.is_attached)


FakeTensor.__name__ = FakeTensor.__qualname__ = "Tensor"
FakeTensor.__module__ = "torch"


class Parameter(FakeTensor):
    pass


def test_tensors_give_a_tensor_without_dimensions_on_their_device():
    z1, z2 = made(20, 5, noise=3, dtype=np.float64)

    accuracy = contrastive_accuracy_score(FakeTensor(z1), Parameter(z2))

    assert (accuracy.device, accuracy.shape, accuracy.array.dtype) == ("cuda:0", (), np.float32)
    assert float(accuracy.array) == pytest.approx(contrastive_accuracy_score(z1, z2), abs=1e-7)


def test_tensor_and_array_together_are_refused():
    z1, z2 = made(4, 2)

    with pytest.raises(TypeError, match=r"z2 is torch\.Tensor"):
        contrastive_accuracy_score(z1, FakeTensor(z2))


def test_torch_is_never_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # an import of it would fail
    z1, z2 = made(4, 2)

    assert isinstance(contrastive_accuracy_score(FakeTensor(z1), FakeTensor(z2)), FakeTensor)
    assert not isinstance(sys.modules.get("torch"), types.ModuleType)


# --- the report ----------------------------------------------------------------------------------


def test_one_report_holds_every_k_and_both_ways():
    z1, z2 = made(80, 6, noise=2)

    report = contrastive_report(z1, z2, ks=(1, 3, 200))

    for k in (1, 3, 200):
        of = report.overall
        assert of.accuracy[k].mean == pytest.approx(contrastive_accuracy_score(z1, z2, topk=k))
        both = (of.forward.accuracy[k] + of.backward.accuracy[k]) / 2
        assert of.accuracy[k].mean == pytest.approx(both)
        assert of.accuracy[k].low <= of.accuracy[k].mean <= of.accuracy[k].high
    ranks_found = report.places.forward.above + 1
    assert report.overall.forward.median_rank == np.median(ranks_found)
    assert report.overall.forward.mrr == pytest.approx(np.mean(1 / ranks_found))
    assert report.curve[1] == pytest.approx(
        (report.overall.forward.accuracy[1], report.overall.backward.accuracy[1])
    )
    assert list(report.curve)[-1] == 80


def test_slices_choose_queries_and_leave_all_candidates():
    z1 = np.array([[1, 0], [0, 1], [1, 1], [-1, 0]], dtype=np.float32)
    z2 = z1[[0, 1, 3, 2]]

    report = contrastive_report(
        z1,
        z2,
        ids=["a", "b", "c", "d"],
        slices={"right": ["b", "a", "z"], "none": ["y"]},
        has_intervals=False,
    )

    whole, (right, none) = report.overall, report.slices
    assert (whole.accuracy[1].mean, right.accuracy[1].mean, right.n) == (0.5, 1.0, 2)
    assert (none.n, np.isnan(none.accuracy[1].mean)) == (0, True)
    assert report.unknown == ("z", "y")


def test_rows_are_their_own_ids_where_none_are_given():
    z1, z2 = made(5, 3)

    report = contrastive_report(z1, z2, slices={"first": ["0", "1"]}, has_intervals=False)

    assert (report.slices[0].n, report.id_of(3)) == (2, "3")


def test_worst_pairs_name_the_nearest_other_row_each_way():
    z1 = np.eye(3, dtype=np.float32)
    # b's partner is nearest to c, and the other way round; a is right both ways.
    z2 = np.array([[1, 0, 0], [0, 0.2, 0.9], [0, 0.9, 0.3]], dtype=np.float32)

    report = contrastive_report(z1, z2, ids=["a", "b", "c"], has_intervals=False)

    rows = [
        (report.id_of(pair.row), pair.forward_rank, report.id_of(pair.forward_nearest))
        for pair in report.worst
    ]
    assert rows == [("b", 2.0, "c"), ("c", 2.0, "b")]


def test_nearest_other_row_is_never_the_partner_itself():
    # z2 of b lies between all: b finds its partner first, a and c find b's.
    z1 = np.array([[1, 0.2], [1, 1], [0.2, 1]], dtype=np.float32)
    z2 = np.array([[1, -1], [1, 1], [-1, 1]], dtype=np.float32)

    report = contrastive_report(z1, z2, has_intervals=False, n_worst=3)
    late = next(pair for pair in report.worst if pair.row == 0)

    similarities = (z1 @ z2.T) / np.outer(*(np.linalg.norm(z, axis=1) for z in (z1, z2)))
    np.fill_diagonal(similarities, -2)
    assert (late.forward_rank, late.forward_nearest) == (2.0, int(similarities[0].argmax()))
    assert (late.backward_rank, late.backward_nearest) == (1.0, int(similarities[:, 0].argmax()))


@pytest.mark.parametrize(
    ("ids", "words"),
    [(["a", "b"], "2 ids for 3 rows"), (["a", "b", "a"], "'a' is the id of rows 0 and 2")],
)
def test_ids_that_do_not_fit_are_refused(ids, words):
    z1, z2 = made(3, 2)

    with pytest.raises(ValueError, match=words):
        contrastive_report(z1, z2, ids=ids)


def test_progress_counts_every_tile_once(monkeypatch):
    monkeypatch.setattr(pairs, "TALLEST", 64)
    z1, z2 = made(200, 3)
    seen = []

    contrastive_report(
        z1, z2, has_intervals=False, progress=lambda done, total: seen.append((done, total))
    )

    assert seen[-1] == (16, 16)
    assert seen == sorted(seen)
