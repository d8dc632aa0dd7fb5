"""What the labels of a pool tell, computed by hand."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.progress.signals import Entry, Label, Rate, pool_signals, stop_signal

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
RELEVANT = {1, 2, 3}
ENTRIES = {key: Entry(query=key // 4, ranks={"a": key % 4 + 1, "b": 7}) for key in range(12)}


def label(entry: int, grade: int | None = 0, actor: int = 1, **more) -> Label:
    values = {"at": MONDAY, "seconds": 10.0, "chars": 500, "is_extra": False, **more}
    return Label(actor=actor, entry=entry, grade=grade, **values)


def signals(labels, entries=ENTRIES, runs=("a", "b")):
    return pool_signals(labels, entries, runs=runs, relevant=RELEVANT, seed=1)


def test_nothing_judged_is_all_zeros():
    signal = signals([])

    assert (signal["n_judged"], signal["n_relevant"], signal["seconds"], signal["stability"]) == (
        *(0, 0),
        *(None, None),
    )
    assert (signal["n_queries"], signal["n_untouched"], signal["coverage"]) == (
        3,
        3,
        [3, 0, 0, 0, 0, 0],
    )


def test_labels_are_told_apart():
    signal = signals(
        [label(1, 2), label(2, None), label(3, 0, is_extra=True), label(1, 0, actor=2)]
    )

    assert (signal["n_labels"], signal["n_cant_judge"], signal["n_extra"]) == (4, 1, 1)
    assert (signal["n_judged"], signal["n_relevant"]) == (2, 1)


def test_days_count_what_was_wanted():
    later = MONDAY + timedelta(days=2)
    signal = signals([label(1), label(2, at=later), label(3, at=later), label(4, is_extra=True)])

    assert signal["days"] == [
        {"day": "2026-03-02", "labels": 1},
        {"day": "2026-03-04", "labels": 2},
    ]


def test_relevant_documents_count_when_first_graded():
    signal = signals([label(1, 0), label(1, 3, actor=2), label(2, 2)])

    assert signal["found"] == [[0, 0], [1, 0], [2, 1]]


@pytest.mark.parametrize(
    ("n", "size"), [(39, None), (40, 20), (150, 75), (1000, 100)], ids="of {}".format
)
def test_windows_are_half_of_what_there_is_at_most(n, size):
    entries = {key: Entry(0, {"a": 1}) for key in range(n)}
    signal = signals([label(key, int(key < n / 2)) for key in range(n)], entries)

    assert signal["first"] == (size and {"n": size, "of": size})
    assert signal["last"] == (size and {"n": 0, "of": size})


def test_relevance_is_told_by_best_rank():
    signal = signals([label(0, 1), label(4, 0), label(1, 1), label(2, 0), label(3, 2)])

    assert signal["by_rank"] == [
        {"ranks": "1", "n": 1, "of": 2},
        {"ranks": "2", "n": 1, "of": 1},
        {"ranks": "3-5", "n": 1, "of": 2},
    ]


def test_coverage_goes_by_quarters_of_a_query():
    signal = signals([label(0), label(1), label(4), label(5), label(6), label(7)])

    # Two of four are "to 50 %".
    assert signal["coverage"] == [1, 0, 1, 0, 0, 1]
    assert (signal["n_untouched"], signal["n_complete"]) == (1, 1)


@given(st.integers(1, 30), st.data())
def test_each_step_of_coverage_holds_what_its_name_says(size, data):
    n = data.draw(st.integers(0, size))
    entries = {key: Entry(0, {}) for key in range(size)}

    (step,) = [at for at, n_of in enumerate(coverage_of(n, entries)) if n_of]

    expected = next(
        at for at, most in enumerate((0, 0.25, 0.5, 0.75, 0.999, 1)) if n / size <= most
    )
    assert step == expected


def coverage_of(n, entries):
    return signals([label(key) for key in range(n)], entries, ())["coverage"]


def test_agreement_is_on_relevance_with_the_others_median():
    signal = signals(
        [
            *(label(1, grade, actor) for actor, grade in ((1, 1), (2, 3), (3, 0))),
            *(label(2, grade, actor) for actor, grade in ((1, 0), (2, 0))),
            label(3, 2, 1),
        ]
    )

    shared = {row["person"]: (row["n_alike"], row["n_shared"]) for row in signal["people"]}
    # Document 1: the others of 1 say 0 (of 0, 3), those of 2 say 0 (of 0, 1), those of 3 say 1.
    assert shared == {1: (1, 2), 2: (1, 2), 3: (0, 1)}


def test_seconds_are_those_of_a_document_of_the_pools_length():
    slow = [label(key, actor=1, chars=100 * key, seconds=float(key)) for key in range(1, 11)]
    long = [label(key, actor=2, chars=1000, seconds=10.0) for key in range(10)]
    people = signals([*slow, *long])["people"]

    # The pool's median length is 1000; both take 10 seconds for that, whatever their own median.
    assert [row["seconds"] for row in people] == pytest.approx([10, 10], abs=0.6)


@pytest.mark.parametrize(
    ("last", "low", "finds_little", "is_steady", "may_stop"),
    [
        ({"n": 2, "of": 100}, 0.95, True, True, True),
        ({"n": 2, "of": 100}, 0.85, True, False, False),
        ({"n": 9, "of": 100}, 1.0, False, True, False),
    ],
)
def test_stopping_wants_both_signs(last, low, finds_little, is_steady, may_stop):
    fields = {"first": {"n": 40, "of": 100}, "last": last, "stability": {"low": low}}

    signal = stop_signal(fields)

    assert (signal.finds_little, signal.is_steady, signal.may_stop) == (
        finds_little,
        is_steady,
        may_stop,
    )
    assert signal.last == Rate(**last)


def test_too_little_says_nothing():
    signal = stop_signal({"first": None, "last": None, "stability": None})

    assert (signal.finds_little, signal.is_steady, signal.may_stop) == (None, None, False)


said = st.builds(
    label,
    entry=st.integers(0, 11),
    grade=st.none() | st.integers(0, 3),
    actor=st.integers(1, 3),
    seconds=st.none() | st.floats(0, 1e4),
    is_extra=st.booleans(),
)


@settings(max_examples=40)
@given(st.lists(said, max_size=40))
def test_signals_are_json_and_add_up(labels):
    signal = signals(labels)

    assert json.loads(json.dumps(signal, allow_nan=False)) == signal
    assert sum(signal["coverage"]) == signal["n_queries"] == 3
    assert sum(row["n_labels"] for row in signal["people"]) == len(labels)
    assert sum(day["labels"] for day in signal["days"]) == signal["n_labels"] - signal["n_extra"]
    assert signal["found"][-1] == [signal["n_judged"], signal["n_relevant"]]
