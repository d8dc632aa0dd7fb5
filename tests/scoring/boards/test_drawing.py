"""Bars of tie groups and the axis of a board, by their rules and computed a second way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.boards.drawing import MOST_LANES, letters_of, tie_bars

GROUPS = st.lists(st.one_of(st.none(), st.integers(1, 6)), max_size=25)


def drawn(groups) -> str:
    """A row a word: a column a lane, `|` a member, `:` passed by, `.` nothing."""
    words = []
    for row in tie_bars(groups).strokes:
        lanes = {stroke.lane: ":" if stroke.is_passing else "|" for stroke in row}
        words.append("".join(lanes.get(lane, ".") for lane in range(MOST_LANES)))
    return " ".join(words)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([], ""),
        ([1], "|.."),
        ([1, 1, 2, 2], "|.. |.. |.. |.."),
        ([1, 2, 1, 2], "|.. :|. |:. .|."),
        ([1, 2, 3, 1, 3, 2], "|.. :|. ::| |:: .:| .|."),
        ([1, None, 1], "|.. :.. |.."),
        ([None, None], "... ..."),
        # Four at once: letters instead.
        ([1, 2, 3, 4, 1, 2, 3, 4], " ".join(["..."] * 8)),
    ],
)
def test_bars_join_the_rows_of_a_group(groups, expected):
    assert drawn(groups) == expected


@given(GROUPS)
def test_each_bar_keeps_one_lane_from_its_first_row_to_its_last(groups):
    bars = tie_bars(groups)
    ends = {
        group: [place for place, of in enumerate(groups) if of == group]
        for group in set(groups) - {None}
    }
    most = max(
        (
            sum(places[0] <= row <= places[-1] for places in ends.values())
            for row in range(len(groups))
        ),
        default=0,
    )

    assert bars.n_lanes == most  # no lane too many
    assert bars.letters == ["" if group is None else letters_of(group) for group in groups]
    if most > MOST_LANES:
        assert not any(bars.strokes)
        return
    for place, (group, row) in enumerate(zip(groups, bars.strokes, strict=True)):
        lanes = [stroke.lane for stroke in row]
        assert lanes == sorted(set(lanes))
        assert [not stroke.is_passing for stroke in row].count(True) == (group is not None)
        crossing = [of for of, places in ends.items() if places[0] <= place <= places[-1]]
        assert len(row) == len(crossing)
        assert sum(stroke.is_first for stroke in row) == sum(
            ends[of][0] == place for of in crossing
        )
        assert sum(stroke.is_last for stroke in row) == sum(
            ends[of][-1] == place for of in crossing
        )
    lane_of: dict[int, set[int]] = {}
    for group, row in zip(groups, bars.strokes, strict=True):
        own = [stroke for stroke in row if not stroke.is_passing]
        for stroke in own:
            lane_of.setdefault(group, set()).add(stroke.lane)
            assert stroke.is_claim == (group == 1)
    assert all(len(lanes) == 1 for lanes in lane_of.values())


def test_groups_are_lettered_as_columns_of_a_sheet():
    assert [letters_of(n) for n in (1, 26, 27, 52, 53, 703)] == ["A", "Z", "AA", "AZ", "BA", "AAA"]
