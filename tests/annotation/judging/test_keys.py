"""The keys of the labeling page: usual ones, own ones, and keys that two actions want."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.judging.protocol.keys import (
    ACTIONS,
    CAPTIONS,
    Clash,
    KeyAction,
    bindings,
    caption,
    clashes,
    grade_action,
)

EVERYTHING = [*(grade_action(value) for value in range(10)), *ACTIONS]


def test_the_usual_keys_of_every_grade_and_action_are_apart():
    assert clashes(bindings(EVERYTHING, {})) == []


def test_every_usual_key_has_a_caption():
    assert {key for action in EVERYTHING for key in action.usual} <= set(CAPTIONS)


@pytest.mark.parametrize(
    ("value", "keys"), [(0, ("Digit0", "KeyA")), (3, ("Digit3", "KeyF")), (9, ("Digit9",))]
)
def test_a_grade_has_its_digit_and_a_key_of_the_home_row(value, keys):
    assert grade_action(value).usual == keys


def test_own_keys_replace_the_usual_ones_of_their_action_alone():
    bound = bindings(ACTIONS, {"undo": ["KeyU"], "unknown": ["KeyZ"]})

    assert bound["undo"] == ["KeyU"]
    assert bound["later"] == ["KeyL"]
    assert set(bound) == {action.name for action in ACTIONS}


def test_a_key_of_two_actions_is_a_clash():
    bound = bindings(EVERYTHING, {"undo": ["KeyL"]})

    assert clashes(bound) == [Clash("KeyL", "later", "undo")]


def test_a_grade_takes_its_key_with_shift_too():
    assert clashes({"grade-1": ["Slash"], "keys": ["Shift+Slash"]}) == [
        Clash("Shift+Slash", "grade-1", "keys")
    ]
    assert clashes({"find": ["Slash"], "keys": ["Shift+Slash"]}) == []


def test_one_action_may_name_a_key_twice():
    assert clashes({"undo": ["KeyZ", "KeyZ"]}) == []


keys = st.lists(st.sampled_from(["KeyA", "KeyB", "Digit1", "Slash", "Shift+Slash"]), max_size=3)
maps = st.dictionaries(st.sampled_from([a.name for a in EVERYTHING]), keys, max_size=6)


@given(maps)
def test_there_is_a_clash_exactly_where_a_press_could_mean_two_things(bound):
    """The oracle presses every key, with and without Shift, and asks each action."""

    def answers(action: str, keys: list[str], key: str, *, shift: bool) -> bool:
        pressed = f"Shift+{key}" if shift else key
        return pressed in keys or (shift and key in keys and action.startswith("grade-"))

    presses = [
        (key, shift) for key in ("KeyA", "KeyB", "Digit1", "Slash") for shift in (True, False)
    ]
    ambiguous = any(
        sum(answers(action, own, key, shift=shift) for action, own in bound.items()) > 1
        for key, shift in presses
    )

    assert bool(clashes(bound)) == ambiguous


def test_a_key_without_a_name_is_called_by_its_place():
    assert caption("KeyZ") == "z"
    assert caption("IntlRo") == "IntlRo"
    assert KeyAction("a", "b", ("KeyC",)).usual == ("KeyC",)
