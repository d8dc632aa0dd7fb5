"""Families into splits: whole, of the sizes asked for, evenly, and the same every time."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import Problems
from benchwright.recipes.splits import Mode, Straddling
from benchwright.splits import (
    Assignment,
    SplitDescription,
    SplitQuery,
    SplitRecipe,
    assignment_sha256,
    described,
    inputs_sha256,
    parse_shares,
    read_given,
    split_queries,
    strata_sha256,
)
from benchwright.splits.assigning import _nearest
from benchwright.splits.describing import SliceRow, small_slices
from benchwright.splits.errors import (
    CutMissingError,
    CutOrderError,
    CutOutsideError,
    EmptyPeriodError,
    EmptySplitError,
    MissingDatesError,
    NothingToSplitError,
    SharesError,
    SliceEverywhereError,
    SplittingError,
    UnknownSliceError,
)
from tests.examples import examples

START = datetime(2024, 1, 1, tzinfo=UTC)
SLICES = ("head", "tail", "exact", "long")


def day(n: float) -> datetime:
    return START + timedelta(days=n)


def asked(qid: str, family: str = "", *, on: float | None = None, **values: object) -> SplitQuery:
    moment = None if on is None else day(on)
    return SplitQuery(qid, family or qid, first_seen=moment, **values)


@st.composite
def collections(draw):
    """Families of any sizes, with any slices, numbers of relevant documents and dates."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=3, max_size=25))
    return [
        SplitQuery(
            qid=f"q{family}-{n}",
            family=f"f{family}",
            slices=tuple(draw(st.sets(st.sampled_from(SLICES)))),
            n_relevant=draw(st.integers(0, 5)),
            first_seen=day(draw(st.integers(0, 60))),
        )
        for family, size in enumerate(sizes)
        for n in range(size)
    ]


@st.composite
def shares(draw):
    parts = draw(st.lists(st.integers(1, 20), min_size=2, max_size=3))
    names = ("train", "test") if len(parts) == 2 else ("train", "dev", "test")
    return {name: part / sum(parts) for name, part in zip(names, parts, strict=True)}


def made(queries, recipe):
    """The split, or None where these queries cannot be split so: that is refused, not done."""
    try:
        return split_queries(queries, recipe)
    except SplittingError:
        return None


def sides(queries, assignment):
    results: dict[str, set[str]] = {}
    for query in queries:
        if query.qid in assignment.splits:
            results.setdefault(query.family, set()).add(assignment.splits[query.qid])
    return results


MODES = st.sampled_from([Mode.STRATIFIED, Mode.RANDOM, Mode.CHRONOLOGICAL, Mode.LEAVE_SLICE_OUT])


@settings(max_examples=examples(60), deadline=None)
@given(collections(), shares(), MODES, st.integers(0, 99), st.sampled_from(Straddling))
def test_no_family_is_on_two_sides(queries, wanted, mode, seed, straddling):
    recipe = SplitRecipe(mode, wanted, seed, slice_name="head", straddling=straddling, gap_days=3)
    assignment = made(queries, recipe)

    if assignment:
        assert all(len(side) == 1 for side in sides(queries, assignment).values())
        assert all(
            assignment.families[query.family] == assignment.splits[query.qid]
            for query in queries
            if query.qid in assignment.splits
        )
        assert set(assignment.splits) | set(assignment.excluded) == {q.qid for q in queries}
        assert not set(assignment.splits) & set(assignment.excluded)


@settings(max_examples=examples(80), deadline=None)
@given(collections(), shares(), st.sampled_from([Mode.STRATIFIED, Mode.RANDOM]), st.integers(0, 99))
def test_sizes_are_within_the_largest_family_of_what_was_asked_for(queries, wanted, mode, seed):
    assignment = made(queries, SplitRecipe(mode, wanted, seed))

    if assignment:
        largest = max(Counter(query.family for query in queries).values())
        for split, share in wanted.items():
            assert abs(assignment.sizes[split] - share * len(queries)) <= largest + 1e-6


@settings(max_examples=30, deadline=None)
@given(collections(), shares(), MODES, st.integers(0, 99), st.randoms(use_true_random=False))
def test_same_seed_gives_the_same_split_in_whatever_order_queries_come(
    queries, wanted, mode, seed, shuffler
):
    recipe = SplitRecipe(mode, wanted, seed, slice_name="head")
    first = made(queries, recipe)
    renamed = [
        SplitQuery(q.qid, f"other-{q.family}", q.slices, q.n_relevant, q.first_seen)
        for q in queries
    ]
    shuffler.shuffle(renamed)
    second = made(renamed, recipe)

    assert (first is None) == (second is None)
    if first and second:
        assert assignment_sha256(first.splits) == assignment_sha256(second.splits)
        assert first.excluded == second.excluded
    assert inputs_sha256(queries) == inputs_sha256(renamed)


@settings(max_examples=examples(60), deadline=None)
@given(
    collections(),
    st.integers(1, 40),
    st.integers(1, 20),
    st.integers(0, 10),
    st.sampled_from(Straddling),
)
def test_chronological_order_is_respected(queries, dev, length, gap, straddling):
    recipe = SplitRecipe(
        Mode.CHRONOLOGICAL,
        dev_from=day(dev),
        test_from=day(dev + length),
        gap_days=gap,
        straddling=straddling,
    )
    assignment = made(queries, recipe)

    if assignment:
        moments = {query.qid: query.first_seen for query in queries}
        spans = {"train": (0, dev), "dev": (dev + gap, dev + length)}
        spans["test"] = (dev + length + gap, 1000)
        for qid, split in assignment.splits.items():
            assert day(spans[split][0]) <= moments[qid] < day(spans[split][1])


@settings(max_examples=15, deadline=None)
@given(collections(), shares(), st.integers(0, 5))
def test_stratified_is_never_less_even_than_where_its_greedy_part_began(queries, wanted, seed):
    """The exchanges may only better what they began with."""
    from benchwright.splits import balancing

    def unevenness(most: int) -> float | None:
        before, balancing.MOST_IMPROVEMENTS = balancing.MOST_IMPROVEMENTS, most
        try:
            assignment = made(queries, SplitRecipe(shares=wanted, seed=seed))
        finally:
            balancing.MOST_IMPROVEMENTS = before
        return assignment and chi_square(queries, assignment, wanted)

    greedy, better = unevenness(0), unevenness(2000)

    if greedy is not None and better is not None:
        assert better <= greedy + 1e-6


def chi_square(queries, assignment, wanted) -> float:
    """The sum that is to become small, written down a second time."""
    from benchwright.splits.balancing import strata_by_family

    strata = strata_by_family(queries)
    total = sum(strata.values(), Counter())
    size = Counter(query.family for query in queries)
    off = 0.0
    for split, share in wanted.items():
        inside = [family for family in strata if assignment.families[family] == split]
        held = sum((strata[family] for family in inside), Counter())
        pairs = [(held[name], total[name] * share) for name in total]
        pairs.append((sum(size[family] for family in inside), len(queries) * share))
        off += sum((has - wants) ** 2 / max(wants, 1) for has, wants in pairs)
    return off


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.floats(0, 1.1))
def test_random_cut_moves_to_the_nearest_end_of_a_family_and_of_two_to_the_later(sizes, share):
    ends = [0, *accumulate(sizes)]
    cut = share * ends[-1]

    result = _nearest(ends, cut)

    off = [abs(end - cut) for end in ends]
    assert off[result] == min(off)
    assert off[result] not in off[result + 1 :]


def test_random_cut_that_rounding_puts_beyond_the_last_family_is_after_it():
    assert _nearest([0, 3, 7], 7.000001) == 2


def test_random_cut_before_half_of_the_first_family_leaves_nothing_before_it():
    queries = [asked(f"{family}{n}", family) for family in "ab" for n in range(3)]

    with pytest.raises(EmptySplitError, match=r"^train "):
        split_queries(queries, SplitRecipe(Mode.RANDOM, {"train": 0.2, "test": 0.8}))


@settings(max_examples=examples(60), deadline=None)
@given(collections(), shares(), st.integers(0, 99))
def test_random_split_ends_within_half_a_family_of_what_was_asked_for(queries, wanted, seed):
    assignment = made(queries, SplitRecipe(Mode.RANDOM, wanted, seed))

    if assignment:
        largest = max(Counter(query.family for query in queries).values())
        held = accumulate(assignment.sizes[split] for split in wanted)
        due = accumulate(share * len(queries) for share in wanted.values())
        assert all(abs(a - b) <= largest / 2 + 1e-6 for a, b in zip(held, due, strict=True))


@pytest.mark.parametrize(
    ("mode", "digest"),
    [
        (Mode.STRATIFIED, "a4956d875ccc2c33"),
        (Mode.RANDOM, "0c53374c7350bd74"),
        (Mode.LEAVE_SLICE_OUT, "c47c80b352bd2ae7"),
    ],
)
def test_split_of_a_seed_stays_what_it_is_in_later_versions(mode, digest):
    queries = [
        asked(
            f"q{n}",
            f"f{n * n % 97}",
            slices=tuple(name for k, name in enumerate(SLICES, 2) if n % (2 * k) == 0),
            n_relevant=n * 7 % 11,
        )
        for n in range(300)
    ]
    recipe = SplitRecipe(mode, {"train": 0.7, "dev": 0.1, "test": 0.2}, 5, slice_name="long")

    assert assignment_sha256(split_queries(queries, recipe).splits)[:16] == digest


def test_a_rare_slice_is_spread_over_the_splits():
    queries = [asked(f"q{n:03}", slices=("rare",) if n % 20 == 0 else ()) for n in range(200)]

    assignment = split_queries(queries, SplitRecipe(shares={"train": 0.5, "test": 0.5}, seed=3))

    rare = Counter(assignment.splits[query.qid] for query in queries if query.slices)
    assert rare == {"train": 5, "test": 5}


def test_largest_family_is_given_out_first_and_small_ones_fill_up():
    queries = [asked(f"big{n}", "big") for n in range(6)] + [asked(f"s{n}") for n in range(4)]

    assignment = split_queries(queries, SplitRecipe(shares={"train": 0.6, "test": 0.4}))

    assert assignment.families["big"] == "train"
    assert assignment.sizes == {"train": 6, "test": 4}


def test_another_seed_gives_another_split():
    queries = [asked(f"q{n:03}") for n in range(60)]

    results = {
        assignment_sha256(split_queries(queries, SplitRecipe(mode, seed=seed)).splits)
        for mode in (Mode.STRATIFIED, Mode.RANDOM)
        for seed in range(3)
    }

    assert len(results) == 6


# --- chronological -------------------------------------------------------------------------

FAMILIES = [
    asked("old1", "old", on=0),
    asked("old2", "old", on=5),
    asked("across1", "across", on=5),
    asked("across2", "across", on=20),
    asked("new1", "new", on=20),
    asked("gap1", "gap", on=11),
    asked("late1", "late", on=11),
    asked("late2", "late", on=30),
]


def test_straddling_family_keeps_its_earlier_members_in_train_and_counts_the_others():
    recipe = SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(10), gap_days=2)

    assignment = split_queries(FAMILIES, recipe)

    assert assignment.splits == {
        "old1": "train",
        "old2": "train",
        "across1": "train",
        "new1": "test",
        "late2": "test",
    }
    assert {qid: reason.split()[1:3] for qid, reason in assignment.excluded.items()} == {
        "across2": ["asked", "after"],
        "gap1": ["asked", "in"],
        "late1": ["asked", "in"],
    }
    assert assignment.families["gap"] == ""


def test_straddling_family_is_dropped_whole_where_that_is_chosen():
    recipe = SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(10), straddling=Straddling.DROP_FAMILY)

    assignment = split_queries(FAMILIES, recipe)

    assert sorted(assignment.excluded) == ["across1", "across2"]
    assert assignment.families["across"] == ""


def test_cut_is_found_from_shares():
    queries = [asked(f"q{n}", on=n) for n in range(10)]

    assignment = split_queries(
        queries, SplitRecipe(Mode.CHRONOLOGICAL, {"train": 0.7, "dev": 0.1, "test": 0.2})
    )

    assert assignment.cuts == (("dev", day(7)), ("test", day(8)))
    assert assignment.sizes == {"train": 7, "dev": 1, "test": 2}


# --- the other modes -----------------------------------------------------------------------


def test_leaving_a_slice_out_takes_whole_families_into_test():
    queries = [
        asked("a1", "a", slices=("chess",)),
        asked("a2", "a"),
        *(asked(f"q{n}") for n in range(10)),
    ]

    assignment = split_queries(
        queries,
        SplitRecipe(Mode.LEAVE_SLICE_OUT, {"train": 0.8, "dev": 0.2}, slice_name="chess"),
    )

    assert {qid for qid, split in assignment.splits.items() if split == "test"} == {"a1", "a2"}
    assert assignment.sizes == {"train": 8, "dev": 2, "test": 2}


def read(text: str, families: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    problems = Problems()
    lines = text.encode().splitlines(keepends=True)
    result = read_given(lines, file="given.tsv", families=families, problems=problems)
    return result, [str(problem) for problem in problems.found]


def test_given_split_is_taken_as_it_is():
    families = {"a": "1", "b": "1", "c": "2", "d": "3"}
    text = "query-id\tsplit\na\ttrain\nb\tnone\nc\ttest\nd\tnone\n"

    found, problems = read(text, families)
    queries = [SplitQuery(qid, family) for qid, family in families.items()]
    assignment = split_queries(queries, SplitRecipe(Mode.GIVEN), found)

    assert problems == []
    assert assignment.splits == {"a": "train", "c": "test"}
    # A family is where those of its queries are that are not left out.
    assert assignment.families == {"1": "train", "2": "test", "3": ""}
    left_out = "split: left out by the imported file"
    assert assignment.excluded == {"b": left_out, "d": left_out}


@pytest.mark.parametrize("header", ["_id\tsplit", "Query ID\tSplit"])
def test_given_split_is_read_with_header_comment_mark_and_other_names(header):
    families = {"a": "1", "b": "2", "c": "3", "d": "4"}
    text = f"\ufeff{header}\r\n# why\n\n  \na\tTraining\r\nb\tvalidation\nc\t Val \nd\tnone\n"

    assert read(text, families) == ({"a": "train", "b": "dev", "c": "dev", "d": ""}, [])


def test_queries_that_are_called_as_a_header_or_a_comment_begins_have_their_line():
    families = {"qid": "1", "#sushi": "2"}

    assert read("qid\ttrain\n#sushi\ttest\n# why\n", families) == (
        {"qid": "train", "#sushi": "test"},
        [],
    )


def test_header_is_the_first_line_alone():
    assignment, problems = read("a\ttrain\nqid\tsplit\n", {"a": "1"})

    assert assignment == {"a": "train"}
    assert [problem.partition(";")[0] for problem in problems] == ["given.tsv:2: split is 'split'"]


@pytest.mark.parametrize(
    ("n", "named"), [(5, "(q0, q1, q2, q3, q4)"), (6, "(q0, q1, q2, q3, q4, …)")]
)
def test_five_of_the_queries_that_a_given_split_lacks_are_named(n, named):
    _, (problem,) = read("", {f"q{k}": str(k) for k in range(n)})

    assert problem.startswith(
        f"given.tsv: {n} queries of the benchmark are not in the file {named};"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\ttrain\nb\ttest\nx\ttest\n", "given.tsv:3: query 'x' is not in this benchmark"),
        ("a\ttrain\n", "given.tsv: 1 query of the benchmark is not in the file (b)"),
        ("a\ttrain\nb\teval\n", "given.tsv:2: split is 'eval'; expected query id, TAB"),
        ("a train\nb\ttest\n", "given.tsv:1: the line has no TAB"),
        ("a\ttrain\na\ttest\nb\ttest\n", "given.tsv:2: query 'a' was on line 1 already"),
    ],
)
def test_wrong_line_of_a_given_split_is_named(text, words):
    _, problems = read(text, {"a": "1", "b": "2"})

    assert any(problem.startswith(words) for problem in problems), problems


def test_family_that_a_given_split_tears_apart_is_named_with_both_lines():
    _, problems = read("a\ttrain\nb\ttest\n", {"a": "1", "b": "1"})

    assert problems == [
        "given.tsv:2: query 'b' is in test, and 'a' of the same family is in train (line 1); put "
        "them on one side, or split the family up on the families page"
    ]


# --- what cannot be split says why ---------------------------------------------------------

TEN = [asked(f"q{n}", on=n) for n in range(10)]


@pytest.mark.parametrize(
    ("queries", "recipe", "error", "words"),
    [
        ([], SplitRecipe(), NothingToSplitError, "Import queries first"),
        (TEN, SplitRecipe(shares={"train": 0.7, "test": 0.2}), SharesError, "add up to 0.9"),
        (TEN, SplitRecipe(shares={"train": 1.5, "test": -0.5}), SharesError, "below 0"),
        (TEN, SplitRecipe(shares={"train": 0.5, "eval": 0.5}), SharesError, "eval is no split"),
        (
            [asked(f"q{n}", "one") for n in range(4)],
            SplitRecipe(shares={"train": 0.5, "test": 0.5}),
            EmptySplitError,
            "1 families, the largest of 4 queries",
        ),
        (
            [*TEN, asked("undated")],
            SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(5)),
            MissingDatesError,
            "1 of 11 queries have no date of their first use, such as 'undated'",
        ),
        (
            TEN,
            SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(30)),
            CutOutsideError,
            "2024-01-31 lies outside the queries' dates, 2024-01-01 to 2024-01-10",
        ),
        (
            TEN,
            SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(3), dev_from=day(3)),
            CutOrderError,
            "not before the test split",
        ),
        (
            TEN,
            SplitRecipe(Mode.CHRONOLOGICAL, {"test": 1.0}),
            CutMissingError,
            "give a date for the cut",
        ),
        (
            TEN,
            SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(9), gap_days=5),
            EmptySplitError,
            "make the gap smaller",
        ),
        (
            [asked("q1", slices=("head",)), asked("q2")],
            SplitRecipe(Mode.LEAVE_SLICE_OUT, slice_name="heed"),
            UnknownSliceError,
            "There is no slice 'heed'. Choose one of: head",
        ),
        (
            [asked("q1", slices=("head",))],
            SplitRecipe(Mode.LEAVE_SLICE_OUT, slice_name="head"),
            SliceEverywhereError,
            "nothing is left to train on",
        ),
    ],
)
def test_what_cannot_be_split_says_why_and_what_to_do(queries, recipe, error, words):
    with pytest.raises(error) as raised:
        split_queries(queries, recipe)

    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("straddling", "gap", "in_time", "words"),
    [
        # Asked from day 3 on and before day 6, all of them within three days of the cut.
        (
            Straddling.KEEP_EARLIER,
            3,
            {"x": 3, "y": 4, "z": 5},
            "3 asked in its time, 3 lie in .* 0",
        ),
        # The families old0 and old1 were asked on day 0 and 1 as well.
        (Straddling.KEEP_EARLIER, 0, {"old0": 3, "old1": 4}, "2 asked in its time, 0 lie in .* 2"),
        (Straddling.DROP_FAMILY, 0, {"old0": 3, "old1": 4}, "2 asked in its time, 0 lie in .* 2"),
        (Straddling.KEEP_EARLIER, 2, {"x": 3, "old1": 5}, "2 asked in its time, 1 lie in .* 1"),
        (Straddling.KEEP_EARLIER, 0, {}, "0 asked in its time, 0 lie in .* 0"),
    ],
)
def test_period_that_would_be_empty_is_told_with_what_was_asked_in_it(
    straddling, gap, in_time, words
):
    queries = [asked(f"before{n}", f"old{n}", on=n) for n in range(3)]
    queries += [asked(f"in-time{n}", family, on=n) for family, n in in_time.items()]
    queries += [asked(f"after{n}", on=n) for n in (20, 21)]
    recipe = SplitRecipe(
        Mode.CHRONOLOGICAL,
        dev_from=day(3),
        test_from=day(6),
        gap_days=gap,
        straddling=straddling,
    )

    with pytest.raises(EmptyPeriodError, match=f"^dev would hold no query: of {words} belong"):
        split_queries(queries, recipe)


def test_unknown_slice_names_the_first_eight_there_are():
    recipe = SplitRecipe(Mode.LEAVE_SLICE_OUT, slice_name="x")

    def told(n: int) -> str:
        with pytest.raises(UnknownSliceError) as raised:
            split_queries([asked(f"q{k}", slices=(f"s{k}",)) for k in range(n)], recipe)
        return str(raised.value)

    assert told(8).endswith("Choose one of: s0, s1, s2, s3, s4, s5, s6, s7")
    assert told(9).endswith("Choose one of: s0, s1, s2, s3, s4, s5, s6, s7, …")
    with pytest.raises(UnknownSliceError, match="none yet; make a slice first"):
        split_queries([asked("q")], recipe)


@pytest.mark.parametrize("text", ["train=0.8", "train=80,test=10", "train=x,test=1", "80,20"])
def test_shares_that_cannot_be_read_are_refused(text):
    with pytest.raises(SharesError):
        parse_shares(text)


def test_slices_below_their_minimum_are_told():
    queries = [asked(f"q{n:02}", slices=("tail",) if n < 10 else ()) for n in range(40)]
    assignment = split_queries(queries, SplitRecipe(shares={"train": 0.5, "test": 0.5}))

    result = small_slices(described(queries, assignment), {"tail": 6})

    assert result == [("tail", "test", 5, 6)]


def test_description_counts_sizes_slices_and_times():
    assignment = split_queries(
        FAMILIES, SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(10), gap_days=2)
    )

    texts = described(FAMILIES, assignment)

    assert [(part.name, part.n_queries, part.n_families) for part in texts.parts] == [
        ("train", 3, 2),
        ("test", 2, 2),
    ]
    assert texts.parts[1].first == day(20)
    assert texts.n_excluded == 3
    assert texts.largest_family == 2


def test_description_gives_shares_of_slices_and_of_densities_by_split():
    queries = [
        asked("a", slices=("head",), n_relevant=0),
        asked("b", slices=("head", "tail"), n_relevant=1),
        asked("c", n_relevant=5),
        asked("d", slices=("tail",), n_relevant=0),
        asked("out", slices=("tail",)),
    ]
    fields = {"a": "train", "b": "train", "c": "train", "d": "test", "out": ""}

    texts = described(queries, split_queries(queries, SplitRecipe(Mode.GIVEN), fields))

    assert [(part.name, part.share, part.n_without_relevant) for part in texts.parts] == [
        ("train", 3 / 4, 1),
        ("test", 1 / 4, 1),
    ]
    rows = {row.name: row for row in [*texts.slices, *texts.densities]}
    assert {name: (row.n, row.share, row.counts, row.shares) for name, row in rows.items()} == {
        "head": (2, 1 / 2, {"train": 2, "test": 0}, {"train": 2 / 3, "test": 0.0}),
        "tail": (2, 1 / 2, {"train": 1, "test": 1}, {"train": 1 / 3, "test": 1.0}),
        "none": (2, 1 / 2, {"train": 1, "test": 1}, {"train": 1 / 3, "test": 1.0}),
        "few": (1, 1 / 4, {"train": 1, "test": 0}, {"train": 1 / 3, "test": 0.0}),
        "many": (1, 1 / 4, {"train": 1, "test": 0}, {"train": 1 / 3, "test": 0.0}),
    }
    assert {name: row.deviation for name, row in rows.items()} == {
        **dict.fromkeys(("head", "tail", "none"), 1 / 2),
        **dict.fromkeys(("few", "many"), 1 / 4),
    }
    assert texts.excluded == {"left out by the imported file": 1}
    record = texts.as_json()
    assert [row["deviation"] for row in record["slices"]] == [1 / 2, 1 / 2]
    assert [row["deviation"] for row in record["label_density"]] == [1 / 4, 1 / 4, 1 / 2]
    assert record["splits"][0]["first"] is None
    assert small_slices(texts, {"head": 1, "tail": 1}) == [("head", "test", 0, 1)]


# --- what a split is asked with, and known by ----------------------------------------------


def test_recipe_is_kept_with_what_its_mode_looks_at_and_nothing_else():
    shares = {"train": 0.7, "dev": 0.1, "test": 0.2}
    in_time = {"test_from": None, "dev_from": None, "gap_days": 0, "straddling": "keep_earlier"}
    dated = SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(2), gap_days=3, seed=4)

    assert SplitRecipe().as_json() == {"mode": "stratified", "seed": 0, "shares": shares}
    assert SplitRecipe(Mode.GIVEN).as_json() == {"mode": "given", "seed": 0}
    assert SplitRecipe(Mode.CHRONOLOGICAL).as_json() == {
        "mode": "chronological",
        "seed": 0,
        "shares": shares,
        **in_time,
    }
    assert dated.as_json() == {
        "mode": "chronological",
        "seed": 4,
        **in_time,
        "test_from": "2024-01-03T00:00:00+00:00",
        "gap_days": 3,
    }
    assert SplitRecipe(Mode.LEAVE_SLICE_OUT, slice_name="x").as_json() == {
        "mode": "leave_slice_out",
        "seed": 0,
        "shares": shares,
        "slice": "x",
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("train=0.8, test=0.2", {"train": 0.8, "test": 0.2}),
        ("train=80,dev=0,test=20", {"train": 0.8, "test": 0.2}),
        ("train=0.5,test=0.4999995", {"train": 0.5, "test": 0.4999995}),
        ("train=0.5,test=0.5000005", {"train": 0.5, "test": 0.5000005}),
        ("train=50,test=49.99995", {"train": 0.5, "test": 0.4999995}),
    ],
)
def test_shares_are_of_1_or_of_100_and_may_be_off_by_a_millionth(text, found):
    assert parse_shares(text) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("train=0.5,test=0.499998", "they add up to 0.999998"),
        ("train=50,test=49.9998", "they add up to 99.9998"),
        ("train=1,test=0.5", "up to 1.5[.] .* up to 100[.]$"),
        ("train=0.5,test=0.4", "up to 0.9[.] .* up to 1[.]$"),
        ("b=0.5,a=0.5", "a is no split"),
        ("train=1.5,test=-0.5", "one is below 0"),
        ("train=nan,test=1", "they add up to nan"),
        ("train=50,train=60,test=40", "train stands there twice"),
        ("", "'' is no share"),
    ],
)
def test_shares_that_are_refused_say_why(text, words):
    with pytest.raises(SharesError, match=words):
        parse_shares(text)


def digest_of(*rows):
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return sha256(lines.replace('", ', '",').replace(", ", ",").encode()).hexdigest()


def test_digests_are_of_ids_in_the_order_of_their_bytes():
    queries = [
        asked("é", "1", on=1, slices=("b", "a"), n_relevant=2),
        asked("z", "1"),
        asked("a", "2", on=0, slices=("c",)),
    ]
    days = ["2024-01-01T00:00:00+00:00", "2024-01-02T00:00:00+00:00"]

    assert inputs_sha256(queries) == digest_of(
        *(["a", "a", days[0]], ["z", "z", None], ["é", "z", days[1]])
    )
    assert strata_sha256(queries) == digest_of(["a", ["c"], 0], ["z", [], 0], ["é", ["a", "b"], 2])
    assert assignment_sha256({"é": "dev", "z": "test", "a": "train"}) == digest_of(
        *(["a", "train"], ["z", "test"], ["é", "dev"])
    )


# --- what is refused, at its edge ----------------------------------------------------------


@pytest.mark.parametrize(
    ("queries", "recipe", "given", "words"),
    [
        ([asked(f"q{n}", "one") for n in range(4)], SplitRecipe(), {}, "dev .* larger share"),
        (
            TEN,
            SplitRecipe(Mode.GIVEN),
            {query.qid: "train" for query in TEN},
            "test .* 10 families, the largest of 1 .* in the file",
        ),
        (
            [asked("a", slices=("x",)), asked("b")],
            SplitRecipe(Mode.LEAVE_SLICE_OUT, {"train": 0.5, "dev": 0.5}, slice_name="x"),
            {},
            "dev .* larger share",
        ),
    ],
)
def test_first_split_that_would_be_empty_is_named_with_advice(queries, recipe, given, words):
    with pytest.raises(EmptySplitError, match=f"(?s)^{words}"):
        split_queries(queries, recipe, given)


def test_training_period_that_families_leave_empty_is_told():
    queries = [*(asked(f"a{n}", f"f{n}", on=n) for n in range(2)), asked("c", on=9)]
    queries += [asked(f"b{n}", f"f{n}", on=5) for n in range(2)]
    recipe = SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(4), straddling=Straddling.DROP_FAMILY)

    with pytest.raises(EmptyPeriodError, match=r"^train .* of 2 asked in its time, 0 lie in .* 2"):
        split_queries(queries, recipe)


def test_first_of_two_periods_that_families_leave_empty_is_told():
    queries = [*(asked(f"a{n}", f"f{n}", on=n) for n in range(2)), asked("c", on=9)]
    queries += [asked(f"b{n}", f"f{n}", on=5) for n in range(2)]
    recipe = SplitRecipe(
        Mode.CHRONOLOGICAL,
        dev_from=day(4),
        test_from=day(6),
        straddling=Straddling.DROP_FAMILY,
    )

    with pytest.raises(EmptyPeriodError, match=r"^train "):
        split_queries(queries, recipe)


def test_first_query_without_a_date_is_named():
    with pytest.raises(MissingDatesError, match=r"2 of 3 .* such as 'a'"):
        split_queries(
            [asked("b"), asked("a"), asked("c", on=1)],
            SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(1)),
        )


@pytest.mark.parametrize(
    ("cut", "n_train"), [(0, None), (0.5, 1), (1, 1), (8.5, 9), (9, 9), (9.5, None)]
)
def test_cut_lies_after_the_first_query_and_not_after_the_last(cut, n_train):
    recipe = SplitRecipe(Mode.CHRONOLOGICAL, test_from=day(cut))

    if n_train is None:
        with pytest.raises(CutOutsideError, match="2024-01-01 to 2024-01-10"):
            split_queries(TEN, recipe)
    else:
        assert split_queries(TEN, recipe).sizes == {"train": n_train, "test": 10 - n_train}


@pytest.mark.parametrize(
    ("wanted", "sizes"),
    [
        ({"train": 0.99, "test": 0.01}, {"train": 9, "test": 1}),
        ({"train": 0.5, "dev": 0.5}, {"train": 5, "dev": 5}),
        ({"train": 1.0}, None),
        ({"dev": 0.5, "test": 0.5}, None),
    ],
)
def test_shares_in_time_leave_the_last_split_a_query_and_want_training_first(wanted, sizes):
    recipe = SplitRecipe(Mode.CHRONOLOGICAL, wanted)

    if sizes is None:
        with pytest.raises(CutMissingError):
            split_queries(TEN, recipe)
    else:
        assert split_queries(TEN, recipe).sizes == sizes


@pytest.mark.parametrize(
    ("wanted", "sizes"),
    [
        ({"train": 0.8, "test": 0.2}, {"train": 9, "test": 1}),
        ({"test": 1.0}, {"train": 9, "test": 1}),
        ({"dev": 1.0}, {"dev": 9, "test": 1}),
    ],
)
def test_leaving_a_slice_out_gives_the_rest_to_what_has_a_share_or_to_train(wanted, sizes):
    queries = [asked("x", slices=("head",)), *TEN[1:]]

    recipe = SplitRecipe(Mode.LEAVE_SLICE_OUT, wanted, slice_name="head")

    assert split_queries(queries, recipe).sizes == sizes


def test_query_that_a_file_leaves_out_tears_no_family():
    families = dict.fromkeys("abcd", "1")

    assignment, problems = read("a\tnone\nb\ttrain\nc\tnone\nd\ttest\n", families)

    assert assignment == {"a": "", "b": "train", "c": "", "d": "test"}
    assert [problem.split(" and ")[0] for problem in problems] == [
        "given.tsv:4: query 'd' is in test,"
    ]


def test_nothing_is_described_as_nothing():
    texts = described([], Assignment({}, {}))

    assert (texts.parts, texts.slices, texts.excluded, texts.largest_family) == ([], [], {}, 0)
    assert SliceRow("x", 0, 0.5, {}, {}).deviation == 0.0
    assert SplitDescription([], [], []).largest_family == 0


@pytest.mark.parametrize(("least", "is_told"), [(1, False), (2, True)])
def test_slice_is_small_below_its_minimum(least, is_told):
    queries = [asked("a", slices=("x",)), asked("b", slices=("x",)), asked("c")]
    fields = {"a": "train", "b": "test", "c": "test"}
    texts = described(queries, split_queries(queries, SplitRecipe(Mode.GIVEN), fields))

    result = small_slices(texts, {"x": least, "y": 9}, ("train", "dev", "test"))

    assert result == [("x", split, 1, least) for split in ("train", "test") if is_told]
