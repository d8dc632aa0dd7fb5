"""What changed between two texts."""

from hypothesis import given
from hypothesis import strategies as st

from benchwright.texts.differences import Change, line_changes

TEXT = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map("\n".join)


@given(TEXT, TEXT)
def test_both_texts_can_be_read_from_the_changes(old, new):
    changes = line_changes(old, new)

    assert [line.text for line in changes if line.change != Change.ADDED] == old.splitlines()
    assert [line.text for line in changes if line.change != Change.REMOVED] == new.splitlines()


@given(TEXT)
def test_a_text_does_not_differ_from_itself(text):
    assert {line.change for line in line_changes(text, text)} <= {Change.SAME}


def test_a_replaced_line_is_removed_and_then_added():
    changes = line_changes("one\ntwo\nthree", "one\n2\nthree")

    assert [(line.change.value, line.text) for line in changes] == [
        ("same", "one"),
        ("removed", "two"),
        ("added", "2"),
        ("same", "three"),
    ]
