import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from benchwright.statistics.corrections import benjamini_hochberg, holm

NAN = np.nan
P_VALUES = arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1))


# Holm's own steps: the smallest of four times 4, the next times 3, never below the one before.
@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.04, 0.01, 0.03, 0.005], [0.06, 0.03, 0.06, 0.02]),
        ([0.5, 0.6], [1.0, 1.0]),
        ([0.03], [0.03]),
        ([0.02, NAN, 0.01], [0.02, NAN, 0.02]),
        ([NAN, NAN], [NAN, NAN]),
    ],
)
def test_holm_by_hand(p, expected):
    np.testing.assert_allclose(holm(np.array(p)), expected)


def test_benjamini_and_hochberg_by_hand():
    """From their paper's 15 p-values: four are below .05 when adjusted."""
    lower = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p = np.array([*lower, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0])

    adjusted = benjamini_hochberg(p)

    assert (adjusted < 0.05).sum() == 4
    assert (holm(p) < 0.05).sum() == 3
    assert adjusted[3] == pytest.approx(0.0095 * 15 / 4)


@given(P_VALUES)
def test_false_discovery_control_is_scipys(p):
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p, method="bh"))


@given(P_VALUES)
def test_holm_is_between_no_correction_and_bonferroni(p):
    adjusted = holm(p)

    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, p * len(p)) + 1e-15).all()
    assert (adjusted >= benjamini_hochberg(p) - 1e-15).all()


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
@given(p=P_VALUES, order=st.randoms(use_true_random=False))
def test_order_does_not_matter(correct, p, order):
    places = list(range(len(p)))
    order.shuffle(places)

    assert correct(p[places]) == pytest.approx(correct(p)[places])


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
def test_rows_are_corrected_by_themselves(correct):
    p = np.array([[0.01, 0.02, NAN], [0.04, 0.5, 0.03]])

    np.testing.assert_array_equal(correct(p), [correct(p[0]), correct(p[1])])


def test_undefined_value_is_no_test():
    p = np.array([NAN, 0.02, 0.01, 0.5])

    np.testing.assert_allclose(benjamini_hochberg(p), [NAN, 0.03, 0.03, 0.5])
