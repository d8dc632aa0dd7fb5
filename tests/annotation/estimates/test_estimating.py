"""Estimates of a pool, worked out a second time from what is written in the documentation."""

import math
import sys
from uuid import uuid4

import pytest
from scipy import stats

from annotation.estimates.errors import OtherStrategyError, RunOutsideError
from annotation.estimates.services import estimates_of
from annotation.judging.services.judging import record_cant_judge
from annotation.judging.services.tokens import Shown
from annotation.models import PoolEntry, Slot
from annotation.pools.services.planning import Sharing
from annotation.pools.services.pooling import pool_arguments
from benchmarks_app.models import QrelSet, Query, QueryFamily, Run
from benchwright.estimation.errors import BudgetError
from benchwright.pools import Recipe
from benchwright.pools.errors import PoolRecipeError
from tests import factories
from tests.annotation.estimates import making
from tests.annotation.estimates.making import DEPTH, QIDS, grade_of, ranked, share
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(benchmark):
    making.queries(benchmark)
    return making.runs(benchmark)


@pytest.fixture
def drawn(benchmark, owner, runs):
    return making.estimation_pool(benchmark, owner, runs)


# --- a second computation ------------------------------------------------------------------------


def discount(rank, measure):
    return 1 / DEPTH if measure == "P" else 1 / math.log2(rank + 1)


def counts(name, measure):
    """{query and document: what it counts in a run}."""
    if name == "":
        return {}
    return {
        (qid, docid): discount(rank, measure)
        for qid in making.ANSWERED
        for rank, docid in enumerate(ranked(qid, name)[:DEPTH], start=1)
    }


def chances(measure, budget):
    """{query and document: its probability}: the documents' amounts, stretched to the budget."""
    good, other = counts("good", measure), counts("other", measure)
    amounts = {pair: good.get(pair, 0) + other.get(pair, 0) for pair in good | other}
    low, high = 0.0, 100.0
    for _ in range(100):
        c = (low + high) / 2
        total = sum(min(1, max(0.02, c * a)) for a in amounts.values())
        low, high = (c, high) if total < budget else (low, c)
    return {pair: min(1, max(0.02, high * a)) for pair, a in amounts.items()}


def by_hand(benchmark, measure, less="", name="good", budget=60, machine=None):
    """The mean, and the ends of its interval, over all queries."""
    pi = chances(measure, budget)
    is_drawn = {pair: share(7, "estimate documents", *pair) < pi[pair] for pair in pi}
    family = {row.qid: str(row.family_id) for row in Query.objects.filter(benchmark=benchmark)}
    half = {qid: share(7, "halves", of) < 0.5 for qid, of in family.items()}
    own, others = counts(name, measure), counts(less, measure)

    def gain(pair):
        return float(grade_of(*pair) > 0) if measure == "P" else grade_of(*pair)

    def guess(pair):
        known = [other for other in pi if is_drawn[other] and half[other[0]] != half[pair[0]]]
        mean = sum(gain(other) / pi[other] for other in known) / sum(
            1 / pi[other] for other in known
        )
        if machine is None:
            return mean
        alike = [other for other in known if machine[other] == machine[pair]]
        if not alike:
            return mean
        there = sum(gain(other) / pi[other] for other in alike) / sum(
            1 / pi[other] for other in alike
        )
        return (len(alike) * there + 3 * mean) / (len(alike) + 3)

    values = dict.fromkeys(QIDS, 0.0)
    for pair in pi:
        a = own.get(pair, 0) - others.get(pair, 0)
        g = guess(pair)
        values[pair[0]] += a * (g + ((gain(pair) - g) / pi[pair] if is_drawn[pair] else 0))
    n, mean = len(QIDS), sum(values.values()) / len(QIDS)
    sums = {}
    for qid in QIDS:
        sums[family[qid]] = sums.get(family[qid], 0) + values[qid] - mean
    n_families = len(sums)
    error = math.sqrt(n_families / (n_families - 1) * sum(z * z for z in sums.values())) / n
    reach = stats.t.ppf(0.975, n_families - 1) * error
    most = 1 if measure == "P" else math.inf
    least = -most if less else 0
    return tuple(min(max(end, least), most) for end in (mean, mean - reach, mean + reach))


def numbers(of):
    return of.value, of.low, of.high


# --- tests ---------------------------------------------------------------------------------------


def test_entries_are_the_drawn_documents_with_their_probabilities(drawn, runs):
    pi = chances("DCG", 60)
    rows = PoolEntry.objects.filter(pool=drawn)
    stored = {(row.query.qid, row.document.docid): row.inclusion_probability for row in rows}

    expected = {pair for pair, p in pi.items() if share(7, "estimate documents", *pair) < p}
    assert stored.keys() == expected
    assert stored == pytest.approx({pair: pi[pair] for pair in expected})
    population = drawn.parameters["population"]
    assert (population["n_documents"], population["n_queries"]) == (len(pi), 26)
    assert drawn.n_entries == drawn.n_wanted == len(expected)
    # They are no ground to say that the runs were pooled.
    assert set(Run.objects.values_list("pooled_depth", flat=True)) == {0}


@pytest.mark.parametrize("measure", ["P", "DCG"])
def test_means_and_differences_are_those_of_a_second_computation(
    benchmark, owner, ada, runs, measure
):
    drawn = making.estimation_pool(benchmark, owner, runs, measure=measure.lower())
    making.labelled(drawn, ada)

    estimates = estimates_of(drawn, owner)

    assert (estimates.error, estimates.measure, estimates.reference) == (
        None,
        f"{measure}@5",
        "good",
    )
    rows = {row.run: row for row in estimates.rows}
    for name in ("good", "other"):
        expected = by_hand(benchmark, measure, name=name)
        assert numbers(rows[name].mean) == pytest.approx(expected)
    expected = by_hand(benchmark, measure, name="other", less="good")
    assert numbers(rows["other"].difference) == pytest.approx(expected)
    assert rows["good"].difference is None
    assert (estimates.n_families, estimates.n_queries) == (25, 26)


def test_interval_holds_what_all_grades_come_to(benchmark, owner, ada, runs):
    drawn = making.estimation_pool(benchmark, owner, runs, labels=120)
    making.labelled(drawn, ada)

    (good, other) = estimates_of(drawn, owner).rows

    for row in (good, other):
        pairs = counts(row.run, "DCG").items()
        truth = sum(a * grade_of(*pair) for pair, a in pairs) / len(QIDS)
        assert row.mean.low < truth < row.mean.high
    assert other.difference.high < 0
    assert "good has an estimated DCG@5 of" in estimates_of(drawn, owner).sentence
    assert estimates_of(drawn, owner).sentence.endswith("ahead of other.")


def test_a_machine_that_graded_all_documents_is_the_guess(benchmark, owner, ada, drawn):
    making.labelled(drawn, ada)
    machine = {pair: min(3, grade_of(*pair) + (len(pair[1]) % 2)) for pair in chances("DCG", 60)}
    qrels = factories.qrel_set(benchmark, machine, name="a machine")
    QrelSet.objects.filter(pk=qrels.pk).update(kind="machine")

    estimates = estimates_of(drawn, owner)

    assert estimates.guess == "a machine"
    expected = by_hand(benchmark, "DCG", machine=machine)
    assert numbers(estimates.rows[0].mean) == pytest.approx(expected)


def test_a_machine_that_graded_drawn_documents_alone_does_not_serve(benchmark, owner, ada, drawn):
    making.labelled(drawn, ada)
    rows = PoolEntry.objects.filter(pool=drawn).values_list("query__qid", "document__docid")
    qrels = factories.qrel_set(benchmark, dict.fromkeys(rows, 1), name="of the drawn")
    QrelSet.objects.filter(pk=qrels.pk).update(kind="machine")

    estimates = estimates_of(drawn, owner)

    assert (estimates.guess, estimates.incomplete, estimates.n_guessed) == (
        "",
        "of the drawn",
        len(rows),
    )
    assert numbers(estimates.rows[0].mean) == pytest.approx(by_hand(benchmark, "DCG"))


def test_differences_to_a_chosen_run(benchmark, owner, ada, runs):
    drawn = making.estimation_pool(benchmark, owner, runs, labels=120)
    making.labelled(drawn, ada)

    estimates = estimates_of(drawn, owner, against="other")

    expected = by_hand(benchmark, "DCG", less="other", budget=120)
    assert numbers(estimates.rows[0].difference) == pytest.approx(expected)
    assert estimates.sentence.endswith("behind good.")
    with pytest.raises(RunOutsideError, match="'third' is not a run of to estimate"):
        estimates_of(drawn, owner, against="third")


def test_nothing_is_estimated_before_every_drawn_document_has_its_grade(owner, ada, drawn):
    making.labelled(drawn, ada, but=3)

    estimates = estimates_of(drawn, owner)

    assert (estimates.rows, estimates.n_lacking) == ((), 3)
    assert f"3 of {drawn.n_entries} drawn documents have no grade yet" in estimates.refusal


def test_a_document_that_nobody_could_judge_counts_as_boards_count_it(
    benchmark, owner, ada, drawn, monkeypatch
):
    making.labelled(drawn, ada, but=1)
    slot = (
        drawn.slots.exclude(state="done").select_related("pool", "query", "entry__document").get()
    )
    record_cant_judge(slot=slot, actor=ada, reason="blank", client_id=uuid4(), display=Shown())

    estimates = estimates_of(drawn, owner)

    assert (estimates.error, estimates.n_cant_judge, estimates.n_lacking) == (None, 1, 0)
    pair = slot.query.qid, slot.entry.document.docid
    monkeypatch.setattr(
        sys.modules[__name__], "grade_of", lambda *one: 0 if one == pair else making.grade_of(*one)
    )
    assert numbers(estimates.rows[0].mean) == pytest.approx(by_hand(benchmark, "DCG"))


def test_labels_from_before_the_draw_are_used_again(benchmark, owner, ada, runs):
    earlier = pool(benchmark, {"q0": [ranked("q0", "good")[0]]})
    judge(earlier.slots.select_related("pool", "query", "entry__document").get(), ada, 2)

    drawn = making.estimation_pool(benchmark, owner, runs, labels=1000, carry=True)

    assert drawn.n_wanted == drawn.n_entries - 1


def test_what_came_into_the_pool_since_is_no_part_of_the_estimate(benchmark, owner, ada, drawn):
    making.labelled(drawn, ada)
    before = estimates_of(drawn, owner).rows
    document = PoolEntry.objects.filter(pool=drawn).first().document
    query = Query.objects.get(benchmark=benchmark, qid="q25")
    facts = {"origin": "manual", "priority": 999}
    PoolEntry.objects.create(pool=drawn, query=query, document=document, **facts)

    assert estimates_of(drawn, owner).rows == before


def test_queries_that_came_later_change_nothing_and_removed_ones_are_told(
    benchmark, owner, ada, drawn
):
    making.labelled(drawn, ada)
    before = estimates_of(drawn, owner).rows
    factories.query(benchmark, "q-new")
    assert estimates_of(drawn, owner).rows == before

    Query.objects.get(benchmark=benchmark, qid="q25").delete()
    assert "Queries were removed or came in" in estimates_of(drawn, owner).refusal


def test_families_as_they_are_now_are_those_of_the_interval(benchmark, owner, ada, drawn):
    making.labelled(drawn, ada)
    before = estimates_of(drawn, owner)
    family = QueryFamily.objects.get(queries__qid="q5")
    Query.objects.filter(qid="q6").update(family=family)

    after = estimates_of(drawn, owner)

    assert (before.n_families, after.n_families) == (25, 24)
    assert numbers(after.rows[0].mean) == pytest.approx(by_hand(benchmark, "DCG"))


def test_pools_of_other_strategies_have_none(benchmark, owner):
    with pytest.raises(OtherStrategyError, match="were not drawn to estimate runs"):
        estimates_of(pool(benchmark, {"q": ["d"]}), owner)


def test_two_people_who_disagree_count_by_the_benchmarks_rule(benchmark, owner, ada, runs):
    bea = factories.member(benchmark, "bea", "annotator")
    drawn = making.estimation_pool(benchmark, owner, runs, sharing=Sharing(overlap=2))
    slots = drawn.slots.select_related("pool", "query", "entry__document").order_by("pk")
    for slot in slots:
        grade = grade_of(slot.query.qid, slot.entry.document.docid)
        # Of two near grades the lower counts: that which the second computation knows.
        judge(slot, ada if slot.number == 1 else bea, min(3, grade + slot.number - 1))

    estimates = estimates_of(drawn, owner)

    assert numbers(estimates.rows[0].mean) == pytest.approx(by_hand(benchmark, "DCG"))


# --- what is refused -----------------------------------------------------------------------------


def test_a_budget_below_a_fiftieth_is_refused(benchmark, owner, runs):
    n = len(chances("DCG", 60))
    least = math.ceil(0.02 * n)
    with pytest.raises(
        BudgetError, match=f"{least - 1} labels for {n} documents; expected at least"
    ):
        making_refused(benchmark, owner, runs, labels=least - 1)


def making_refused(benchmark, owner, runs, **recipe):
    from annotation.pools.services.planning import plan_of, planned_pool

    asked = {"measure": "dcg", "labels": 60, "depth": DEPTH, "strategy": "estimate", **recipe}
    arguments = pool_arguments(benchmark=benchmark, name="x", runs=runs, recipe=Recipe(**asked))
    planned_pool(benchmark, plan_of(arguments["parameters"]))


def test_fewer_than_twenty_families_are_refused_before_anybody_labels(benchmark, owner, runs):
    family = QueryFamily.objects.get(queries__qid="q5")
    Query.objects.filter(qid__in=QIDS[6:13]).update(family=family)

    with pytest.raises(PoolRecipeError, match="of 18 families; expected 20 or more"):
        making_refused(benchmark, owner, runs)


@pytest.mark.parametrize(
    ("recipe", "manual", "message"),
    [
        ({"labels": None}, (), "An estimate has no budget"),
        ({"control_share": 0.1}, (), "Random documents do not go with an estimate"),
        ({"strategy": "depth-k"}, (), "Labels in all do not go with depth-k"),
        ({}, (("q1", "d"),), "Documents added by hand do not go with an estimate"),
    ],
)
def test_parts_that_do_not_fit_are_refused(benchmark, runs, recipe, manual, message):
    asked = {"labels": 60, "depth": DEPTH, "strategy": "estimate", **recipe}

    with pytest.raises(PoolRecipeError, match=message):
        pool_arguments(
            benchmark=benchmark, name="x", runs=runs, recipe=Recipe(**asked), manual=manual
        )


@pytest.mark.parametrize("measure", ["p", "dcg"])
def test_estimate_is_no_value_that_the_measure_cannot_have(benchmark, owner, ada, runs, measure):
    pool = making.estimation_pool(benchmark, owner, runs, measure=measure)
    first, *others = Slot.objects.filter(pool=pool).select_related("pool").order_by("pk")
    judge(first, ada, 3)
    for slot in others:
        judge(slot, ada, 0)

    rows = estimates_of(pool, owner).rows

    assert min(row.mean.low for row in rows) == 0
    assert all(0 <= row.mean.low <= row.mean.value <= row.mean.high for row in rows)
