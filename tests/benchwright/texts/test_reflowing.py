"""Hard line breaks as spaces: which texts have them, and that nothing else is touched."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright.texts.presenting import presented
from benchwright.texts.reflowing import is_hard_wrapped, is_set_in_lines, reflowed
from tests.collections import smart_records

CRANFIELD = """experimental investigation of the aerodynamics of a
wing in a slipstream .
  an experimental study of a wing in a propeller slipstream was
made in order to determine the spanwise distribution of the lift
increase due to slipstream at different angles of attack of the wing
and at different free stream to slipstream velocity ratios ."""
TREC = """The Federal Aviation Administration said on Tuesday that it would
require airlines to inspect Boeing jets for cracks. Inspectors in
Seattle and Los Angeles found the first of them in March, when a
routine check was due."""
GERMAN = """Die Untersuchung der Strömung um einen Flügel im Luftschraubenstrahl
wurde durchgeführt, um die Verteilung des Auftriebs über die
Spannweite bei verschiedenen Anstellwinkeln und bei mehreren
Verhältnissen der Geschwindigkeiten zu bestimmen."""
VERSE = """Shall I compare thee to a summer's day?
Thou art more lovely and more temperate:
Rough winds do shake the darling buds of May,
And summer's lease hath all too short a date;
Sometime too hot the eye of heaven shines,
And often is his gold complexion dimmed"""
LIST = "Needed:\n- flour, a pound of it, sifted twice\n- eggs, as fresh as can be had\n- some milk"
CODE = "Use it so:\n    for name in names:\n        print(name)\n    return None"
ADDRESS = "Wilhelmine Muster\nHauptstrasse 12\n12345 Irgendwo\nDeutschland"
FACTS = "material: leather and natural rubber\ncolour: dark brown with white stitches\nsize: 42"
PARAGRAPHS = (
    "A whole paragraph in one line, as editors write it, which goes on and on. " * 4 + "\n"
) * 3


@pytest.mark.parametrize(
    "text", [CRANFIELD, TREC, GERMAN, "the lift of a thin wing in\nthe stream"]
)
def test_a_text_that_was_broken_by_hand_is_told(text):
    assert is_hard_wrapped(text)


@pytest.mark.parametrize(
    "text", [VERSE, LIST, CODE, ADDRESS, FACTS, PARAGRAPHS, "one line", "a\nb", ""]
)
def test_lines_that_their_author_meant_are_kept(text):
    assert not is_hard_wrapped(text)
    assert reflowed(text) == text


def test_lines_of_a_paragraph_become_one_and_paragraphs_stay():
    lines = reflowed(CRANFIELD).split("\n")

    assert len(lines) == 2
    assert lines[0].endswith("of a wing in a slipstream .")
    assert lines[1].startswith(
        "  an experimental study of a wing in a propeller slipstream was made in"
    )


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("a thin\nwing", "a thin wing"),
        ("a thin \nwing", "a thin wing"),
        ("a\n\nb\nc", "a\n\nb c"),
        ("thermo-\nelastic", "thermo-elastic"),
        ("two-\nor three-dimensional", "two- or three-dimensional"),
        ("日本\n語", "日本語"),
        ("한국\n말", "한국 말"),
        ("do:\n- read\n- grade", "do:\n- read\n- grade"),
        ("so:\n  x = 1\n  y = 2", "so:\n  x = 1\n  y = 2"),
        ("a   b   c\nd   e   f", "a   b   c\nd   e   f"),
        ("```\na\nb\n```\nc\nd", "```\na\nb\n```\nc d"),
        ("Title\n-----\nwords\nmore", "Title\n-----\nwords more"),
    ],
)
def test_joined_on_demand(text, joined):
    assert reflowed(text, "join") == joined
    assert reflowed(text, "keep") == text


TEXTS = st.text(alphabet=st.sampled_from("ab Z.-*\t\n\n1)日本`|:\u00a0é"), max_size=120)


@given(TEXTS, st.sampled_from(["auto", "join", "keep"]))
@example("a\n" * 5, "join")
@example("```\n\n```", "join")
def test_nothing_but_blanks_is_ever_changed(text, line_breaks):
    joined = reflowed(text, line_breaks)

    assert "".join(joined.split()) == "".join(text.split())
    assert joined.count("\n\n") == text.count("\n\n")
    assert reflowed(joined, line_breaks).split() == joined.split()


@given(TEXTS)
def test_what_is_shown_has_every_sign_of_the_text(text):
    result = presented(
        query="", title="", text=text, text_format="plain", lang="en", line_breaks="join"
    )

    without_tags = re.sub(r"<[^>]*>", "", result.full_html)
    assert "".join(without_tags.split()) == "".join(text.split())


def test_code_and_tables_keep_their_shape():
    result = presented(query="", title="", text=CODE, text_format="plain", lang="en")

    assert "<pre>" in result.full_html
    assert is_set_in_lines("name\tsize\nwing\t12")


@pytest.mark.data
def test_the_texts_of_cranfield_are_told(data):
    """Of real texts with a line break inside, 99 in 100."""
    texts = [record.get("W", "") for record in smart_records(data / "cranfield" / "cran.all.1400")]
    broken = [text.strip("\n") for text in texts if "\n" in text.strip("\n")]

    assert len(broken) > 1000
    assert sum(map(is_hard_wrapped, broken)) / len(broken) >= 0.99
