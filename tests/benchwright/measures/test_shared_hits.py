"""Shared hits: no measure tells them from others, and what they remember is theirs alone."""

from math import isnan, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.measures.families import FAMILIES, Measure
from benchwright.measures.gain import discounted_gain, ideal_gain
from benchwright.measures.shared_hits import FEW, SharedHits, n_judged, ranks_from, shared
from benchwright.reading.hits import Hit

MEASURES = [
    *(Measure(name) for name, family in FAMILIES.items() if family.cutoff != "needed"),
    *(
        Measure(name, cutoff)
        for name, family in FAMILIES.items()
        if family.cutoff != "none" and family.cutoff_as == "cutoff"
        for cutoff in (1, 10, 400, 2000)
    ),
    *(Measure(name, 0.5) for name in ("IPrec", "Rprec_mult")),
    *(Measure(name, None, (("rel", 2),)) for name in ("AP", "RR", "bpref", "SetP")),
]


@st.composite
def many_hits(draw: st.DrawFn) -> tuple[Hit, ...]:
    """More than are gone through again, to below the last discount that is kept."""
    ranks = draw(st.sets(st.integers(1, 1100), min_size=FEW + 1, max_size=60))
    lowest = draw(st.sampled_from((-1, 0, 1)))
    return tuple(Hit(rank, draw(st.integers(lowest, 3))) for rank in sorted(ranks))


@given(hits=many_hits(), measures=st.permutations(MEASURES))
def test_measures_have_the_same_values_of_shared_hits_in_any_order(
    hits: tuple[Hit, ...], measures: list[Measure]
) -> None:
    once = shared(hits)
    given_by_name = {
        "n_retrieved": 1200,
        "n_relevant": sum(hit.grade >= 1 for hit in hits) + 2,
        "n_nonrelevant": sum(hit.grade == 0 for hit in hits) + 2,
        "ideal": sorted((3, 1, *(hit.grade for hit in hits if hit.grade > 0)), reverse=True),
        "top_of_query": 3,
    }

    for measure in measures:
        needs = FAMILIES[measure.family].needs
        function = measure.bound(top_grade=3)
        of_shared, of_others = (
            function(
                *({"hits": taken, "judged_hits": taken, **given_by_name}[need] for need in needs)
            )
            for taken in (once, hits)
        )
        assert of_shared == of_others or (isnan(of_shared) and isnan(of_others)), measure


@given(many_hits())
def test_what_is_remembered_is_what_is_counted(hits: tuple[Hit, ...]) -> None:
    once = shared(hits)

    for lowest in (1, 0, 2, -1, 1):
        assert list(ranks_from(once, lowest)) == [hit.rank for hit in hits if hit.grade >= lowest]
    assert n_judged(once) == sum(hit.grade >= 0 for hit in hits)


@pytest.mark.parametrize(("n_hits", "is_remembering"), [(0, False), (FEW, False), (FEW + 1, True)])
def test_only_many_hits_remember(n_hits: int, is_remembering: bool) -> None:
    hits = tuple(Hit(rank, 1) for rank in range(1, n_hits + 1))

    assert isinstance(shared(hits), SharedHits) == is_remembering
    assert shared(hits) == hits


@pytest.mark.parametrize("last", [1023, 1024, 1025, 1026])
def test_dcg_of_shared_hits_goes_on_beyond_the_discounts_that_are_kept(last: int) -> None:
    hits = tuple(Hit(rank, 1) for rank in (*range(1, FEW + 2), last))

    result = discounted_gain(shared(hits))

    assert result == sum(1 / log2(hit.rank + 1) for hit in hits)


@pytest.mark.parametrize("n", [1023, 1024, 1025, 1026])
def test_ideal_gain_counts_every_grade_beyond_the_discounts_that_are_kept(n: int) -> None:
    assert ideal_gain([1] * n) == pytest.approx(sum(1 / log2(rank + 1) for rank in range(1, n + 1)))
