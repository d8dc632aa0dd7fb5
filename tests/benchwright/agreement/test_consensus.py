"""Each label beside what the others say."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from benchwright.agreement.labels import NOBODY, Labels, confusion, consensus_of_others
from tests.benchwright.agreement import naive

SCALE = (0, 1, 2, 3)
tables = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=10)


def labels_of(table) -> Labels:
    return Labels.from_rows(
        (
            ("q", item, rater, grade)
            for item, given_ in enumerate(table)
            for rater, grade in enumerate(given_)
        ),
        SCALE,
    )


@given(tables)
def test_the_consensus_is_the_lower_median_of_the_other_labels(table):
    labels = labels_of(table)
    expected = [report for given_ in table for report in naive.leave_one_out(given_)]

    result = consensus_of_others(labels)

    assert result.tolist() == [NOBODY if grade is None else grade for grade in expected]
    own = [grade for given_ in table for grade in given_]
    counted = Counter(zip(expected, own, strict=True))
    assert confusion(labels, result).tolist() == [[counted[a, b] for b in SCALE] for a in SCALE]


def test_somebodys_own_grade_is_no_part_of_what_they_are_compared_with():
    labels = labels_of([[3, 0]])

    assert consensus_of_others(labels).tolist() == [0, 3]
