"""What the page of a judge draws, against numbers that are known."""

import pytest

from annotation.campaigns.drawing import agreement_forest, bias_forest, confusion_rows
from benchwright.calibration.calibrating import calibrated

# 80 pairs of 20 queries: the machine is a grade below people on the half that they grade 2.
PEOPLE = {f"q{n}": {f"d{at}": 2 * (at % 2) for at in range(4)} for n in range(20)}
MACHINE = {
    qid: {docid: grade // 2 for docid, grade in grades.items()} for qid, grades in PEOPLE.items()
}


@pytest.fixture(scope="module")
def calibration():
    return calibrated(PEOPLE, MACHINE, scale=range(3), slices={"few": ["q0", "q1", "q2"]})


def test_rows_of_confusion_have_shares_of_people(calibration):
    rows = confusion_rows(calibration)

    assert [row["grade"] for row in rows] == [0, 1, 2]
    assert [row["n"] for row in rows] == [40, 0, 40]
    assert [cell["n"] for cell in rows[2]["cells"]] == [0, 40, 0]
    assert [cell["share"] for cell in rows[2]["cells"]] == [0.0, 1.0, 0.0]
    assert [cell["step"] for cell in rows[0]["cells"]] == [10, 0, 0]
    assert [cell["is_same"] for cell in rows[1]["cells"]] == [False, True, False]


def test_biases_stand_on_one_axis_with_zero(calibration):
    forest = bias_forest(calibration)

    rows = {row.label: row for row in forest.rows}
    assert rows["All"].text == "\N{MINUS SIGN}0.50"
    assert rows["People say 2"].value == -1.0
    assert rows["All"].is_off
    assert not rows["People say 0"].is_off
    assert rows["People say 0"].whisker.place == forest.zero
    assert rows["Slice few"].is_faint
    assert not rows["Slice few"].is_off
    assert rows["People say 2"].whisker.place < rows["All"].whisker.place < forest.zero


def test_what_cannot_be_measured_says_why_and_is_not_drawn(calibration):
    rows = {row.label: row for row in agreement_forest(calibration).rows}

    undefined = rows["Two people, kappa quadratic"]
    assert (undefined.text, undefined.whisker) == ("", None)
    assert undefined.why
    assert rows["Kappa, quadratic"].value == calibration.kappa_quadratic.value
    assert rows["Kappa, quadratic"].whisker is not None
