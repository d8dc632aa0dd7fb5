"""Click models against what is worked out another way: by hand, by enumeration, by simulation."""

import random
from itertools import product
from math import prod

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from benchwright.clicks import models
from benchwright.clicks.errors import CutsError
from benchwright.clicks.grading import Grading, grade_pages, grades, read_cuts
from benchwright.clicks.models import Value, fitted, garwood, posterior
from benchwright.clicks.pages import Page
from benchwright.recipes.clicks import Model
from benchwright.statistics.descriptive import wilson

DOCS = ("a", "b", "c")
PAGES = [
    *(Page("q", DOCS, clicked) for clicked in [(1,), (1, 3), (2,), (), (3,), (1,), (2, 3)]),
    *(Page("q", DOCS[::-1], clicked) for clicked in [(1,), (3,), (2, 3), ()]),
    Page("other", ("a",), (1,)),
]


def test_expected_clicks_are_those_of_the_places():
    """Worked out from the rows, place by place."""
    through = [
        sum(p in page.clicked for page in PAGES) / sum(len(page.docs) >= p for page in PAGES)
        for p in (1, 2, 3)
    ]

    model = fitted(PAGES)

    assert model.priors == pytest.approx(through, abs=1e-15)
    assert model.n_pages == len(PAGES)
    for doc in DOCS:
        places = [page.docs.index(doc) for page in PAGES if page.query == "q"]
        clicks = sum(
            doc in (page.docs[p - 1] for p in page.clicked) for page in PAGES if page.query == "q"
        )
        value = model.values["q", doc]
        expected = sum(through[place] for place in places)
        assert value.value == pytest.approx(clicks / expected, abs=1e-12)
        assert (value.n, value.clicks) == (11, clicks)
        assert (value.low * expected, value.high * expected) == pytest.approx(garwood(clicks))


@pytest.mark.parametrize("n", [0, 1, 7, 250])
def test_interval_of_a_count_is_that_of_the_chi_squared(n):
    low = stats.chi2.ppf(0.025, 2 * n) / 2 if n else 0.0

    assert garwood(n) == pytest.approx((low, stats.chi2.ppf(0.975, 2 * n + 2) / 2), rel=1e-9)


@pytest.mark.parametrize(("n", "of"), [(0, 4), (1, 1), (2, 6), (3, 7.5), (250, 400)])
def test_interval_of_a_share_is_wilsons(n, of):
    expected = proportion_confint(n, of, alpha=0.025, method="wilson")

    assert models.share_interval(n, of) == pytest.approx(expected, abs=1e-12)
    assert models.share_interval(0, 0) == (0.0, 1.0)


def test_log_without_a_page_fits_nothing():
    model = fitted([])

    assert (model.values, model.priors) == ({}, ())


def test_network_ends_after_so_many_rounds(monkeypatch):
    monkeypatch.setattr(models, "MOST_ROUNDS", 3)

    assert fitted(PAGES, Model.DBN).n_rounds == 3


def test_cascade_counts_looks_down_to_the_first_click():
    model = fitted(PAGES, Model.CASCADE)
    value = model.values["q", "c"]

    # Looked at last: pages 4 and 5, clicked on 5; looked at first: four pages, clicked on one.
    assert value == Value(2 / 6, *wilson(2, 6), 6, 2)
    assert model.n_pages == len(PAGES)


def test_simplified_network_is_last_clicks_over_looks():
    model = fitted(PAGES, Model.SDBN)
    value = model.values["q", "a"]

    # Looked at on all 7 pages where it stands first, and where it stands last on three of four.
    looks, clicks, lasts = 7 + 3, 3 + 2, 2 + 2
    assert (value.value, value.n, value.clicks) == (lasts / looks, looks, clicks)
    assert model.n_pages == len(PAGES)
    assert value.low < value.value < value.high


def seen(chances, events):
    """The probability that just these of some events happened."""
    return prod(p if happened else 1 - p for p, happened in zip(chances, events, strict=True))


def enumerated(a, s, gamma, clicked):
    """What is believed of each position, by going through every history that gives these clicks."""
    n = len(a)
    total, sums = 0.0, [[0.0] * 5 for _ in range(n)]
    for attracts, satisfies, goes in product(product((False, True), repeat=n), repeat=3):
        looks, is_looking = [], True
        for i in range(n):
            looks.append(is_looking)
            satisfied = is_looking and attracts[i] and satisfies[i]
            is_looking = is_looking and not satisfied and goes[i]
        clicks = {i + 1 for i in range(n) if looks[i] and attracts[i]}
        if clicks != clicked:
            continue
        chance = seen(a, attracts) * seen(s, satisfies) * seen([gamma] * n, goes)
        total += chance
        for i in range(n):
            is_clicked = i + 1 in clicks
            could = looks[i] and not (is_clicked and satisfies[i]) and i + 1 < n
            happened = (
                looks[i],
                attracts[i],
                is_clicked and satisfies[i],
                could,
                could and goes[i],
            )
            sums[i] = [at + chance * yes for at, yes in zip(sums[i], happened, strict=True)]
    return [[at / total for at in row] for row in sums]


@pytest.mark.parametrize("clicked", [set(), {1}, {2}, {3}, {1, 3}, {1, 2, 3}])
def test_beliefs_of_the_network_are_those_of_all_histories(clicked):
    a, s, gamma = [0.3, 0.6, 0.9], [0.2, 0.7, 0.4], 0.8

    beliefs = posterior(a, s, gamma, clicked)

    results = [
        [belief.looked, belief.attracted, belief.satisfied, belief.could_go_on, belief.went_on]
        for belief in beliefs
    ]
    for row, expected in zip(results, enumerated(a, s, gamma, clicked), strict=True):
        assert row == pytest.approx(expected, abs=1e-12)


def browsed(rng, docs, a, s, gamma):
    clicked = []
    for position, doc in enumerate(docs, start=1):
        if rng.random() < a[doc]:
            clicked.append(position)
            if rng.random() < s[doc]:
                break
        if rng.random() >= gamma:
            break
    return tuple(clicked)


def test_network_finds_what_people_were_made_to_do(monkeypatch):
    monkeypatch.setattr(models, "MOST_ROUNDS", 40)
    a = {"a": 0.7, "b": 0.5, "c": 0.3, "d": 0.1}
    s = {"a": 0.8, "b": 0.4, "c": 0.6, "d": 0.5}
    rng = random.Random(5)
    pages = []
    for _ in range(4_000):
        docs = tuple(rng.sample(sorted(a), 4))
        pages.append(Page("q", docs, browsed(rng, docs, a, s, 0.85)))

    model = fitted(pages, Model.DBN)
    simplified = fitted(pages, Model.SDBN)

    assert model.continuing == pytest.approx(0.85, abs=0.03)
    for doc in a:
        value = model.values["q", doc]
        assert value.value == pytest.approx(a[doc] * s[doc], abs=0.04)
        assert value.low <= a[doc] * s[doc] <= value.high
    # Who counts a last click as satisfied is further off.
    errors = [
        sum(abs(one.values["q", doc].value - a[doc] * s[doc]) for doc in a)
        for one in (model, simplified)
    ]
    assert errors[0] < errors[1] / 2


def test_intervals_of_expected_clicks_and_of_looks_cover():
    """Of 120 logs; the simplified network's is of what it counts, as a long log has it."""
    a, s = {"a": 0.6, "b": 0.3, "c": 0.2}, {"a": 0.5, "b": 0.7, "c": 0.4}
    rng = random.Random(1)
    long = fitted(
        (Page("q", DOCS, browsed(rng, DOCS, a, s, 1.0)) for _ in range(12_000)), Model.SDBN
    )
    held = dict.fromkeys((Model.SDBN, Model.CASCADE), 0)
    n_values = 0
    for seed in range(120):
        rng = random.Random(seed)
        pages = [Page("q", DOCS, browsed(rng, DOCS, a, s, 1.0)) for _ in range(80)]
        for model in held:
            values = fitted(pages, model).values
            for doc in DOCS:
                truth = long.values["q", doc].value if model == Model.SDBN else a[doc]
                held[model] += values["q", doc].low <= truth <= values["q", doc].high
        n_values += 3

    assert held[Model.CASCADE] / n_values > 0.93
    assert held[Model.SDBN] / n_values > 0.95


# --- grades --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "cuts"), [(Model.COEC, (0.5, 1.0, 2.0)), (Model.DBN, (0.1, 0.3, 0.6))]
)
def test_cuts_are_those_that_are_documented_unless_others_are_given(model, cuts):
    assert Grading(model).thresholds == cuts
    assert Grading(model, cuts=(0.2,)).thresholds == (0.2,)


def test_grade_is_how_many_cuts_the_value_reaches_and_little_evidence_has_none():
    model = fitted([Page("q", DOCS, (1,))] * 30 + [Page("q", (*DOCS, "d"), (1, 4))] * 5)

    graded = {grade.doc: grade for grade in grades(model, least=10, cuts=(0.5, 1.0, 2.0))}

    assert set(graded) == set("a"), (
        "b and c are where nobody ever clicks: nothing is expected there"
    )
    assert (graded["a"].grade, graded["a"].is_sure) == (2, False)
    # Shown 35 times; the upper end of its interval alone has another grade.
    highest = (model.values["q", "a"].high,)
    assert [grade.is_sure for grade in grades(model, least=35, cuts=highest)] == [False]
    assert not list(grades(model, least=36, cuts=highest))


def test_a_page_without_a_query_is_none_of_those_graded():
    graded = grade_pages([Page("", ("d",), (1,))] * 12, Grading())

    assert (graded.n_other, graded.grades) == (12, [])


@pytest.mark.parametrize("text", ["", "1,1", "2,1", "0,1", "-1", "x", "1,inf", "nan", "1,,2"])
def test_cuts_that_do_not_rise_are_refused(text):
    with pytest.raises(CutsError, match="expected numbers above 0 that rise"):
        read_cuts(text)
