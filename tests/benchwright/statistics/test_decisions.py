"""The one decision of a pair, and what is said where interval and test part."""

import pytest

from benchwright.statistics.decisions import AT_THE_EDGE, OF_MANY, OVER_ZERO, decision

NAN = float("nan")


@pytest.mark.parametrize(
    ("difference", "interval", "p", "corrected", "expected"),
    [
        (0.1, (0.05, 0.15), 0.001, 0.01, ("better", "")),
        (-0.1, (-0.15, -0.05), 0.001, 0.01, ("worse", "")),
        (0.1, (-0.05, 0.25), 0.2, 0.2, ("", "")),
        (-0.0845, (-0.161, -0.008), 0.0587, 0.0587, ("", AT_THE_EDGE)),
        (0.0845, (0.008, 0.161), 0.05, 0.05, ("", AT_THE_EDGE)),
        (0.1, (0.01, 0.19), 0.03, 0.09, ("", OF_MANY)),
        (0.1, (-0.001, 0.2), 0.049, 0.049, ("better", OVER_ZERO)),
        (0.0, (0.0, 0.0), 1.0, 1.0, ("", "")),
        (None, (None, None), None, None, ("", "")),
        (NAN, (NAN, NAN), NAN, NAN, ("", "")),
        (0.1, (None, None), 0.01, 0.01, ("better", "")),
    ],
)
def test_the_test_decides_and_partings_are_told(difference, interval, p, corrected, expected):
    assert decision(difference, interval, p, corrected) == expected
