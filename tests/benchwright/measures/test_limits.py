"""What options may be set to, at the edge of each limit, and what gives up where it takes long."""

import pytest

from benchwright import evaluate_hits
from benchwright.errors import MeasureParameterError, ScoringError, TooManyOrdersError
from benchwright.measures import expected, parse_measure
from benchwright.measures.families import FAMILIES
from benchwright.measures.trec_names import relevance_string
from benchwright.reading import Hit, Judged, QueryHits, TieGroup


@pytest.mark.parametrize(
    "name",
    [
        *("P@1", "P@999999999", "AP(rel=1)", "ERR(max_rel=1)", "IPrec@0", "IPrec@1"),
        *("Rprec_mult@1e6", "Rprec_mult@0", "RBP(p=0.001)", "RBP(p=0.999)", "INSQ(T=0.001)"),
        *("SetF(beta=0)", "11pt_avg(at=[0,1])", "utility(weights=[0,-1,1,0.5])"),
        *("nDCG(gains={0:0})", "P( rel = 2 )@ 7 ", "SDCG(min_rel=-1)@3"),
    ],
)
def test_value_at_the_edge_is_taken(name):
    measure = parse_measure(name)

    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    "name",
    [
        *("P@0", "P@1000000000", "AP(rel=0)", "ERR(max_rel=0)", "IPrec@-0.001", "IPrec@1.001"),
        *("Rprec_mult@1000001", "Rprec_mult@-1", "RBP(p=0)", "RBP(p=1)", "INSQ(T=0)"),
        *("SetF(beta=-0.001)", "11pt_avg(at=[0,1.001])", "utility(weights=[0,-1,1])"),
        *("utility(weights=[0,-1,1,0,0])", "nDCG(gains={0:inf})", "nDCG(gains={x:1})"),
        *("P@1_0", "P@+1", "P@\u0661", "RBP(p=1_0e-2)", "RBP(p=)", "IPrec@x", "nDCG(gains={1:1}"),
    ],
)
def test_value_beyond_the_edge_is_refused(name):
    with pytest.raises(ScoringError):
        parse_measure(name)


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("nDCG(gains={1:1,2:3},dcg=exp-log2)", "gains", ((1, 1.0), (2, 3.0))),
        ("nDCG(dcg='exp-log2',gains={2:3,1:1},judged_only=true)", "gains", ((1, 1.0), (2, 3.0))),
        ("11pt_avg(rel=2,at=[0.5,1])", "at", (0.5, 1.0)),
        ("utility(weights=[1,-1,0,0],rel=2)", "weights", (1.0, -1.0, 0.0, 0.0)),
    ],
)
def test_commas_in_brackets_part_no_options(name, option, value):
    assert parse_measure(name).option(option) == value


def test_level_is_told_as_what_it_is():
    with pytest.raises(MeasureParameterError, match=r"expected a recall from 0 to 1"):
        parse_measure("IPrec@2")
    with pytest.raises(MeasureParameterError, match=r"expected a number\."):
        parse_measure("Rprec_mult@-2")


WITH_CUTOFF = [name for name, of in FAMILIES.items() if of.cutoff == "allowed"]


@pytest.mark.parametrize("name", sorted({*WITH_CUTOFF} - {"Judged", "Hole"}))
@pytest.mark.parametrize("cutoff", [1, 2, 3, 4])
def test_what_stands_below_the_cutoff_is_not_looked_at(name, cutoff):
    hits = (Hit(1, 1), Hit(2, 3), Hit(3, 0), Hit(4, 1), Hit(5, 2))
    grades = Judged((1, 0, 3, 1, 2))
    measure = parse_measure(f"{name}@{cutoff}")

    value = measure.value(QueryHits("q", hits, 5), grades, top_grade=3)

    assert value == measure.value(QueryHits("q", hits[:cutoff], cutoff), grades, top_grade=3)
    assert value != parse_measure(f"{name}@5").value(
        QueryHits("q", hits, 5), grades, top_grade=3
    ) or name in ("RR", "NERR10", "IDCG")


@pytest.mark.parametrize(
    ("grade", "letter"), [(-1, "."), (0, "0"), (1, "1"), (9, "9"), (10, ">"), (99, ">")]
)
def test_relevance_string_has_one_character_a_result(grade, letter):
    assert relevance_string((Hit(2, grade),), n_retrieved=3, length=3) == f"-{letter}-"


# --- what would take too long --------------------------------------------------------------


def of_tie(name, *, n, grades):
    query = QueryHits("q", tuple(Hit(k + 1, g) for k, g in enumerate(grades)), n, (TieGroup(1, n),))
    return evaluate_hits({"q": Judged(tuple(grades))}, {"q": query}, [name]).means[name]


@pytest.mark.parametrize(
    ("name", "limit", "n", "grades", "cost"),
    [
        # Ways to choose 2 of 5 places, and then of each kind 1 and 2 of 5.
        ("yaap", "MOST_ORDERS", 5, (1, 1), 10),
        ("ndcg_rel", "MOST_ORDERS", 5, (2, 1, 1), 30),
        # 6 results, 2 relevant, one that is not.
        ("infAP", "MOST_ORDERS", 6, (1, 1, 0), 6 * 2 * 2),
        # Precisions of 1/1 to 1/4 that are above 1/4, each by 4 results and 2 states.
        ("IPrec@0.0", "MOST_STEPS", 4, (1,), 3 * 4 * 2),
    ],
)
def test_query_is_refused_from_one_order_above_the_limit_on(
    monkeypatch, name, limit, n, grades, cost
):
    monkeypatch.setattr(expected, limit, cost)
    value = of_tie(name, n=n, grades=grades)

    monkeypatch.setattr(expected, limit, 10**6)
    assert of_tie(name, n=n, grades=grades) == value
    monkeypatch.setattr(expected, limit, cost - 1)
    with pytest.raises(TooManyOrdersError):
        of_tie(name, n=n, grades=grades)


def test_limits_are_those_of_the_documentation():
    assert (expected.MOST_ORDERS, expected.MOST_STEPS) == (20_000, 2_000_000)
